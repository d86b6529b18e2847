//! Under the same policy everything comes out the same, unless somebody changed it.

use std::sync::Arc;

use headcount::trace::RecorderConfig;
use headcount::{Extras, Name, Observation, Staffing};
use headcount_core::guard::{Because, Guard, Ruling};
use headcount_core::signal::Signal;
use headcount_core::{Noted, Notes, Situation};

use crate::place::Place;

#[test]
fn a_recorded_run_replays_byte_for_byte() {
    let place = Place::new();
    place.record("run.jsonl", RecorderConfig::default());
    place.check(&["run.jsonl"], 0, "pool mail: ");
    place.check(&["run.jsonl"], 0, "pool thumbs: ");
    let (_, text) = place.headcount(&["replay", "run.jsonl", "--pool", "thumbs"]);
    assert!(!text.contains("mail") && text.contains("all identical"), "{text}");
    place.check(&["run.jsonl", "--json"], 0, "\"differing\": 0");
}

/// Changes the nth decision of a pool, and returns the line that it stands in.
fn tamper(place: &Place, name: &str, nth: usize) -> usize {
    let text = place.found(name);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let decisions = lines.iter().enumerate().filter(|(_, line)| {
        line.starts_with("{\"pool\":\"mail\"") && line.contains("\"decision\"")
    });
    let index = decisions.map(|(index, _)| index).nth(nth).expect("so many decisions");
    let bounds = "\"bounds\":{\"min\":1,\"max\":8}";
    assert!(lines[index].contains(bounds), "{}", lines[index]);
    lines[index] = lines[index].replace(bounds, "\"bounds\":{\"min\":1,\"max\":9}");
    place.write(name, &(lines.join("\n") + "\n"));
    index + 1
}

#[test]
fn a_row_that_was_changed_is_found_and_explained() {
    let place = Place::new();
    place.record("run.jsonl", RecorderConfig::default());
    let line = tamper(&place, "run.jsonl", 20);
    place.check(&["run.jsonl"], 1, ", 1 of them differ\n");
    place.check(&["run.jsonl"], 1, &format!("run.jsonl:{line}: at "));
    place.check(&["run.jsonl"], 1, "  recorded:\n    ");
    place.check(&["run.jsonl"], 1, "  replayed:\n    ");
    place.check(&["run.jsonl", "--json"], 1, "\"differing\": 1");
    place.check(&["run.jsonl", "--pool", "thumbs"], 0, "all identical");

    tamper(&place, "run.jsonl", 30);
    place.check(&["run.jsonl"], 1, "\n  replayed: ");
    place.check(&["run.jsonl", "--limit", "1"], 1, "1 more differ; --limit lists more");
}

#[test]
fn what_a_terminal_would_obey_is_spelt_out() {
    let place = Place::new();
    place.record("run.jsonl", RecorderConfig::default());
    let text = place.found("run.jsonl").replace("\"mail\"", "\"m\\u001b[31mail\"");
    place.write("run.jsonl", &text);
    place.check(&["run.jsonl"], 0, "pool m\\u{1b}[31mail: ");
    place.check(&["run.jsonl", "--pool", "web"], 2, "there are m\\u{1b}[31mail, thumbs");
    place.check(&["no\u{1b}[2J"], 2, "headcount: no\\u{1b}[2J: No such file");
}

#[test]
fn one_decision_is_told_as_one() {
    let place = Place::new();
    place.record("run.jsonl", RecorderConfig::default());
    let whole = place.found("run.jsonl");
    let mut lines = whole.lines().filter(|line| !line.contains("\"mail\""));
    let first: Vec<&str> = lines.by_ref().take(3).collect();
    place.write("run.jsonl", &(first.join("\n") + "\n"));
    place.check(&["run.jsonl"], 0, "pool thumbs: 1 decision replayed, identical\n");
}

