//! What a file says, as data.

use std::path::{Path, PathBuf};
use std::time::Duration;

use headcount_core::decide::PartPath;
use headcount_core::health::HealthRules;
use headcount_core::{Name, PolicyConfig};
use headcount_pool::{Overflow, PanicPolicy};

use super::jobs::JobsConfig;
use super::reader::Reader;
use super::registry::{Plug, Registry};
use super::report::Report;
use crate::live::UtcOffset;

/// A file with nothing wrong in it, as plain data: every default is filled in.
///
/// ```
/// use headcount::config::{Config, Registry};
///
/// let text = "
/// pools:
///   thumbs: {preset: slo, workers: {max: 16}}
///   mail: {preset: gopipe, workers: {max: 8}}
/// budget: {workers_max: 20}
/// ";
/// let config = Config::parse("pools.yaml", text, &Registry::new()).expect("no fault");
/// assert_eq!(config.pool("thumbs").and_then(|pool| pool.policy.workers_max), Some(16));
/// assert_eq!(config.budget, Some(20));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// What the whole is called. Default: `headcount`.
    pub service: String,
    /// The pools, in the order of the file.
    pub pools: Vec<PoolConfig>,
    /// The most workers over all pools. Default: no limit.
    pub budget: Option<u32>,
    /// How the machine's health is measured.
    pub health: HealthConfig,
    /// Where runs are recorded. Default: nowhere.
    pub trace: Option<TraceConfig>,
    /// Where memory outlives the process. Default: nowhere.
    pub state: Option<PathBuf>,
    /// Durable jobs: where they are kept, and what runs them. Default: none.
    pub jobs: JobsConfig,
}

impl Config {
    /// Reads a file, with the variables of the environment laid over it.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, not only the first thing.
    pub fn read(path: impl AsRef<Path>, registry: &Registry) -> Result<Self, Report> {
        Reader::new(registry).environment().read(path.as_ref()).map(|reading| reading.config)
    }

    /// Reads a text as if it were the file `name`, whose extension says the format. The environment
    /// has no say.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, not only the first thing.
    pub fn parse(name: &str, text: &str, registry: &Registry) -> Result<Self, Report> {
        Reader::new(registry).parse(name, text).map(|reading| reading.config)
    }

    /// The pool of that name.
    #[must_use]
    pub fn pool(&self, name: &str) -> Option<&PoolConfig> {
        self.pools.iter().find(|pool| pool.name == name)
    }
}

/// One pool of a file.
///
/// ```
/// use headcount::config::{Config, PoolKind, Registry};
/// use std::time::Duration;
///
/// let text = "pools: {thumbs: {idle: 30s, preset: aimd, cooldown: {shrink: 2m}}}";
/// let config = Config::parse("pools.yaml", text, &Registry::new()).expect("no fault");
/// let thumbs = &config.pools[0];
/// assert_eq!((&thumbs.kind, thumbs.idle), (&PoolKind::Threads, Duration::from_secs(30)));
/// let cooldown = thumbs.policy.guards.cooldown.expect("the preset has one");
/// assert_eq!((cooldown.grow.as_secs(), cooldown.shrink.as_secs()), (3, 120));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PoolConfig {
    /// What it is called.
    pub name: String,
    /// What its workers are. Default: threads.
    pub kind: PoolKind,
    /// How many workers there are to begin with. Default: what the policy begins with.
    pub workers_initial: Option<u32>,
    /// The line of waiting tasks.
    pub queue: QueueConfig,
    /// How long a task may wait before a worker is hired for it. Default: what `slo` says where
    /// that decides, else no time at all.
    pub wait_budget: Duration,
    /// How long a worker above the floor stays without a task. Default: 1 s.
    pub idle: Duration,
    /// The bytes of stack of each thread. Default: the system's.
    pub stack_size: Option<u64>,
    /// How long a task runs before it is told of as stuck. Default: never.
    pub stuck_after: Option<Duration>,
    /// How many workers with a stuck task have others hired in their place. Default: 0.
    pub replace_stuck_max: u32,
    /// How many workers in a blocking section have others work in their place. Default: 64.
    pub compensate_max: u32,
    /// What happens when a task panics. Default: it is caught.
    pub panic: PanicPolicy,
    /// The preset that the policy began with. Default: none.
    pub preset: Option<String>,
    /// The policy, checked. Where a decider of one's own is used `all_busy` stands in its place.
    pub policy: PolicyConfig,
    /// Between which sizes the machine's health moves it, where that is not between its bounds.
    /// Default: nowhere.
    pub health: Option<HealthBounds>,
    /// A ceiling from what the container may use. Default: none.
    pub ceiling: Option<CeilingConfig>,
    /// Its part of the budget.
    pub share: ShareConfig,
    /// What its tasks call; pools with the same one share an error veto. Default: nothing.
    pub downstream: Option<Name>,
    /// By which clock its decider `schedule` goes. Default: UTC.
    pub utc_offset: UtcOffset,
    /// Parts of one's own.
    pub plugs: Plugs,
}

/// What the workers of a pool are.
///
/// ```
/// use headcount::config::{Config, PoolKind, Registry};
///
/// let config = Config::parse("a.yaml", "pools: {db: {type: limiter}}", &Registry::new());
/// assert_eq!(config.expect("no fault").pools[0].kind, PoolKind::Limiter);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PoolKind {
    /// OS threads.
    Threads,
    /// Async tasks.
    Tasks,
    /// Permits, without a pool.
    Limiter,
    /// Something of one's own.
    Registered(Plug),
}

