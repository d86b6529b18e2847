//! One pool: from checked fields to data, and what in it contradicts itself.

use std::time::Duration;

use headcount_core::decide::{DeciderConfig, SloConfig};
use headcount_core::guard::HealthBrake;
use headcount_core::{Fault, Hint, Policy, PolicyConfig};
use headcount_pool::{Overflow, PanicPolicy};
use serde_json::{Map, Value as Json};

use super::form::{Checking, Found, POOL, Part, meant_or_there_are, span_of};
use super::policy::{BOUNDS, policy_of};
use super::registry::{BUILTIN_POOLS, Options, Plug, Registry};
use super::report::Finding;
use super::tree::{Key, Node, Value, join};
use super::types::{
    CeilingConfig, HealthBounds, Plugs, PoolConfig, PoolKind, QueueConfig, ShareConfig,
};
use crate::live::{UtcOffset, UtcOffsetError};

/// A pool that is being made of its tree.
pub(crate) struct PoolPlan<'a> {
    name: &'a str,
    node: &'a Node,
    registry: &'a Registry,
    cores: u32,
    pub(crate) found: Found,
    pub(crate) hints: Vec<Finding>,
}

impl<'a> PoolPlan<'a> {
    pub(crate) fn new(key: &'a Key, node: &'a Node, registry: &'a Registry, cores: u32) -> Self {
        let (found, hints) = (Found::new(), Vec::new());
        Self { name: &key.name, node, registry, cores, found, hints }
    }

    /// The pool, as far as it can be made; faults go to `found`.
    pub(crate) fn build(&mut self) -> Option<PoolConfig> {
        let mut checking = Checking::new(self.registry);
        let fields = checking.section(self.node, &POOL);
        self.found.append(&mut checking.found);
        let kind = self.kind(&fields);
        let (mut policy, plugs) = match policy_of(&fields) {
            Ok(made) => made,
            Err(error) => {
                // The table let something pass that the core does not know: ours to mend.
                self.fault("", format!("cannot be made into a policy: {error}"));
                return None;
            }
        };
        let health = self.health(&fields, &mut policy);
        let wait_budget = self.wait_budget(&fields, &mut policy, &plugs);
        self.check_policy(&mut policy);
        let utc_offset = self.utc_offset(&fields);
        let mut pool = self.assemble(&fields, (kind?, policy, plugs), health, wait_budget);
        pool.utc_offset = utc_offset;
        self.check_fit(&pool);
        self.check_health(&pool);
        Some(pool)
    }

    fn assemble(
        &self,
        fields: &Map<String, Json>,
        (kind, policy, plugs): (PoolKind, PolicyConfig, Plugs),
        health: Option<HealthBounds>,
        wait_budget: Duration,
    ) -> PoolConfig {
        let get = |path: &[&str]| {
            let first = fields.get(path[0])?;
            path[1..].iter().try_fold(first, |value, name| value.get(name))
        };
        let count = |path: &[&str], default| short(get(path).and_then(Json::as_u64), default);
        let text = |name| get(&[name]).and_then(Json::as_str).map(str::to_owned);
        let span = |name| get(&[name]).and_then(span_of);
        PoolConfig {
            name: self.name.to_owned(),
            kind,
            workers_initial: get(&["workers", "initial"])
                .map(|_| count(&["workers", "initial"], 0)),
            queue: QueueConfig {
                len_max: get(&["queue", "len_max"]).and_then(Json::as_u64).unwrap_or(65_536),
                overflow: get(&["queue", "overflow"]).map_or(Overflow::Wait, overflow_of),
            },
            wait_budget,
            idle: span("idle").unwrap_or(Duration::from_secs(1)),
            stack_size: get(&["stack_size"]).and_then(Json::as_u64),
            stuck_after: span("stuck_after"),
            replace_stuck_max: count(&["replace_stuck_max"], 0),
            compensate_max: count(&["compensate_max"], 64),
            panic: match text("panic").as_deref() {
                Some("abort") => PanicPolicy::Abort,
                _ => PanicPolicy::Catch,
            },
            preset: text("preset"),
            policy,
            health,
            ceiling: get(&["ceiling"]).map(|ceiling| CeilingConfig {
                cpu_per_worker: ceiling.get("cpu_per_worker").and_then(Json::as_f64),
                bytes_per_worker: ceiling.get("bytes_per_worker").and_then(Json::as_u64),
            }),
            share: ShareConfig {
                weight: get(&["share", "weight"]).and_then(Json::as_f64).unwrap_or(1.0),
                min: count(&["share", "min"], 0),
                priority: u8::try_from(count(&["share", "priority"], 0)).unwrap_or(u8::MAX),
            },
            downstream: get(&["downstream"]).and_then(|n| serde_json::from_value(n.clone()).ok()),
            utc_offset: UtcOffset::UTC,
            plugs,
        }
    }

