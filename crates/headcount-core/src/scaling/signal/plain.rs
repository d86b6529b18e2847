//! Signals that read the observation as it stands and remember nothing.

use std::time::Duration;

use super::{Signal, Unit};
use crate::health::Standing;
use crate::{Name, Observation, Reason, Statistics};

/// The share of live workers that run a task. No worker, no reading.
///
/// ```
/// use headcount_core::signal::{Signal, Utilization};
/// use headcount_core::{Observation, PoolSnapshot, Timestamp};
///
/// let pool = PoolSnapshot { live: 4, busy: 3, ..PoolSnapshot::default() };
/// assert_eq!(Utilization.read(&Observation::new(Timestamp::ORIGIN, pool)), Some(0.75));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Utilization;

impl Signal for Utilization {
    fn name(&self) -> &'static str {
        "utilization"
    }
    fn unit(&self) -> Unit {
        Unit::Ratio
    }
    fn reason(&self) -> Reason {
        Reason::WorkerUtilization
    }
    fn read(&mut self, observation: &Observation) -> Option<f64> {
        observation.pool.utilization()
    }
}

/// Tasks that wait.
///
/// ```
/// use headcount_core::signal::{QueueDepth, Signal};
/// use headcount_core::{Observation, PoolSnapshot, Timestamp};
///
/// let pool = PoolSnapshot { queued: 12, ..PoolSnapshot::default() };
/// assert_eq!(QueueDepth.read(&Observation::new(Timestamp::ORIGIN, pool)), Some(12.0));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueDepth;

impl Signal for QueueDepth {
    fn name(&self) -> &'static str {
        "queue_depth"
    }
    fn unit(&self) -> Unit {
        Unit::Count
    }
    fn reason(&self) -> Reason {
        Reason::QueueDepth
    }
    fn read(&mut self, observation: &Observation) -> Option<f64> {
        Some(observation.pool.queued as f64)
    }
}

/// Tasks that wait, for each live worker. No worker, no reading.
///
/// ```
/// use headcount_core::signal::{DepthPerWorker, Signal};
/// use headcount_core::{Observation, PoolSnapshot, Timestamp};
///
/// let pool = PoolSnapshot { live: 4, queued: 12, ..PoolSnapshot::default() };
/// assert_eq!(DepthPerWorker.read(&Observation::new(Timestamp::ORIGIN, pool)), Some(3.0));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct DepthPerWorker;

impl Signal for DepthPerWorker {
    fn name(&self) -> &'static str {
        "depth_per_worker"
    }
    fn unit(&self) -> Unit {
        Unit::Count
    }
    fn reason(&self) -> Reason {
        Reason::QueueDepth
    }
    fn read(&mut self, observation: &Observation) -> Option<f64> {
        let pool = &observation.pool;
        (0 < pool.live).then(|| pool.queued as f64 / f64::from(pool.live))
    }
}

/// Tasks that wait or run.
///
/// ```
/// use headcount_core::signal::{Pending, Signal};
/// use headcount_core::{Observation, PoolSnapshot, Timestamp};
///
/// let pool = PoolSnapshot { live: 4, busy: 3, queued: 12, ..PoolSnapshot::default() };
/// assert_eq!(Pending.read(&Observation::new(Timestamp::ORIGIN, pool)), Some(15.0));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Pending;

impl Signal for Pending {
    fn name(&self) -> &'static str {
        "pending"
    }
    fn unit(&self) -> Unit {
        Unit::Count
    }
    fn reason(&self) -> Reason {
        Reason::QueueDepth
    }
    fn read(&mut self, observation: &Observation) -> Option<f64> {
        Some(observation.pool.pending() as f64)
    }
}

/// How long the oldest waiting task has waited, in seconds.
///
/// An empty queue is a true 0; a queue whose wait nobody measured is no reading.
///
/// ```
/// use headcount_core::signal::{OldestWait, Signal};
/// use headcount_core::{Observation, PoolSnapshot, Timestamp};
///
/// let mut observation = Observation::new(Timestamp::ORIGIN, PoolSnapshot::default());
/// assert_eq!(OldestWait.read(&observation), Some(0.0));
/// observation.pool.queued = 1;
/// assert_eq!(OldestWait.read(&observation), None);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct OldestWait;

impl Signal for OldestWait {
    fn name(&self) -> &'static str {
        "oldest_wait"
    }
    fn unit(&self) -> Unit {
        Unit::Seconds
    }
    fn reason(&self) -> Reason {
        Reason::Latency
    }
    fn read(&mut self, observation: &Observation) -> Option<f64> {
        let pool = &observation.pool;
        let nothing_waits = || (pool.queued == 0).then_some(Duration::ZERO);
        pool.oldest_wait.or_else(nothing_waits).map(|wait| wait.as_secs_f64())
    }
}

