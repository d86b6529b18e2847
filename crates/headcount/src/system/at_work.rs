//! The pools of a configuration, and what they share.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use headcount_core::{Clock, Name, Resizable, Timestamp};
use headcount_pool::{Limiter, PoolHandle, Threads};

use super::error::SystemError;
use super::reload::check;
use super::unit::{Unit, Workers};
use super::watching::Watching;
use crate::config::{Config, HealthConfig, PoolConfig, Registry};
use crate::live::{Budget, Downstream, Driver, Scaler, StateFile, Surroundings};
use crate::probes::{Host, Latest, Sampler, SamplerConfig, Sensor};
use crate::sync::lock;

/// Everything that a configuration says, at work: pools, their scalers, and what they share.
///
/// ```
/// use headcount::System;
/// use headcount::config::{Config, Registry};
/// use std::time::Duration;
///
/// let text = "
/// pools:
///   thumbs: {preset: slo, workers: {max: 16}}
///   mail: {preset: gopipe, workers: {max: 4}}
/// budget: {workers_max: 18}
/// ";
/// let config = Config::parse("pools.yaml", text, &Registry::new())?;
/// let system = System::of(config).start()?;
/// let thumbs = system.thread_pool("thumbs").expect("it stands in the file");
/// assert_eq!(thumbs.submit(|| 6 * 7)?.join()?, 42);
/// println!("{}", system.scaler("mail").expect("it stands in the file").why());
///
/// // Another file, while tasks run: what was taken in still runs.
/// let text = "pools: {thumbs: {workers: {max: 2}}}";
/// let other = Config::parse("pools.yaml", text, &Registry::new())?;
/// system.reload(other)?;
/// assert!(system.thread_pool("mail").is_none());
/// assert_eq!(thumbs.snapshot().ceiling, 2);
/// assert_eq!(system.drain(Duration::from_secs(5)).unrun, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "its pools end when the last handle is dropped"]
pub struct System {
    pub(super) works: Arc<Works>,
}

/// All of it.
#[derive(Debug)]
pub(super) struct Works {
    pub(super) shared: Shared,
    pub(super) units: Mutex<BTreeMap<String, Unit>>,
    pub(super) config: Mutex<Config>,
    /// Pools that are seen out. Nobody waits for them: their last task may take what it takes.
    pub(super) retiring: Mutex<Vec<Retiring>>,
    pub(super) watching: Mutex<Watching>,
    /// One change at a time.
    pub(super) stage: Mutex<Stage>,
}

/// Whether a system still takes changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    AtWork,
    Drained,
}

/// A pool that runs what it has, and goes.
#[derive(Debug)]
pub(super) struct Retiring {
    /// What the budget still keeps free for it.
    workers_min: u32,
    thread: JoinHandle<()>,
}

/// What all pools share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) registry: Registry,
    pub(super) driver: Driver,
    pub(super) budget: Budget,
    pub(super) health: SharedHealth,
    pub(super) downstreams: Mutex<BTreeMap<Name, Downstream>>,
    pub(super) state: Option<StateFile>,
    #[cfg(feature = "trace")]
    pub(super) recorder: Option<crate::trace::Recorder>,
    #[cfg(feature = "tokio")]
    pub(super) runtime: Option<tokio::runtime::Handle>,
}

impl Shared {
    /// What the tasks of this pool call, if it says so.
    pub(super) fn downstream(&self, config: &PoolConfig) -> Option<Downstream> {
        let name = config.downstream?;
        let rate_max = config.policy.guards.error_veto.unwrap_or_default().rate_max;
        let mut downstreams = lock(&self.downstreams);
        // What fails is counted together; how much of it a pool bears is its own to say.
        if let Some(known) = downstreams.get(&name) {
            return Some(known.with_rate_max(rate_max));
        }
        // A name that is too long to have something behind it names nothing.
        let downstream = Downstream::new(name.as_str(), rate_max).ok()?;
        downstreams.insert(name, downstream.clone());
        Some(downstream)
    }
}

