//! `reality`: the simulator against real pools, for a minute each.
//!
//! `cargo xtask test` runs two of the slices for 20 seconds each and is content with less; here all
//! of them run, and agree closely or fail.

use crate::outcome::{Outcome, Stop, green_if};
use crate::process::{cargo, succeeds};

/// For how long tasks come, in seconds.
const SECONDS: &str = "60";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let seconds = seconds(arguments)?;
    let mut command = cargo(&["test", "--release", "--package", "headcount"]);
    command.args(["--test", "reality", "--", "--nocapture", "--include-ignored"]);
    command.args(["--test-threads", "1"]);
    green_if(succeeds(command.env("HEADCOUNT_REALITY_SECONDS", seconds)))
}

fn seconds(arguments: &[String]) -> Result<&str, Stop> {
    match arguments {
        [] => Ok(SECONDS),
        [seconds] if seconds.parse::<u64>().is_ok_and(|seconds| 0 < seconds) => Ok(seconds),
        others => Err(Stop::Misused(format!("reality takes one number, not {others:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &[&str], expected: Option<&str>) {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        assert_eq!(seconds(&arguments).ok(), expected);
    }

    #[test]
    fn it_takes_one_number_or_none() {
        check(&[], Some("60"));
        check(&["5"], Some("5"));
        check(&["0"], None);
        check(&["long"], None);
        check(&["5", "6"], None);
    }
}
