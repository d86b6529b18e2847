//! What cannot be read, and how large a tree may grow.

use super::{Key, Node, Place, Value};

/// How deep values may stand in one another.
pub(crate) const DEPTH_MAX: usize = 48;
/// How many values a file may have, those behind aliases counted each time.
pub(crate) const NODES_MAX: usize = 20_000;

/// How many fields one section may have.
const ENTRIES_MAX: usize = 2_000;

/// Something about the text itself that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    pub(crate) at: Place,
    pub(crate) problem: String,
}

impl Unreadable {
    pub(crate) fn new(at: Place, problem: impl Into<String>) -> Self {
        Self { at, problem: problem.into() }
    }
}

/// Counts the nodes of a tree that is being read, and how deep it stands.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    nodes: usize,
    depth: usize,
}

impl Growth {
    /// One value more.
    pub(crate) fn add(&mut self, at: &Place) -> Result<(), Unreadable> {
        self.nodes += 1;
        match NODES_MAX < self.nodes {
            true => Err(Unreadable::new(
                at.clone(),
                format!("the file has more than {NODES_MAX} values; write less, or fewer aliases"),
            )),
            false => Ok(()),
        }
    }

    /// As many values more as `node` has, which stands again at `at`.
    pub(crate) fn add_again(&mut self, node: &Node, at: &Place) -> Result<(), Unreadable> {
        self.enter(at)?;
        self.add(at)?;
        match &node.value {
            Value::List(items) => items.iter().try_for_each(|item| self.add_again(item, at))?,
            Value::Map(all) => all.iter().try_for_each(|(_, node)| self.add_again(node, at))?,
            _ => {}
        }
        self.leave();
        Ok(())
    }

    /// One step deeper.
    pub(crate) fn enter(&mut self, at: &Place) -> Result<(), Unreadable> {
        self.depth += 1;
        match DEPTH_MAX < self.depth {
            true => Err(Unreadable::new(
                at.clone(),
                format!("values stand more than {DEPTH_MAX} deep in one another; write it flatter"),
            )),
            false => Ok(()),
        }
    }

    pub(crate) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}

/// Adds an entry to a map, unless its key is there already.
pub(crate) fn add_entry(
    entries: &mut Vec<(Key, Node)>,
    key: Key,
    node: Node,
) -> Result<(), Unreadable> {
    if let Some((first, _)) = entries.iter().find(|(known, _)| known.name == key.name) {
        let problem = format!(
            "{} is written twice, first at {}; leave one of them out",
            super::shorten(&key.name),
            first.at
        );
        return Err(Unreadable::new(key.at, problem));
    }
    if ENTRIES_MAX <= entries.len() {
        let problem = format!("a section has more than {ENTRIES_MAX} fields; write fewer");
        return Err(Unreadable::new(key.at, problem));
    }
    entries.push((key, node));
    Ok(())
}
