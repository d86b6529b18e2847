//! `soak`: the test of counts that must not drift, for as long as a night has.
//!
//! The test is one of those that `cargo xtask test` runs with a hundred thousand events.

use crate::outcome::{Outcome, Stop, green_if};
use crate::process::{cargo, succeeds};

/// The test, which reads from its environment how often it resizes.
const TEST: &str = "counts_do_not_drift_over_many_resizes_and_expiries";
const COUNT: &str = "10000000";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let count = count(arguments)?;
    // With every feature: it is there for each kind of pool.
    let package = ["--package", "headcount-pool", "--all-features", "--test", "conformance"];
    let test: Vec<&str> = ["test", "--release"].into_iter().chain(package).chain([TEST]).collect();
    green_if(succeeds(cargo(&test).env("HEADCOUNT_SOAK", count)))
}

fn count(arguments: &[String]) -> Result<&str, Stop> {
    match arguments {
        [] => Ok(COUNT),
        [count] if count.parse::<u64>().is_ok() => Ok(count),
        others => Err(Stop::Misused(format!("soak takes one number, not {others:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &[&str], expected: Option<&str>) {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        assert_eq!(count(&arguments).ok(), expected);
    }

    #[test]
    fn it_takes_one_number_or_none() {
        check(&[], Some("10000000"));
        check(&["5"], Some("5"));
        check(&["many"], None);
        check(&["5", "6"], None);
    }
}
