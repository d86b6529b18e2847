//! What cannot be replayed is refused in a sentence, with exit code 2.

use headcount::Preset;
use headcount::trace::RecorderConfig;

use crate::place::Place;

const HEADER: &str = "{\"headcount_trace\":1}\n";

#[test]
fn a_file_that_is_no_trace_is_refused() {
    let place = Place::new();
    let check = |text: &str, expected: &str| {
        place.write("bad.jsonl", text);
        place.check(&["bad.jsonl"], 2, &format!("headcount: bad.jsonl: {expected}"));
    };
    check("", "this is no trace; it is empty");
    check("{\"headcount_tr", "this is no trace; its first line is cut off");
    check("seconds,arrivals\n1,2\n", "line 1: this is no trace; its first line is ");
    check("{\"headcount_trace\":3}\n", "line 1: the trace has version 3; this program reads");
    check(HEADER, "it has no pool; nothing can be replayed");
    check(&format!("{HEADER}{{\"pool\":\"a\"}}\n"), "line 2: this is neither a decision nor");
    place.check(&["none.jsonl"], 2, "headcount: none.jsonl: No such file");
    place.check(&["."], 2, "headcount: .: it is a directory; give a file");
    place.check(&[], 2, "FILE");
}

#[test]
fn a_policy_that_is_none_or_has_decided_nothing_is_refused() {
    let place = Place::new();
    let check = |row: &str, expected: &str| {
        place.write("bad.jsonl", format!("{HEADER}{row}\n"));
        place.check(&["bad.jsonl"], 2, expected);
    };
    let crossed = r#"{"pool":"a","policy":{"workers_min":5,"workers_max":3},"notes":[]}"#;
    check(crossed, "bad.jsonl:2: pool a: the recorded policy is refused: workers_max is 3");
    let damaged = r#"{"pool":"a","policy":{},"notes":[1]}"#;
    check(damaged, "bad.jsonl:2: pool a: the notes are damaged or cut off");
    place.record("run.jsonl", RecorderConfig::default());
    let whole = place.found("run.jsonl");
    let two: Vec<&str> = whole.lines().take(2).collect();
    place.write("bad.jsonl", &(two.join("\n") + "\n"));
    place.check(&["bad.jsonl"], 2, "nothing was decided in it; there is nothing to replay");
}

/// To have checked nothing is not to have found everything the same.
#[test]
fn without_its_policy_nothing_is_replayed_and_that_is_told() {
    let place = Place::new();
    place.record("run.jsonl", RecorderConfig::default());
    let whole = place.found("run.jsonl");
    let decided = |line: &&str| !line.contains("\"policy\"") && !line.contains("\"thumbs\"");
    let rows: Vec<&str> = whole.lines().filter(decided).collect();
    place.write("run.jsonl", &(rows.join("\n") + "\n"));
    let none = format!("pool mail: none of its {} decisions was replayed", rows.len() - 1);
    place.check(&["run.jsonl"], 1, &none);
    let (_, text) = place.headcount(&["replay", "run.jsonl"]);
    assert!(!text.contains("identical"), "{text}");
    let why = "headcount: run.jsonl: nothing of mail was replayed, as its policy is not in ";
    place.check(&["run.jsonl"], 1, &format!("{why}the file; with --rotated those before it"));
    place.check(&["run.jsonl", "--rotated"], 1, &format!("{why}any of the files; the one"));
    place.check(&["run.jsonl", "--json"], 1, "\"replayed\": 0");
    place.check(&["run.jsonl", "--preset", "slo"], 1, &none);
    place.write("run.jsonl", &(rows[..2].join("\n") + "\n"));
    place.check(&["run.jsonl"], 1, "pool mail: its 1 decision was not replayed");
}

#[test]
fn a_last_line_that_was_cut_off_is_left_out_and_said() {
    let place = Place::new();
    place.record("run.jsonl", RecorderConfig::default());
    let whole = place.found("run.jsonl");
    place.write("run.jsonl", &whole[..whole.len() - 9]);
    place.check(&["run.jsonl"], 0, "run.jsonl: its last line was cut off and is left out\n");
    place.check(&["run.jsonl", "--json"], 0, "\"cut_off\": true");
}

#[test]
fn what_was_asked_for_must_be_there() {
    let place = Place::new();
    place.record("run.jsonl", RecorderConfig::default());
    let check = |words: &[&str], expected| {
        place.check(&[&["run.jsonl"], words].concat(), 2, expected);
    };
    check(&["--pool", "web"], "no pool is called \"web\"; there are mail, thumbs");
    check(&["--preset", "fast"], "no preset is called \"fast\"; there are slo");
    check(&["--slo", "100ms"], "<--policy <FILE>|--preset <NAME>>");
    check(&["--preset", "slo", "--slo", "soon"], "\"soon\" is no span of time");
    check(&["--preset", "slo", "--policy", "a.yaml"], "cannot be used with");
    check(&["--policy", "none.yaml"], "it cannot be opened");
    place.write("bad.yaml", "pools: {mail: {preset: fastest, workers: {min: 9, max: 3}}}");
    check(&["--policy", "bad.yaml"], "pools.mail.preset is \"fastest\"");
    check(&["--policy", "bad.yaml"], "workers.max is 3");
    place.write("others.yaml", "pools: {a: {}, b: {}}");
    check(&["--policy", "others.yaml"], "no pool is called \"thumbs\"; there are a, b");
}

#[test]
fn a_preset_that_does_not_fit_the_bounds_says_so_before_anything_is_told() {
    let place = Place::new();
    place.simulate("web.jsonl", &Preset::gopipe());
    let text = place.found("web.jsonl").replacen("\"workers_max\":8", "\"workers_max\":0", 1);
    place.write("web.jsonl", &text);
    place.check(&["web.jsonl", "--preset", "slo"], 2, "the recorded policy is refused");
}
