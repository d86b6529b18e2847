//! `ci`: all checks, cheapest first, with a line and a time for each.
//!
//! It stops at the first red step, because that is the one to mend; with `--keep-going` it runs
//! them all and is red at the end.

use std::time::{Duration, Instant};

use crate::checks::{BARE_CORE, CLIPPY, Check, FORMAT, FULL_CORE};
use crate::outcome::{Outcome, Stop, green_if};
use crate::process::{cargo, succeeds};
use crate::{deny, test, tidy};

type Step = (&'static str, fn() -> Outcome);

const STEPS: [Step; 7] = [
    ("fmt", || hold(&[FORMAT])),
    ("clippy", || hold(&[CLIPPY])),
    ("tidy", || tidy::run(&[])),
    ("tests", test::run_all_tests),
    ("docs", document),
    ("features", || hold(&[BARE_CORE, FULL_CORE])),
    ("deny", || deny::run(&[])),
];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let keep_going = match arguments {
        [] => false,
        [only] if only == "--keep-going" => true,
        _ => {
            let given = arguments.join(" ");
            return Err(Stop::Misused(format!(
                "`ci` takes --keep-going or nothing, not {given:?}"
            )));
        }
    };
    let lines = walk(&STEPS, keep_going);
    println!();
    for line in &lines {
        println!("{}", line.text);
    }
    green_if(lines.iter().all(|line| line.green))
}

struct Line {
    green: bool,
    text: String,
}

fn walk(steps: &[Step], keep_going: bool) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for (name, step) in steps {
        if !keep_going && lines.iter().any(|line| !line.green) {
            lines.push(Line { green: false, text: format!("{name:<10}not run") });
            continue;
        }
        println!("== {name}");
        let begin = Instant::now();
        let green = step().is_ok();
        lines.push(Line { green, text: summary(name, green, begin.elapsed()) });
    }
    lines
}

fn summary(name: &str, green: bool, took: Duration) -> String {
    let word = if green { "green" } else { "RED" };
    format!("{name:<10}{word:<7}{:6.1} s", took.as_secs_f64())
}

fn document() -> Outcome {
    let mut command = cargo(&["doc", "--no-deps", "--workspace", "--all-features"]);
    green_if(succeeds(command.env("RUSTDOCFLAGS", "-D warnings")))
}

fn hold(checks: &[Check]) -> Outcome {
    green_if(checks.iter().all(|check| succeeds(&mut check.command())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORY: [Step; 3] =
        [("first", || Ok(())), ("second", || Err(Stop::Red)), ("third", || Ok(()))];

    fn check(keep_going: bool, expected: &str) {
        let words: Vec<String> = walk(&STORY, keep_going)
            .iter()
            .map(|line| line.text.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(words.join(", "), expected);
    }

    #[test]
    fn the_first_red_step_is_the_last() {
        check(false, "first green, second RED, third not");
    }

    #[test]
    fn keeping_going_runs_them_all() {
        check(true, "first green, second RED, third green");
    }

    #[test]
    fn a_summary_is_one_line_with_its_time() {
        let line = summary("docs", true, Duration::from_millis(12_340));
        assert_eq!(line, "docs      green    12.3 s");
    }

    #[test]
    fn other_arguments_are_refused() {
        assert!(matches!(run(&["--fast".to_owned()]), Err(Stop::Misused(_))));
    }
}
