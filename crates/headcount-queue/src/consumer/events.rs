//! What a consumer tells of itself.

use std::time::Duration;

use headcount_core::jobs::port::StoreError;
use headcount_core::jobs::{JobId, Label, QueueStats};

/// A consumer in numbers. Those that end in `_total` only rise.
///
/// ```
/// use headcount_queue::ConsumerStats;
///
/// assert_eq!(ConsumerStats::default().running, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConsumerStats {
    /// Jobs whose handler is at work.
    pub running: u64,
    /// Jobs that are leased and whose handler has not begun.
    pub buffered: u64,
    /// Jobs that ended and of which the store has not heard yet.
    pub unsettled: u64,
    /// Blocking handlers that go on although nobody waits for them any more.
    pub stuck: u64,
    /// Jobs taken.
    pub leased_total: u64,
    /// Runs that ended well.
    pub done_total: u64,
    /// Runs that failed, those that failed for good included.
    pub failed_total: u64,
    /// Of the failed, those that failed for good.
    pub dead_total: u64,
    /// Of the failed, those that panicked.
    pub panicked_total: u64,
    /// Of the failed, those that ran for too long.
    pub timed_out_total: u64,
    /// Runs that were cancelled.
    pub cancelled_total: u64,
    /// Runs that were given back unfinished.
    pub released_total: u64,
    /// Runs that want to be called later.
    pub snoozed_total: u64,
    /// Endings that the store refused because somebody else held the job by then.
    pub stale_total: u64,
    /// Times that the lease ran out while this process lived.
    pub lost_leases_total: u64,
    /// Calls that the store did not answer as it should.
    pub store_errors_total: u64,
    /// Calls of `lease`.
    pub lease_calls_total: u64,
    /// Calls of `settle`.
    pub settle_calls_total: u64,
    /// Jobs submitted by schedules.
    pub scheduled_total: u64,
}

/// How a run ended, in a word.
///
/// ```
/// use headcount_queue::Ended;
///
/// assert_ne!(Ended::Done, Ended::Failed);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// Well.
    Done,
    /// Its handler failed, and it is tried again.
    Failed,
    /// Its handler failed for good.
    Dead,
    /// It was given back unfinished.
    Released,
    /// It wants to be called later.
    Snoozed,
    /// Somebody did not want it any more.
    Cancelled,
}

/// What happened in a consumer.
///
/// ```
/// use headcount_queue::ConsumerEvent;
///
/// let note = |event: &ConsumerEvent| match event {
///     ConsumerEvent::LeaseLost { held } => format!("lost {held} jobs to others"),
///     _ => String::new(),
/// };
/// assert_eq!(note(&ConsumerEvent::LeaseLost { held: 3 }), "lost 3 jobs to others");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ConsumerEvent {
    /// A run ended.
    Ended {
        /// Which job.
        id: JobId,
        /// Of which kind.
        kind: Label,
        /// How.
        how: Ended,
        /// How long after it was leased.
        took: Duration,
        /// Why, where it failed.
        error: Option<String>,
    },
    /// The store refused an ending because somebody else held the job by then.
    Stale {
        /// Which job.
        id: JobId,
    },
    /// A handler goes on although nobody waits for it any more.
    Stuck {
        /// Which job.
        id: JobId,
        /// Of which kind.
        kind: Label,
    },
    /// The lease ran out while this process lived.
    LeaseLost {
        /// How many jobs were held.
        held: usize,
    },
    /// The store did not do what it was asked; it is asked again.
    StoreFailed {
        /// What was asked of it.
        what: &'static str,
        /// What it said.
        error: StoreError,
    },
    /// The store does again what it is asked.
    StoreBack,
    /// The store told the queue in numbers, where it is
    /// [asked](super::ConsumerBuilder::stats_every) for them.
    Counted(Box<QueueStats>),
}

/// How a drain ended.
///
/// ```
/// use headcount_queue::Drained;
///
/// assert!(Drained::default().is_clean());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    /// Jobs that had begun and ended by themselves within the grace.
    pub finished: u64,
    /// Jobs that had not begun, given back at once.
    pub handed_back: u64,
    /// Jobs that were stopped and given back when the grace was over.
    pub stopped: u64,
    /// Jobs of which the store has not heard: others run them when the lease has run out.
    pub unsettled: u64,
}

impl Drained {
    /// Whether the store knows of everything.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.unsettled == 0
    }
}
