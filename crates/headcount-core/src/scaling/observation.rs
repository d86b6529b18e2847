//! Everything that may be known at one instant.
//!
//! The shell gathers an [`Observation`] and hands it to the autoscaler; nothing in the core asks
//! for more. What could not be measured is `None`, which is never the same as zero.

use std::fmt;
use std::time::Duration;

use crate::health::Health;
use crate::{Calendar, Name, Staffing, Timestamp};

/// Everything that is known at one instant.
///
/// ```
/// use headcount_core::{Observation, PoolSnapshot, Staffing, Timestamp};
///
/// let pool = PoolSnapshot { queued: 7, ..PoolSnapshot::at_work(Staffing::exactly(4), 3) };
/// let observation = Observation::new(Timestamp::from_secs(1), pool);
/// assert_eq!(observation.pool.utilization(), Some(0.75));
/// assert!(observation.health.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Observation {
    /// When this was observed.
    pub at: Timestamp,
    /// The pool itself.
    pub pool: PoolSnapshot,
    /// The machine, as last measured. `None`: never measured.
    pub health: Option<Health>,
    /// What the budget grants this pool. `None`: there is nobody to share with.
    pub allowance: Option<u32>,
    /// Memory in use and its limit. `None`: not measured.
    pub memory: Option<MemoryUse>,
    /// The circuit breaker in front of what the tasks call. `None`: there is no breaker.
    pub breaker: Option<Breaker>,
    /// The wall clock, for schedules. `None`: the shell has none.
    pub calendar: Option<Calendar>,
    /// Numbers from outside, by name.
    pub externals: Externals,
}

impl Observation {
    /// An observation of nothing but the pool.
    #[must_use]
    pub fn new(at: Timestamp, pool: PoolSnapshot) -> Self {
        Self { at, pool, ..Self::default() }
    }
}

/// The state of one pool at one instant.
///
/// Counters are cumulative since the pool was made, so that reading twice changes nothing.
///
/// ```
/// use headcount_core::{PoolSnapshot, Staffing};
///
/// let idle = PoolSnapshot::of(Staffing::between(1, 8));
/// assert_eq!((idle.floor, idle.ceiling, idle.live), (1, 8, 1));
/// assert_eq!(idle.utilization(), Some(0.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PoolSnapshot {
    /// The fewest workers allowed now.
    pub floor: u32,
    /// The most workers allowed now.
    pub ceiling: u32,
    /// Workers that hold a place: starting, busy, parked or about to leave.
    pub live: u32,
    /// Workers that run a task.
    pub busy: u32,
    /// Workers without a task.
    pub parked: u32,
    /// Workers that were hired and have not begun yet.
    pub starting: u32,
    /// Workers on their way out: told to leave and not gone yet, or above the ceiling.
    pub retiring: u32,
    /// Tasks that wait.
    pub queued: u64,
    /// How many tasks may wait. `None`: no limit.
    pub queue_len_max: Option<u64>,
    /// How long the oldest waiting task has waited. `None`: nothing waits.
    pub oldest_wait: Option<Duration>,
    /// How long the longest parked worker has been parked. `None`: nobody is parked.
    pub longest_idle: Option<Duration>,
    /// What was counted since the pool was made.
    pub counters: Counters,
    /// How long tasks waited, over the recent window. `None`: no task was started in it.
    pub wait: Option<Statistics>,
    /// How long tasks ran, over the recent window. `None`: no task finished in it.
    pub service: Option<Statistics>,
    /// The logarithms of how long tasks ran, summed up since the pool was made. `None`: not kept.
    pub service_logs: Option<LogSums>,
    /// The share of their tasks' time that workers spent blocked. `None`: not measured.
    pub blocked_share: Option<f64>,
    /// How long it takes from hiring a worker to its first task. `None`: not measured.
    pub spawn_delay: Option<Duration>,
    /// Whether the pool is being drained and takes no new tasks.
    pub draining: bool,
}

