//! A policy at another tempo: every span of time in it, wherever it stands, is divided.

#![cfg(feature = "serde")]

use headcount_core::{PolicyConfig, Preset};
use serde_json::Value;

/// Every span of time in `value`, with its path, in seconds.
fn spans(value: &Value, path: &str, found: &mut Vec<(String, f64)>) {
    match value {
        Value::Object(map) if map.contains_key("secs") && map.contains_key("nanos") => {
            let part = |name: &str| map[name].as_f64().expect("a number");
            found.push((path.to_owned(), part("secs") + part("nanos") / 1e9));
        }
        Value::Object(map) => {
            map.iter().for_each(|(name, inner)| spans(inner, &format!("{path}.{name}"), found));
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, inner)| spans(inner, &format!("{path}[{index}]"), found));
        }
        _ => {}
    }
}

fn spans_of(config: &PolicyConfig) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    spans(&serde_json::to_value(config).expect("a policy can be written"), "", &mut found);
    found
}

#[test]
fn every_span_of_every_preset_is_divided_but_how_long_a_task_may_wait() {
    let mut divided = 0;
    for preset in Preset::all() {
        let (stock, quick) = (preset.config(), preset.config().with_times_divided_by(15.0));
        for ((path, before), (_, after)) in spans_of(&stock).iter().zip(spans_of(&quick)) {
            let told = format!("{}{path}: {before} s became {after} s", preset.name());
            if path == ".decider.wait_budget" {
                assert!((after - before).abs() < 1e-9, "{told}");
                continue;
            }
            let shortest = if path == ".tick" { before.min(0.1) } else { 0.0 };
            let expected = (before / 15.0).max(shortest);
            assert!((after - expected).abs() < 1e-8, "{told}, not {expected}");
            divided += 1;
        }
    }
    assert!(60 < divided, "{divided} spans were divided");
}
