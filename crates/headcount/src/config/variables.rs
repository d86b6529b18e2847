//! Variables of the environment, laid over the file.
//!
//! `HEADCOUNT_POOLS__THUMBS__WORKERS__MAX=32` sets `pools.thumbs.workers.max`: two underscores
//! between the steps, a number for a place in a list, any sign that a variable cannot have written
//! as one underscore. A variable without two underscores counts only where it names a field of one
//! value at the top of the file, so that others may begin with the same word.

use std::sync::Arc;

use super::form::{FILE, Found, POOL, listed, nearest};
use super::place::Place;
use super::report::Finding;
use super::tree::{Key, Node, Value, join, parse_value, shorten};

/// What the names of such variables begin with.
pub(crate) const PREFIX: &str = "HEADCOUNT_";

/// Lays those of `variables` that speak of the file over it.
pub(crate) fn apply(root: &mut Node, variables: &[(String, String)], found: &mut Found) {
    let mut ours: Vec<&(String, String)> =
        variables.iter().filter(|(name, _)| is_ours(name)).collect();
    ours.sort();
    if !ours.is_empty() && root.value == Value::Null {
        root.value = Value::Map(Vec::new());
    }
    for (name, text) in ours {
        let place = Place::Variable(Arc::from(name.as_str()));
        match parse_value(text) {
            Ok(mut value) => {
                value.name_paths(String::new());
                place_all(&mut value, &place);
                let steps = name[PREFIX.len()..].split("__").collect::<Vec<_>>();
                set(root, &steps, value, &place, found);
            }
            Err(unreadable) => {
                let advice = format!("holds {}; {}", shorten(text), unreadable.problem);
                found.push(Finding::new(&place, "", None, advice));
            }
        }
    }
}

fn is_ours(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else { return false };
    let mut fields = FILE.fields.iter().chain(POOL.fields).filter(|field| field.kind.is_single());
    rest.contains("__") || fields.any(|field| matches(field.name, rest))
}

/// Whether a step of a variable means this key.
fn matches(key: &str, step: &str) -> bool {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    key.chars().map(plain).eq(step.chars().map(plain))
}

fn place_all(node: &mut Node, place: &Place) {
    node.at = place.clone();
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| place_all(item, place)),
        Value::Map(entries) => {
            for (key, entry) in entries {
                key.at = place.clone();
                place_all(entry, place);
            }
        }
        _ => {}
    }
}

/// Puts `value` at the end of `steps`.
fn set(root: &mut Node, steps: &[&str], value: Node, place: &Place, found: &mut Found) {
    let mut node = root;
    for (depth, step) in steps.iter().enumerate() {
        // What was written there gives way to something deeper.
        if 0 < depth && !matches!(node.value, Value::List(_) | Value::Map(_)) {
            node.value = Value::Map(Vec::new());
        }
        let path = node.path.clone();
        let next = match &mut node.value {
            Value::List(items) => in_list(items, step),
            Value::Map(entries) => in_map(entries, step, &path, place),
            _ => Err("is no section, and nothing can be put into it".to_owned()),
        };
        match next {
            Ok(next) => node = next,
            Err(advice) => {
                let path = if path.is_empty() { "the file" } else { &path };
                found.push(Finding::new(place, path, None, advice));
                return;
            }
        }
    }
    let path = std::mem::take(&mut node.path);
    *node = value;
    node.name_paths(path);
}

fn in_list<'a>(items: &'a mut [Node], step: &str) -> Result<&'a mut Node, String> {
    let len = items.len();
    // Pools in a list are called by their names.
    let is_called =
        |item: &Node| item.get("name").and_then(Node::text).is_some_and(|name| matches(name, step));
    let index = match step.parse::<usize>() {
        Ok(index) => Some(index),
        Err(_) => items.iter().position(is_called),
    };
    let missing = || format!("is a list of {len} and has no {step:?}; its first place is 0");
    index.and_then(|index| items.get_mut(index)).ok_or_else(missing)
}

/// The entry that `step` means; one is made where there is none, unless it would be a new pool or
/// queue.
fn in_map<'a>(
    entries: &'a mut Vec<(Key, Node)>,
    step: &str,
    path: &str,
    place: &Place,
) -> Result<&'a mut Node, String> {
    let known = entries.iter().position(|(key, _)| matches(&key.name, step));
    let index = match known {
        Some(index) => index,
        None if path == "pools" => return Err(none_of("pool", entries, step)),
        None if path == "queues" => return Err(none_of("queue", entries, step)),
        None => {
            let name = step.to_ascii_lowercase();
            let mut node = Node::new(Value::Null, place.clone());
            node.path = join(path, &name);
            entries.push((Key { name, at: place.clone() }, node));
            entries.len() - 1
        }
    };
    Ok(&mut entries[index].1)
}

fn none_of(what: &str, entries: &[(Key, Node)], step: &str) -> String {
    let names: Vec<&str> = entries.iter().map(|(key, _)| key.name.as_str()).collect();
    let step = step.to_ascii_lowercase();
    match nearest(&step, names.iter().copied()) {
        Some(meant) => format!("has no {what} {step:?}; did you mean {meant:?}?"),
        None => format!("has no {what} {step:?}; there are {}", listed(names)),
    }
}
