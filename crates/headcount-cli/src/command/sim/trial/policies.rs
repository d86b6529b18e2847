//! The policies that are tried: presets, fixed numbers, and pools of files.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use headcount::config::{Format, PoolConfig, Reader, Registry};
use headcount_core::decide::{DeciderConfig, ErlangConfig};
use headcount_core::roster::RosterConfig;
use headcount_core::{Policy, PolicyConfig, Preset};
use headcount_sim::Promise;
use headcount_sim::load::Job;
use headcount_sim::run::PoolSetup;

use super::arguments::Arguments;
use crate::Stop;
use crate::command::preset;

/// The most workers of a preset where nobody says.
const WORKERS_MAX: u32 = 256;
/// How much of a promised latency `erlang` may spend waiting: a twentieth.
const WAIT_PART: u32 = 20;
/// A job that waits longer is late, where nobody says.
const WAIT: Duration = Duration::from_millis(100);

/// What jobs are promised.
pub(super) fn promise(arguments: &Arguments) -> Promise {
    match arguments.latency {
        Some(latency) => Promise::Latency(latency),
        None => Promise::Wait(arguments.slo.unwrap_or(WAIT)),
    }
}

/// A pool for each policy, with these jobs to do.
pub(super) fn pools(arguments: &Arguments, jobs: &Arc<[Job]>) -> Result<Vec<PoolSetup>, Stop> {
    let default = ["slo".to_owned()];
    let names = match &arguments.policy[..] {
        [] => &default[..],
        names => names,
    };
    names.iter().map(|name| pool(name, arguments, jobs)).collect()
}

fn pool(name: &str, arguments: &Arguments, jobs: &Arc<[Job]>) -> Result<PoolSetup, Stop> {
    let written = written(name, arguments)?;
    let bounds = PolicyConfig {
        workers_min: arguments.min,
        workers_max: arguments.max,
        ..PolicyConfig::default()
    };
    let config = match written.origin {
        Origin::Preset => bounds.or(usual_bounds()).or(written.config),
        Origin::File(_) => bounds.or(written.config),
        Origin::Fixed => written.config,
    };
    let policy = Policy::check(&config, arguments.max.unwrap_or(WORKERS_MAX));
    let policy = policy.map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        Stop::Misused(format!("--policy {name} cannot be run: {}", faults.join("; ")))
    })?;
    let has_idle_time = policy.idle_time().is_some();
    let mut pool = PoolSetup::new(name, policy, Arc::clone(jobs));
    if !has_idle_time {
        // To keep a worker for as long as another one costs is never worse than twice the best.
        pool.roster.idle_time = RosterConfig::break_even(arguments.spawn_cost, 1.0);
    }
    if let Origin::File(file_pool) = &written.origin {
        pool.roster.wait_budget = file_pool.wait_budget;
        pool.roster.idle_time = file_pool.idle;
    }
    Ok(PoolSetup {
        promise: promise(arguments),
        spawn_delay: arguments.spawn_delay,
        spawn_cost: arguments.spawn_cost,
        queue_len_max: arguments.queue_limit,
        expire_after: arguments.expire_after,
        newest_first_after: match arguments.newest_first_after {
            Some(written) => written.after(),
            None => pool.newest_first_after,
        },
        ..pool
    })
}

/// A policy before it is checked.
struct Written {
    config: PolicyConfig,
    origin: Origin,
}

/// Where a policy comes from, which decides whose bounds it has.
enum Origin {
    /// Those of the command line, else the same for all presets.
    Preset,
    /// Its own.
    Fixed,
    /// Those of the command line, else those of the file.
    File(Box<PoolConfig>),
}

fn written(name: &str, arguments: &Arguments) -> Result<Written, Stop> {
    if let Some((file, pool)) = as_file(name) {
        let pool = from_file(Path::new(file), pool.or(arguments.pool.as_deref()))?;
        return Ok(Written { config: pool.policy.clone(), origin: Origin::File(Box::new(pool)) });
    }
    Ok(match name.strip_prefix("fixed:") {
        Some(workers) => Written { config: fixed(workers)?, origin: Origin::Fixed },
        None => Written { config: from_preset(name, arguments)?, origin: Origin::Preset },
    })
}

