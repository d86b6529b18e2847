//! What a process runs: from the flags, and from the file if there is one.

use headcount::config::{DurabilityConfig, JobQueueConfig, JobsConfig, PoolKind, StoreConfig};
use headcount::{PolicyConfig, Preset, Workers};
use headcount_core::jobs::Label;

use super::CrewArguments;
use crate::Stop;
use crate::command::jobs_config;
use crate::command::reach::Place;

/// The queue of those who name none.
const QUEUE: &str = "default";
/// How many jobs run at once where nobody says.
const WORKERS: Workers = Workers { min: 1, max: 64 };

/// What a process runs.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Where the jobs are.
    pub(crate) place: Place,
    pub(crate) durability: DurabilityConfig,
    pub(crate) queues: Vec<QueuePlan>,
}

/// How the jobs of one queue are run.
#[derive(Debug)]
pub(crate) struct QueuePlan {
    pub(crate) name: Label,
    pub(crate) workers: Workers,
    pub(crate) policy: PolicyConfig,
    /// Whether jobs block, and have threads.
    pub(crate) on_threads: bool,
    /// What the file says of it.
    pub(crate) config: Option<JobQueueConfig>,
}

impl Plan {
    pub(crate) fn of(arguments: &CrewArguments) -> Result<Self, Stop> {
        let file = arguments.config.as_deref().map(jobs_config).transpose()?.unwrap_or_default();
        let durability = durability_of(file.store.as_ref());
        let place = match (&arguments.store, file.store.as_ref().and_then(Place::of)) {
            (Some(place), _) => place.clone(),
            (None, Some(place)) => place,
            (None, None) => Place::usual().map_err(Stop::Misused)?,
        };
        let queues = queues_of(arguments, &file)?;
        Ok(Self { place, durability, queues })
    }
}

fn durability_of(config: Option<&StoreConfig>) -> DurabilityConfig {
    match config {
        Some(StoreConfig::Embedded { durability, .. }) => *durability,
        _ => DurabilityConfig::default(),
    }
}

fn queues_of(arguments: &CrewArguments, file: &JobsConfig) -> Result<Vec<QueuePlan>, Stop> {
    let usual = || QUEUE.parse().expect("it is a fine name");
    let names: Vec<Label> = match (arguments.queue.as_slice(), file.queues.as_slice()) {
        ([], []) => vec![usual()],
        ([], queues) => queues.iter().map(|queue| queue.name.clone()).collect(),
        (asked, _) => asked.to_vec(),
    };
    names.into_iter().map(|name| queue_of(name, arguments, file)).collect()
}

fn queue_of(name: Label, arguments: &CrewArguments, file: &JobsConfig) -> Result<QueuePlan, Stop> {
    let config = file.queue(name.as_str()).cloned();
    if config.is_none() && !file.queues.is_empty() {
        let names: Vec<&str> = file.queues.iter().map(|queue| queue.name.as_str()).collect();
        return Err(Stop::Misused(format!(
            "--queue {name}: the file has no such queue; there are {}",
            names.join(", "),
        )));
    }
    let pool = config.as_ref().map(|config| &config.pool);
    let policy = match (arguments.slo, pool) {
        (Some(slo), _) => Preset::slo(slo).config(),
        (None, Some(pool)) => pool.policy.clone(),
        (None, None) => Preset::slo(std::time::Duration::from_secs(1)).config(),
    };
    let bounds = pool.map(|pool| Workers {
        min: pool.policy.workers_min.unwrap_or(WORKERS.min),
        max: pool.policy.workers_max.unwrap_or(WORKERS.max),
    });
    let workers = arguments.workers.or(bounds).unwrap_or(WORKERS);
    let policy =
        PolicyConfig { workers_min: Some(workers.min), workers_max: Some(workers.max), ..policy };
    let on_threads = pool.is_some_and(|pool| pool.kind == PoolKind::Threads);
    Ok(QueuePlan { name, workers, policy, on_threads, config })
}