impl PoolKind {
    /// The name that a file calls it by.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Threads => "threads",
            Self::Tasks => "tasks",
            Self::Limiter => "limiter",
            Self::Registered(plug) => &plug.name,
        }
    }
}

/// The line of waiting tasks.
///
/// ```
/// use headcount::Overflow;
/// use headcount::config::{Config, QueueConfig, Registry};
///
/// let text = "pools: {a: {queue: {len_max: 100, overflow: reject}}}";
/// let config = Config::parse("a.yaml", text, &Registry::new()).expect("no fault");
/// let expected = QueueConfig { len_max: 100, overflow: Overflow::Reject };
/// assert_eq!(config.pools[0].queue, expected);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueConfig {
    /// How many tasks may wait. Default: 65,536.
    pub len_max: u64,
    /// What happens to a task that finds it full. Default: its submitter waits.
    pub overflow: Overflow,
}

/// Between which sizes the machine's health moves a pool.
///
/// ```
/// use headcount::config::{Config, HealthBounds, Registry};
///
/// let text = "pools: {a: {workers: {max: 40}, health: {enabled: true, min: 2, max: 10}}}";
/// let config = Config::parse("a.yaml", text, &Registry::new()).expect("no fault");
/// assert_eq!(config.pools[0].health, Some(HealthBounds { min: 2, max: 10 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HealthBounds {
    /// The workers left in the critical zone.
    pub min: u32,
    /// The workers allowed in the safe zone.
    pub max: u32,
}

/// A ceiling from what the container may use.
///
/// ```
/// use headcount::config::{CeilingConfig, Config, Registry};
///
/// let text = "pools: {a: {ceiling: {bytes_per_worker: 64MiB}}}";
/// let config = Config::parse("a.yaml", text, &Registry::new()).expect("no fault");
/// let expected = CeilingConfig { cpu_per_worker: None, bytes_per_worker: Some(64 << 20) };
/// assert_eq!(config.pools[0].ceiling, Some(expected));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CeilingConfig {
    /// The cores that one worker keeps busy. Default: they set no ceiling.
    pub cpu_per_worker: Option<f64>,
    /// The memory that one worker takes. Default: it sets no ceiling.
    pub bytes_per_worker: Option<u64>,
}

/// A pool's part of the budget.
///
/// ```
/// use headcount::config::{Config, Registry};
///
/// let text = "pools: {a: {share: {weight: 2}}}";
/// let config = Config::parse("a.yaml", text, &Registry::new()).expect("no fault");
/// let share = config.pools[0].share;
/// assert_eq!((share.weight, share.min, share.priority), (2.0, 0, 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShareConfig {
    /// How much it counts beside the others. Default: 1.
    pub weight: f64,
    /// What it gets before anybody gets more than a minimum. Default: 0.
    pub min: u32,
    /// Higher goes first. Default: 0.
    pub priority: u8,
}

/// How the machine's health is measured.
///
/// ```
/// use headcount::config::{Config, Registry};
///
/// let text = "{health: {interval: 30s, rules: {scoring: stepped}}, pools: {a: {}}}";
/// let config = Config::parse("a.yaml", text, &Registry::new()).expect("no fault");
/// assert_eq!(config.health.interval.as_secs(), 30);
/// assert!(config.health.rules.check().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HealthConfig {
    /// How often. Default: 5 s.
    pub interval: Duration,
    /// How readings become a score.
    pub rules: HealthRules,
}

/// Where runs are recorded.
///
/// ```
/// use headcount::config::{Config, Registry, TraceConfig};
///
/// let text = "{trace: {path: run.trace, files_max: 3}, pools: {a: {}}}";
/// let config = Config::parse("a.yaml", text, &Registry::new()).expect("no fault");
/// let expected = TraceConfig { path: "run.trace".into(), bytes_max: 64 << 20, files_max: 3 };
/// assert_eq!(config.trace, Some(expected));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceConfig {
    /// The file.
    pub path: PathBuf,
    /// How large it grows before another one is begun. Default: 64 MiB.
    pub bytes_max: u64,
    /// How many are kept. Default: 8.
    pub files_max: u32,
}

/// The parts of a pool that are one's own.
///
/// ```
/// use headcount::config::{Config, Registry};
/// use headcount_core::guard::StepLimit;
///
/// let registry = Registry::new().guard("gently", |options| {
///     Ok(StepLimit { grow_max: Some(options.count("most")? as u32), ..StepLimit::default() })
/// });
/// let text = "pools: {a: {guards: {registered: [{type: gently, most: 2}]}}}";
/// let config = Config::parse("a.yaml", text, &registry).expect("no fault");
/// assert_eq!(config.pools[0].plugs.guards[0].name, "gently");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Plugs {
    /// Signals, by what deciders call them. The policy declares each as external.
    pub signals: Vec<(Name, Plug)>,
    /// A decider in place of the policy's.
    pub decider: Option<Plug>,
    /// Parts of the policy's composite, and where each stands; the policy has `all_busy` there.
    pub parts: Vec<(PartPath, Plug)>,
    /// Guards behind the policy's.
    pub guards: Vec<Plug>,
}
