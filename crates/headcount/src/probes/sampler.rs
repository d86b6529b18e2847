//! One sampler for all pools of a process.
//!
//! A thread of its own asks the sensor; everybody else reads what it said last. The lock between
//! them is held for the length of a copy and never while something is measured, so a sensor that
//! hangs holds up nobody: the last value stays and grows old.

use std::fmt;
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use headcount_core::health::Health;
use headcount_core::{Clock, Name, Observation, Timestamp};

use super::config::{SamplerConfig, StartError};
use super::db_pool::{DbPool, DbPoolsFull, Watched};
use super::kept::{Kept, Latest, Mishap, SampleCounts};
use super::sensor::{Sensor, SensorError};
use crate::sync::lock;

/// Measures the machine every few seconds, for everybody in the process.
///
/// Clones are handles of the same sampler; its thread ends when the last one is dropped. Where the
/// sensor hangs, fails or panics, that is counted and the last value is kept. Nobody measures a
/// second time while the first is under way. A value that is kept grows old: the core takes health
/// for unknown once it is older than [`STALE_AFTER`](headcount_core::health::STALE_AFTER).
///
/// ```
/// use headcount::probes::{HostSample, Sampler, Scripted, SensorError};
/// use headcount::{Clock, ManualClock, Observation, PoolSnapshot};
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// let busy = HostSample { io_wait: Some(0.9), ..HostSample::default() };
/// let sensor = Scripted::new([Ok(busy), Err(SensorError::Unsupported)]);
/// let clock = ManualClock::default();
/// let sampler = Sampler::manual(sensor, Arc::new(clock.clone()));
/// for _ in 0..3 {
///     sampler.sample_now();
///     clock.advance(Duration::from_secs(5));
/// }
/// let mut observation = Observation::new(clock.now(), PoolSnapshot::default());
/// sampler.tell(&mut observation);
/// assert_eq!(observation.health.map(|health| health.score), Some(0.0), "the last one known");
/// assert_eq!((sampler.counts().taken, sampler.counts().failed), (1, 2));
/// ```
#[derive(Clone)]
pub struct Sampler {
    owner: Arc<Owner>,
}

impl Sampler {
    /// Starts a thread that asks `sensor`, now and from then on.
    ///
    /// `clock` must be the one that observations are stamped with.
    ///
    /// # Errors
    ///
    /// When the configuration is wrong, or when there is no thread to be had.
    pub fn start(
        sensor: impl Sensor + 'static,
        config: SamplerConfig,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StartError> {
        Self::start_watching(sensor, config, clock, Arc::default())
    }

    /// The same for one that takes the place of this one: it watches the same pools of connections,
    /// those too that either of them is told of later.
    ///
    /// # Errors
    ///
    /// When the configuration is wrong, or when there is no thread to be had.
    #[cfg(feature = "config")]
    pub(crate) fn start_successor(
        &self,
        sensor: impl Sensor + 'static,
        config: SamplerConfig,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StartError> {
        Self::start_watching(sensor, config, clock, Arc::clone(&self.shared().watched))
    }

    fn start_watching(
        sensor: impl Sensor + 'static,
        config: SamplerConfig,
        clock: Arc<dyn Clock>,
        watched: Arc<Mutex<Watched>>,
    ) -> Result<Self, StartError> {
        config.check()?;
        let shared = Arc::new(Shared::new(config, clock, watched));
        let kept = Arc::clone(&shared);
        thread::Builder::new()
            .name("headcount-probes".to_owned())
            .spawn(move || kept.keep(sensor))
            .map_err(StartError::Thread)?;
        Ok(Self { owner: Arc::new(Owner { shared, by_hand: None }) })
    }

    /// A sampler without a thread, which measures when it is [asked to](Self::sample_now) and not
    /// otherwise, under the default rules. For tests, in virtual time.
    #[must_use]
    pub fn manual(sensor: impl Sensor + 'static, clock: Arc<dyn Clock>) -> Self {
        let shared = Arc::new(Shared::new(SamplerConfig::default(), clock, Arc::default()));
        let by_hand: Box<dyn Sensor> = Box::new(sensor);
        Self { owner: Arc::new(Owner { shared, by_hand: Some(Mutex::new(by_hand)) }) }
    }

    /// The last measurement that succeeded. `None`: there was none yet.
    #[must_use]
    pub fn latest(&self) -> Option<Latest> {
        self.shared().desk().kept.latest
    }

    /// Measures once more and returns the latest, which is an older one where this failed.
    ///
    /// It waits for the sampler's thread, for the time limit at most. A measurement that is under
    /// way already will do.
    #[allow(clippy::must_use_candidate)] // It can be called for its effect alone.
    pub fn sample_now(&self) -> Option<Latest> {
        match &self.owner.by_hand {
            None => self.shared().ask(),
            Some(sensor) => {
                // Somebody else measures at this moment: theirs will do, too.
                if let Ok(mut sensor) = sensor.try_lock() {
                    self.shared().measure(&mut **sensor);
                }
                self.latest()
            }
        }
    }

    /// Writes what is known of the machine into an observation that is about to be decided on.
    ///
    /// Health goes in with the time at which it was measured, however old; what has no such time is
    /// left out once it is stale.
    pub fn tell(&self, observation: &mut Observation) {
        let Some(latest) = self.latest() else { return };
        observation.health = latest.health;
        observation.memory = latest.sample.memory.filter(|_| !latest.is_stale(observation.at));
    }

    /// How measurements went.
    #[must_use]
    pub fn counts(&self) -> SampleCounts {
        let shared = self.shared();
        let now = shared.clock.now();
        shared.desk().kept.counts(now, shared.config.time_limit)
    }

    /// Why the last measurement that did not succeed did not. `None`: all did.
    #[must_use]
    pub fn last_failure(&self) -> Option<String> {
        self.shared().desk().kept.last_failure.clone()
    }

    /// Counts a pool of database connections in from the next measurement on, in place of one of
    /// the same name. Of several the one that is used the most counts.
    ///
    /// # Errors
    ///
    /// When 32 pools are watched already.
    pub fn watch_db_pool(
        &self,
        name: Name,
        pool: impl DbPool + 'static,
    ) -> Result<(), DbPoolsFull> {
        let pool: Arc<dyn DbPool> = Arc::new(pool);
        // Whichever pool is not watched is dropped after the lock.
        let replaced = lock(&self.shared().watched).add(name, Arc::clone(&pool))?;
        drop(replaced);
        Ok(())
    }

    /// Leaves the pool of that name out from the next measurement on.
    pub fn unwatch_db_pool(&self, name: Name) {
        let removed = lock(&self.shared().watched).remove(name);
        drop(removed);
    }

    fn shared(&self) -> &Shared {
        &self.owner.shared
    }
}

impl fmt::Debug for Sampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sampler")
            .field("latest", &self.latest())
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}

/// What the handles own together. When the last one goes, so does the thread.
struct Owner {
    shared: Arc<Shared>,
    /// The sensor of a sampler without a thread.
    by_hand: Option<Mutex<Box<dyn Sensor>>>,
}

impl Drop for Owner {
    /// The thread is not waited for: it may be inside a sensor that hangs.
    fn drop(&mut self) {
        self.shared.desk().is_closed = true;
        self.shared.bell.notify_all();
    }
}

/// What the thread and the handles have in common.
struct Shared {
    desk: Mutex<Desk>,
    /// Rings when a measurement is asked for, when one has ended, and when all is over.
    bell: Condvar,
    config: SamplerConfig,
    clock: Arc<dyn Clock>,
    /// Shared with the sampler before and the one after, so that who takes the place of another
    /// watches the same. Its lock is a leaf.
    watched: Arc<Mutex<Watched>>,
}

#[derive(Default)]
struct Desk {
    kept: Kept,
    is_asked: bool,
    is_closed: bool,
}

impl Shared {
    fn new(config: SamplerConfig, clock: Arc<dyn Clock>, watched: Arc<Mutex<Watched>>) -> Self {
        Self { desk: Mutex::default(), bell: Condvar::new(), config, clock, watched }
    }

