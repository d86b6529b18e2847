//! The documents list what there is, no more and no less.

use std::collections::BTreeSet;

use headcount_ops::{ALIASES, METRICS, Metric, routes};

const API: &str = include_str!("../../../../docs/api.md");
const METRICS_PAGE: &str = include_str!("../../../../docs/metrics.md");

#[test]
fn every_route_has_a_heading_and_an_example() {
    let served: BTreeSet<String> =
        routes().iter().map(|(method, path)| format!("{method} {path}")).collect();
    let mut told = BTreeSet::new();
    for section in API.split("\n### ").skip(1) {
        let (heading, text) = section.split_once('\n').expect("a heading has a text");
        let route = heading.trim_matches('`');
        assert!(text.contains("```sh\ncurl "), "{route} has no example");
        assert!(told.insert(route.to_owned()), "{route} is told twice");
    }
    assert_eq!(told, served);
}

/// The rows of the page whose metric begins with one of these.
fn told(prefixes: &[&str]) -> Vec<String> {
    let is_told = |line: &&str| {
        line.strip_prefix("| `").is_some_and(|row| prefixes.iter().any(|p| row.starts_with(p)))
    };
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        cells.join(" | ")
    };
    METRICS_PAGE.lines().filter(is_told).map(row).collect()
}

fn row(metric: &Metric) -> String {
    let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
    let kind = metric.kind.as_str();
    format!("`{}` | {kind} | {} | {}", metric.name, labels.join(", "), metric.help)
}

#[test]
fn every_metric_has_a_row() {
    assert_eq!(told(&["headcount_"]), METRICS.iter().map(row).collect::<Vec<_>>());
}

#[test]
fn every_other_name_has_a_row() {
    let told = told(&["system_", "extraction_"]);
    assert_eq!(told, ALIASES.iter().map(row).collect::<Vec<_>>());
}