/// How long tasks waited before they began, in seconds. No task begun, no reading.
///
/// ```
/// use headcount_core::signal::{Signal, Wait, WaitPercentile};
/// use headcount_core::{Observation, PoolSnapshot, Statistics, Timestamp};
/// use std::time::Duration;
///
/// let wait = Statistics::of(&[Duration::from_secs(2)]);
/// let observation =
///     Observation::new(Timestamp::ORIGIN, PoolSnapshot { wait, ..PoolSnapshot::default() });
/// let mut signal = Wait { percentile: WaitPercentile::P99 };
/// assert_eq!(signal.read(&observation), Some(2.0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// Which of the waits.
    pub percentile: WaitPercentile,
}

/// Which of the waits is meant: half, 95 % or 99 % of the tasks waited no longer.
///
/// ```
/// use headcount_core::signal::{Signal, Wait, WaitPercentile};
///
/// assert_eq!(Wait { percentile: WaitPercentile::P50 }.name(), "wait_p50");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitPercentile {
    /// Half waited no longer.
    P50,
    /// 95 % waited no longer.
    P95,
    /// 99 % waited no longer.
    P99,
}

impl WaitPercentile {
    fn of(self, waits: &Statistics) -> Duration {
        match self {
            Self::P50 => waits.p50,
            Self::P95 => waits.p95,
            Self::P99 => waits.p99,
        }
    }
}

impl Signal for Wait {
    fn name(&self) -> &'static str {
        match self.percentile {
            WaitPercentile::P50 => "wait_p50",
            WaitPercentile::P95 => "wait_p95",
            WaitPercentile::P99 => "wait_p99",
        }
    }
    fn unit(&self) -> Unit {
        Unit::Seconds
    }
    fn reason(&self) -> Reason {
        Reason::Latency
    }
    fn read(&mut self, observation: &Observation) -> Option<f64> {
        measured(observation.pool.wait).map(|waits| self.percentile.of(&waits).as_secs_f64())
    }
}

/// How long tasks ran on average, in seconds. No task finished, no reading.
///
/// ```
/// use headcount_core::signal::{ServiceTime, Signal};
/// use headcount_core::{Observation, PoolSnapshot, Statistics, Timestamp};
/// use std::time::Duration;
///
/// let service = Statistics::of(&[1, 3].map(Duration::from_secs));
/// let pool = PoolSnapshot { service, ..PoolSnapshot::default() };
/// assert_eq!(ServiceTime.read(&Observation::new(Timestamp::ORIGIN, pool)), Some(2.0));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ServiceTime;

impl Signal for ServiceTime {
    fn name(&self) -> &'static str {
        "service_time"
    }
    fn unit(&self) -> Unit {
        Unit::Seconds
    }
    fn reason(&self) -> Reason {
        Reason::SetPoint
    }
    fn read(&mut self, observation: &Observation) -> Option<f64> {
        measured(observation.pool.service).map(|spans| spans.mean.as_secs_f64())
    }
}

/// A window in which nothing was counted says nothing, whatever its numbers are.
fn measured(statistics: Option<Statistics>) -> Option<Statistics> {
    statistics.filter(|statistics| 0 < statistics.count)
}

/// How long the longest parked worker has been parked, in seconds.
///
/// Nobody parked is a true 0; without a worker there is no reading.
///
/// ```
/// use headcount_core::signal::{IdleTime, Signal};
/// use headcount_core::{Observation, PoolSnapshot, Timestamp};
///
/// let mut observation = Observation::new(Timestamp::ORIGIN, PoolSnapshot::default());
/// assert_eq!(IdleTime.read(&observation), None);
/// observation.pool.live = 1;
/// assert_eq!(IdleTime.read(&observation), Some(0.0));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct IdleTime;

impl Signal for IdleTime {
    fn name(&self) -> &'static str {
        "idle_time"
    }
    fn unit(&self) -> Unit {
        Unit::Seconds
    }
    fn reason(&self) -> Reason {
        Reason::Idle
    }
    fn read(&mut self, observation: &Observation) -> Option<f64> {
        let pool = &observation.pool;
        // Nobody parked is no time at all; parked for an unknown time is unknown.
        let nobody_parked = || (pool.parked == 0 && 0 < pool.live).then_some(Duration::ZERO);
        pool.longest_idle.or_else(nobody_parked).map(|idle| idle.as_secs_f64())
    }
}

/// The share of their tasks' time that workers spent blocked.
///
/// ```
/// use headcount_core::signal::{BlockedShare, Signal};
/// use headcount_core::{Observation, PoolSnapshot, Timestamp};
///
/// let pool = PoolSnapshot { blocked_share: Some(0.8), ..PoolSnapshot::default() };
/// assert_eq!(BlockedShare.read(&Observation::new(Timestamp::ORIGIN, pool)), Some(0.8));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockedShare;

impl Signal for BlockedShare {
    fn name(&self) -> &'static str {
        "blocked_share"
    }
    fn unit(&self) -> Unit {
        Unit::Ratio
    }
    fn reason(&self) -> Reason {
        Reason::SetPoint
    }
    fn read(&mut self, observation: &Observation) -> Option<f64> {
        observation.pool.blocked_share
    }
}

