//! Files that are wrong, each with the report that it gets beside it, and files that are right.
//!
//! A report is held against the `.report` beside the file, a file that is right against the
//! `.shown`. With `HEADCOUNT_SNAPSHOTS=write` they are written anew; read the difference before it
//! is kept.

#![cfg(feature = "config")]

mod config_support;

use std::fs;
use std::path::Path;

use config_support::{corpus, reader_for};
use headcount::Observation;
use headcount::config::{Config, Format, Reading, Report};

fn read(path: &Path) -> Result<Reading, Report> {
    let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
    let text = fs::read_to_string(path).expect("it can be read");
    reader_for(path).parse(name, &text)
}

/// Holds `found` against what stands beside the file.
fn check(path: &Path, extension: &str, found: &str) {
    let beside = format!("{}.{extension}", path.display());
    if std::env::var("HEADCOUNT_SNAPSHOTS").is_ok_and(|wish| wish == "write") {
        fs::write(&beside, found).expect("it can be written");
    }
    let expected = fs::read_to_string(&beside).unwrap_or_default();
    assert_eq!(found, expected, "{}", path.display());
}

#[test]
fn what_is_wrong_is_told_with_place_value_and_remedy() {
    let files = corpus("bad");
    assert!(60 <= files.len(), "{} files", files.len());
    for path in files {
        let report = read(&path).expect_err(&path.display().to_string());
        assert!(!report.findings().is_empty());
        check(&path, "report", &format!("{report}\n"));
    }
}

#[test]
fn what_is_right_is_shown_as_it_is_in_force() {
    for path in corpus("good") {
        let reading = read(&path).unwrap_or_else(|report| panic!("{report}"));
        let mut shown = reading.show(Format::Yaml, None).expect("YAML says everything");
        shown.extend(reading.hint_lines().iter().map(|line| format!("# {line}\n")));
        check(&path, "shown", &shown);
    }
}

#[test]
fn what_is_shown_reads_back_the_same() {
    for path in corpus("good") {
        let reading = read(&path).unwrap_or_else(|report| panic!("{report}"));
        let registry = config_support::registry();
        for (format, name) in
            [(Format::Yaml, "a.yaml"), (Format::Toml, "a.toml"), (Format::Json, "a.json")]
        {
            let Ok(text) = reading.config.write(format) else {
                assert_eq!(format, Format::Toml, "only TOML cannot say everything");
                continue;
            };
            let back = Config::parse(name, &text, &registry);
            let back = back.unwrap_or_else(|report| panic!("{}: {report}\n{text}", path.display()));
            assert_eq!(back, reading.config, "{}\n{text}", path.display());
        }
    }
}

#[test]
fn every_right_file_makes_pools_and_autoscalers() {
    let registry = config_support::registry();
    for path in corpus("good") {
        let reading = read(&path).unwrap_or_else(|report| panic!("{report}"));
        for pool in &reading.config.pools {
            let mut autoscaler = pool.autoscaler(&registry).expect("its parts can be made");
            let decision = autoscaler.tick(&Observation::default());
            assert!(Some(decision.to.ceiling) <= pool.policy.workers_max, "{}", pool.name);
        }
    }
}
