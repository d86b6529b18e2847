//! What would change from one configuration to another, in words.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value as Json;

use super::tree::join;
use super::types::Config;

/// One thing that differs between two configurations.
///
/// ```
/// use headcount::config::{Config, Registry, diff};
///
/// let parse = |text| Config::parse("a.yaml", text, &Registry::new()).expect("no fault");
/// let old = parse("pools: {thumbs: {workers: {max: 16}}, mail: {}}");
/// let new = parse("pools: {thumbs: {workers: {max: 32}, downstream: s3}}");
/// let lines: Vec<String> = diff(&old, &new).iter().map(ToString::to_string).collect();
/// assert_eq!(
///     lines,
///     [
///         "mail: the pool is gone",
///         "thumbs: downstream is set to s3",
///         "thumbs: workers.max goes from 16 to 32",
///     ]
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The pool of which it is true; nothing where it is true of the whole.
    pub pool: Option<String>,
    /// The field, in the long form; empty where the pool itself is new or gone.
    pub path: String,
    /// What it was; nothing where it is new.
    pub from: Option<String>,
    /// What it would be; nothing where it is gone.
    pub to: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(pool) = &self.pool {
            write!(f, "{pool}: ")?;
        }
        let path = &self.path;
        match (&self.from, &self.to, path.is_empty()) {
            (None, _, true) => write!(f, "the pool is new"),
            (_, None, true) => write!(f, "the pool is gone"),
            (Some(from), Some(to), _) => write!(f, "{path} goes from {from} to {to}"),
            (None, Some(to), false) => write!(f, "{path} is set to {to}"),
            (Some(from), None, false) => write!(f, "{path} is no longer set; it was {from}"),
            (None, None, false) => write!(f, "{path} is the same"),
        }
    }
}

/// What would change from `old` to `new`, the whole first, then pool by pool.
#[must_use]
pub fn diff(old: &Config, new: &Config) -> Vec<Difference> {
    let (mut before, mut after) = (old.to_file(), new.to_file());
    let (pools_before, pools_after) = (before["pools"].take(), after["pools"].take());
    let mut all = Vec::new();
    compare(None, &before, &after, &mut all);
    let names = |config: &Config| config.pools.iter().map(|p| p.name.clone()).collect::<Vec<_>>();
    let mut pools = [names(old), names(new)].concat();
    pools.sort();
    pools.dedup();
    for pool in pools {
        let (was, is) = (pools_before.get(&pool), pools_after.get(&pool));
        match (was, is) {
            (Some(was), Some(is)) => compare(Some(&pool), was, is, &mut all),
            _ => all.push(Difference {
                from: was.map(|_| pool.clone()),
                to: is.map(|_| pool.clone()),
                path: String::new(),
                pool: Some(pool),
            }),
        }
    }
    all
}

fn compare(pool: Option<&str>, old: &Json, new: &Json, all: &mut Vec<Difference>) {
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    flatten(old, String::new(), &mut before);
    flatten(new, String::new(), &mut after);
    let mut paths: Vec<&String> = before.keys().chain(after.keys()).collect();
    paths.sort();
    paths.dedup();
    for path in paths {
        let (from, to) = (before.get(path), after.get(path));
        if from != to {
            all.push(Difference {
                pool: pool.map(str::to_owned),
                path: path.clone(),
                from: from.cloned(),
                to: to.cloned(),
            });
        }
    }
}

/// Every value by its path, as people write it.
fn flatten(value: &Json, path: String, into: &mut BTreeMap<String, String>) {
    match value {
        Json::Object(map) => {
            map.iter().for_each(|(key, value)| flatten(value, join(&path, key), into));
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                flatten(item, format!("{path}[{index}]"), into);
            }
        }
        Json::Null => {}
        Json::String(text) => drop(into.insert(path, text.clone())),
        other => drop(into.insert(path, other.to_string())),
    }
}
