//! What the documentation shows can be done.

use crate::place::Place;

const DOCS: &str = include_str!("../../../../docs/sim.md");

/// The flags that a help text names.
fn flags(help: &str) -> Vec<&str> {
    let words =
        help.lines().filter_map(|line| line.split_whitespace().find(|w| w.starts_with("--")));
    words.filter(|flag| *flag != "--help").collect()
}

#[test]
fn every_flag_is_in_the_docs() {
    let place = Place::new();
    for command in ["--help", "bench --help"] {
        let help = place.well(command);
        let flags = flags(&help);
        assert!(8 < flags.len(), "{flags:?}");
        for flag in flags {
            assert!(DOCS.contains(&format!("`{flag}")), "docs/sim.md does not tell of {flag}");
        }
    }
}

#[test]
fn every_example_without_a_file_runs() {
    let examples = DOCS.lines().filter_map(|line| line.strip_prefix("$ headcount sim "));
    let examples = examples.filter(|line| !line.contains("--trace ") && !line.contains("bench"));
    let examples: Vec<&str> = examples.collect();
    assert_eq!(examples.len(), 4);
    for example in examples {
        Place::new().well(example);
    }
}
