//! What would change from one configuration to another, in words.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value as Json;

use super::jobs::hide_secrets;
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

/// What would change from `old` to `new`, the whole first, then pool by pool. Passwords and tokens
/// are not shown.
#[must_use]
pub fn diff(old: &Config, new: &Config) -> Vec<Difference> {
    let (mut before, mut after) = (old.to_file(), new.to_file());
    let (pools_before, pools_after) = (before["pools"].take(), after["pools"].take());
    let mut all = Vec::new();
    queues(&mut before, &mut after, &mut all);
    compare(None, &before, &after, &mut all);
    all.sort_by(|a, b| a.path.cmp(&b.path));
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

/// Takes out the queues that only one of the two has: one line for each is enough.
fn queues(before: &mut Json, after: &mut Json, all: &mut Vec<Difference>) {
    let names = |file: &Json| -> Vec<String> {
        let queues = file.get("queues").and_then(Json::as_object);
        queues.into_iter().flatten().map(|(name, _)| name.clone()).collect()
    };
    let (old, new) = (names(before), names(after));
    let mut only = |file: &mut Json, own: &[String], others: &[String]| {
        for name in own.iter().filter(|name| !others.contains(name)) {
            file["queues"][name].take();
            let has = Some("a queue".to_owned());
            let (from, to) = if own == old { (has, None) } else { (None, has) };
            all.push(Difference { pool: None, path: join("queues", name), from, to });
        }
    };
    only(before, &old, &new);
    only(after, &new, &old);
}

fn compare(pool: Option<&str>, old: &Json, new: &Json, all: &mut Vec<Difference>) {
    let (before, after) = (by_path(old), by_path(new));
    let (seen_before, seen_after) = (by_path(&seen(old)), by_path(&seen(new)));
    let mut paths: Vec<&String> = before.keys().chain(after.keys()).collect();
    paths.sort();
    paths.dedup();
    for path in paths.into_iter().filter(|path| before.get(*path) != after.get(*path)) {
        let (from, mut to) = (seen_before.get(path).cloned(), seen_after.get(path).cloned());
        if from == to {
            to = to.map(|text| format!("{text} with another secret"));
        }
        all.push(Difference { pool: pool.map(str::to_owned), path: path.clone(), from, to });
    }
}

/// What may be seen of a file.
fn seen(file: &Json) -> Json {
    let mut file = file.clone();
    hide_secrets(&mut file);
    file
}

fn by_path(value: &Json) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    flatten(value, String::new(), &mut all);
    all
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Registry;

    #[track_caller]
    fn check(old: &str, new: &str, expected: &[&str]) {
        let parse = |text| Config::parse("a.yaml", text, &Registry::new()).expect("no fault");
        let lines = diff(&parse(old), &parse(new)).iter().map(ToString::to_string).collect();
        let lines: Vec<String> = lines;
        assert_eq!(lines, expected);
    }

    #[test]
    fn queues_come_and_go_and_change() {
        check(
            "queues: {a: {keep: 1h}, b: {}}",
            "queues: {a: {keep: 2h, rules: {running_max: 3, dead_max: 1}}, c: {}}",
            &[
                "queues.a.keep goes from 1h to 2h",
                "queues.a.rules.dead_keep is set to 4320h",
                "queues.a.rules.dead_max is set to 1",
                "queues.a.rules.done_max is set to 100000",
                "queues.a.rules.order is set to strict",
                "queues.a.rules.running_max is set to 3",
                "queues.a.rules.waiting_max is set to 10000000",
                "queues.b is no longer set; it was a queue",
                "queues.c is set to a queue",
            ],
        );
    }

    #[test]
    fn a_secret_that_changes_is_told_and_not_shown() {
        let handler = "queues: {a: {handlers: {b: {http: 'http://h', headers: {X-Token: ";
        check(
            &format!("{{store: 'redis://u:one@h', {handler}one}}}}}}}}}}}}"),
            &format!("{{store: 'redis://u:two@h', {handler}two}}}}}}}}}}}}"),
            &[
                "queues.a.handlers.b.headers.X-Token goes from *** to *** with another secret",
                "store.url goes from redis://***@h to redis://***@h with another secret",
            ],
        );
    }
}
