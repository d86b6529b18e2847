//! The manual, the schema and the presets, held against what files may have.

#![cfg(feature = "config")]

use headcount::config::{Config, Format, Place, Reader, Registry, schema};
use headcount_core::Preset;
use proptest::prelude::*;
use serde_json::Value;

const MANUAL: &str = include_str!("../../../docs/configuration.md");

/// Every name of a field that the schema knows.
fn fields(value: &Value, into: &mut Vec<String>) {
    if let Some(properties) = value.get("properties").and_then(Value::as_object) {
        into.extend(properties.keys().cloned());
    }
    match value {
        Value::Object(map) => map.values().for_each(|inner| fields(inner, into)),
        Value::Array(items) => items.iter().for_each(|inner| fields(inner, into)),
        _ => {}
    }
}

fn parsed_schema() -> Value {
    serde_json::from_str(&schema()).expect("the schema is JSON")
}

#[test]
fn the_manual_knows_every_field() {
    let mut names = Vec::new();
    fields(&parsed_schema(), &mut names);
    names.sort();
    names.dedup();
    let missing = |name: &&String| !MANUAL.contains(&format!("`{name}`"));
    let missing: Vec<&String> = names.iter().filter(missing).collect();
    assert!(missing.is_empty(), "docs/configuration.md does not have {missing:?}");
    assert!(60 < names.len(), "{} fields", names.len());
}

#[test]
fn the_examples_of_the_manual_are_right() {
    let mut count = 0;
    for block in MANUAL.split("```yaml\n").skip(1) {
        let text = block.split("```").next().expect("a block ends");
        let read = Config::parse("manual.yaml", text, &Registry::new());
        read.unwrap_or_else(|report| panic!("{report}\n{text}"));
        count += 1;
    }
    assert!(2 <= count, "{count} examples");
}

#[test]
fn every_reference_of_the_schema_leads_somewhere() {
    fn references(value: &Value, into: &mut Vec<String>) {
        if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
            into.push(reference.to_owned());
        }
        match value {
            Value::Object(map) => map.values().for_each(|inner| references(inner, into)),
            Value::Array(items) => items.iter().for_each(|inner| references(inner, into)),
            _ => {}
        }
    }
    let schema = parsed_schema();
    let mut all = Vec::new();
    references(&schema, &mut all);
    for reference in all {
        let name = reference.strip_prefix("#/$defs/").expect("all stand in one place");
        assert!(schema["$defs"][name].is_object(), "{reference}");
    }
}

#[test]
fn a_default_of_the_schema_is_what_is_in_force() {
    let reader = Reader::new(&Registry::new()).cores(8);
    let reading = reader.parse("a.yaml", "pools: {a: {}}").expect("no fault");
    let shown = reading.show(Format::Json, Some("a")).expect("there is one");
    let shown: Value = serde_json::from_str(&shown).expect("it is JSON");
    let schema = parsed_schema();
    let properties = schema["$defs"]["pool"]["properties"].as_object().expect("fields");
    for (name, field) in properties {
        let Some(default) = field.get("default").filter(|_| name != "decider") else { continue };
        assert_eq!(&shown["pools"]["a"][name], default, "{name}");
    }
}

#[test]
fn every_preset_is_what_it_was_through_a_file() {
    for preset in Preset::all() {
        let text = format!("pools: {{a: {{preset: {}, workers: {{max: 9}}}}}}", preset.name());
        let config = Config::parse("a.yaml", &text, &Registry::new()).expect("no fault");
        let (ours, theirs) = (&config.pools[0].policy, preset.config());
        assert_eq!(ours.decider, theirs.decider, "{}", preset.name());
        assert_eq!(ours.guards, theirs.guards, "{}", preset.name());
        assert_eq!(ours.signals.clone().unwrap_or_default(), theirs.signals.unwrap_or_default());
        assert_eq!(ours.tick, theirs.tick);
    }
}