    fn utc_offset(&mut self, fields: &Map<String, Json>) -> UtcOffset {
        let Some(text) = fields.get("timezone").and_then(Json::as_str) else {
            return UtcOffset::UTC;
        };
        text.parse().unwrap_or_else(|_| {
            self.fault("timezone", UtcOffsetError::ADVICE);
            UtcOffset::UTC
        })
    }

    /// Notes that what stands at `path` cannot be.
    fn fault(&mut self, path: &str, advice: impl Into<String>) {
        let (node, rest) = self.node.nearest(path);
        let value = if rest.is_empty() && !path.is_empty() { Some(node.shown()) } else { None };
        let finding = Finding::new(&node.at, &join(&node.path, rest), value, advice.into());
        self.found.push(finding);
    }

    fn kind(&mut self, fields: &Map<String, Json>) -> Option<PoolKind> {
        let name = fields.get("type").and_then(Json::as_str).unwrap_or("threads");
        let options = fields.get("options").cloned();
        let builtin = match name {
            "threads" => Some(PoolKind::Threads),
            "tasks" => Some(PoolKind::Tasks),
            "limiter" => Some(PoolKind::Limiter),
            _ => None,
        };
        if let Some(kind) = builtin {
            if options.is_some() {
                let advice = format!("but {name} takes none; its settings are fields of the pool");
                self.fault("options", advice);
            }
            return Some(kind);
        }
        let registered = self.registry.names(Part::Resizable);
        if registered.iter().any(|known| known == name) {
            let options = match options {
                None => Map::new(),
                Some(Json::Object(options)) => options,
                Some(_) => {
                    self.fault("options", "a section is needed");
                    Map::new()
                }
            };
            return Some(PoolKind::Registered(Plug {
                name: name.to_owned(),
                options: Options::new(options),
            }));
        }
        let known = BUILTIN_POOLS.into_iter().chain(registered.iter().map(String::as_str));
        let known: Vec<&str> = known.collect();
        self.fault("type", meant_or_there_are(name, &known));
        None
    }

    /// The switch of health: it sets the guard, or takes it away.
    fn health(
        &mut self,
        fields: &Map<String, Json>,
        policy: &mut PolicyConfig,
    ) -> Option<HealthBounds> {
        let health = fields.get("health")?;
        let count = |name: &str| health.get(name).and_then(Json::as_u64).map(|n| short(Some(n), 0));
        match health.get("enabled").and_then(Json::as_bool) {
            Some(true) => drop(policy.guards.health.get_or_insert_default()),
            Some(false) => policy.guards.health = None,
            None => {}
        }
        let (min, max) = (count("min"), count("max"));
        if min.or(max).is_some() && policy.guards.health.is_none() {
            let field = if min.is_some() { "health.min" } else { "health.max" };
            self.hint(field, "it does nothing while health.enabled is false");
            return None;
        }
        min.or(max)?;
        let fewest = policy.workers_min.unwrap_or(1);
        let most = policy.workers_max.unwrap_or(self.cores.max(fewest));
        Some(HealthBounds { min: min.unwrap_or(fewest), max: max.unwrap_or(most) })
    }

