//! Makes a spread file into plain data, and finds what contradicts itself.

use std::collections::BTreeMap;
use std::path::PathBuf;

use headcount_core::Preset;
use headcount_core::health::HealthRules;
use serde_json::{Map, Value as Json};

use super::form::{Checking, FILE, Found, HEALTH_RULES, Kind, POOL, meant_or_there_are, span_of};
use super::jobs::{JobsConfig, check_names, is_for_jobs, queues_of, store_of};
use super::merge::{lay_over, planted};
use super::place::Place;
use super::policy::preset_tree;
use super::pool::PoolPlan;
use super::registry::Registry;
use super::report::Finding;
use super::spread::Spread;
use super::tree::{Key, Node, Value, join};
use super::types::{Config, HealthConfig, PoolConfig, TraceConfig};

/// A file that was read: what it says, what is unwise about it, and where everything is written.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) config: Config,
    pub(crate) hints: Vec<Finding>,
    pub(crate) origins: BTreeMap<String, Place>,
}

pub(crate) fn build(
    spread: Spread,
    registry: &Registry,
    cores: u32,
    found: Found,
) -> Result<Built, Found> {
    let (hints, origins) = (Vec::new(), BTreeMap::new());
    let mut building = Building { registry, cores, found, hints, origins };
    let config = building.config(spread);
    let Building { found, hints, origins, .. } = building;
    match found.is_empty() {
        true => Ok(Built { config, hints, origins }),
        false => Err(found),
    }
}

/// The most workers of a queue that does not say. Jobs wait for others more than they reckon, and
/// the policy finds out where more of them do no more.
const QUEUE_WORKERS_MAX: u32 = 64;

/// A configuration that is being made.
struct Building<'a> {
    registry: &'a Registry,
    cores: u32,
    found: Found,
    hints: Vec<Finding>,
    origins: BTreeMap<String, Place>,
}

impl Building<'_> {
    fn config(&mut self, spread: Spread) -> Config {
        let Spread { shared: root, defaults, pools, queue_pools } = spread;
        let mut checking = Checking::new(self.registry);
        let shared = checking.section(&root, &FILE);
        self.found.append(&mut checking.found);
        let health = health_of(&root, &shared, &mut self.found);
        note_origins(&root, String::new(), &mut self.origins);

        check_names(&queue_pools, &pools, &mut self.found);
        let of_queues = self.queue_pools(queue_pools, defaults.clone());
        let pools: Vec<PoolConfig> = pools
            .into_iter()
            .filter_map(|(key, pool)| {
                let merged = merged(pool, defaults.clone(), &mut self.found);
                self.pool(&key, &merged, &format!("pools.{}", key.name), self.cores)
            })
            .collect();
        check_budget(&root, &shared, pools.iter().chain(&of_queues), &mut self.found);
        let jobs = JobsConfig {
            store: store_of(&root, &shared, &mut self.found),
            queues: queues_of(&root, &shared, of_queues, &mut self.found),
        };
        Config {
            service: text_of(&shared, "service").unwrap_or_else(|| "headcount".to_owned()),
            pools,
            budget: budget_of(&shared),
            health,
            trace: trace_of(&shared),
            state: shared.get("state").and_then(|state| path_of(state, "path")),
            jobs,
        }
    }

    /// The pools that run jobs: of async tasks unless they say otherwise themselves.
    fn queue_pools(
        &mut self,
        pools: Vec<(Key, Node)>,
        mut defaults: Option<Node>,
    ) -> Vec<PoolConfig> {
        for name in ["type", "options"] {
            drop(defaults.as_mut().and_then(|defaults| defaults.take(name)));
        }
        let mut made = Vec::new();
        for (key, pool) in pools {
            let mut merged = merged(pool, defaults.clone(), &mut self.found);
            if merged.get("type").is_none() {
                let at = Place::Default;
                let kind = planted(&"tasks".into(), &at, join(&merged.path, "type"));
                let entries = merged.entries_mut().into_iter();
                entries.for_each(|all| {
                    all.push((Key { name: "type".to_owned(), at: at.clone() }, kind.clone()));
                });
            }
            let path = format!("queues.{}.pool", key.name);
            let pool = self.pool(&key, &merged, &path, QUEUE_WORKERS_MAX);
            made.extend(pool.filter(|pool| is_for_jobs(&merged, pool, &mut self.found)));
        }
        made
    }

    /// One pool, whose values are known by this path; `most` is the most workers of one that does
    /// not say.
    fn pool(&mut self, key: &Key, merged: &Node, path: &str, most: u32) -> Option<PoolConfig> {
        note_origins(merged, path.to_owned(), &mut self.origins);
        let mut plan = PoolPlan::new(key, merged, self.registry, most);
        let pool = plan.build();
        if pool.as_ref().is_some_and(PoolConfig::waits_by_its_own_word) {
            let said = self.origins.get(&format!("{path}.wait_budget")).cloned();
            self.origins.extend(said.map(|said| (format!("{path}.decider.wait_budget"), said)));
        }
        self.found.append(&mut plan.found);
        self.hints.append(&mut plan.hints);
        pool
    }
}

