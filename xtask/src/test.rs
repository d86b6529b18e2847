//! `test`: runs every test of the workspace, then says `N passed, N failed` on its last line.
//!
//! The README's test command and all that CI runs. It needs the toolchain and redis-server: where
//! `cargo-nextest` is installed it runs the tests, else `cargo test` does. Doc tests come last.
//! In CI, that is with `CI=true`, the format, the lints and the core alone are checked first.

use std::env;
use std::process::Command;
use std::time::Instant;

use crate::checks::{BARE_CORE, CLIPPY, Check, FORMAT, FULL_CORE};
use crate::needs::{self, NEEDS};
use crate::outcome::{Outcome, green_if};
use crate::process::{answer, cargo, succeeds_aloud, succeeds_quietly};
use crate::tally::Tally;

pub(crate) fn run(names: &[String]) -> Outcome {
    needs::prepare(NEEDS);
    let mut tally = Tally::default();
    if in_ci() {
        tally.failed += red_checks();
    }
    tally += run_tests(names);
    conclude(tally)
}

/// The tests alone, for those who have checked the rest already.
pub(crate) fn run_all_tests() -> Outcome {
    needs::prepare(NEEDS);
    conclude(run_tests(&[]))
}

/// The last line is for whoever reads nothing else: nothing may be printed after it.
fn conclude(tally: Tally) -> Outcome {
    if tally == Tally::default() {
        eprintln!("no test was run, which proves nothing");
    }
    println!("{tally}");
    green_if(tally.failed == 0 && 0 < tally.passed)
}

fn in_ci() -> bool {
    env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

/// Each red check counts as one failure, so that a red run never ends with "0 failed".
fn red_checks() -> u32 {
    let checks = [FORMAT, CLIPPY, BARE_CORE, FULL_CORE];
    checks.iter().map(|check| u32::from(is_red(check))).sum()
}

fn is_red(check: &Check) -> bool {
    let name = check.name;
    if let Some(missing) = check.missing() {
        println!("{name}: not checked, {missing}");
        return false;
    }
    let begin = Instant::now();
    let green = succeeds_quietly(&mut check.command());
    let word = if green { "green" } else { "red" };
    println!("{name}: {word} in {:.1} s", begin.elapsed().as_secs_f64());
    !green
}

fn run_tests(names: &[String]) -> Tally {
    let mut tally = if answer(&mut cargo(&["nextest", "--version"])).is_ok() {
        run_nextest(names)
    } else {
        run_libtest(&["--lib", "--bins", "--tests", "--examples"], names)
    };
    tally += run_libtest(&["--doc"], names);
    tally
}

fn run_nextest(names: &[String]) -> Tally {
    let mut command = cargo(&["nextest", "run", "--workspace", "--all-features"]);
    // Nothing found is ours to judge: the name may be that of a doc test.
    command.args(["--no-fail-fast", "--no-tests=pass"]);
    // The last summary is the runner's own; one before it was printed by a test.
    count(&mut command, names, Tally::from_nextest, |tally, summary| *tally = summary)
}

fn run_libtest(targets: &[&str], names: &[String]) -> Tally {
    let mut command = cargo(&["test", "--workspace", "--all-features", "--no-fail-fast"]);
    command.args(targets);
    count(&mut command, names, Tally::from_libtest, |tally, summary| *tally += summary)
}

fn count(
    command: &mut Command,
    names: &[String],
    read: fn(&str) -> Option<Tally>,
    add: fn(&mut Tally, Tally),
) -> Tally {
    command.arg("--").args(names);
    let mut tally = Tally::default();
    let succeeded = succeeds_aloud(command, |line| {
        if let Some(summary) = read(line) {
            add(&mut tally, summary);
        }
    });
    if !succeeded && tally.failed == 0 {
        eprintln!("the tests could not be built or run to their end; this counts as one failure");
        tally.failed = 1;
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Stop;

    fn check(passed: u32, failed: u32, expected: &Outcome) {
        assert_eq!(&conclude(Tally { passed, failed }), expected);
    }

    #[test]
    fn green_takes_a_test_that_passed_and_none_that_failed() {
        check(1, 0, &Ok(()));
        check(9, 1, &Err(Stop::Red));
        check(0, 0, &Err(Stop::Red));
    }

    #[test]
    fn what_does_not_run_counts_as_one_failure() {
        let tally = count(&mut cargo(&["no-such-command"]), &[], Tally::from_libtest, |_, _| ());
        assert_eq!(tally, Tally { passed: 0, failed: 1 });
    }
}