impl PoolSnapshot {
    /// A pool at rest under `staffing`, with its floor of workers parked.
    #[must_use]
    pub fn of(staffing: Staffing) -> Self {
        Self {
            floor: staffing.floor,
            ceiling: staffing.ceiling,
            live: staffing.floor,
            parked: staffing.floor,
            ..Self::default()
        }
    }

    /// A pool under `staffing` in which `busy` workers run a task and nobody waits.
    #[must_use]
    pub fn at_work(staffing: Staffing, busy: u32) -> Self {
        let live = staffing.floor.max(busy);
        Self { live, busy, parked: live - busy, ..Self::of(staffing) }
    }

    /// The bounds in force.
    #[must_use]
    pub fn staffing(&self) -> Staffing {
        Staffing::between(self.floor, self.ceiling)
    }

    /// The share of live workers that run a task. `None` where there is no worker.
    #[must_use]
    pub fn utilization(&self) -> Option<f64> {
        (0 < self.live).then(|| f64::from(self.busy) / f64::from(self.live))
    }

    /// Tasks that are waiting or running.
    #[must_use]
    pub fn pending(&self) -> u64 {
        self.queued.saturating_add(u64::from(self.busy))
    }
}

/// What happened to tasks since the pool was made.
///
/// Each that was submitted is rejected, waits, runs, or has ended in exactly one way. So where none
/// waits and none runs, `submitted` is the sum of `rejected`, `completed`, `expired`, `cancelled`,
/// `dropped` and `returned`.
///
/// ```
/// use headcount_core::signal::{ErrorRate, Signal};
/// use headcount_core::{Counters, Observation, PoolSnapshot, Timestamp};
///
/// let at = |second, counters| {
///     let pool = PoolSnapshot { counters, ..PoolSnapshot::default() };
///     Observation::new(Timestamp::from_secs(second), pool)
/// };
/// let mut rate = ErrorRate::default();
/// rate.read(&at(0, Counters { completed: 100, failed: 1, ..Counters::default() }));
/// let later = at(1, Counters { completed: 120, failed: 6, ..Counters::default() });
/// assert_eq!(rate.read(&later), Some(0.25), "5 of the 20 that ended since");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Counters {
    /// Tasks offered to the pool, the rejected ones too.
    pub submitted: u64,
    /// Tasks that began.
    pub started: u64,
    /// Tasks that ended after they had begun, however they ended: those that were stopped on the
    /// way, too, but none that never began.
    pub completed: u64,
    /// Of those, tasks that ended in an error.
    pub failed: u64,
    /// Of the failed, tasks that panicked.
    pub panicked: u64,
    /// Tasks that were not taken in: refused at the door, or dropped there.
    pub rejected: u64,
    /// Tasks that did not run because they waited past their deadline.
    pub expired: u64,
    /// Tasks that did not run because they were cancelled while they waited.
    #[cfg_attr(feature = "serde", serde(default))]
    pub cancelled: u64,
    /// Tasks that did not run because they made room for others.
    #[cfg_attr(feature = "serde", serde(default))]
    pub dropped: u64,
    /// Tasks that did not run because they were handed back.
    #[cfg_attr(feature = "serde", serde(default))]
    pub returned: u64,
}

/// A window of measured spans, reduced to what deciders use.
///
/// ```
/// use headcount_core::Statistics;
/// use std::time::Duration;
///
/// let spans = [1, 2, 3, 10].map(Duration::from_secs);
/// let statistics = Statistics::of(&spans).expect("four spans");
/// assert_eq!(statistics.mean, Duration::from_secs(4));
/// assert_eq!(statistics.p50, Duration::from_secs(2));
/// assert_eq!(statistics.p99, Duration::from_secs(10));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Statistics {
    /// How many spans were measured.
    pub count: u64,
    /// Their mean.
    pub mean: Duration,
    /// Their squared coefficient of variation: variance over the square of the mean.
    pub scv: f64,
    /// Half of them were no longer than this.
    pub p50: Duration,
    /// 95 % of them were no longer than this.
    pub p95: Duration,
    /// 99 % of them were no longer than this.
    pub p99: Duration,
}