    /// How long a task may wait: said by the pool, or by `slo`, or by both alike.
    fn wait_budget(
        &mut self,
        fields: &Map<String, Json>,
        policy: &mut PolicyConfig,
        plugs: &Plugs,
    ) -> Duration {
        let own = fields.get("wait_budget").and_then(span_of);
        let decider =
            policy.decider.get_or_insert_with(|| DeciderConfig::Slo(SloConfig::default()));
        let DeciderConfig::Slo(slo) = decider else { return own.unwrap_or_default() };
        if plugs.decider.is_some() {
            return own.unwrap_or_default();
        }
        let Some(own) = own else { return slo.wait_budget };
        let written = self.node.nearest("decider.wait_budget");
        let is_written =
            written.1.is_empty() && !matches!(written.0.at, super::place::Place::Preset(_));
        if is_written && slo.wait_budget != own {
            let advice = format!("and {} is {}; one of them is enough", written.0.path, written.0);
            self.fault("wait_budget", advice);
        }
        slo.wait_budget = own;
        own
    }

    /// What the core has to say of the policy, and its defaults.
    fn check_policy(&mut self, policy: &mut PolicyConfig) {
        match Policy::check(policy, self.cores) {
            Ok(checked) => {
                policy.workers_min = Some(checked.bounds().min);
                policy.workers_max = Some(checked.bounds().max);
                policy.workers_max_allowed.get_or_insert(Policy::WORKERS_MAX);
                policy.mode = Some(checked.mode());
                policy.tick = Some(checked.tick());
                policy.samples_kept.get_or_insert(60);
                policy.signals.get_or_insert_default();
                for Hint { field, advice } in checked.hints() {
                    self.hint(&in_file(field), advice);
                }
            }
            Err(faults) => faults.iter().for_each(|fault| self.core_fault(fault)),
        }
    }

    /// A fault of the core, at the line of what it speaks of.
    fn core_fault(&mut self, fault: &Fault) {
        let path = in_file(&fault.field);
        let (node, rest) = self.node.nearest(&path);
        if self.is_told(node, rest) {
            return;
        }
        let is_scalar = !matches!(node.value, Value::List(_) | Value::Map(_));
        let value = if rest.is_empty() && is_scalar { node.shown() } else { fault.value.clone() };
        let advice = in_words(&fault.allowed);
        let path = join(&node.path, rest);
        self.found.push(Finding::new(&node.at, &path, Some(value), advice));
    }

