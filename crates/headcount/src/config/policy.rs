//! Between the fields of a pool and the policy that they make.

use headcount_core::decide::PartPath;
use headcount_core::{PolicyConfig, Preset};
use serde_json::{Map, Value as Json, json};

use super::form::{Kind, POOL, write};
use super::merge::planted;
use super::place::Place;
use super::registry::{Options, Plug};
use super::tree::Node;
use super::types::Plugs;

/// Fields of a pool that are fields of its policy, by the same name.
const SAME: [&str; 3] = ["mode", "tick", "samples_kept"];

/// Fields of `workers`, and what the policy calls them.
pub(crate) const BOUNDS: [(&str, &str); 3] =
    [("min", "workers_min"), ("max", "workers_max"), ("max_allowed", "workers_max_allowed")];

/// The policy that the checked fields of a pool make, and the parts that are not the core's.
pub(crate) fn policy_of(pool: &Map<String, Json>) -> Result<(PolicyConfig, Plugs), String> {
    let mut plugs = Plugs::default();
    let mut policy = Map::new();
    for (ours, theirs) in BOUNDS {
        let value = pool.get("workers").and_then(|workers| workers.get(ours));
        policy.extend(value.map(|value| (theirs.to_owned(), value.clone())));
    }
    for name in SAME {
        policy.extend(pool.get(name).map(|value| (name.to_owned(), value.clone())));
    }
    if let Some(signals) = pool.get("signals").and_then(Json::as_array) {
        let signals = signals.iter().map(|signal| without_plug(signal, &mut plugs));
        policy.insert("signals".to_owned(), signals.collect());
    }
    if let Some(decider) = pool.get("decider") {
        plugs.decider = registered(decider);
        let decider = match plugs.decider.is_some() {
            true => stand_in(),
            false => without_plugs(decider, &[], &mut plugs.parts),
        };
        policy.insert("decider".to_owned(), decider);
    }
    if let Some(guards) = pool.get("guards").and_then(Json::as_object) {
        let mut guards = guards.clone();
        let own = guards.remove("registered").unwrap_or_default();
        plugs.guards = own.as_array().into_iter().flatten().filter_map(registered).collect();
        policy.insert("guards".to_owned(), guards.into());
    }
    let policy = serde_json::from_value(policy.into()).map_err(|error| error.to_string())?;
    Ok((policy, plugs))
}

/// A signal as the core knows it; what is not the core's goes to the plugs.
fn without_plug(signal: &Json, plugs: &mut Plugs) -> Json {
    let mut signal = signal.as_object().cloned().unwrap_or_default();
    let plug = signal.remove("plug").as_ref().and_then(registered);
    let name = signal.get("name").and_then(|name| serde_json::from_value(name.clone()).ok());
    plugs.signals.extend(name.zip(plug));
    signal.into()
}

/// What the policy has where something of the user's decides: it is never asked.
fn stand_in() -> Json {
    json!({"type": "all_busy"})
}

/// A decider that stands at `path`, as the core knows it; parts of composites that are not the
/// core's go to the plugs.
fn without_plugs(decider: &Json, path: &[usize], plugs: &mut Vec<(PartPath, Plug)>) -> Json {
    let mut decider = decider.clone();
    let parts = decider.get_mut("parts").and_then(Json::as_array_mut);
    for (index, part) in parts.into_iter().flatten().enumerate() {
        let path = [path, &[index]].concat();
        match registered(part) {
            Some(plug) => {
                let weight = part.get("weight").cloned();
                *part = stand_in();
                let fields = part.as_object_mut().into_iter();
                fields
                    .for_each(|part| part.extend(weight.clone().map(|w| ("weight".to_owned(), w))));
                plugs.push((path, plug));
            }
            None => *part = without_plugs(part, &path, plugs),
        }
    }
    decider
}

/// The part at `path` of a decider, if there is one.
fn part_at<'a>(decider: &'a mut Json, path: &[usize]) -> Option<&'a mut Json> {
    path.iter().try_fold(decider, |decider, index| decider.get_mut("parts")?.get_mut(index))
}

/// The part that somebody registered, if it is one.
fn registered(part: &Json) -> Option<Plug> {
    let options = part.get("options")?.as_object()?.clone();
    let name = part.get("type")?.as_str()?.to_owned();
    Some(Plug { name, options: Options::new(options) })
}

/// The fields of a pool that make this policy.
pub(crate) fn fields_of(policy: &PolicyConfig, plugs: &Plugs) -> Map<String, Json> {
    let mut policy = serde_json::to_value(policy).unwrap_or_default();
    let mut pool = Map::new();
    let mut workers = Map::new();
    for (ours, theirs) in BOUNDS {
        workers.insert(ours.to_owned(), policy[theirs].take());
    }
    pool.insert("workers".to_owned(), workers.into());
    for name in SAME.into_iter().chain(["signals", "decider", "guards"]) {
        pool.insert(name.to_owned(), policy[name].take());
    }
    for signal in pool.get_mut("signals").and_then(Json::as_array_mut).into_iter().flatten() {
        let own = plugs.signals.iter().find(|(name, _)| signal["name"] == name.as_str());
        if let Some((_, plug)) = own {
            signal["plug"] = part_of(plug);
        }
    }
    if let Some(plug) = &plugs.decider {
        pool.insert("decider".to_owned(), part_of(plug));
    }
    for (path, plug) in &plugs.parts {
        if let Some(part) = pool.get_mut("decider").and_then(|decider| part_at(decider, path)) {
            let weight = part["weight"].take();
            *part = part_of(plug);
            part["weight"] = weight;
        }
    }
    if !plugs.guards.is_empty() {
        let own: Vec<Json> = plugs.guards.iter().map(part_of).collect();
        pool["guards"]["registered"] = own.into();
    }
    pool
}

fn part_of(plug: &Plug) -> Json {
    json!({"type": plug.name, "options": plug.options.map()})
}

/// A preset, as somebody could have written it.
pub(crate) fn preset_tree(preset: &Preset, path: &str) -> Node {
    let fields = fields_of(&preset.config(), &Plugs::default());
    let written = write(&Kind::Section(&POOL), &fields.into()).unwrap_or_default();
    planted(&written, &Place::Preset(preset.name()), path.to_owned())
}
