//! The conformance table names tests that exist.
//!
//! A row that says "shown by `headcount-core::scaling::a_test`" is a claim. A renamed test must
//! not leave it hollow.

use std::collections::BTreeSet;

use super::fault::Fault;
use super::house::House;

const TABLE: &str = "docs/seeds-conformance.md";

pub(crate) fn faults(house: &House) -> Vec<Fault> {
    let Some(table) = house.file(TABLE) else { return Vec::new() };
    let functions: BTreeSet<&str> = house
        .rust()
        .flat_map(|(_, source)| &source.functions)
        .map(|function| function.name.as_str())
        .collect();

    let mut faults = Vec::new();
    for (number, line) in table.lines().filter(|(_, line)| line.trim_start().starts_with('|')) {
        for claim in claims(line) {
            let name = claim.rsplit("::").next().unwrap_or_default();
            if !functions.contains(name) {
                let what = format!("test {claim:?} is nowhere, allowed are tests that exist");
                faults.push(Fault::new(&table.path, number, what));
            }
        }
    }
    faults
}

/// What stands in backticks, begins with one of our crates and goes on with `::`.
fn claims(row: &str) -> impl Iterator<Item = &str> {
    let quoted = row.split('`').skip(1).step_by(2);
    quoted.filter(|text| {
        let ours = text.starts_with("headcount") || text.starts_with("xtask");
        ours && text.contains("::") && !text.contains(' ')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(row: &str, expected: &str) {
        let code = "//! T.\nfn holds_the_peak() {}\n";
        let house = House::of(&[(TABLE, row), ("crates/a/src/lib.rs", code)]);
        let told: Vec<String> = faults(&house).iter().map(Fault::to_string).collect();
        assert_eq!(told.join("; "), expected, "{row}");
    }

    #[test]
    fn a_named_test_exists() {
        check("| R1 | `headcount-core::guard::holds_the_peak` |", "");
        check(
            "| R1 | `headcount-core::...::holds_the_peak`, `headcount_sim::no` |",
            "docs/seeds-conformance.md:1: test \"headcount_sim::no\" is nowhere, \
             allowed are tests that exist",
        );
    }

    #[test]
    fn other_words_are_not_claims() {
        check("| R1 | `Staffing::exactly`, `headcount-core` | headcount-core::nothing |", "");
        check("The row `headcount-core::nothing` is outside of a table.", "");
    }

    #[test]
    fn no_table_makes_no_claim() {
        assert_eq!(faults(&House::of(&[("README.md", "| `headcount-core::x` |")])), []);
    }
}
