//! The table at the head of this suite: it has no gaps, and what it names exists.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// How many classes there are.
const CLASSES: usize = 22;

/// The source of every test in this folder and below.
fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).expect("it is there").flatten();
    let text = entries.map(|entry| match entry.path() {
        path if path.is_dir() => sources(&path),
        path => fs::read_to_string(path).expect("it is text"),
    });
    text.collect()
}

/// Each row of a test: its class, whose it is, and its name.
fn rows(table: &str) -> Vec<(usize, &str, &str)> {
    let (mut class, mut whose, mut rows) = (0, "", Vec::new());
    for line in table.lines().filter_map(|line| line.strip_prefix("//! | ")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        class = cells[0].parse().unwrap_or(class);
        whose = if cells[1].is_empty() { whose } else { cells[1] };
        rows.extend(cells[2].split('`').nth(1).map(|test| (class, whose, test)));
    }
    rows
}

#[test]
fn every_class_has_a_test_for_either_pool_and_each_exists() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let sources = sources(&folder);
    let mut covered: BTreeMap<usize, [bool; 2]> = BTreeMap::new();
    for (class, whose, test) in rows(include_str!("main.rs")) {
        assert!(sources.contains(&format!("fn {test}()")), "{test} of class {class}");
        let [threads, tasks] = covered.entry(class).or_default();
        *threads |= whose != "tasks";
        *tasks |= whose != "threads";
    }
    let complete = (1..=CLASSES).map(|class| (class, [true; 2]));
    assert_eq!(covered, complete.collect());
}