#[test]
fn a_trace_over_several_files_replays_file_by_file_and_as_one() {
    let place = Place::new();
    let config = RecorderConfig { bytes_max: 60_000, files_max: 20 };
    place.record("run.jsonl", config);
    assert!(place.path("run.2.jsonl").is_file());
    place.check(&["run.1.jsonl"], 0, "before its policy is left out");
    let replayed = |words: &[&str]| {
        let words = [&["replay", "run.jsonl", "--json"], words].concat();
        let (code, text) = place.headcount(&words);
        assert_eq!(code, Some(0), "{text}");
        let told: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let count = |name: &str| {
            let pools = told["pools"].as_array().expect("pools");
            pools.iter().map(|pool| pool[name].as_u64().expect("a count")).sum::<u64>()
        };
        (count("replayed"), count("before_policy"))
    };
    let (of_last, left_out) = replayed(&[]);
    assert!(0 < left_out);
    let (of_all, left_out) = replayed(&["--rotated"]);
    assert_eq!(left_out, 0, "from the beginning on, every policy is known");
    assert!(2 * of_last < of_all, "{of_last} of {of_all}");
}

#[test]
fn what_headcount_run_records_can_be_replayed() {
    let place = Place::new();
    let run = ["run", "--trace", "run.jsonl", "sh", "-c", "exit 0", ":::", "1", "2", "3", "4"];
    let (code, text) = place.headcount(&run);
    assert_eq!(code, Some(0), "{text}");
    // So short a run may have a single decision.
    place.check(&["run.jsonl"], 0, "identical\n");
    place.check(&["run.jsonl", "--preset", "slo", "--slo", "1s"], 0, "the preset slo");
}

/// Counts how often it was asked, which nobody can know who was not there.
#[derive(Clone, Debug)]
struct Asked(u32);

impl Signal for Asked {
    fn name(&self) -> &'static str {
        "asked"
    }

    fn read(&mut self, _: &Observation) -> Option<f64> {
        self.0 += 1;
        Some(f64::from(self.0) / 7.0)
    }

    fn save(&self, notes: &mut Notes) {
        self.0.write(notes);
    }
}

/// Holds where that number is high.
#[derive(Debug)]
struct Tired;

impl Guard for Tired {
    fn name(&self) -> &'static str {
        "tired"
    }

    fn review(&self, situation: &Situation<'_>, _: Staffing) -> Ruling {
        match situation.reading("asked") {
            Some(asked) if asked.value.fract() < 0.5 => Ruling::Allow,
            _ => Ruling::Hold(Because::Said(Name::new("tired").expect("a name"))),
        }
    }
}

#[test]
fn a_run_with_parts_of_ones_own_replays_byte_for_byte() {
    let place = Place::new();
    let extras = || Extras {
        signals: vec![Box::new(Asked(0))],
        guards: vec![Arc::new(Tired)],
        ..Extras::default()
    };
    let config = RecorderConfig { bytes_max: 60_000, files_max: 20 };
    place.record_with("run.jsonl", config, extras);
    assert!(place.found("run.jsonl").contains("\"extras\":{\"signals\":[\"asked\"]"));
    place.check(&["run.jsonl"], 0, "all identical");
    place.check(&["run.jsonl", "--rotated", "--json"], 0, "\"differing\": 0");
    place.check(&["run.jsonl", "--rotated", "--preset", "slo"], 0, "the preset slo");

    // What the parts said is taken as it was; what came of it is not.
    let (bounds, others) = ("\"bounds\":{\"min\":1,\"max\":8}", "\"bounds\":{\"min\":1,\"max\":9}");
    let text = place.found("run.jsonl").replace(bounds, others);
    place.write("changed.jsonl", &text);
    place.check(&["changed.jsonl"], 1, "of them differ");
    let old =
        place.found("run.jsonl").replace("{\"headcount_trace\":2}", "{\"headcount_trace\":9}");
    place.write("new.jsonl", &old);
    place.check(&["new.jsonl"], 2, "the trace has version 9; this program reads 1 to 2");
}
