//! A queue: its rules, its pool, and what its jobs are like.

use std::collections::BTreeMap;
use std::time::Duration;

use headcount_core::jobs::{Backoff, Label, Priority, Retry, Rules, RulesError};
use serde_json::{Map, Value as Json, json};

use super::handler::handlers_of;
use super::schedule::schedules_of;
use super::types::JobQueueConfig;
use crate::config::form::{Found, span_of};
use crate::config::report::Finding;
use crate::config::tree::{Key, Node, join};
use crate::config::types::{PoolConfig, PoolKind};

/// The queues of a file, each with its pool; what contradicts itself goes to `found`.
pub(crate) fn queues_of(
    root: &Node,
    shared: &Map<String, Json>,
    pools: Vec<PoolConfig>,
    found: &mut Found,
) -> Vec<JobQueueConfig> {
    let mut pools =
        pools.into_iter().map(|pool| (pool.name.clone(), pool)).collect::<BTreeMap<_, _>>();
    let mut queues = Vec::new();
    for (key, node) in root.get("queues").into_iter().flat_map(Node::entries) {
        let queue = shared.get("queues").and_then(|queues| queues.get(&key.name));
        // Where it is missing it was told why.
        if let (Some(queue), Ok(name)) = (queue, key.name.parse::<Label>()) {
            let pool = pools.remove(&key.name);
            queues.extend(queue_of((name, node), queue, pool, found));
        }
    }
    queues
}

/// The queue, unless there is something wrong with its pool; all else is looked at in any case.
fn queue_of(
    (name, node): (Label, &Node),
    queue: &Json,
    pool: Option<PoolConfig>,
    found: &mut Found,
) -> Option<JobQueueConfig> {
    let rules = queue.get("rules").and_then(|rules| rules_of(node, rules, found));
    let handlers = handlers_of(node, queue, found);
    let schedules = schedules_of(node, queue, found);
    let retry = retry_of(node, queue, found);
    let queue = JobQueueConfig {
        name,
        rules,
        pool: pool?,
        handlers,
        schedules,
        retry,
        crashes_max: count(queue, "crashes_max").unwrap_or(3),
        timeout: queue.get("timeout").and_then(span_of),
        keep: queue.get("keep").and_then(span_of).unwrap_or(Duration::ZERO),
    };
    let job = queue.job(queue.name.clone(), Vec::new());
    if let Err(error) = job.check(0) {
        found.push(Finding::new(&node.at, &node.path, None, format!("cannot be: {error}")));
    }
    Some(queue)
}

fn count(section: &Json, name: &str) -> Option<u32> {
    section.get(name)?.as_u64().and_then(|count| u32::try_from(count).ok())
}

fn rules_of(node: &Node, rules: &Json, found: &mut Found) -> Option<Rules> {
    let mut rules = rules.clone();
    if let Some(weights) = rules.get("order").and_then(|order| order.pointer("/weighted/weights")) {
        let weights = weights.clone();
        let len = weights.as_array().map_or(0, Vec::len);
        if len != Priority::COUNT {
            let (at, _) = node.nearest("rules.order.weights");
            let advice = format!("{} weights are needed, one for each priority", Priority::COUNT);
            found.push(Finding::new(&at.at, &at.path, Some(at.shown()), advice));
            return None;
        }
        rules["order"] = json!({"weighted": weights});
    }
    let rules: Rules = match serde_json::from_value(rules) {
        Ok(rules) => rules,
        Err(error) => {
            // The table let something pass that the core does not know: ours to mend.
            let advice = format!("cannot be made into rules: {error}");
            found.push(Finding::new(&node.at, &join(&node.path, "rules"), None, advice));
            return None;
        }
    };
    if let Err(error) = rules.check() {
        let path = match &error {
            RulesError::Zero(field) => format!("rules.{field}"),
            RulesError::Rate(_) => "rules.rate".to_owned(),
            RulesError::Weights => "rules.order".to_owned(),
            _ => "rules.tenant_weights".to_owned(),
        };
        let (at, rest) = node.nearest(&path);
        let advice = format!("cannot be: {error}");
        found.push(Finding::new(&at.at, &join(&at.path, rest), None, advice));
    }
    Some(rules)
}

fn retry_of(node: &Node, queue: &Json, found: &mut Found) -> Retry {
    let usual = Retry::default();
    let Some(retry) = queue.get("retry") else { return usual };
    Retry {
        attempts_max: count(retry, "attempts_max").unwrap_or(usual.attempts_max),
        backoff: retry.get("backoff").map_or(usual.backoff, |b| backoff_of(node, b, found)),
        budget: retry.get("budget").and_then(span_of),
    }
}

fn backoff_of(node: &Node, backoff: &Json, found: &mut Found) -> Backoff {
    let span = |name: &str| backoff.get(name).and_then(span_of);
    let (base, max) = (span("base"), span("max"));
    let (at, _) = node.nearest("retry.backoff");
    let mut fault = |advice: &str| {
        found.push(Finding::new(&at.at, &at.path, None, advice.to_owned()));
    };
    if let Some(fixed) = span("fixed") {
        if base.or(max).is_some() {
            fault("has fixed beside base or max; it is the one or the other");
        }
        return Backoff::Fixed(fixed);
    }
    let base = base.unwrap_or(Duration::from_secs(1));
    let max = max.unwrap_or(Duration::from_secs(3600).max(base));
    if max < base {
        fault("has a base above its max; the waits begin with base and grow to max");
    }
    Backoff::Exponential { base, max }
}

/// Whether the pool of a queue is one that can run jobs; a fault where it is not.
pub(crate) fn is_for_jobs(node: &Node, pool: &PoolConfig, found: &mut Found) -> bool {
    let fits = matches!(pool.kind, PoolKind::Threads | PoolKind::Tasks);
    if !fits {
        let (at, _) = node.nearest("type");
        let advice = "only tasks and threads run jobs".to_owned();
        found.push(Finding::new(&at.at, &at.path, Some(at.shown()), advice));
    }
    fits
}

/// A queue's pool is called as the queue, so no other pool may be.
pub(crate) fn check_names(queues: &[(Key, Node)], pools: &[(Key, Node)], found: &mut Found) {
    for (key, node) in queues {
        if let Some((other, _)) = pools.iter().find(|(other, _)| other.name == key.name) {
            let advice = format!(
                "is also the name of the pool at {}; give one of them another name",
                other.at
            );
            let path = node.path.strip_suffix(".pool").unwrap_or(&node.path);
            found.push(Finding::new(&key.at, path, None, advice));
        }
    }
}