/// The sampler of the moment: another one takes its place when the rules change.
#[derive(Clone)]
pub(super) struct SharedHealth(Arc<Mutex<Sampler>>);

impl SharedHealth {
    pub(super) fn set(&self, sampler: Sampler) {
        let before = std::mem::replace(&mut *lock(&self.0), sampler);
        // Its sensor may be the user's, and do as it likes when it goes: not under the lock.
        drop(before);
    }

    pub(super) fn latest(&self) -> Option<Latest> {
        self.sampler().latest()
    }

    pub(super) fn sampler(&self) -> Sampler {
        lock(&self.0).clone()
    }
}

impl fmt::Debug for SharedHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedHealth")
    }
}

impl Surroundings for SharedHealth {
    fn look(&self, observation: &mut headcount_core::Observation) {
        self.sampler().tell(observation);
    }
}

/// A system that is about to be started.
///
/// ```
/// use headcount::config::{Config, Registry};
/// use headcount::probes::{HostSample, Scripted};
/// use headcount::System;
///
/// // A machine that is well whatever happens, for a test.
/// let well = Scripted::always(HostSample { io_wait: Some(0.0), ..HostSample::default() });
/// let config = Config::parse("a.yaml", "pools: {a: {}}", &Registry::new())?;
/// let system = System::of(config).sensor(move || well.clone()).start()?;
/// assert_eq!(system.names(), ["a"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing is at work until it is started"]
pub struct SystemBuilder {
    pub(super) config: Config,
    registry: Registry,
    driver: Driver,
    make_sensor: MakeSensor,
}

type MakeSensor = Arc<dyn Fn() -> Box<dyn Sensor> + Send + Sync>;

impl SystemBuilder {
    /// The parts of yours that the configuration names.
    pub fn registry(mut self, registry: &Registry) -> Self {
        self.registry = registry.clone();
        self
    }

    /// Who looks after the scalers. [`Driver::shared`] by default.
    pub fn driver(mut self, driver: &Driver) -> Self {
        self.driver = driver.clone();
        self
    }

    /// What measures the machine, in place of [`Host`].
    pub fn sensor<S: Sensor + 'static>(
        mut self,
        make: impl Fn() -> S + Send + Sync + 'static,
    ) -> Self {
        self.make_sensor = Arc::new(move || Box::new(make()));
        self
    }

    /// Makes the pools and starts their scalers. Pools of async tasks live in the runtime that this
    /// is called in.
    ///
    /// # Errors
    ///
    /// When one of them cannot be made. Then there is none.
    pub fn start(self) -> Result<System, SystemError> {
        check(&self.config)?;
        let sampler = sampler(&self.config.health, &self.make_sensor, &self.driver, None)?;
        let shared = Shared {
            registry: self.registry,
            driver: self.driver,
            budget: Budget::new(self.config.budget.unwrap_or(u32::MAX)),
            health: SharedHealth(Arc::new(Mutex::new(sampler))),
            downstreams: Mutex::default(),
            state: self.config.state.as_ref().map(StateFile::open),
            #[cfg(feature = "trace")]
            recorder: recorder(&self.config)?,
            #[cfg(feature = "tokio")]
            runtime: tokio::runtime::Handle::try_current().ok(),
        };
        #[cfg(not(feature = "trace"))]
        if self.config.trace.is_some() {
            let why = "trace needs the feature `trace` of this program";
            return Err(SystemError::Shared(why.to_owned()));
        }
        let units = self
            .config
            .pools
            .iter()
            .map(|pool| Unit::make(pool, &shared).map(|unit| (pool.name.clone(), unit)));
        let units = units.collect::<Result<BTreeMap<_, _>, _>>()?;
        for unit in units.values() {
            unit.scaler.start();
        }
        let works = Works {
            shared,
            units: Mutex::new(units),
            config: Mutex::new(self.config),
            retiring: Mutex::default(),
            watching: Mutex::new(Watching::new(self.make_sensor)),
            stage: Mutex::new(Stage::AtWork),
        };
        Ok(System { works: Arc::new(works) })
    }
}

