//! What only this benchmark can be asked for.

use std::fmt;

use crate::Asked;

/// When Redis writes what it acknowledged to the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Durability {
    /// Once a second.
    #[default]
    Everysec,
    /// Before it acknowledges.
    Always,
    /// Never.
    None,
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Everysec => "AOF everysec",
            Self::Always => "AOF always",
            Self::None => "no AOF",
        })
    }
}

/// What was asked for, beside what every benchmark can be asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) durability: Durability,
    /// One round of a fraction of the jobs.
    pub(super) quick: bool,
    /// Also kill workers, and wait for their jobs to be run by others.
    pub(super) recovery: bool,
}

impl Options {
    /// Takes its own words out, and has the others read as usual.
    pub(super) fn read(words: Vec<String>) -> Result<(Self, Asked), String> {
        let mut options = Self::default();
        let mut others = Vec::new();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--quick" => options.quick = true,
                "--recovery" => options.recovery = true,
                "--durability" => options.durability = durability(words.next().as_deref())?,
                _ => others.push(word),
            }
        }
        Ok((options, Asked::read(others)?))
    }

    /// So many jobs, or fewer if it shall be quick.
    pub(super) fn jobs(&self, full: usize) -> usize {
        if self.quick { full / 5 } else { full }
    }
}

fn durability(word: Option<&str>) -> Result<Durability, String> {
    match word {
        Some("everysec") => Ok(Durability::Everysec),
        Some("always") => Ok(Durability::Always),
        Some("none") => Ok(Durability::None),
        other => {
            let given = other.unwrap_or_default();
            Err(format!("--durability {given:?} is not one of everysec, always and none"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &str, expected: &str) {
        let told = match Options::read(words.split_whitespace().map(str::to_owned).collect()) {
            Ok((Options { durability, quick, recovery }, asked)) => {
                format!("{durability}, {quick}, {recovery}, {:?}", asked.rounds)
            }
            Err(why) => why,
        };
        assert_eq!(told, expected, "for {words:?}");
    }

    #[test]
    fn takes_its_own_words_among_the_usual_ones() {
        check("", "AOF everysec, false, false, None");
        check("--quick --rounds 2 --recovery", "AOF everysec, true, true, Some(2)");
        check("--durability always", "AOF always, false, false, None");
    }

    #[test]
    fn says_what_is_wrong() {
        check("--durability", "--durability \"\" is not one of everysec, always and none");
        check("--durability x", "--durability \"x\" is not one of everysec, always and none");
        check("--rounds 0", "--rounds \"0\" is not a number of rounds; give 1 or more");
    }
}
