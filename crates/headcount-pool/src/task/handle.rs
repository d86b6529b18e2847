//! What a submitter keeps of its task.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use headcount_core::Clock;

use super::context::{BlocksOn, workplace};
use super::error::TaskError;
use super::promise::{Pledge, Waiting};
use crate::blocking::blocking_on;
use crate::clock::Monotonic;
use crate::park::Parker;
use crate::sync::yield_now;

/// A task that was taken in; its outcome can be joined by a thread or awaited.
///
/// Dropping it lets the task run on by itself.
///
/// ```
/// use headcount_pool::ThreadPool;
///
/// let pool = ThreadPool::builder().workers(2).build()?;
/// let square = pool.submit(|| 12 * 12)?;
/// assert_eq!(square.join()?, 144);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "to run a task without waiting for it, use spawn"]
pub struct TaskHandle<T> {
    pledge: Arc<dyn Pledge<T>>,
}

impl<T> TaskHandle<T> {
    pub(crate) fn new(pledge: Arc<dyn Pledge<T>>) -> Self {
        Self { pledge }
    }

    /// From here on the task hears of its token and of its deadline.
    pub(crate) fn arm(&self) {
        Arc::clone(&self.pledge).arm();
    }

    /// Waits for the outcome.
    ///
    /// A worker that waits for a task of its own pool runs it, if nobody else does; so tasks that
    /// submit and join tasks cannot starve each other. An async task awaits instead: here it would
    /// [block](crate::blocking) a thread of its runtime, and need another one to run what it waits
    /// for.
    ///
    /// # Errors
    ///
    /// When the task has no result: it panicked, was cancelled, or did not run.
    pub fn join(self) -> Result<T, TaskError> {
        self.help(Waiting::Asleep);
        if self.comes_soon()
            && let Poll::Ready(outcome) = self.pledge.poll_outcome(Waker::noop())
        {
            return outcome;
        }
        let parker = Arc::new(Parker::default());
        let waker = Waker::from(Arc::clone(&parker));
        if let Poll::Ready(outcome) = self.pledge.poll_outcome(&waker) {
            return outcome;
        }
        self.blocking(|| {
            loop {
                parker.park();
                if let Poll::Ready(outcome) = self.pledge.poll_outcome(&waker) {
                    return outcome;
                }
            }
        })
    }

    /// Waits for the outcome, but no longer than `timeout`.
    ///
    /// Unlike [`join`](Self::join) it leaves the task to the workers, since nobody knows how long
    /// it takes. On a worker it counts as [`blocking`](crate::blocking), so that another can come.
    ///
    /// # Errors
    ///
    /// Hands itself back when there is no outcome in time.
    pub fn join_timeout(self, timeout: Duration) -> Result<Result<T, TaskError>, Self> {
        let clock = Monotonic::new();
        let deadline = clock.now() + timeout;
        let parker = Arc::new(Parker::default());
        let waker = Waker::from(Arc::clone(&parker));
        loop {
            if let Poll::Ready(outcome) = self.pledge.poll_outcome(&waker) {
                return Ok(outcome);
            }
            if !self.blocking(|| parker.park_until(deadline, &clock)) {
                return match self.pledge.poll_outcome(&waker) {
                    Poll::Ready(outcome) => Ok(outcome),
                    Poll::Pending => Err(self),
                };
            }
        }
    }

    /// Blocks for the outcome.
    fn blocking<R>(&self, section: impl FnOnce() -> R) -> R {
        blocking_on(|pool| BlocksOn::of(pool, self.pledge.pool()), section)
    }

    /// Waits for a moment, which costs less than to be put to sleep and woken, and says whether
    /// there is an outcome.
    fn comes_soon(&self) -> bool {
        const LOOKS_MAX: u32 = if cfg!(loom) { 1 } else { 16 };
        (0..LOOKS_MAX).any(|look| {
            if 0 < look {
                yield_now();
            }
            self.is_done()
        })
    }

    /// Stops the task if it has not begun, and asks it to stop if it has: an async task is dropped
    /// at its next await, a closure sees [`is_cancelled`](crate::is_cancelled).
    ///
    /// What a task holds that has not begun is let go of at once, and a snapshot does not count it
    /// as waiting any more, nor is anybody hired for it beside others. Where the line is full and
    /// one in 64 of those in it has ended there, whoever wants a place gets theirs. Before that,
    /// and in a line for more than 65,536, a place is free when a worker comes to it.
    pub fn cancel(&self) {
        self.pledge.cancel();
    }

    /// Whether there is an outcome.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.pledge.is_done()
    }

    /// Lets the task run without a worker, if this is one of its pool and nobody has begun it, and
    /// says so.
    pub(crate) fn help(&self, waiting: Waiting) -> bool {
        workplace().is_some_and(|place| Arc::clone(&self.pledge).help(place.pool(), waiting))
    }
}

/// Ready when there is an outcome; must not be polled after that.
///
/// A worker that awaits a task of its own pool does not let it wait for a worker: a closure runs
/// there and then, a future in the place of the one that awaits it. So tasks that submit and await
/// tasks cannot starve each other. A place is lent to one at a time: who awaits many at once lets
/// them run one after the other, beside what workers run of them, and no more tasks run than the
/// ceiling allows, not counting those that await others. Tasks that need each other need as many
/// workers.
///
/// Who loses interest (a `select!`, a timeout) does not get its place back before the one that has
/// it has ended. Until then no other task runs there: if it ends itself, its worker waits. If it
/// goes on instead, both are under way in one place, since each may need the other to end; that is
/// the one case in which there are more than the ceiling allows: one more for each task that gave
/// up and goes on. Who does not want that [cancels](TaskHandle::cancel) what it gave up.
impl<T> Future for TaskHandle<T> {
    type Output = Result<T, TaskError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.help(Waiting::Polled);
        self.pledge.poll_outcome(context.waker())
    }
}

impl<T> fmt::Debug for TaskHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskHandle").field("done", &self.is_done()).finish_non_exhaustive()
    }
}
