//! Gives every field its first name, and every short way of writing its long form.
//!
//! This comes before presets, defaults and a pool's own words are laid over one another: what has
//! two names must not stand there twice.

use super::check::Found;
use super::kind::{Field, Kind, Section, Tagged};
use crate::config::report::Finding;
use crate::config::tree::{Key, Node, Value};

/// Renames everything in `node`, which is of this `kind`, to its first name.
pub(crate) fn canonical(node: &mut Node, kind: &Kind, found: &mut Found) {
    match kind {
        Kind::Section(section) => canonical_section(node, section, found),
        Kind::Tagged(tagged) => canonical_tagged(node, tagged, found),
        Kind::List(inner, _) => {
            if let Value::List(items) = &mut node.value {
                for item in items {
                    canonical(item, inner, found);
                }
            }
        }
        Kind::Map(entries) => {
            for (_, inner) in node.entries_mut().into_iter().flatten() {
                canonical(inner, entries.inner, found);
            }
        }
        Kind::Signal => rename(node, "source", "type", found),
        _ => {}
    }
}

fn canonical_section(node: &mut Node, section: &Section, found: &mut Found) {
    rename_all(node, section.fields, found);
    for field in section.fields {
        if let Some(inner) = node.get_mut(field.name) {
            canonical(inner, &field.kind, found);
        }
    }
}

fn canonical_tagged(node: &mut Node, tagged: &Tagged, found: &mut Found) {
    let name = node.get("type").and_then(Node::text).map(str::to_owned);
    let variant = name.as_deref().and_then(|name| tagged.variant(name));
    if variant.is_some_and(|variant| variant.name == "threshold") {
        spell_out_threshold(node, found);
    }
    match variant {
        Some(variant) => canonical_section(node, variant.section, found),
        // What is laid over a preset need not repeat its type.
        None if name.is_none() => {
            for variant in tagged.variants {
                canonical_section(node, variant.section, found);
            }
        }
        None => {}
    }
}

fn rename_all(node: &mut Node, fields: &[Field], found: &mut Found) {
    for field in fields {
        for alias in field.aliases {
            rename(node, alias, field.name, found);
        }
    }
}

/// Renames an entry, unless there is one of that name already.
fn rename(node: &mut Node, from: &str, to: &str, found: &mut Found) {
    if node.get(from).is_none() {
        return;
    }
    if let Some(other) = node.get(to).cloned() {
        let Some((key, entry)) = node.take(from) else { return };
        match (entry.at.is_variable(), other.at.is_variable()) {
            // Variables override the file, whichever name they call a thing by.
            (true, false) => drop(node.get_mut(to).map(|node| std::mem::replace(node, entry))),
            (false, true) => {}
            _ => found.push(said_twice(&key, &entry, &other)),
        }
        return;
    }
    let entries = node.entries_mut().into_iter().flatten();
    for (key, _) in entries.filter(|(key, _)| key.name == from) {
        to.clone_into(&mut key.name);
    }
}

/// Two names for one thing, both written.
pub(crate) fn said_twice(key: &Key, entry: &Node, other: &Node) -> Finding {
    let advice = format!("and {} at {} is the same; leave one of them out", other.path, other.at);
    Finding::new(&key.at, &entry.path, Some(entry.shown()), advice)
}

/// The short form of a threshold, one rule: `signal`, `operator`, `value`, `action`, `step`.
const SHORT: [&str; 7] = ["signal", "operator", "comparison", "value", "limit", "action", "step"];

/// Makes one rule with an action into rules to grow and rules to shrink.
fn spell_out_threshold(node: &mut Node, found: &mut Found) {
    if !SHORT.iter().any(|name| node.get(name).is_some()) {
        return;
    }
    let (at, path) = (node.at.clone(), node.path.clone());
    let long = ["grow_when_any", "shrink_when_all", "grow_step", "shrink_step"];
    if let Some(other) = long.iter().find_map(|name| node.get(name)) {
        let advice = "is a list of rules beside a single rule; write the rule into the list";
        found.push(Finding::new(&other.at, &other.path, None, advice.to_owned()));
    }
    let action = node.take("action");
    let step = node.take("step");
    let rule = ["signal", "operator", "comparison", "value", "limit"];
    let rule: Vec<(Key, Node)> = rule.iter().filter_map(|name| node.take(name)).collect();
    let rule = Node { value: Value::Map(rule), at: at.clone(), path: path.clone() };
    let (rules, others, step_name) = match direction(action.as_ref(), node, found) {
        Direction::Grow => ("grow_when_any", "shrink_when_all", "grow_step"),
        Direction::Shrink => ("shrink_when_all", "grow_when_any", "shrink_step"),
    };
    let list = |items| Node { value: Value::List(items), at: at.clone(), path: path.clone() };
    let key = |name: &str| Key { name: name.to_owned(), at: at.clone() };
    let Some(entries) = node.entries_mut() else { return };
    entries.retain(|(key, _)| !long.contains(&key.name.as_str()));
    entries.push((key(rules), list(vec![rule])));
    entries.push((key(others), list(Vec::new())));
    entries.extend(step.map(|(_, step)| (key(step_name), step)));
}

enum Direction {
    Grow,
    Shrink,
}

fn direction(action: Option<&(Key, Node)>, node: &Node, found: &mut Found) -> Direction {
    let needed = "grow or shrink is needed";
    match action.map(|(_, action)| (action, action.text())) {
        Some((_, Some("grow"))) => Direction::Grow,
        Some((_, Some("shrink"))) => Direction::Shrink,
        Some((action, _)) => {
            let value = Some(action.shown());
            found.push(Finding::new(&action.at, &action.path, value, needed.to_owned()));
            Direction::Grow
        }
        None => {
            let path = format!("{}.action", node.path);
            let advice = format!("is missing; {needed}");
            found.push(Finding::new(&node.at, &path, None, advice));
            Direction::Grow
        }
    }
}
