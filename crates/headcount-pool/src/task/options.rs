//! What a submitter may say about one task.

use std::time::Duration;

use headcount_core::Name;

use super::CancelToken;

/// What happens to a task that finds the line full.
///
/// ```
/// use headcount_pool::{Overflow, ThreadPool};
///
/// let pool = ThreadPool::builder()
///     .workers(1)
///     .queue_len_max(1)
///     .overflow(Overflow::CallerRuns)
///     .build()?;
/// pool.pause();
/// pool.spawn(|| ())?;
/// let caller = std::thread::current().id();
/// let ran_on = pool.submit(|| std::thread::current().id())?.join()?;
/// assert_eq!(ran_on, caller, "nobody else had room for it");
/// # pool.resume();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overflow {
    /// The submitter waits until there is room, its [token](TaskOptions::token) is cancelled, or
    /// the task has waited for [as long as it may](TaskOptions::wait_max); the default.
    ///
    /// A worker that submits to its own pool does not wait, because that might be what keeps the
    /// line full. A thread runs the task then and there, inside of the one that submits it; so it
    /// must not hold a lock that the task wants. An async task that awaits
    /// ([`spawn_async`](crate::PoolHandle::spawn_async),
    /// [`submit_async`](crate::PoolHandle::submit_async)) has it run inside of that await, to its
    /// end; one that does not is refused with [`Full`](crate::Refusal::Full), for no more tasks run
    /// at once than the ceiling allows. Tasks run inside of one another 16 deep; beyond that they
    /// are refused with `Full`, too.
    #[default]
    Wait,
    /// The submitter waits, but no longer than this. For a worker of the same pool it is as with
    /// [`Wait`](Self::Wait).
    WaitFor(Duration),
    /// The task is handed back.
    Reject,
    /// The task that waits longest is dropped, and its handle and an event say so.
    DropOldest,
    /// The task is dropped, and its handle and an event say so. It counts as rejected.
    DropNewest,
    /// The submitter runs the task. Closures run inside of one another 16 deep; beyond that they
    /// are handed back, before the stack ends.
    CallerRuns,
}

impl Overflow {
    /// Whether a full line costs somebody a task, and not only time.
    pub(crate) fn turns_away(self) -> bool {
        !matches!(self, Self::Wait | Self::WaitFor(_))
    }
}

/// What a submitter says about one task. Nothing, by default.
///
/// ```
/// use headcount_pool::{TaskOptions, TaskError, ThreadPool};
/// use std::time::Duration;
///
/// let pool = ThreadPool::builder().workers(1).build()?;
/// pool.pause();
/// let options = TaskOptions::new().wait_max(Duration::from_millis(1));
/// let late = pool.submit_with(options, || "too late")?;
/// assert_eq!(late.join(), Err(TaskError::Expired), "nobody ran it within a millisecond");
/// # pool.resume();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "options do nothing by themselves"]
pub struct TaskOptions {
    pub(crate) class: Option<Name>,
    pub(crate) wait_max: Option<Duration>,
    pub(crate) run_max: Option<Duration>,
    pub(crate) overflow: Option<Overflow>,
    pub(crate) token: Option<CancelToken>,
}

impl TaskOptions {
    /// Nothing special.
    pub fn new() -> Self {
        Self::default()
    }

    /// What kind of task it is: told in diagnoses, events and to policies.
    pub fn class(mut self, class: Name) -> Self {
        self.class = Some(class);
        self
    }

    /// It is dropped if it has not begun within this, counted from the call; an event says so. If
    /// it has not even been taken in by then, because there was no room, it is
    /// [handed back](crate::Refusal::TimedOut) instead, and counted as refused. Its place in the
    /// line is then as free as that of a task that was [cancelled](crate::TaskHandle::cancel).
    pub fn wait_max(mut self, wait_max: Duration) -> Self {
        self.wait_max = Some(wait_max);
        self
    }

    /// Whoever waits for it is told after this that it took too long, and it is asked to stop: an
    /// async task is dropped, a closure sees [`is_cancelled`](crate::is_cancelled).
    ///
    /// A task that was handed back and runs when its pool is gone is not watched any more: it and
    /// whoever waits are told when it next asks, is polled, or ends.
    pub fn run_max(mut self, run_max: Duration) -> Self {
        self.run_max = Some(run_max);
        self
    }

    /// What happens if the line is full. By default what the pool was built with.
    pub fn overflow(mut self, overflow: Overflow) -> Self {
        self.overflow = Some(overflow);
        self
    }

    /// It is cancelled when this token is. If it has not been taken in by then, it is
    /// [handed back](crate::Refusal::Cancelled).
    pub fn token(mut self, token: CancelToken) -> Self {
        self.token = Some(token);
        self
    }

    /// Whether the task can be queued without a promise.
    pub(crate) fn is_plain(&self) -> bool {
        self.class.is_none()
            && self.wait_max.is_none()
            && self.run_max.is_none()
            && self.token.is_none()
    }
}