#[test]
fn a_layer_keeps_what_the_one_above_is_silent_on() {
    let text = "
defaults: {preset: aimd, cooldown: {up: 7s}}
pools:
  a: {cooldown: {down: 2m}, decider: {setpoint: 0.5}}
  b: {preset: gopipe}
  c: {decider: {type: pid}, guards: {hold_peak: null}}
";
    let reading = Reader::new(&Registry::new()).cores(8).parse("a.yaml", text).expect("no fault");
    let shown = |path: &str| reading.origin(path).to_string();
    assert_eq!(shown("pools.a.guards.cooldown.grow"), "2:41");
    assert_eq!(shown("pools.a.guards.cooldown.shrink"), "4:24");
    assert_eq!(shown("pools.a.guards.hold_peak.window"), "preset aimd");
    assert_eq!(shown("pools.a.decider.setpoint"), "4:49");
    assert_eq!(shown("pools.a.decider.grow_step"), "preset aimd");
    assert_eq!(shown("pools.b.decider.idle_max"), "preset gopipe");
    assert_eq!(reading.origin("pools.c.decider.setpoint"), Place::Default);
    assert_eq!(reading.config.pools[2].policy.guards.hold_peak, None);
}

#[test]
fn the_two_faces_of_the_file_are_one() {
    let single = "
service: api
pool: {type: threads, initial: 4}
preset: aimd
bounds: {min: 2, max: 8}
cooldown: {up: 1s, down: 1m}
";
    let many = "
service: api
pools:
  api:
    type: threads
    preset: aimd
    workers: {initial: 4, min: 2, max: 8}
    guards: {cooldown: {grow: 1s, shrink: 1m}}
";
    let parse = |text| Config::parse("a.yaml", text, &Registry::new()).expect("no fault");
    assert_eq!(parse(single), parse(many));
}

fn any_pool() -> impl Strategy<Value = String> {
    let presets: Vec<&str> = Preset::all().iter().map(Preset::name).collect();
    let preset = proptest::option::of(proptest::sample::select(presets));
    let span = || "[1-9][0-9]{0,2}(ms|s|m)";
    let kind = proptest::sample::select(vec!["threads", "tasks", "limiter"]);
    let overflow =
        proptest::sample::select(vec!["wait", "reject", "caller_runs", "{wait_for: 3s}"]);
    let numbers = (1..20_u32, 20..50_u32, 0.01..0.99_f64, 1..u64::MAX / 4);
    (preset, kind, overflow, span(), span(), numbers).prop_map(
        |(preset, kind, overflow, tick, cooldown, (min, max, share, len))| {
            let preset = preset.map(|name| format!("preset: {name}, ")).unwrap_or_default();
            let queue = match kind {
                "limiter" => String::new(),
                _ => format!("queue: {{len_max: {len}, overflow: {overflow}}}, "),
            };
            format!(
                "{{type: {kind}, {preset}{queue}tick: {tick}, \
                 workers: {{min: {min}, max: {max}}}, share: {{weight: {share}}}, \
                 cooldown: {{up: {cooldown}}}, guards: {{error_veto: {{rate_max: {share}}}}}}}"
            )
        },
    )
}

proptest! {
    #[test]
    fn whatever_is_shown_reads_back_the_same(pools in proptest::collection::vec(any_pool(), 1..4)) {
        let pools: Vec<String> =
            pools.iter().enumerate().map(|(index, pool)| format!("  p{index}: {pool}\n")).collect();
        let text = format!("pools:\n{}", pools.concat());
        let config = Config::parse("a.yaml", &text, &Registry::new());
        let config = config.unwrap_or_else(|report| panic!("{report}\n{text}"));
        for (format, name) in
            [(Format::Yaml, "b.yaml"), (Format::Toml, "b.toml"), (Format::Json, "b.json")]
        {
            let shown = config.write(format).expect("it can be said");
            let back = Config::parse(name, &shown, &Registry::new());
            prop_assert_eq!(back.as_ref(), Ok(&config), "{}", shown);
        }
    }
}
