//! `chaos`: jobs under faults, at a size that takes a while.
//!
//! The tests are among those that `cargo xtask test` runs, where everything is small.

use crate::needs::{self, NEEDS};
use crate::outcome::{Outcome, Stop, green_if};
use crate::process::{cargo, succeeds};

/// By how much everything is larger.
const SIZE: &str = "20";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let size = size(arguments)?;
    needs::prepare(NEEDS);
    let mut command = cargo(&["test", "--release", "--package", "headcount", "--all-features"]);
    command.args(["--test", "chaos", "--", "--nocapture", "--test-threads", "1"]);
    green_if(succeeds(command.env("HEADCOUNT_CHAOS_SIZE", size)))
}

fn size(arguments: &[String]) -> Result<&str, Stop> {
    match arguments {
        [] => Ok(SIZE),
        [size] if size.parse::<u64>().is_ok_and(|size| 0 < size) => Ok(size),
        others => Err(Stop::Misused(format!("chaos takes one number, not {others:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &[&str], expected: Option<&str>) {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        assert_eq!(size(&arguments).ok(), expected);
    }

    #[test]
    fn it_takes_one_number_or_none() {
        check(&[], Some("20"));
        check(&["2"], Some("2"));
        check(&["0"], None);
        check(&["all"], None);
        check(&["5", "6"], None);
    }
}
