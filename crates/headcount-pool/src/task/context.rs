//! What a running task can learn of where it runs, and say of itself.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

/// A worker's place, as the task that runs there sees it.
///
/// Shared among threads, because an async worker takes its place along from one to the next.
pub(crate) trait Workplace: Send + Sync {
    /// The pool, told from others by a number.
    fn pool(&self) -> usize;

    /// The task is about to block.
    fn blocks(&self, on: BlocksOn);

    /// It does not any more.
    fn unblocks(&self);
}

/// Where a task runs that no worker runs. That it blocks is nothing to the pool.
pub(crate) struct PlaceBeside {
    pool: usize,
    /// Where it runs inside of a task of another pool: that one's, whose worker it holds up.
    around: Option<Arc<dyn Workplace>>,
}

impl PlaceBeside {
    pub(crate) fn of(pool: usize) -> Self {
        Self { pool, around: None }
    }

    /// The place of a task of `pool` on this thread, if it has no other there.
    #[cfg(feature = "tokio")]
    pub(crate) fn inside_of(pool: usize, around: Option<Arc<dyn Workplace>>) -> Self {
        Self { pool, around }
    }
}

impl Workplace for PlaceBeside {
    fn pool(&self) -> usize {
        self.pool
    }

    fn blocks(&self, _on: BlocksOn) {
        if let Some(around) = &self.around {
            // Whatever it waits for, it is none of the tasks that the other worker is there for.
            around.blocks(BlocksOn::Outside);
        }
    }

    fn unblocks(&self) {
        if let Some(around) = &self.around {
            around.unblocks();
        }
    }
}

/// What a task blocks on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlocksOn {
    /// A task of its own pool, which needs a worker as it does itself.
    OwnPool,
    /// Anything else: it ends without the pool's doing.
    Outside,
}

impl BlocksOn {
    /// A task of the pool `own` waits for one of the pool `other`.
    pub(crate) fn of(own: usize, other: usize) -> Self {
        if own == other { Self::OwnPool } else { Self::Outside }
    }
}

/// Can be asked whether to stop. `Any`, so that whoever lent it knows it again.
pub(crate) trait Stoppable: Any + Send + Sync {
    fn is_stopped(&self) -> bool;

    /// Whether that is because it took too long.
    fn has_timed_out(&self) -> bool;
}

thread_local! {
    /// Whoever enters one leaves it; so the thread need not see to it at its end, for which every
    /// worker would have to keep a note.
    static WORKPLACE: RefCell<Option<ManuallyDrop<Arc<dyn Workplace>>>> =
        const { RefCell::new(None) };
    static STOPPABLE: RefCell<Option<Arc<dyn Stoppable>>> = const { RefCell::new(None) };
    static FAILED: Cell<bool> = const { Cell::new(false) };
    /// The pool that this thread was hired for, told from others by a number. 0: none. Stays when
    /// its workplace is gone, for what the thread drops when it ends.
    static HIRED_FOR: Cell<usize> = const { Cell::new(0) };
}

/// This thread is a worker of that pool until it ends.
pub(crate) fn hired_for(pool: usize) {
    HIRED_FOR.set(pool);
}

/// Whether this thread was started for that pool, and works there or is about to end.
pub(crate) fn is_hired_for(pool: usize) -> bool {
    HIRED_FOR.try_with(Cell::get).is_ok_and(|known| known == pool)
}

/// From here on this thread is a worker, until the place is taken away with `None`.
pub(crate) fn enter_workplace(place: Option<Arc<dyn Workplace>>) -> Option<Arc<dyn Workplace>> {
    let place = place.map(ManuallyDrop::new);
    let before = WORKPLACE.with(|cell| std::mem::replace(&mut *cell.borrow_mut(), place));
    before.map(ManuallyDrop::into_inner)
}

/// Where this thread works, if it is a worker.
pub(crate) fn workplace() -> Option<Arc<dyn Workplace>> {
    WORKPLACE.with(|cell| cell.borrow().as_deref().map(Arc::clone))
}

/// Runs `inside` as the task that `stoppable` stops, and hands that back beside what came of it.
pub(crate) fn as_stoppable<R>(
    stoppable: Arc<dyn Stoppable>,
    inside: impl FnOnce() -> R,
) -> (thread::Result<R>, Arc<dyn Stoppable>) {
    let before = STOPPABLE.with(|cell| cell.borrow_mut().replace(stoppable));
    let result = catch_unwind(AssertUnwindSafe(inside));
    let stoppable = STOPPABLE.with(|cell| std::mem::replace(&mut *cell.borrow_mut(), before));
    (result, stoppable.expect("whoever ran inside has put back what it found"))
}

/// Whether the task that this thread runs has been cancelled or has run for too long.
///
/// A closure cannot be interrupted. One that runs for long asks now and then, and returns early.
/// False where no task runs, and for one that nobody can cancel.
///
/// ```
/// use headcount_pool::{ThreadPool, is_cancelled};
///
/// let pool = ThreadPool::builder().workers(1).build()?;
/// let (started, wait_for_start) = std::sync::mpsc::channel();
/// let (ended, wait_for_end) = std::sync::mpsc::channel();
/// let task = pool.submit(move || {
///     started.send(()).expect("somebody waits");
///     while !is_cancelled() {
///         std::thread::yield_now();
///     }
///     ended.send(()).expect("somebody waits");
/// })?;
/// wait_for_start.recv()?;
/// task.cancel();
/// wait_for_end.recv()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn is_cancelled() -> bool {
    stoppable().is_some_and(|stoppable| stoppable.is_stopped())
}

/// Whether the task that this thread runs is to stop because it took too long.
pub(crate) fn has_timed_out() -> bool {
    stoppable().is_some_and(|stoppable| stoppable.is_stopped() && stoppable.has_timed_out())
}

fn stoppable() -> Option<Arc<dyn Stoppable>> {
    STOPPABLE.try_with(|cell| cell.borrow().clone()).ok().flatten()
}

/// Says that the task which this thread runs has failed, though it returns.
///
/// It is counted among the failed, which is what error rates and circuit breakers go by. A panic
/// counts without being told.
///
/// ```
/// use headcount_pool::{ThreadPool, report_failure};
///
/// let pool = ThreadPool::builder().workers(1).build()?;
/// pool.submit(report_failure)?.join()?;
/// pool.await_idle();
/// assert_eq!(pool.snapshot().counters.failed, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn report_failure() {
    let _ = FAILED.try_with(|failed| failed.set(true));
}

/// Whether the task that runs has said that it failed.
pub(crate) fn has_failed() -> bool {
    FAILED.try_with(Cell::get).unwrap_or(false)
}

/// Whether the task that just ran said that it failed; forgets it.
pub(crate) fn take_failure() -> bool {
    swap_failure(false)
}

/// Whether the task that just ran said that it failed; from here on it is what another one said.
///
/// Polls of several tasks take turns on a thread, one even inside of another. So each takes what
/// it has said along.
pub(crate) fn swap_failure(failed: bool) -> bool {
    FAILED.try_with(|cell| cell.replace(failed)).unwrap_or(false)
}
