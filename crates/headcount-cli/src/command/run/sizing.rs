//! How many jobs at once: which policy, and what it is told. The one place that knows.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use headcount::config::{CeilingConfig, Reader, Registry};
use headcount::probes::{Host, PerWorker, Sampler, SamplerConfig, Sensor};
use headcount::trace::{Recorder, RecorderConfig};
use headcount::{
    Driver, Name, Observation, Policy, PolicyConfig, PoolHandle, Preset, Scaler, Surroundings,
    SystemClock, Threads, Timestamp, UtcOffset,
};
use headcount_core::decide::{DeciderConfig, SloConfig, ThroughputConfig};
use headcount_core::guard::HealthBrake;
use headcount_core::health::{HealthRules, Weights};

use super::arguments::Arguments;
use super::bounds::Bounds;
use super::cpu::{self, Ticks};
use super::settling::Run;
use crate::Stop;
use crate::command::{cores, preset};

/// How often the processors are asked for.
const CPU_EVERY: Duration = Duration::from_millis(100);
/// How often the machine is asked how it is.
const HEALTH_EVERY: Duration = Duration::from_secs(1);
/// How long it rests after the machine was unwell, and between steps up: a run is short.
const RECOVERY_REST: Duration = Duration::from_secs(10);
/// Jobs at the beginning, on a machine of fewer cores.
const START_LEAST: u32 = 4;
/// The pool of a file that `--policy` takes, where there are several.
const POOL: &str = "run";

/// What decides how many there are, nothing wrong in it.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    policy: PolicyConfig,
    /// By which clock a schedule in it goes.
    utc_offset: UtcOffset,
}

/// The rule that was asked for, and the bounds that it ends up with.
pub(super) fn rule(arguments: &Arguments, bounds: Bounds) -> Result<(Bounds, Rule), Stop> {
    let written = written(arguments, bounds)?;
    let bounds = bounded(arguments, bounds, &written)?;
    let Bounds { min, max } = bounds;
    let mut policy = PolicyConfig {
        workers_min: Some(min),
        workers_max: Some(max),
        workers_max_allowed: Some(max),
        ..written.policy
    };
    if !arguments.no_health {
        let brake = HealthBrake { recovery_rest: RECOVERY_REST, ..HealthBrake::default() };
        policy.guards.health.get_or_insert(brake);
    }
    match Policy::check(&policy, cores()) {
        Ok(_) => Ok((bounds, Rule { policy, utc_offset: written.utc_offset })),
        Err(faults) => {
            let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
            Err(Stop::Misused(format!("the policy cannot be run: {}", faults.join("; "))))
        }
    }
}

/// The bounds of the command line, and of the file where that says nothing.
fn bounded(arguments: &Arguments, ours: Bounds, written: &Written) -> Result<Bounds, Stop> {
    let Some(file) = &arguments.policy else { return Ok(ours) };
    let policy = &written.policy;
    let most = policy.workers_max.filter(|_| arguments.max.is_none()).unwrap_or(ours.max);
    // As in a service: where there is room for fewer, the fewest are no more than that.
    let room = written.room.filter(|_| arguments.max.is_none()).unwrap_or(u32::MAX);
    let max = most.min(ours.max).min(room);
    let fewest = policy.workers_min.unwrap_or(ours.min).min(room).max(1);
    let min = if arguments.min.is_some() { ours.min } else { fewest };
    if min <= max {
        return Ok(Bounds { min, max });
    }
    let (file, advice) = (file.display(), "give both --min and --max");
    Err(Stop::Misused(match (arguments.min, arguments.max) {
        (Some(_), _) => format!("--min {min} is above the max of {max} in {file}; {advice}"),
        (None, Some(_)) => format!("--max {max} is below the min of {min} in {file}; {advice}"),
        (None, None) => format!(
            "the min of {min} in {file} is above the {max} jobs that there may be without being \
             told; give --max"
        ),
    }))
}

/// What was written, in a file or on the command line.
struct Written {
    policy: PolicyConfig,
    utc_offset: UtcOffset,
    /// What the container has room for, where the file asks for it.
    room: Option<u32>,
}

impl Written {
    fn of(policy: PolicyConfig) -> Self {
        Self { policy, utc_offset: UtcOffset::UTC, room: None }
    }
}

fn written(arguments: &Arguments, bounds: Bounds) -> Result<Written, Stop> {
    if let Some(file) = &arguments.policy {
        return from_file(file, bounds);
    }
    if let Some(name) = &arguments.preset {
        let config = preset(name)?.config();
        // As many as are looked for without being told, not as a pool in a service.
        return Ok(Written::of(PolicyConfig { workers_max: None, ..config }));
    }
    let start = cores().max(START_LEAST);
    let (preset, decider) = match arguments.slo {
        Some(wait_budget) => {
            let slo = SloConfig { wait_budget, trust_start: start, ..SloConfig::default() };
            (Preset::slo(wait_budget), DeciderConfig::Slo(slo))
        }
        None => {
            let throughput = ThroughputConfig { start, ..ThroughputConfig::default() };
            (Preset::throughput(), DeciderConfig::Throughput(throughput))
        }
    };
    Ok(Written::of(PolicyConfig { decider: Some(decider), ..preset.config() }))
}