    /// Nothing of others runs under this lock, so a panic cannot have left it half done.
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the thread does for as long as there are handles.
    fn keep(&self, mut sensor: impl Sensor) {
        self.measure(&mut sensor);
        while self.rest() {
            self.measure(&mut sensor);
        }
    }

    /// Waits until the next measurement is due or asked for. `false`: there will be none.
    fn rest(&self) -> bool {
        let idle = |desk: &mut Desk| !desk.is_asked && !desk.is_closed;
        let rested = self.bell.wait_timeout_while(self.desk(), self.config.interval, idle);
        let (desk, _) = rested.unwrap_or_else(PoisonError::into_inner);
        !desk.is_closed
    }

    fn measure(&self, sensor: &mut dyn Sensor) {
        let at = self.clock.now();
        self.desk().kept.begin(at);
        let watched = lock(&self.watched).clone();
        let outcome = self.outcome(sensor, watched, at);
        let now = self.clock.now();
        let mut desk = self.desk();
        desk.kept.end(outcome, now, self.config.time_limit);
        desk.is_asked = false;
        self.bell.notify_all();
    }

    /// Calls what is not ours, and survives it.
    fn outcome(
        &self,
        sensor: &mut dyn Sensor,
        watched: Watched,
        at: Timestamp,
    ) -> Result<Latest, Mishap> {
        let measure = || self.latest_of(sensor, watched, at);
        match catch_unwind(AssertUnwindSafe(measure)) {
            Ok(measured) => measured.map_err(|error| Mishap::Failed(error.to_string())),
            Err(payload) => {
                // What was thrown may throw again when it is dropped. Then it is left alone.
                if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                    forget(again);
                }
                Err(Mishap::Panicked)
            }
        }
    }

    /// Takes the pools, so that one that nobody else has any more is dropped here, where a panic
    /// does no harm.
    fn latest_of(
        &self,
        sensor: &mut dyn Sensor,
        watched: Watched,
        at: Timestamp,
    ) -> Result<Latest, SensorError> {
        let mut sample = sensor.sample(at)?;
        let fullest = watched.fullest();
        drop(watched);
        let share = fullest.map(|(_, share)| share);
        sample.db_pool = match (sample.db_pool, share) {
            (Some(sensed), Some(share)) => Some(sensed.max(share)),
            (sensed, share) => sensed.or(share),
        };
        Ok(Latest {
            health: Health::assess(&self.config.rules, &sample.vitals(), at),
            sample,
            measured_at: at,
            fullest_db_pool: fullest.map(|(name, _)| name),
        })
    }

    /// Has the thread measure, and waits for it until the time limit is over.
    fn ask(&self) -> Option<Latest> {
        let mut desk = self.desk();
        desk.is_asked = true;
        let ended = desk.kept.ended;
        self.bell.notify_all();
        let unanswered = |desk: &mut Desk| desk.kept.ended == ended;
        let waited = self.bell.wait_timeout_while(desk, self.config.time_limit, unanswered);
        let (desk, _) = waited.unwrap_or_else(PoisonError::into_inner);
        desk.kept.latest
    }
}
