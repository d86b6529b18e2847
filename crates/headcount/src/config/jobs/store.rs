//! The store: in a directory, or in a Redis.

use std::time::Duration;

use serde_json::{Map, Value as Json};

use super::types::{DurabilityConfig, StoreConfig, StoreUrl};
use crate::config::form::{Found, span_of};
use crate::config::report::Finding;
use crate::config::tree::Node;

/// How much may be lost at a power cut where the file says only that some may be.
const INTERVAL: Duration = Duration::from_millis(10);

/// What a Redis may be called by.
const SCHEMES: [&str; 4] = ["redis://", "rediss://", "redis+unix://", "unix://"];

/// The store, where the file has one; what contradicts itself goes to `found`.
pub(crate) fn store_of(
    root: &Node,
    shared: &Map<String, Json>,
    found: &mut Found,
) -> Option<StoreConfig> {
    let store = shared.get("store")?;
    let node = root.get("store")?;
    let text = |name: &str| store.get(name).and_then(Json::as_str).map(str::to_owned);
    match (text("path"), text("url")) {
        (Some(path), None) => {
            let durability = durability_of(node, store, found);
            Some(StoreConfig::Embedded { path: path.into(), durability })
        }
        (None, Some(url)) => {
            check_url(node, &url, found);
            for name in ["durability", "interval"] {
                let advice = "is the Redis's own to say; leave it out";
                found.extend(node.get(name).map(|inner| of(inner, None, advice)));
            }
            Some(StoreConfig::Redis { url: StoreUrl::new(url) })
        }
        (Some(_), Some(_)) => {
            let advice = "has both path and url; jobs are kept in one place";
            found.push(of(node, None, advice));
            None
        }
        // What is wrong was told of already.
        (None, None) if node.says("path") || node.says("url") => None,
        (None, None) => {
            let advice = "needs a path or a url, such as `store: jobs.d` or `store: redis://host`";
            found.push(of(node, None, advice));
            None
        }
    }
}

fn durability_of(node: &Node, store: &Json, found: &mut Found) -> DurabilityConfig {
    let is_interval = store.get("durability").and_then(Json::as_str) == Some("interval");
    let interval = store.get("interval").and_then(span_of);
    match (is_interval, interval) {
        (true, interval) => DurabilityConfig::Interval(interval.unwrap_or(INTERVAL)),
        (false, None) => DurabilityConfig::Synced,
        (false, Some(_)) => {
            let advice = "counts where durability is interval; say so, or leave it out";
            found.extend(node.get("interval").map(|inner| of(inner, Some(inner.shown()), advice)));
            DurabilityConfig::Synced
        }
    }
}

fn check_url(node: &Node, url: &str, found: &mut Found) {
    let (at, _) = node.nearest("url");
    let rest = SCHEMES.iter().find_map(|scheme| url.strip_prefix(scheme));
    if rest.is_none_or(|rest| rest.trim().is_empty()) {
        let advice = "an address such as redis://host:6379/0 is needed";
        found.push(of(at, Some(at.shown()), advice));
    }
}

fn of(node: &Node, value: Option<String>, advice: &str) -> Finding {
    Finding::new(&node.at, &node.path, value, advice.to_owned())
}
