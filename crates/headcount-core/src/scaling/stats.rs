//! What an autoscaler counts for people: statistics and the last samples.

use std::collections::VecDeque;
use std::time::Duration;

use super::decision::Decision;
use super::direction::Direction;
use super::observation::Observation;
use crate::Timestamp;

/// What was counted since the start or the last reset.
///
/// ```
/// use headcount_core::{Observation, Policy, PoolSnapshot, Preset, Staffing};
///
/// let policy = Policy::check(&Preset::gopipe().config(), 8).expect("no fault");
/// let pool = PoolSnapshot { busy: 2, ..PoolSnapshot::of(Staffing::exactly(2)) };
/// let mut autoscaler = policy.build();
/// let mut observation = Observation { pool, ..Observation::default() };
/// let decision = autoscaler.tick(&observation);
/// autoscaler.applied(&decision);
/// observation.allowance = Some(2);
/// autoscaler.tick(&observation);
/// let stats = autoscaler.stats();
/// assert_eq!((stats.evaluations, stats.grows, stats.suppressed), (2, 1, 1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stats {
    /// Growths that were applied.
    pub grows: u64,
    /// Shrinks that were applied.
    pub shrinks: u64,
    /// Decisions made.
    pub evaluations: u64,
    /// Decisions in which a change was wanted that the bounds allow, and none came of it.
    pub suppressed: u64,
    /// When a growth was last applied.
    pub last_grow: Option<Timestamp>,
    /// When a shrink was last applied.
    pub last_shrink: Option<Timestamp>,
    /// The most live workers seen.
    pub live_peak: Option<u32>,
    /// The fewest live workers seen.
    pub live_least: Option<u32>,
}

impl Stats {
    pub(super) fn decided(&mut self, decision: &Decision, live: u32) {
        self.evaluations += 1;
        self.suppressed += u64::from(decision.is_suppressed());
        self.live_peak = Some(self.live_peak.map_or(live, |peak| peak.max(live)));
        self.live_least = Some(self.live_least.map_or(live, |least| least.min(live)));
    }

    pub(super) fn applied(&mut self, at: Timestamp, direction: Direction) {
        match direction {
            Direction::Grow => {
                self.grows += 1;
                self.last_grow = Some(at);
            }
            Direction::Shrink => {
                self.shrinks += 1;
                self.last_shrink = Some(at);
            }
            Direction::Hold => {}
        }
    }
}

/// The pool at one tick, as people look back on it.
///
/// What was counted is counted since the sample before; the first sample has nothing before it.
///
/// ```
/// use headcount_core::{Observation, Policy, PolicyConfig, PoolSnapshot, Timestamp};
///
/// let policy = Policy::check(&PolicyConfig::default(), 8).expect("no fault");
/// let mut autoscaler = policy.build();
/// let mut pool = PoolSnapshot::default();
/// autoscaler.tick(&Observation::new(Timestamp::ORIGIN, pool));
/// pool.counters.completed = 30;
/// autoscaler.tick(&Observation::new(Timestamp::from_secs(2), pool));
/// let throughput: Vec<_> = autoscaler.samples().map(|sample| sample.throughput).collect();
/// assert_eq!(throughput, [None, Some(15.0)]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Sample {
    /// When.
    pub at: Timestamp,
    /// Workers that exist.
    pub live: u32,
    /// Workers that run a task.
    pub busy: u32,
    /// Tasks that wait.
    pub queued: u64,
    /// The share of live workers that run a task.
    pub utilization: Option<f64>,
    /// Waiting tasks for each live worker.
    pub queued_per_worker: Option<f64>,
    /// How long 95 % of tasks waited at most.
    pub wait_p95: Option<Duration>,
    /// Tasks ended since the sample before.
    pub completed: u64,
    /// Tasks offered since the sample before.
    pub submitted: u64,
    /// Tasks ended a second since the sample before.
    pub throughput: Option<f64>,
}

/// The last samples, so many and no more.
#[derive(Clone, Debug)]
pub(super) struct Samples {
    kept_max: usize,
    kept: VecDeque<Sample>,
    last: Option<(Timestamp, u64, u64)>,
}

impl Samples {
    /// How many are kept unless a policy says otherwise.
    pub(super) const KEPT: usize = 60;
    /// How many may be kept.
    pub(super) const KEPT_MAX: usize = 100_000;

    pub(super) fn keeping(count: usize) -> Self {
        let kept_max = count.min(Self::KEPT_MAX);
        Self { kept_max, kept: VecDeque::with_capacity(kept_max), last: None }
    }

    /// Goes on from what another kept, as far as there is room.
    pub(super) fn follow(&mut self, former: &Self) {
        let left_out = former.kept.len().saturating_sub(self.kept_max);
        self.kept = former.kept.iter().skip(left_out).copied().collect();
        self.last = former.last;
    }

    pub(super) fn add(&mut self, observation: &Observation) {
        let (pool, at) = (&observation.pool, observation.at);
        let counters = pool.counters;
        let (completed, submitted, seconds) = match self.last {
            Some((then, completed, submitted)) => (
                counters.completed.saturating_sub(completed),
                counters.submitted.saturating_sub(submitted),
                at.since(then).as_secs_f64(),
            ),
            None => (0, 0, 0.0),
        };
        self.last = Some((at, counters.completed, counters.submitted));
        if self.kept_max == 0 {
            return;
        }
        if self.kept.len() == self.kept_max {
            self.kept.pop_front();
        }
        let per_worker = pool.queued as f64 / f64::from(pool.live);
        self.kept.push_back(Sample {
            at,
            live: pool.live,
            busy: pool.busy,
            queued: pool.queued,
            utilization: pool.utilization(),
            queued_per_worker: (0 < pool.live).then_some(per_worker),
            wait_p95: pool.wait.map(|wait| wait.p95),
            completed,
            submitted,
            throughput: (0.0 < seconds).then(|| completed as f64 / seconds),
        });
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Sample> {
        self.kept.iter()
    }
}
