//! `fuzz`: files as nobody would write them, for as long as a night has.
//!
//! The test is one of those that `cargo xtask test` runs for a few seconds. It needs nothing but
//! the stable toolchain: the files of the corpora are mutated by a seeded generator.

use crate::outcome::{Outcome, Stop, green_if};
use crate::process::{cargo, succeeds};

/// The test, which reads from its environment how long it runs and from which seed.
const TEST: &str = "whatever_stands_in_a_file_it_is_read_or_refused";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let Wish { minutes, seed } = wish(arguments)?;
    let seconds = minutes.saturating_mul(60).to_string();
    let test = ["test", "--release", "--package", "headcount", "--all-features"];
    let mut command = cargo(&test);
    command.args(["--test", "config_fuzz", TEST, "--", "--nocapture"]);
    command.env("HEADCOUNT_FUZZ_SECONDS", seconds).env("HEADCOUNT_FUZZ_SEED", seed.to_string());
    green_if(succeeds(&mut command))
}

#[derive(Debug, PartialEq, Eq)]
struct Wish {
    minutes: u64,
    seed: u64,
}

fn wish(arguments: &[String]) -> Result<Wish, Stop> {
    let misused = || {
        let given = arguments.join(" ");
        Stop::Misused(format!("fuzz takes config [--minutes N] [--seed S], not {given:?}"))
    };
    let mut wish = Wish { minutes: 1, seed: 1 };
    let Some(("config", rest)) = arguments.split_first().map(|(what, rest)| (what.as_str(), rest))
    else {
        return Err(misused());
    };
    for pair in rest.chunks(2) {
        let [name, number] = pair else { return Err(misused()) };
        let number: u64 = number.parse().map_err(|_| misused())?;
        match name.as_str() {
            "--minutes" => wish.minutes = number,
            "--seed" => wish.seed = number,
            _ => return Err(misused()),
        }
    }
    Ok(wish)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &[&str], expected: Option<(u64, u64)>) {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let read = wish(&arguments).ok().map(|wish| (wish.minutes, wish.seed));
        assert_eq!(read, expected, "{arguments:?}");
    }

    #[test]
    fn it_takes_minutes_and_a_seed() {
        check(&["config"], Some((1, 1)));
        check(&["config", "--minutes", "10", "--seed", "7"], Some((10, 7)));
        check(&["config", "--seed", "7"], Some((1, 7)));
        check(&[], None);
        check(&["queue"], None);
        check(&["config", "--minutes"], None);
        check(&["config", "--minutes", "many"], None);
        check(&["config", "--hours", "1"], None);
    }
}
