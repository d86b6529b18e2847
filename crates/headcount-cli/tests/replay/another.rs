//! Beside another policy: what it would have done, at what price, how late.

use headcount::Preset;
use headcount::trace::RecorderConfig;
use serde_json::Value;

use crate::place::Place;

#[test]
fn another_preset_is_told_beside_the_recorded_one() {
    let place = Place::new();
    place.simulate("web.jsonl", &Preset::gopipe());
    let check = |words: &[&str], expected| {
        place.check(&[&["web.jsonl", "--preset", "slo"], words].concat(), 0, expected);
    };
    check(&[], "  beside it: the preset slo, 1 to 8 workers\n");
    check(&[], ": wants 0..");
    check(&["--limit", "1"], " more; --limit lists more\n");
    check(&["--limit", "1", "--explain"], "  other:\n    ");
    check(&["--slo", "250ms"], "late after a wait of 250ms\n");
    check(&[], "That is close.");
}

/// What is told of the only pool in JSON.
fn told(place: &Place, words: &[&str]) -> Value {
    let (code, text) = place.headcount(&[&["replay", "web.jsonl", "--json"], words].concat());
    assert_eq!(code, Some(0), "{text}");
    let mut told: Value = serde_json::from_str(&text).expect("JSON");
    told["pools"][0].take()
}

#[test]
fn the_simulation_knows_which_policy_is_late() {
    let place = Place::new();
    place.simulate("web.jsonl", &Preset::gopipe());
    let told = told(&place, &["--preset", "slo", "--slo", "100ms"]);
    let number = |path: &str| told.pointer(path).and_then(Value::as_f64).expect("a number");
    let late = |which| number(&format!("/closed_loop/{which}/late_percent"));
    assert!(3.0 * late("other") < late("recorded"), "{told:#}");
    assert!(number("/closed_loop/agreement/worst_deviation") < 0.1, "{told:#}");
    assert!(100.0 < number("/seconds") && 0.0 < number("/seconds_apart"));
    let floor = |which| number(&format!("/open_loop/{which}/floor_worker_seconds"));
    assert!(2.0 * floor("other") < floor("recorded"), "it hires on demand: {told:#}");
}

#[test]
fn the_recorded_policy_beside_itself_never_differs() {
    let place = Place::new();
    place.simulate("web.jsonl", &Preset::gopipe());
    let told = told(&place, &["--preset", "gopipe"]);
    assert_eq!(told["differing"], 0, "{told:#}");
    assert_eq!(told["open_loop"]["recorded"], told["open_loop"]["other"]);
    assert_eq!(told["closed_loop"]["recorded"], told["closed_loop"]["other"]);
}

#[test]
fn a_policy_of_a_file_is_that_of_the_pool() {
    let place = Place::new();
    place.simulate("web.jsonl", &Preset::gopipe());
    place.write("one.yaml", "pools: {any: {preset: aimd, workers: {min: 2, max: 4}}}");
    place.check(&["web.jsonl", "--policy", "one.yaml"], 0, "one.yaml, 2 to 4 workers");
    place.write("two.yaml", "pools: {web: {preset: gopipe}, any: {}}");
    place.check(&["web.jsonl", "--policy", "two.yaml"], 0, "two.yaml, 1 to 8 workers");
}

#[test]
fn where_no_task_ended_there_is_nothing_to_simulate() {
    let place = Place::new();
    place.record("run.jsonl", RecorderConfig::default());
    place.check(&["run.jsonl", "--preset", "aimd"], 0, "no simulation: no task ended");
}
