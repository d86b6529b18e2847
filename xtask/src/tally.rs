//! Counts tests from the summaries that the test runners print.

use std::fmt;
use std::ops::AddAssign;

/// How many tests passed and how many did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u32,
    pub(crate) failed: u32,
}

impl Tally {
    /// Reads `Summary [ 0.1s] 3 tests run: 1 passed (1 slow), 1 failed, 1 timed out, 0 skipped`.
    pub(crate) fn from_nextest(line: &str) -> Option<Self> {
        let line = without_colour(line);
        let summary = line.trim_start().strip_prefix("Summary [")?;
        let (_, counts) = summary.split_once(" run: ")?;
        let counts = without_brackets(counts);
        Some(Self::of(counts.split(", ")))
    }

    /// Reads `test result: FAILED. 1 passed; 2 failed; 0 ignored; ...`, from the line's very start:
    /// what a test itself printed is not a summary.
    pub(crate) fn from_libtest(line: &str) -> Option<Self> {
        let line = without_colour(line);
        let summary = line.strip_prefix("test result: ")?;
        let (_, counts) = summary.split_once(". ")?;
        Some(Self::of(counts.split("; ")))
    }

    fn of<'a>(counts: impl Iterator<Item = &'a str>) -> Self {
        let mut tally = Self::default();
        for count in counts {
            let Some((number, what)) = count.trim().split_once(' ') else { continue };
            let Ok(number) = number.parse::<u32>() else { continue };
            match what.trim() {
                "passed" => tally.passed += number,
                "failed" | "exec failed" | "timed out" => tally.failed += number,
                _ => {}
            }
        }
        tally
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// Drops terminal colours: everything from an escape to the letter that ends it.
fn without_colour(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => _ = chars.by_ref().find(char::is_ascii_alphabetic),
            _ => plain.push(c),
        }
    }
    plain
}

/// Drops `(1 slow, 1 flaky)`: those have been counted as passed or failed.
fn without_brackets(text: &str) -> String {
    let mut depth = 0_u32;
    let mut kept = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(read: fn(&str) -> Option<Tally>, line: &str, expected: &str) {
        let tally = read(line).map_or_else(|| "nothing".to_owned(), |tally| tally.to_string());
        assert_eq!(tally, expected, "{line}");
    }

    #[test]
    fn nextest_summaries_are_counted() {
        let check = |line, expected| check(Tally::from_nextest, line, expected);
        check("     Summary [   0.009s] 1 test run: 1 passed, 2 skipped", "1 passed, 0 failed");
        check(
            "     Summary [   0.1s] 2 tests run: 1 passed, 1 failed, 1 skipped",
            "1 passed, 1 failed",
        );
        check(
            "     Summary [   0.1s] 1/9 tests run: 0 passed, 1 failed, 0 skipped",
            "0 passed, 1 failed",
        );
        check("Summary [ 0.000s] 0 tests run: 0 passed, 3 skipped", "0 passed, 0 failed");
    }

    #[test]
    fn every_way_to_fail_counts_as_failed() {
        check(
            Tally::from_nextest,
            " Summary [ 61.0s] 9 tests run: 5 passed (1 slow, 1 flaky), 1 failed (1 due to being \
             leaky), 1 exec failed, 2 timed out, 0 skipped",
            "5 passed, 4 failed",
        );
    }

    #[test]
    fn colours_do_not_hide_a_summary() {
        let line = "\u{1b}[32;1m     Summary\u{1b}[0m [   0.0s] \u{1b}[1m2\u{1b}[0m tests run: \
                    \u{1b}[1m2\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m, \u{1b}[1m0\u{1b}[0m skipped";
        check(Tally::from_nextest, line, "2 passed, 0 failed");
    }

    #[test]
    fn libtest_summaries_are_counted() {
        let check = |line: &str, expected| check(Tally::from_libtest, line, expected);
        let rest = "1 ignored; 0 measured; 0 filtered out; finished in 0.11s";
        check(&format!("test result: ok. 3 passed; 0 failed; {rest}"), "3 passed, 0 failed");
        check(&format!("test result: FAILED. 1 passed; 2 failed; {rest}"), "1 passed, 2 failed");
    }

    #[test]
    fn other_lines_are_not_summaries() {
        check(Tally::from_nextest, "        PASS [   0.007s] (1/1) xtask tests::ok", "nothing");
        check(Tally::from_nextest, "test result: ok. 3 passed; 0 failed", "nothing");
        check(Tally::from_libtest, "    test result: ok. 3 passed; 0 failed", "nothing");
        check(Tally::from_libtest, "running 3 tests", "nothing");
    }
}
