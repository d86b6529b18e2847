//! Lays one tree over another, field by field.
//!
//! A section that is laid over another keeps what it is silent on: a `cooldown.shrink` beside a
//! preset leaves the preset's `cooldown.grow` alone. Lists are taken whole, and so is a section
//! that says it is of another type. `null` takes away what the lower layer has.

use serde_json::Value as Json;

use super::form::{Kind, Section, Tagged};
use super::place::Place;
use super::tree::{Key, Node, Value, join};

/// `base` with `over` laid over it, both of this `kind`.
pub(crate) fn lay_over(base: Node, over: Node, kind: &Kind) -> Node {
    match kind {
        Kind::Section(section) => lay_fields_over(base, over, |name| field_kind(section, name)),
        Kind::Tagged(tagged) if of_one_type(&base, &over) => {
            lay_fields_over(base, over, |name| tagged_field_kind(tagged, name))
        }
        _ => over,
    }
}

fn field_kind(section: &Section, name: &str) -> Option<&'static Kind> {
    section.field(name).map(|field| &field.kind)
}

fn tagged_field_kind(tagged: &Tagged, name: &str) -> Option<&'static Kind> {
    tagged.variants.iter().find_map(|variant| field_kind(variant.section, name))
}

/// Whether the upper one is of the lower one's type, or leaves it to it.
fn of_one_type(base: &Node, over: &Node) -> bool {
    let kind = |node: &Node| node.get("type").and_then(Node::text).map(str::to_owned);
    over.get("type").is_none() || kind(base) == kind(over)
}

fn lay_fields_over(
    mut base: Node,
    mut over: Node,
    kind_of: impl Fn(&str) -> Option<&'static Kind>,
) -> Node {
    let (Some(below), Some(above)) = (base.entries_mut(), over.entries_mut()) else { return over };
    let mut merged: Vec<(Key, Node)> = Vec::new();
    for (key, lower) in below.drain(..) {
        let index = above.iter().position(|(upper, _)| upper.name == key.name);
        match (index.map(|index| above.remove(index)), kind_of(&key.name)) {
            (Some((upper_key, upper)), Some(kind)) => {
                merged.push((upper_key, lay_over(lower, upper, kind)));
            }
            (Some(upper), None) => merged.push(upper),
            (None, _) => merged.push((key, lower)),
        }
    }
    merged.append(above);
    over.value = Value::Map(merged);
    over
}

/// A tree of plain values, all from one place.
pub(crate) fn planted(value: &Json, place: &Place, path: String) -> Node {
    let value = match value {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Value::Int(whole.into()),
            (_, Some(whole)) => Value::Int(whole.into()),
            _ => Value::Float(number.as_f64().unwrap_or_default()),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => {
            let item = |(index, item)| planted(item, place, format!("{path}[{index}]"));
            Value::List(items.iter().enumerate().map(item).collect())
        }
        Json::Object(entries) => {
            let entry = |(name, value): (&String, &Json)| {
                let key = Key { name: name.clone(), at: place.clone() };
                (key, planted(value, place, join(&path, name)))
            };
            Value::Map(entries.iter().map(entry).collect())
        }
    };
    Node { value, at: place.clone(), path }
}