/// The machine's health from 0, the worst, to 100.
///
/// It always has a reading: a machine that was not measured, or not lately, counts as
/// [`ASSUMED_SCORE`](crate::health::ASSUMED_SCORE).
///
/// ```
/// use headcount_core::signal::{HealthScore, Signal};
/// use headcount_core::{Observation, PoolSnapshot, Timestamp};
///
/// let unmeasured = Observation::new(Timestamp::ORIGIN, PoolSnapshot::default());
/// assert_eq!(HealthScore.read(&unmeasured), Some(50.0));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct HealthScore;

impl Signal for HealthScore {
    fn name(&self) -> &'static str {
        "health_score"
    }
    fn unit(&self) -> Unit {
        Unit::Score
    }
    fn reason(&self) -> Reason {
        Reason::Health
    }
    fn read(&mut self, observation: &Observation) -> Option<f64> {
        Some(Standing::of(observation.health.as_ref(), observation.at).score)
    }
}

/// A number from outside, under its own name.
///
/// ```
/// use headcount_core::signal::{External, Signal};
/// use headcount_core::{Name, Observation, PoolSnapshot, Timestamp};
///
/// let name = Name::new("kafka.lag").expect("a name");
/// let mut observation = Observation::new(Timestamp::ORIGIN, PoolSnapshot::default());
/// assert_eq!(External { name }.read(&observation), None);
/// observation.externals.set(name, 120.0).expect("a finite number");
/// assert_eq!(External { name }.read(&observation), Some(120.0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct External {
    /// The name it is sent under.
    pub name: Name,
}

impl Signal for External {
    fn name(&self) -> &str {
        self.name.as_str()
    }
    fn read(&mut self, observation: &Observation) -> Option<f64> {
        observation.externals.get(self.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::Health;
    use crate::{PoolSnapshot, Timestamp};

    fn check(signal: &mut dyn Signal, pool: &PoolSnapshot, reading: Option<f64>) {
        assert_eq!(signal.read(&Observation::new(Timestamp::ORIGIN, *pool)), reading);
    }

    #[test]
    fn without_workers_nothing_is_said_about_them() {
        let empty = PoolSnapshot { queued: 7, ..PoolSnapshot::default() };
        check(&mut Utilization, &empty, None);
        check(&mut DepthPerWorker, &empty, None);
        check(&mut IdleTime, &empty, None);
        check(&mut QueueDepth, &empty, Some(7.0));
        check(&mut Pending, &empty, Some(7.0));
    }

    #[test]
    fn zero_is_told_from_unknown() {
        let pool = PoolSnapshot { live: 2, busy: 2, ..PoolSnapshot::default() };
        let waited = PoolSnapshot { oldest_wait: Some(Duration::from_millis(1500)), ..pool };
        check(&mut OldestWait, &pool, Some(0.0));
        check(&mut OldestWait, &PoolSnapshot { queued: 3, ..pool }, None);
        check(&mut OldestWait, &PoolSnapshot { queued: 3, ..waited }, Some(1.5));
        let idle = PoolSnapshot { longest_idle: Some(Duration::from_secs(30)), ..pool };
        check(&mut IdleTime, &pool, Some(0.0));
        check(&mut IdleTime, &idle, Some(30.0));
        check(&mut BlockedShare, &pool, None);
    }

    #[test]
    fn each_percentile_reads_its_own_wait() {
        let spans: Vec<_> = (1..=100).map(Duration::from_secs).collect();
        let pool = PoolSnapshot { wait: Statistics::of(&spans), ..PoolSnapshot::default() };
        check(&mut Wait { percentile: WaitPercentile::P50 }, &pool, Some(50.0));
        check(&mut Wait { percentile: WaitPercentile::P95 }, &pool, Some(95.0));
        check(&mut Wait { percentile: WaitPercentile::P99 }, &pool, Some(99.0));
    }

    #[test]
    fn a_window_without_tasks_says_nothing() {
        let nothing = Some(Statistics::default());
        let pool = PoolSnapshot { wait: nothing, service: nothing, ..PoolSnapshot::default() };
        check(&mut Wait { percentile: WaitPercentile::P50 }, &pool, None);
        check(&mut ServiceTime, &pool, None);
        check(&mut ServiceTime, &PoolSnapshot::default(), None);
    }

    #[test]
    fn stale_health_is_read_as_the_assumed_score() {
        let read = |seconds| {
            let at = Timestamp::from_secs(seconds);
            let health = Health { measured_at: Timestamp::ORIGIN, score: 90.0, worst: None };
            let mut observation = Observation::new(at, PoolSnapshot::default());
            observation.health = Some(health);
            HealthScore.read(&observation)
        };
        assert_eq!((read(120), read(121)), (Some(90.0), Some(50.0)));
    }
}