/// The policy of the pool `run` of a file, or of its only pool.
fn from_file(file: &Path, bounds: Bounds) -> Result<Written, Stop> {
    let refused = |why: String| Stop::Misused(format!("--policy {}: {why}", file.display()));
    // Where it does not say how many there may be, it is as many as we look for.
    let reader = Reader::new(&Registry::new()).environment().cores(bounds.max);
    let reading = reader.read(file).map_err(|report| Stop::Misused(report.to_string()))?;
    let config = reading.config;
    let pool = match &config.pools[..] {
        [only] => Some(only),
        _ => config.pool(POOL),
    };
    let pool = pool.ok_or_else(|| {
        let names: Vec<_> = config.pools.iter().map(|pool| pool.name.as_str()).collect();
        let names = names.join(", ");
        refused(format!("there are several pools ({names}); call the one that is meant {POOL:?}"))
    })?;
    let (policy, utc_offset) = (pool.policy.clone(), pool.utc_offset);
    Ok(Written { policy, utc_offset, room: pool.ceiling.and_then(room) })
}

/// How many the container has room for.
fn room(ceiling: CeilingConfig) -> Option<u32> {
    let CeilingConfig { cpu_per_worker: cpu, bytes_per_worker: bytes } = ceiling;
    // Where nothing can be measured nothing limits it.
    let container = Host::new().sample(Timestamp::ORIGIN).ok()?.container();
    let ceiling = PerWorker { cpu, bytes, ..PerWorker::default() }.ceiling(&container)?;
    Some(ceiling.workers)
}

/// The file that `--trace` asks for.
pub(super) fn recorder(file: Option<&Path>) -> Result<Option<Recorder>, Stop> {
    let Some(file) = file else { return Ok(None) };
    Recorder::create(file, RecorderConfig::default()).map(Some).map_err(|error| {
        Stop::Misused(format!("--trace {}: it cannot be written: {error}", file.display()))
    })
}

/// Who is at work, and why so many.
#[derive(Clone, Debug)]
pub(super) struct Crew {
    pool: PoolHandle<Threads>,
    scaler: Option<Scaler>,
}

impl Crew {
    /// So many, whatever happens.
    pub(super) fn fixed(pool: PoolHandle<Threads>) -> Self {
        Self { pool, scaler: None }
    }

    /// As many as the policy says.
    pub(super) fn sized(
        pool: PoolHandle<Threads>,
        run: &Arc<Run>,
        rule: Rule,
        arguments: &Arguments,
    ) -> Result<Self, Stop> {
        let told = |error: &dyn std::fmt::Display| Stop::Misused(error.to_string());
        let readings = Readings { run: Arc::clone(run), cpu: Mutex::default() };
        let driver = Driver::new();
        let mut scaler = Scaler::of(pool.clone()).name(POOL).policy(rule.policy).driver(&driver);
        scaler = scaler.utc_offset(rule.utc_offset).around(readings);
        if !arguments.no_health {
            scaler = scaler.health(&health().map_err(|error| told(&error))?);
        }
        if let Some(recorder) = recorder(arguments.trace.as_deref())? {
            scaler = scaler.trace(&recorder);
        }
        if arguments.explain {
            let run = Arc::clone(run);
            scaler = scaler.on_scaled(move |scaled| run.screen.say(&scaled.why));
        }
        let scaler = scaler.start().map_err(|error| told(&error))?;
        Ok(Self { pool, scaler: Some(scaler) })
    }

    /// The workers that are busy, those that may be, and why.
    pub(super) fn now(&self) -> (u32, u32, String) {
        let ceiling = self.pool.snapshot().ceiling;
        let why = self.scaler.as_ref().map_or_else(String::new, Scaler::why);
        (self.pool.counts().busy, ceiling, why)
    }
}

/// How the machine is. Full processors are no illness here: they are what a heap of work is for.
fn health() -> io::Result<Sampler> {
    let weights = Weights { cpu: 0.0, ..Weights::default() };
    let rules = HealthRules { weights, ..HealthRules::default() };
    let config = SamplerConfig { interval: HEALTH_EVERY, rules, ..SamplerConfig::default() };
    let sampler = Sampler::start(Host::new(), config, Arc::new(SystemClock));
    let sampler = sampler.map_err(io::Error::other)?;
    // Before anything is decided: a machine of which nothing is known counts as unwell.
    sampler.sample_now();
    Ok(sampler)
}

/// What only we know: how much of the processors our jobs take, and how busy those are.
struct Readings {
    run: Arc<Run>,
    cpu: Mutex<Cpu>,
}

impl Surroundings for Readings {
    fn look(&self, observation: &mut Observation) {
        let mut cpu = self.cpu.lock().unwrap_or_else(PoisonError::into_inner);
        cpu.look(self.run.tally.service());
        for (name, value) in [("cpu_fill", cpu.fill), ("cpu_busy", cpu.busy)] {
            if let (Some(value), Ok(name)) = (value, Name::new(name)) {
                // There is room for two, and what is not known is left out.
                let _unknown = observation.externals.set(name, value);
            }
        }
    }
}

/// What is known of the processors.
#[derive(Debug, Default)]
struct Cpu {
    last: Option<(Instant, Ticks)>,
    busy: Option<f64>,
    fill: Option<f64>,
}

impl Cpu {
    /// Looks again if it is time; `took` is what the jobs that ended took in all.
    fn look(&mut self, took: Duration) {
        self.fill = cpu::used_by_children().and_then(|used| cpu::fill(cores(), used, took));
        let now = Instant::now();
        if self.last.is_some_and(|(at, _)| now - at < CPU_EVERY) {
            return;
        }
        let Some(ticks) = Ticks::now() else { return };
        if let Some((_, before)) = self.last {
            self.busy = ticks.busy_since(before);
        }
        self.last = Some((now, ticks));
    }
}