/// The time by which the scalers decide, for what they are told.
struct DriverClock(Driver);

impl Clock for DriverClock {
    fn now(&self) -> Timestamp {
        self.0.now()
    }
}

/// What measures the machine, in place of the one before, if there is one.
pub(super) fn sampler(
    config: &HealthConfig,
    make: &MakeSensor,
    driver: &Driver,
    before: Option<&Sampler>,
) -> Result<Sampler, SystemError> {
    let config = SamplerConfig {
        interval: config.interval,
        rules: config.rules,
        ..SamplerConfig::default()
    };
    let (mut sensor, clock) = (make(), Arc::new(DriverClock(driver.clone())));
    let sensor = move |at| sensor.sample(at);
    let sampler = match before {
        Some(before) => before.start_successor(sensor, config, clock),
        None => Sampler::start(sensor, config, clock),
    };
    let sampler = sampler.map_err(|error| SystemError::Shared(format!("health: {error}")))?;
    // Before anything is decided: a machine of which nothing is known counts as unwell.
    sampler.sample_now();
    Ok(sampler)
}

#[cfg(feature = "trace")]
fn recorder(config: &Config) -> Result<Option<crate::trace::Recorder>, SystemError> {
    use crate::trace::{Recorder, RecorderConfig};
    let Some(trace) = &config.trace else { return Ok(None) };
    let limits = RecorderConfig { bytes_max: trace.bytes_max, files_max: trace.files_max };
    let recorder = Recorder::create(&trace.path, limits).map_err(|error| {
        SystemError::Shared(format!("trace.path is {}; {error}", trace.path.display()))
    })?;
    Ok(Some(recorder))
}

impl System {
    /// A system that does what `config` says.
    pub fn of(config: Config) -> SystemBuilder {
        let make_sensor: MakeSensor = Arc::new(|| Box::new(Host::new()));
        SystemBuilder { config, registry: Registry::new(), driver: Driver::shared(), make_sensor }
    }

    /// The names of its pools.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        lock(&self.works.units).keys().cloned().collect()
    }

    /// The pool of threads of that name. After a reload that makes it anew, ask again.
    #[must_use]
    pub fn thread_pool(&self, name: &str) -> Option<PoolHandle<Threads>> {
        match &lock(&self.works.units).get(name)?.workers {
            Workers::Threads(pool) => Some(pool.handle()),
            _ => None,
        }
    }

    /// The pool of async tasks of that name.
    #[cfg(feature = "tokio")]
    #[must_use]
    pub fn task_pool(&self, name: &str) -> Option<PoolHandle<headcount_pool::Tasks>> {
        match &lock(&self.works.units).get(name)?.workers {
            Workers::Tasks(pool) => Some(pool.handle()),
            _ => None,
        }
    }

    /// The limiter of that name.
    #[must_use]
    pub fn limiter(&self, name: &str) -> Option<Limiter> {
        match &lock(&self.works.units).get(name)?.workers {
            Workers::Limiter(limiter) => Some(limiter.clone()),
            _ => None,
        }
    }

    /// What you registered and the file uses under that name.
    #[must_use]
    pub fn resizable(&self, name: &str) -> Option<Arc<dyn Resizable>> {
        match &lock(&self.works.units).get(name)?.workers {
            Workers::Own(own) => Some(Arc::clone(&own.0)),
            _ => None,
        }
    }

    /// The scaler of the pool of that name. After a reload without that pool it decides nothing
    /// any more.
    #[must_use]
    pub fn scaler(&self, name: &str) -> Option<Scaler> {
        lock(&self.works.units).get(name).map(|unit| unit.scaler.clone())
    }

    /// The configuration in force.
    #[must_use]
    pub fn config(&self) -> Config {
        lock(&self.works.config).clone()
    }

    /// What measures the machine.
    ///
    /// After a reload that says something else of `health` it is another one: ask again. What you
    /// had [this one watch](Sampler::watch_db_pool) the other one watches too.
    #[must_use]
    pub fn sampler(&self) -> Sampler {
        self.works.shared.health.sampler()
    }

    /// What the pools share.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.works.shared.budget.clone()
    }

    /// Takes no more tasks, lets all pools work until `timeout` is over, and says what is left.
    ///
    /// A service does this when it is told to end, with a few seconds less than it is given. To be
    /// called from outside of its pools. It is over then: its file is not followed any more, and a
    /// [reload](Self::reload) is refused.
    #[must_use = "what did not run is told here and nowhere else"]
    pub fn drain(&self, timeout: Duration) -> SystemDrained {
        let deadline = Instant::now().checked_add(timeout);
        // Held to the end: who drains it too is not told before there is something to tell.
        let mut stage = lock(&self.works.stage);
        *stage = Stage::Drained;
        lock(&self.works.watching).end();
        let units = std::mem::take(&mut *lock(&self.works.units));
        let left = thread::scope(|scope| {
            let drains: Vec<_> = units.values().map(|unit| drain(scope, unit, deadline)).collect();
            drains.into_iter().map(Draining::left).collect::<Vec<_>>()
        });
        let drained = SystemDrained {
            unrun: left.iter().map(|(unrun, _)| unrun).sum(),
            still_running: left.iter().map(|(_, running)| running).sum(),
        };
        // What still runs is nobody's to wait for beyond the deadline.
        self.works.retire(units.into_values());
        drained
    }
}