/// The file, and the pool behind a colon, where a name is that of a file.
fn as_file(name: &str) -> Option<(&str, Option<&str>)> {
    let is_file = |name: &str| Format::of(Path::new(name)).is_some();
    match name.rsplit_once(':') {
        Some((file, pool)) if is_file(file) => Some((file, Some(pool))),
        _ => is_file(name).then_some((name, None)),
    }
}

fn from_file(file: &Path, pool: Option<&str>) -> Result<PoolConfig, Stop> {
    let reader = Reader::new(&Registry::new()).environment().cores(WORKERS_MAX);
    let reading = reader.read(file).map_err(|report| Stop::Misused(report.to_string()))?;
    let pools = reading.config.pools;
    let names: Vec<&str> = pools.iter().map(|pool| pool.name.as_str()).collect();
    let (shown, names) = (file.display(), names.join(", "));
    let found = match (pool, &pools[..]) {
        (None, [only]) => Some(only),
        (None, _) => {
            let advice = format!("there are several pools ({names}); say which with --pool");
            return Err(Stop::Misused(format!("{shown}: {advice}")));
        }
        (Some(wanted), pools) => pools.iter().find(|pool| pool.name == wanted),
    };
    found.cloned().ok_or_else(|| {
        let wanted = pool.unwrap_or_default();
        Stop::Misused(format!("{shown}: no pool is called {wanted:?}; there are {names}"))
    })
}

fn fixed(workers: &str) -> Result<PolicyConfig, Stop> {
    let Some(workers) = workers.parse::<u32>().ok().filter(|workers| 0 < *workers) else {
        let sentence = format!("\"fixed:{workers}\" is no number of workers; write fixed:8");
        return Err(Stop::Misused(sentence));
    };
    let decider = Preset::gopipe().config().decider;
    let workers = Some(workers);
    let bounds = PolicyConfig { workers_min: workers, workers_max: workers, ..Default::default() };
    Ok(PolicyConfig { decider, workers_max_allowed: workers, ..bounds })
}

/// A preset, told the wait that is allowed, quicker where a number stands behind a stroke, and with
/// the brake that goes by the machine's health where `+health` does.
fn from_preset(name: &str, arguments: &Arguments) -> Result<PolicyConfig, Stop> {
    let (slo, wait_of_erlang) = match promise(arguments) {
        Promise::Wait(wait) => (Preset::slo(wait), wait),
        Promise::Latency(latency) => (Preset::slo_latency(latency), latency / WAIT_PART),
    };
    let (name, heeds_health) = match name.strip_suffix("+health") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let (base, tempo) = match name.split_once('/') {
        None => (name, 1.0),
        Some((base, text)) => (base, tempo(text)?),
    };
    let config = match base {
        "slo" => slo.config(),
        base => preset(base)?.config(),
    };
    let mut config = config.with_times_divided_by(tempo);
    if heeds_health {
        config.guards.health.get_or_insert_default();
    }
    if let Some(DeciderConfig::Erlang(erlang)) = &mut config.decider {
        *erlang = ErlangConfig { wait_budget: wait_of_erlang, ..*erlang };
    }
    Ok(config)
}

fn tempo(text: &str) -> Result<f64, Stop> {
    let tempo = text.parse().ok().filter(|tempo| (1.0..=1e6).contains(tempo));
    tempo.ok_or_else(|| {
        Stop::Misused(format!("{text:?} is no tempo; write a number from 1 on, as in hpa/15"))
    })
}

/// Bounds of a preset are for a machine; here all of them shall have the same.
fn usual_bounds() -> PolicyConfig {
    PolicyConfig { workers_min: Some(1), workers_max: Some(WORKERS_MAX), ..PolicyConfig::default() }
}
