//! Values with places.

use std::fmt;

use super::Place;
use crate::config::secret::without_credentials;

/// A value, where it was written, and the path that leads there as its author wrote it.
///
/// Nodes are moved and renamed on their way to a policy; place and path are not, so a fault always
/// speaks of what stands in the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) at: Place,
    pub(crate) path: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

/// The key of a value in a map, and where the key itself stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) at: Place,
}

impl Node {
    pub(crate) fn new(value: Value, at: Place) -> Self {
        Self { value, at, path: String::new() }
    }

    /// An empty section that nobody wrote.
    pub(crate) fn empty(at: Place, path: &str) -> Self {
        Self { value: Value::Map(Vec::new()), at, path: path.to_owned() }
    }

    /// Gives this node and all below it their paths.
    pub(crate) fn name_paths(&mut self, path: String) {
        match &mut self.value {
            Value::List(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    item.name_paths(format!("{path}[{index}]"));
                }
            }
            Value::Map(entries) => {
                for (key, entry) in entries {
                    entry.name_paths(join(&path, &key.name));
                }
            }
            _ => {}
        }
        self.path = path;
    }

    pub(crate) fn entries(&self) -> &[(Key, Self)] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The entries, where it is a section.
    pub(crate) fn entries_mut(&mut self) -> Option<&mut Vec<(Key, Self)>> {
        match &mut self.value {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.entries().iter().find(|(key, _)| key.name == name).map(|(_, node)| node)
    }

    /// Whether this is written; what is null is as if left out.
    pub(crate) fn says(&self, name: &str) -> bool {
        self.get(name).is_some_and(|inner| inner.value != Value::Null)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Self> {
        let mut entries = self.entries_mut()?.iter_mut();
        entries.find(|(key, _)| key.name == name).map(|(_, node)| node)
    }

    /// Takes an entry out.
    pub(crate) fn take(&mut self, name: &str) -> Option<(Key, Self)> {
        let entries = self.entries_mut()?;
        let index = entries.iter().position(|(key, _)| key.name == name)?;
        Some(entries.remove(index))
    }

    /// The text, where it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The node at the end of `path`, or the nearest one above it, and how much of `path` is left.
    pub(crate) fn nearest<'p>(&self, path: &'p str) -> (&Self, &'p str) {
        let mut node = self;
        let mut rest = path;
        while !rest.is_empty() {
            let (step, after) = first_step(rest);
            let next = match (&node.value, step) {
                (Value::List(items), Step::Index(index)) => items.get(index),
                (_, Step::Key(name)) => node.get(name),
                _ => None,
            };
            let Some(next) = next else { return (node, rest) };
            (node, rest) = (next, after);
        }
        (node, "")
    }

    /// The value as a message shows it: short, and quoted where it is text.
    pub(crate) fn shown(&self) -> String {
        match &self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Int(value) => value.to_string(),
            Value::Float(value) => value.to_string(),
            Value::Text(text) => shorten(text),
            Value::List(items) => format!("a list of {}", items.len()),
            Value::Map(entries) => match entries.as_slice() {
                [(key, node)] if !matches!(node.value, Value::List(_) | Value::Map(_)) => {
                    format!("{{{}: {node}}}", shorten(&key.name).trim_matches('"'))
                }
                [_] => "a section of 1 field".to_owned(),
                entries => format!("a section of {} fields", entries.len()),
            },
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// Splits the first step off a path such as `parts[1].setpoint`.
fn first_step(path: &str) -> (Step<'_>, &str) {
    if let Some(inner) = path.strip_prefix('[')
        && let Some((digits, rest)) = inner.split_once(']')
        && let Ok(index) = digits.parse()
    {
        return (Step::Index(index), rest.strip_prefix('.').unwrap_or(rest));
    }
    match path.find(['.', '[']) {
        Some(end) if 0 < end => {
            let rest = &path[end..];
            (Step::Key(&path[..end]), rest.strip_prefix('.').unwrap_or(rest))
        }
        _ => (Step::Key(path), ""),
    }
}

/// A path and one more step.
pub(crate) fn join(path: &str, name: &str) -> String {
    match (path.is_empty(), name.is_empty() || name.starts_with('[')) {
        (true, _) => name.to_owned(),
        (false, true) => format!("{path}{name}"),
        (false, false) => format!("{path}.{name}"),
    }
}

/// How much of a text a message shows.
const SHOWN_MAX: usize = 48;

/// A text in quotes, without its end where it is long and without the password of a URL.
pub(crate) fn shorten(text: &str) -> String {
    let text = &without_credentials(text);
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}