/// A pool with everything that it does not say itself: from the defaults, from its preset.
fn merged(pool: Node, defaults: Option<Node>, found: &mut Found) -> Node {
    let kind = Kind::Section(&POOL);
    let (at, path) = (pool.at.clone(), pool.path.clone());
    // A pool of which nothing is said is a pool all the same.
    let pool = match pool.value {
        Value::Null => Node::empty(at, &path),
        _ => pool,
    };
    let own = match defaults {
        Some(defaults) => lay_over(defaults, pool, &kind),
        None => pool,
    };
    match own.get("preset").and_then(|name| preset_of(name, found)) {
        Some(preset) => lay_over(preset_tree(&preset, &path), own, &kind),
        None => own,
    }
}

fn preset_of(name: &Node, found: &mut Found) -> Option<Preset> {
    // What is no text is told of when the section is checked.
    let text = name.text()?;
    let preset = Preset::named(text);
    if preset.is_none() {
        let names: Vec<&str> = Preset::all().iter().map(Preset::name).collect();
        let advice = meant_or_there_are(text, &names);
        found.push(Finding::new(&name.at, &name.path, Some(name.shown()), advice));
    }
    preset
}

fn note_origins(node: &Node, path: String, origins: &mut BTreeMap<String, Place>) {
    match &node.value {
        Value::Map(entries) => {
            for (Key { name, .. }, inner) in entries {
                note_origins(inner, join(&path, name), origins);
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                note_origins(item, format!("{path}[{index}]"), origins);
            }
        }
        Value::Null => return,
        _ => {}
    }
    origins.insert(path, node.at.clone());
}

fn health_of(node: &Node, shared: &Map<String, Json>, found: &mut Found) -> HealthConfig {
    let health = shared.get("health");
    let interval = health.and_then(|health| span_of(health.get("interval")?));
    let rules = health.and_then(|health| health.get("rules")).cloned();
    let rules = rules.and_then(|rules| serde_json::from_value(rules).ok()).unwrap_or_default();
    check_rules(node, &rules, found);
    let interval = interval.unwrap_or(std::time::Duration::from_secs(5));
    HealthConfig { interval, rules }
}

fn check_rules(node: &Node, rules: &HealthRules, found: &mut Found) {
    let Err(faults) = rules.check() else { return };
    for fault in faults {
        let text = fault.to_string().replace("exhaustion.limits.", "exhaustion.");
        let (field, rest) = text.split_once(' ').unwrap_or((HEALTH_RULES.name, &text));
        let (at, left) = node.nearest("health.rules").0.nearest(field);
        // What has a fault of its own is reported once.
        if found.iter().any(|known| known.path.starts_with(&at.path) && known.place == at.at) {
            continue;
        }
        found.push(Finding::new(&at.at, &join(&at.path, left), None, rest.to_owned()));
    }
}

/// The fewest workers of all pools must fit into the budget.
fn check_budget<'a>(
    node: &Node,
    shared: &Map<String, Json>,
    pools: impl Iterator<Item = &'a PoolConfig>,
    found: &mut Found,
) {
    let Some(budget) = budget_of(shared) else { return };
    let fewest: u64 = pools.map(PoolConfig::fewest).map(u64::from).sum();
    if u64::from(budget) < fewest {
        let (at, _) = node.nearest("budget.workers_max");
        let advice = format!("the pools have {fewest} workers at the fewest; allow as many");
        found.push(Finding::new(&at.at, &at.path, Some(budget.to_string()), advice));
    }
}

fn budget_of(shared: &Map<String, Json>) -> Option<u32> {
    let budget = shared.get("budget")?.get("workers_max")?.as_u64()?;
    u32::try_from(budget).ok()
}

fn trace_of(shared: &Map<String, Json>) -> Option<TraceConfig> {
    let trace = shared.get("trace")?;
    let files_max = trace.get("files_max").and_then(Json::as_u64).unwrap_or(8);
    Some(TraceConfig {
        path: path_of(trace, "path")?,
        bytes_max: trace.get("bytes_max").and_then(Json::as_u64).unwrap_or(64 << 20),
        files_max: u32::try_from(files_max).unwrap_or(u32::MAX),
    })
}

fn path_of(section: &Json, name: &str) -> Option<PathBuf> {
    section.get(name)?.as_str().map(PathBuf::from)
}

fn text_of(section: &Map<String, Json>, name: &str) -> Option<String> {
    section.get(name)?.as_str().map(str::to_owned)
}
