//! A file as a tree in which every value knows where it was written.
//!
//! YAML, TOML and JSON become the same [`Node`]s, so that everything after this speaks of lines
//! and columns and of no format. All three are bounded: in bytes, in depth, in nodes.

mod node;
mod growth;
mod json;
mod toml;
mod yaml;

pub(crate) use growth::Unreadable;
pub(crate) use node::{Key, Node, Value, join, shorten};

pub(crate) use yaml::is_plain_word;

use super::place::{Format, Place};

/// The most bytes that a file may have.
pub(crate) const BYTES_MAX: usize = 1 << 20;

/// Reads `text` into a tree, or says what cannot be read about it and where.
pub(crate) fn parse(text: &str, format: Format) -> Result<Node, Vec<Unreadable>> {
    if BYTES_MAX < text.len() {
        let problem = format!("the file has {} bytes; at most {BYTES_MAX} are read", text.len());
        return Err(vec![Unreadable::new(Place::START, problem)]);
    }
    let mut node = match format {
        Format::Yaml => yaml::parse(text).map_err(|unreadable| vec![unreadable])?,
        Format::Toml => toml::parse(text)?,
        Format::Json => json::parse(text).map_err(|unreadable| vec![unreadable])?,
    };
    node.name_paths(String::new());
    Ok(node)
}

/// Reads one value as somebody writes it into a variable: a flow of YAML.
pub(crate) fn parse_value(text: &str) -> Result<Node, Unreadable> {
    yaml::parse(text)
}
