//! The documents list what there is, no more and no less.

use std::collections::BTreeSet;

use headcount_ops::{METRICS, routes};

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

#[test]
fn every_metric_has_a_row() {
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        cells.join(" | ")
    };
    let told: Vec<String> =
        METRICS_PAGE.lines().filter(|line| line.starts_with("| `headcount_")).map(row).collect();
    let expected: Vec<String> = METRICS
        .iter()
        .map(|metric| {
            let labels: Vec<String> =
                metric.labels.iter().map(|label| format!("`{label}`")).collect();
            let kind = metric.kind.as_str();
            format!("`{}` | {kind} | {} | {}", metric.name, labels.join(", "), metric.help)
        })
        .collect();
    assert_eq!(told, expected);
}
