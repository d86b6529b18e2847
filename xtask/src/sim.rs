//! `sim`: storms for the simulator, for as long as a night has.
//!
//! The test that `cargo xtask test` runs has the first two hundred; here are all the others.

use crate::outcome::{Outcome, Stop, green_if};
use crate::process::{cargo, succeeds};

pub(crate) fn run(arguments: &[String]) -> Outcome {
    check(arguments)?;
    let example = ["run", "--release", "--quiet", "--package", "headcount-sim"];
    let mut command = cargo(&example);
    command.args(["--example", "storm", "--"]).args(arguments);
    green_if(succeeds(&mut command))
}

fn check(arguments: &[String]) -> Result<(), Stop> {
    let is_known = |name: &str| ["--seed", "--minutes"].contains(&name);
    let is_pair = |pair: &[String]| match pair {
        [name, number] => is_known(name) && number.parse::<u64>().is_ok(),
        _ => false,
    };
    match !arguments.is_empty() && arguments.chunks(2).all(is_pair) {
        true => Ok(()),
        false => {
            let given = arguments.join(" ");
            Err(Stop::Misused(format!("sim takes [--seed N] [--minutes M], not {given:?}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_a_seed_or_minutes() {
        let is_right = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            check(&arguments).is_ok()
        };
        assert!(is_right(&["--seed", "7"]));
        assert!(is_right(&["--minutes", "10"]));
        assert!(is_right(&["--minutes", "10", "--seed", "7"]));
        assert!(!is_right(&[]));
        assert!(!is_right(&["--seed"]));
        assert!(!is_right(&["--seed", "many"]));
        assert!(!is_right(&["--hours", "1"]));
    }
}