impl Statistics {
    /// Reduces `spans`, or returns `None` where there is none.
    ///
    /// It sorts a copy: for tests and small windows. Pools keep histograms.
    #[must_use]
    pub fn of(spans: &[Duration]) -> Option<Self> {
        if spans.is_empty() {
            return None;
        }
        let mut sorted = spans.to_vec();
        sorted.sort_unstable();
        let count = sorted.len() as f64;
        let mean = sorted.iter().map(Duration::as_secs_f64).sum::<f64>() / count;
        let variance = sorted.iter().map(|s| (s.as_secs_f64() - mean).powi(2)).sum::<f64>() / count;
        let at = |share: usize| sorted[(sorted.len() * share).div_ceil(100).max(1) - 1];
        Some(Self {
            count: sorted.len() as u64,
            mean: Duration::try_from_secs_f64(mean).unwrap_or(Duration::MAX),
            scv: if 0.0 < mean { variance / (mean * mean) } else { 0.0 },
            p50: at(50),
            p95: at(95),
            p99: at(99),
        })
    }
}

/// The natural logarithms of spans in seconds, summed up since the pool was made.
///
/// Sums, not means: two readers can each take their own difference, over windows of their own.
///
/// ```
/// use headcount_core::LogSums;
/// use std::time::Duration;
///
/// let mut logs = LogSums::default();
/// logs.add(Duration::from_secs(1));
/// logs.add(Duration::from_secs(4));
/// let typical_seconds = (logs.sum / logs.count as f64).exp();
/// assert!((typical_seconds - 2.0).abs() < 1e-9, "the geometric mean");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LogSums {
    /// How many spans.
    pub count: u64,
    /// The sum of their logarithms.
    pub sum: f64,
    /// The sum of the squares of their logarithms.
    pub sum_of_squares: f64,
}

impl LogSums {
    /// Adds a span.
    pub fn add(&mut self, span: Duration) {
        // A span of nothing has no logarithm; a nanosecond is as short as spans get.
        let log = span.max(Duration::from_nanos(1)).as_secs_f64().ln();
        self.count += 1;
        self.sum += log;
        self.sum_of_squares += log * log;
    }
}

/// Memory in use and what there is of it.
///
/// ```
/// use headcount_core::guard::{Because, Guard, MemoryLimit, Ruling};
/// use headcount_core::{History, MemoryUse, Observation, PoolSnapshot, Situation, Staffing};
///
/// let pool = PoolSnapshot::of(Staffing::exactly(4));
/// let memory = Some(MemoryUse { used_bytes: 384 << 20, limit_bytes: 1 << 30 });
/// let observation = Observation { pool, memory, ..Observation::default() };
/// let history = History::default();
/// let situation = Situation { observation: &observation, readings: &[], history: &history };
/// let limit = MemoryLimit { bytes_per_worker: 64 << 20, use_max: 0.5 };
/// // Half of it may be used, and 384 MiB are: that is room for two more.
/// let ruling = limit.review(&situation, Staffing::exactly(9));
/// assert_eq!(ruling, Ruling::Amend(Staffing::exactly(6), Because::Memory(6)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MemoryUse {
    /// Bytes that cannot be given back, so without the page cache.
    pub used_bytes: u64,
    /// Bytes that may be used in all.
    pub limit_bytes: u64,
}

