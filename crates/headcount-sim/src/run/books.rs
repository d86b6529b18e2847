//! What a pool of a simulation measures and counts: for its policy, and for those who judge it.

use std::time::Duration;

use headcount_core::spans::RecentSpans;
use headcount_core::{Counters, LogSums, PoolSnapshot, Timestamp};

/// What was counted in one run of one pool.
///
/// ```
/// use headcount_sim::run::Books;
///
/// let books = Books::default();
/// assert_eq!(books.waits.len(), 0, "nothing has begun");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Books {
    /// How long each job waited: until the try was begun that decided how it ended, as its promise
    /// has it, or until it was given up. Those that were turned away are not among them.
    pub waits: Vec<Duration>,
    /// Jobs that were not served as was promised.
    pub late: u64,
    /// Jobs that came in all.
    pub arrived: u64,
    /// Jobs that ended well.
    pub done: u64,
    /// Of those, the ones that kept the promise.
    pub done_in_time: u64,
    /// Workers that were hired.
    pub spawns: u64,
    /// The time of all workers together, from hiring to leaving, in seconds.
    pub worker_seconds: f64,
    /// The work of all jobs that came, in seconds at full speed.
    pub work_seconds: f64,
    /// The same of those that ended well.
    pub work_done_seconds: f64,
    /// The most workers there were.
    pub peak: u32,
    /// How often the number of workers turned from rising to falling or back.
    pub reversals: u64,
    /// What happened to it: jobs that came and ended, workers that came, looks and alarms.
    pub events: u64,
    /// The pool over time, where somebody wants to see it.
    pub moments: Vec<Moment>,
    pub(super) measured: Measured,
    pub(super) turns: Turns,
}

/// How a pool was at one moment.
///
/// ```
/// use headcount_sim::run::Moment;
///
/// let idle = Moment { live: 2, ..Moment::default() };
/// assert_eq!((idle.live, idle.queued), (2, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moment {
    /// When.
    pub at: Timestamp,
    /// The bounds in force.
    pub floor: u32,
    /// The bounds in force.
    pub ceiling: u32,
    /// Workers that exist.
    pub live: u32,
    /// Workers that run a job.
    pub busy: u32,
    /// Jobs that wait.
    pub queued: u64,
    /// How long the oldest of them has waited.
    pub oldest_wait: Duration,
}

impl Moment {
    pub(super) fn of(at: Timestamp, pool: &PoolSnapshot) -> Self {
        Self {
            at,
            floor: pool.floor,
            ceiling: pool.ceiling,
            live: pool.live,
            busy: pool.busy,
            queued: pool.queued,
            oldest_wait: pool.oldest_wait.unwrap_or_default(),
        }
    }
}

/// What a pool measures for its policy, as the live ones do.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    pub(super) counters: Counters,
    pub(super) waits: RecentSpans,
    pub(super) services: RecentSpans,
    pub(super) logs: LogSums,
    /// Whether a worker has started, so that it is known how long that takes.
    pub(super) started: bool,
}

/// In which direction a number last went.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turns {
    last: u32,
    rising: Option<bool>,
}

impl Turns {
    /// Takes in the number of workers, and says whether it turned around.
    pub(super) fn turned(&mut self, live: u32) -> bool {
        if live == self.last {
            return false;
        }
        let rising = self.last < live;
        self.last = live;
        self.rising.replace(rising).is_some_and(|before| before != rising)
    }
}
