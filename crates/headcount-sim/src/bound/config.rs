//! What the bound is asked about.

use std::time::Duration;

use headcount_core::Timestamp;

use crate::Promise;

/// From some time on, so many workers get as much done as any number.
///
/// ```
/// use headcount_core::Timestamp;
/// use headcount_sim::bound::KneeStep;
///
/// // A brown-out of a minute.
/// let knee = [(0, 64.0), (300, 32.0), (360, 64.0)]
///     .map(|(secs, workers)| KneeStep { from: Timestamp::from_secs(secs), workers });
/// assert!(knee[1].workers < knee[2].workers);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KneeStep {
    /// When it begins.
    pub from: Timestamp,
    /// The number of workers that gets the most done.
    pub workers: f64,
}

/// What the bound is asked about: the promise, and what workers cost.
///
/// ```
/// use headcount_sim::Promise;
/// use headcount_sim::bound::BoundConfig;
/// use std::time::Duration;
///
/// let dear = BoundConfig {
///     spawn_delay: Duration::from_secs(10),
///     spawn_cost: Duration::from_secs(10),
///     ..BoundConfig::of(Promise::Wait(Duration::from_secs(30)))
/// };
/// assert_eq!(dear.workers_min, 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BoundConfig {
    /// How long a slot is. Shorter ones make the bound sharper, and the work longer. Default: 1 s.
    pub slot: Duration,
    /// What was promised.
    pub promise: Promise,
    /// How long a worker is paid for before it can work. Default: none.
    pub spawn_delay: Duration,
    /// What a hire costs beside that, in seconds of a worker. Default: nothing.
    pub spawn_cost: Duration,
    /// As many are there from the beginning to the last arrival, hired at no cost. Default: 1.
    pub workers_min: u32,
    /// The knee over time, in order; none before its first step. Default: no knee.
    pub knee: Vec<KneeStep>,
}

impl BoundConfig {
    /// The defaults, with this promise.
    #[must_use]
    pub fn of(promise: Promise) -> Self {
        Self {
            slot: Duration::from_secs(1),
            promise,
            spawn_delay: Duration::ZERO,
            spawn_cost: Duration::ZERO,
            workers_min: 1,
            knee: Vec::new(),
        }
    }

    /// What a hire costs in all, in seconds of a worker.
    pub(super) fn hire_seconds(&self) -> f64 {
        self.spawn_cost.as_secs_f64() + self.spawn_delay.as_secs_f64()
    }
}