/// The state of a circuit breaker.
///
/// ```
/// use headcount_core::{Breaker, Observation, Policy, PoolSnapshot, Preset, Staffing};
///
/// let policy = Policy::check(&Preset::gopipe().config(), 8).expect("no fault");
/// let pool = PoolSnapshot { busy: 2, ..PoolSnapshot::of(Staffing::exactly(2)) };
/// let size_with = |breaker| {
///     let observation = Observation { pool, breaker: Some(breaker), ..Observation::default() };
///     policy.build().tick(&observation).to.ceiling
/// };
/// assert_eq!(size_with(Breaker::Closed), 3);
/// assert_eq!(size_with(Breaker::HalfOpen), 2, "no growth before the other side is back");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Breaker {
    /// Calls pass.
    Closed,
    /// A few calls pass, to see whether the other side is back.
    HalfOpen,
    /// No call passes.
    Open,
}

/// Numbers from outside, by name: a broker's lag, a rate limit's remainder, a price.
///
/// ```
/// use headcount_core::{Externals, Name};
///
/// let lag = Name::new("kafka.lag").expect("a name");
/// let mut externals = Externals::default();
/// externals.set(lag, 120.0).expect("a finite number");
/// assert_eq!(externals.get("kafka.lag"), Some(120.0));
/// assert!(externals.set(lag, f64::NAN).is_err(), "refused at the door");
/// assert_eq!(externals.get("kafka.lag"), None, "and not left at its old value");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<(Name, f64)>", into = "Vec<(Name, f64)>"))]
pub struct Externals {
    readings: Vec<(Name, f64)>,
}

/// Through the same door as one by one.
impl TryFrom<Vec<(Name, f64)>> for Externals {
    type Error = ExternalError;

    fn try_from(readings: Vec<(Name, f64)>) -> Result<Self, ExternalError> {
        let mut externals = Self::default();
        readings.into_iter().try_for_each(|(name, value)| externals.set(name, value))?;
        Ok(externals)
    }
}

impl From<Externals> for Vec<(Name, f64)> {
    fn from(externals: Externals) -> Self {
        externals.readings
    }
}

/// Why an external reading was refused.
///
/// ```
/// use headcount_core::{ExternalError, Externals, Name};
///
/// let lag = Name::new("kafka.lag").expect("a name");
/// let error = Externals::default().set(lag, f64::INFINITY).expect_err("not a number to act on");
/// assert_eq!(error, ExternalError::NotFinite(lag, f64::INFINITY));
/// let text = "external reading kafka.lag is inf; send a finite number or none";
/// assert_eq!(error.to_string(), text);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ExternalError {
    /// The number under this name is NaN or infinite.
    NotFinite(Name, f64),
    /// There are [`Externals::LEN_MAX`] readings already; this one found no room.
    Full(Name),
}

impl fmt::Display for ExternalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite(name, value) => {
                write!(f, "external reading {name} is {value}; send a finite number or none")
            }
            Self::Full(name) => write!(
                f,
                "external reading {name} finds no room; at most {} names are kept",
                Externals::LEN_MAX
            ),
        }
    }
}

impl std::error::Error for ExternalError {}

impl Externals {
    /// How many names are kept.
    pub const LEN_MAX: usize = 64;

    /// Sets the number under `name`. A number that is not finite removes what was there: it is no
    /// longer known.
    ///
    /// # Errors
    ///
    /// When `value` is NaN or infinite, or when there is no room for another name.
    pub fn set(&mut self, name: Name, value: f64) -> Result<(), ExternalError> {
        let place = self.readings.binary_search_by(|(known, _)| known.cmp(&name));
        if !value.is_finite() {
            if let Ok(index) = place {
                self.readings.remove(index);
            }
            return Err(ExternalError::NotFinite(name, value));
        }
        match place {
            Ok(index) => self.readings[index].1 = value,
            Err(_) if self.readings.len() == Self::LEN_MAX => {
                return Err(ExternalError::Full(name));
            }
            Err(index) => self.readings.insert(index, (name, value)),
        }
        Ok(())
    }

    /// The number under `name`, if it is known.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        self.readings.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// All names and their numbers, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (Name, f64)> + '_ {
        self.readings.iter().copied()
    }
}