/// A pool that is drained, by a thread of its own where there is one to be had.
enum Draining<'scope> {
    Beside(ScopedJoinHandle<'scope, (usize, u32)>),
    Here(&'scope Unit, Option<Instant>),
}

fn drain<'scope>(
    scope: &'scope Scope<'scope, '_>,
    unit: &'scope Unit,
    deadline: Option<Instant>,
) -> Draining<'scope> {
    let name = format!("{}-drains", unit.config.name);
    let thread = thread::Builder::new().name(name);
    match thread.spawn_scoped(scope, move || unit.drain(deadline)) {
        Ok(thread) => Draining::Beside(thread),
        Err(_) => {
            // Its turn comes after the others; it takes no more tasks until then.
            unit.workers.close();
            Draining::Here(unit, deadline)
        }
    }
}

impl Draining<'_> {
    fn left(self) -> (usize, u32) {
        match self {
            // A drain that panicked left everything where it was.
            Self::Beside(thread) => thread.join().unwrap_or((0, 0)),
            Self::Here(unit, deadline) => unit.drain(deadline),
        }
    }
}

/// What is left of a system that was drained.
///
/// ```
/// use headcount::SystemDrained;
///
/// let drained = SystemDrained { unrun: 0, still_running: 0 };
/// assert!(drained.is_clean());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemDrained {
    /// Tasks that were taken in and did not begin.
    pub unrun: usize,
    /// Tasks that were still running at the deadline.
    pub still_running: u32,
}

impl SystemDrained {
    /// Whether everything that was taken in has run.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.unrun == 0 && self.still_running == 0
    }
}

impl Works {
    /// Sees pools out, beside everything else.
    pub(super) fn retire(&self, units: impl Iterator<Item = Unit>) {
        for unit in units {
            unit.close();
            let (name, workers_min) = (format!("{}-retires", unit.config.name), unit.fewest());
            // Where there is no thread to be had it is seen out here, by dropping the closure.
            let thread = thread::Builder::new().name(name).spawn(move || drop(unit));
            lock(&self.retiring).extend(thread.map(|thread| Retiring { workers_min, thread }));
        }
    }

    /// What the budget keeps free for pools that are seen out.
    pub(super) fn retiring_min(&self) -> u32 {
        let mut retiring = lock(&self.retiring);
        retiring.retain(|one| !one.thread.is_finished());
        retiring.iter().map(|one| one.workers_min).fold(0, u32::saturating_add)
    }
}

impl fmt::Debug for SystemBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemBuilder").field("config", &self.config).finish_non_exhaustive()
    }
}
