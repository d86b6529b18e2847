//! What the roster answers: each is a value that says what to do.

use super::WorkerId;
use crate::Timestamp;

/// Where a task goes that was just submitted.
///
/// ```
/// use headcount_core::roster::{Placement, Roster, RosterConfig};
/// use headcount_core::{Staffing, Timestamp};
///
/// let mut roster = Roster::new(RosterConfig::new(Staffing::between(0, 1)));
/// let queued = 0;
/// match roster.submitted(Timestamp::ORIGIN, queued) {
///     Placement::Wake(_worker) => unreachable!("nobody is parked"),
///     Placement::Hire(_worker) => { /* queue the task, start a worker */ }
///     Placement::Wait { hire_at: _ } => unreachable!("there is room, and no wait budget"),
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the roster only says what to do"]
pub enum Placement {
    /// Hand the task to this parked worker and wake it. It counts as busy already.
    Wake(WorkerId),
    /// Queue the task and start this worker. Its place is taken already.
    Hire(WorkerId),
    /// Queue the task.
    Wait {
        /// When to look for orders, if nobody has taken the task by then. `None`: no need to; a
        /// worker is on its way, or there is no room and an event will say when there is.
        hire_at: Option<Timestamp>,
    },
}

/// What a worker without a task does next.
///
/// ```
/// use headcount_core::roster::{Next, Placement, Roster, RosterConfig};
/// use headcount_core::{Staffing, Timestamp};
///
/// let now = Timestamp::ORIGIN;
/// let mut roster = Roster::new(RosterConfig::new(Staffing::between(0, 1)));
/// let Placement::Hire(worker) = roster.submitted(now, 0) else { unreachable!() };
/// assert_eq!(roster.started(worker, now, 1), Next::Take);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the roster only says what to do"]
pub enum Next {
    /// Take a waiting task. A worker that finds none after all reports `finished` once more.
    Take,
    /// Park.
    Park {
        /// When to report `expired`. `None`: not by itself; the floor keeps it, or it stays for
        /// ever.
        until: Option<Timestamp>,
    },
    /// Leave, and report `left` when gone.
    Leave,
}

/// What a worker does whose time to stay parked seems to be up.
///
/// ```
/// use headcount_core::roster::{Expiry, Placement, Roster, RosterConfig};
/// use headcount_core::{Staffing, Timestamp};
///
/// let now = Timestamp::ORIGIN;
/// let mut roster = Roster::new(RosterConfig::new(Staffing::between(0, 1)));
/// let Placement::Hire(worker) = roster.submitted(now, 0) else { unreachable!() };
/// let _ = roster.started(worker, now, 1);
/// assert_eq!(roster.expired(worker, Timestamp::MAX), Expiry::Stay { until: None }, "it is busy");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the roster only says what to do"]
pub enum Expiry {
    /// Leave, and report `left` when gone.
    Leave,
    /// Stay: it was woken meanwhile, has not been parked for long enough, or the floor keeps it.
    Stay {
        /// When to report `expired` again. `None`: not by itself.
        until: Option<Timestamp>,
    },
}

/// What one worker is at, as far as the roster knows.
///
/// ```
/// use headcount_core::roster::{Duty, Placement, Roster, RosterConfig};
/// use headcount_core::{Staffing, Timestamp};
///
/// let now = Timestamp::ORIGIN;
/// let mut roster = Roster::new(RosterConfig::new(Staffing::between(0, 1)));
/// let Placement::Hire(worker) = roster.submitted(now, 0) else { unreachable!() };
/// assert_eq!(roster.duty(worker), Some(Duty::Starting));
/// let _ = roster.started(worker, now, 0);
/// assert_eq!(roster.duty(worker), Some(Duty::Parked { since: now }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Duty {
    /// It was hired and has not started yet.
    Starting,
    /// It runs a task or was told to take one. It may be above the ceiling, and then leave after
    /// it: which of those who are at work will is not known before one of them reports.
    Busy,
    /// It has no task.
    Parked {
        /// Since then.
        since: Timestamp,
    },
    /// It was told to leave and is not gone yet.
    Leaving,
    /// It is stuck in a task and was replaced.
    WrittenOff,
}

/// What the pool does to bring its workers into line.
///
/// ```
/// use headcount_core::roster::{Order, Roster, RosterConfig};
/// use headcount_core::{Staffing, Timestamp};
/// use std::collections::VecDeque;
///
/// let queue: VecDeque<Timestamp> = VecDeque::new();
/// let mut roster = Roster::new(RosterConfig::new(Staffing::exactly(2)));
/// let mut hired = 0;
/// while let Some(order) = roster.next_order(Timestamp::ORIGIN, &queue) {
///     match order {
///         Order::Hire(_worker) => hired += 1,
///         Order::Dismiss(_worker) => unreachable!("nobody is parked"),
///     }
/// }
/// assert_eq!(hired, 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the roster only says what to do"]
pub enum Order {
    /// Start this worker. Its place is taken already.
    Hire(WorkerId),
    /// Wake this parked worker and send it home; it reports `left` when gone.
    Dismiss(WorkerId),
}

/// What it means that a worker could not be started.
///
/// The task that it was hired for stays queued.
///
/// ```
/// use headcount_core::roster::{BACKOFF_MIN, Placement, Roster, RosterConfig, Setback};
/// use headcount_core::{Staffing, Timestamp};
///
/// let now = Timestamp::ORIGIN;
/// let mut roster = Roster::new(RosterConfig::new(Staffing::between(0, 8)));
/// let Placement::Hire(worker) = roster.submitted(now, 0) else { unreachable!() };
/// assert_eq!(roster.spawn_failed(worker, now), Setback::Stranded { retry_at: now + BACKOFF_MIN });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[must_use = "stranded tasks need somewhere to run"]
pub enum Setback {
    /// There are others who will take the waiting tasks.
    Short {
        /// Nobody is hired before this.
        retry_at: Timestamp,
    },
    /// There is nobody: run the waiting tasks elsewhere, give them back, or let them wait.
    Stranded {
        /// Nobody is hired before this.
        retry_at: Timestamp,
    },
}

/// How many workers there are, by what they do.
///
/// `starting + busy + parked + leaving == live`, always. `retiring` says how many of the starting
/// and busy ones will leave; `written_off` come on top of `live`.
///
/// ```
/// use headcount_core::roster::{Counts, Roster, RosterConfig};
/// use headcount_core::Staffing;
///
/// let roster = Roster::new(RosterConfig::new(Staffing::exactly(4)));
/// assert_eq!(roster.counts(), Counts::default(), "nobody is hired before the first look");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Counts {
    /// Workers that hold a place under the ceiling.
    pub live: u32,
    /// Of those, workers that were hired and have not started yet.
    pub starting: u32,
    /// Of those, workers that run a task or were told to take one.
    pub busy: u32,
    /// Of those, workers without a task.
    pub parked: u32,
    /// Of those, workers that were told to leave and are not gone yet.
    pub leaving: u32,
    /// How many starting or busy workers are above the ceiling and will be told to leave.
    pub retiring: u32,
    /// Workers that are stuck in a task and were replaced.
    pub written_off: u32,
}