    /// Whether the same was told of already: what is wrong has an example in its place, and the
    /// core may not like the example.
    fn is_told(&self, node: &Node, rest: &str) -> bool {
        let within = |outer: &str, inner: &str| {
            let rest = inner.strip_prefix(outer);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let is_item = node.path.ends_with(']') && !rest.is_empty();
        self.found.iter().any(|known| {
            within(&known.path, &node.path) || (is_item && within(&node.path, &known.path))
        })
    }

    fn hint(&mut self, path: &str, advice: &str) {
        let path = self.by_index(path);
        let (node, rest) = self.node.nearest(&path);
        let advice = in_words(advice);
        let finding = Finding::new(&node.at, &join(&node.path, rest), None, advice);
        self.hints.push(finding);
    }

    /// The core calls a signal by its name; the file has it in a list.
    fn by_index(&self, path: &str) -> String {
        let Some(name) = path.strip_prefix("signals.") else { return path.to_owned() };
        let Some(Value::List(signals)) = self.node.get("signals").map(|node| &node.value) else {
            return path.to_owned();
        };
        let called = |signal: &Node| {
            let own = signal.get("name").or_else(|| signal.get("type"));
            own.and_then(Node::text) == Some(name)
        };
        match signals.iter().position(called) {
            Some(index) => format!("signals[{index}]"),
            None => path.to_owned(),
        }
    }

    /// Fields that another type of pool would have.
    fn check_fit(&mut self, pool: &PoolConfig) {
        let kind = pool.kind.name().to_owned();
        let not_for = |kind: &PoolKind| match kind {
            PoolKind::Threads => &[][..],
            PoolKind::Tasks => &["stack_size"],
            PoolKind::Limiter | PoolKind::Registered(_) => &[
                "stack_size",
                "queue",
                "idle",
                "stuck_after",
                "replace_stuck_max",
                "compensate_max",
                "panic",
            ],
        };
        for field in not_for(&pool.kind) {
            let written = self.node.get(field).filter(|node| node.value != Value::Null);
            if let Some(node) = written {
                let advice = format!("says nothing to a pool of type {kind:?}; leave it out");
                self.found.push(Finding::new(&node.at, &node.path, None, advice));
            }
        }
        let Bounds { min, max } = Bounds::of(&pool.policy);
        if let Some(initial) = pool.workers_initial
            && !(min <= initial && initial <= max)
        {
            self.fault("workers.initial", format!("it must be from {min} to {max}, the bounds"));
        }
        if max < pool.share.min {
            self.fault("share.min", format!("the pool has at most {max} workers; ask for no more"));
        }
    }

    fn check_health(&mut self, pool: &PoolConfig) {
        let Some(health) = pool.health else { return };
        let Bounds { min, max } = Bounds::of(&pool.policy);
        let within = |workers: u32| min <= workers && workers <= max;
        for (field, workers) in [("health.min", health.min), ("health.max", health.max)] {
            if !within(workers) {
                self.fault(field, format!("it must be from {min} to {max}, the bounds"));
            }
        }
        if health.max < health.min && within(health.min) && within(health.max) {
            let advice = format!("it must be at least health.min, which is {}", health.min);
            self.fault("health.max", advice);
        }
    }
}

/// The fewest and the most workers of a policy that was checked.
struct Bounds {
    min: u32,
    max: u32,
}

impl Bounds {
    fn of(policy: &PolicyConfig) -> Self {
        let min = policy.workers_min.unwrap_or(1);
        Self { min, max: policy.workers_max.unwrap_or(u32::MAX) }
    }
}

impl PoolConfig {
    /// The workers that it has at the fewest.
    pub(crate) fn fewest(&self) -> u32 {
        self.policy.workers_min.unwrap_or(1)
    }

    /// Whether its wait budget is also that of its decider.
    pub(crate) fn waits_by_its_own_word(&self) -> bool {
        matches!(self.policy.decider, Some(DeciderConfig::Slo(_)))
    }

    /// The guard that health has, where it has bounds of its own.
    pub(crate) fn brake(&self) -> Option<HealthBrake> {
        let HealthBounds { min, max } = self.health?;
        Some(HealthBrake { workers_min: min, workers_max: max, ..self.policy.guards.health? })
    }
}

/// A path of the core as a path of the pool.
fn in_file(path: &str) -> String {
    match BOUNDS.iter().find(|(_, theirs)| *theirs == path) {
        Some((ours, _)) => format!("workers.{ours}"),
        // The core speaks of a limit by its signal; the rule stands in this list.
        None => match path.split_once(' ') {
            Some((list, _)) => list.to_owned(),
            None => path.to_owned(),
        },
    }
}

/// A sentence of the core in the words of the file.
fn in_words(sentence: &str) -> String {
    let mut sentence = sentence.to_owned();
    // The longest name first: one begins with another.
    for (ours, theirs) in BOUNDS.iter().rev() {
        sentence = sentence.replace(theirs, &format!("workers.{ours}"));
    }
    sentence
}

fn overflow_of(value: &Json) -> Overflow {
    match (value.as_str(), value.get("wait_for").and_then(span_of)) {
        (_, Some(span)) => Overflow::WaitFor(span),
        (Some("reject"), _) => Overflow::Reject,
        (Some("drop_oldest"), _) => Overflow::DropOldest,
        (Some("drop_newest"), _) => Overflow::DropNewest,
        (Some("caller_runs"), _) => Overflow::CallerRuns,
        _ => Overflow::Wait,
    }
}

fn short(number: Option<u64>, default: u32) -> u32 {
    number.map_or(default, |number| u32::try_from(number).unwrap_or(u32::MAX))
}
