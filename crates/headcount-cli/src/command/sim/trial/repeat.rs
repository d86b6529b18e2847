//! The command that repeats a run.

use std::ffi::OsString;

use headcount_sim::run::Violation;

use crate::command::run::command_line;

/// What is said of a rule that was broken: which, and how to see it again.
pub(super) fn broken(violation: &Violation, words: impl Iterator<Item = OsString>) -> String {
    // Wherever the binary lies, its reader has one of that name.
    let words: Vec<OsString> = std::iter::once("headcount".into()).chain(words.skip(1)).collect();
    let command = String::from_utf8_lossy(&command_line(&words)).into_owned();
    format!("a rule was broken: {violation}\nto see it again: {command}")
}

#[cfg(test)]
mod tests {
    use headcount_core::Timestamp;

    use super::*;

    #[test]
    fn a_broken_rule_is_told_with_the_command_that_shows_it() {
        let violation = Violation {
            at: Timestamp::from_secs(3),
            pool: "slo".to_owned(),
            seed: 7,
            what: "9 workers under a ceiling of 8".to_owned(),
        };
        let words = ["/a/b/headcount", "sim", "--trace", "my load.csv", "--seed", "7", "--checked"];
        let told = broken(&violation, words.into_iter().map(OsString::from));
        let expected = "a rule was broken: seed 7, pool slo, 3s: 9 workers under a ceiling of 8\n\
                        to see it again: headcount sim --trace 'my load.csv' --seed 7 --checked";
        assert_eq!(told, expected);
    }
}
