//! Handing many tasks to a pool at once.

use std::collections::VecDeque;
use std::fmt;

use super::handle::PoolHandle;
use super::submit::{Runs, Spawns};
use crate::engine::Kind;
use crate::sync::atomic::Ordering;
use crate::task::{Refusal, SubmitError, TaskHandle};

/// How the tasks of a batch become work.
pub(super) trait Batch<K: Kind, F> {
    /// Work, for a place in the line that it has.
    fn work(&mut self, task: F) -> K::Work;

    /// Hands over one by itself, whatever that takes.
    fn hand_over(&mut self, task: F) -> Result<(), SubmitError<F>>;
}

/// Nobody hears of their results.
pub(super) struct Unheard<'a, K: Kind> {
    pub(super) pool: &'a PoolHandle<K>,
}

impl<F, K: Spawns<F>> Batch<K, F> for Unheard<'_, K> {
    fn work(&mut self, task: F) -> K::Work {
        K::plain(task)
    }

    fn hand_over(&mut self, task: F) -> Result<(), SubmitError<F>> {
        self.pool.spawn(task)
    }
}

/// There is a handle to each of their results.
struct Heard<'a, K: Kind, T> {
    pool: &'a PoolHandle<K>,
    handles: Vec<TaskHandle<T>>,
}

impl<F, T, K: Runs<F, Output = T>> Batch<K, F> for Heard<'_, K, T> {
    fn work(&mut self, task: F) -> K::Work {
        let (work, handle) = K::promised(self.pool.bond(), task);
        self.handles.push(handle);
        work
    }

    fn hand_over(&mut self, task: F) -> Result<(), SubmitError<F>> {
        self.handles.push(self.pool.submit(task)?);
        Ok(())
    }
}

impl<K: Kind> PoolHandle<K> {
    /// Runs each of `tasks` on a worker, and returns handles to their results, in that order.
    ///
    /// Like [`spawn_all`](Self::spawn_all) it takes one look at the door and one at the notice for
    /// all that there is room for.
    ///
    /// ```
    /// use headcount_pool::ThreadPool;
    ///
    /// let pool = ThreadPool::builder().workers(2).build()?;
    /// let squares = pool.submit_all((1..=3).map(|n| move || n * n))?;
    /// let squares: Result<Vec<i32>, _> = squares.into_iter().map(|task| task.join()).collect();
    /// assert_eq!(squares?, [1, 4, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Hands back what the pool did not take in, with the reason, and the handles to those before,
    /// which it did.
    pub fn submit_all<F, T>(
        &self,
        tasks: impl IntoIterator<Item = F>,
    ) -> Result<Vec<TaskHandle<T>>, SubmitAllError<F, T>>
    where
        K: Runs<F, Output = T>,
    {
        let mut batch = Heard { pool: self, handles: Vec::new() };
        match self.hand_over_all(tasks.into_iter().collect(), &mut batch) {
            Ok(_) => Ok(batch.handles),
            Err(SubmitError { reason, task: tasks }) => {
                Err(SubmitAllError { reason, tasks, handles: batch.handles })
            }
        }
    }

    /// Hands over all of `tasks`, and says how many there were.
    pub(super) fn hand_over_all<F>(
        &self,
        mut tasks: VecDeque<F>,
        batch: &mut impl Batch<K, F>,
    ) -> Result<usize, SubmitError<Vec<F>>> {
        let count = tasks.len();
        while let Some(task) = tasks.pop_front() {
            if let Some((first, entered)) = self.enter_together(tasks.len() as u64 + 1) {
                let more = usize::try_from(entered - 1).unwrap_or(usize::MAX);
                let entering = std::iter::once(task).chain(tasks.drain(..more));
                self.engine().put_all(first, entering.map(|task| batch.work(task)));
            } else if let Err(refused) = batch.hand_over(task) {
                return Err(self.refuse_rest(refused, tasks));
            }
        }
        Ok(count)
    }

    /// Lets in as many as there is room for: the number of the first, and how many.
    fn enter_together(&self, wanted: u64) -> Option<(u64, u64)> {
        // Policies are asked about each by itself.
        match self.policies().any_enabled() {
            true => None,
            false => self.engine().floor.door.enter_some(wanted).ok(),
        }
    }

    /// One was refused, and those after it go back together with it.
    fn refuse_rest<F>(&self, refused: SubmitError<F>, rest: VecDeque<F>) -> SubmitError<Vec<F>> {
        self.engine().refused.fetch_add(rest.len() as u64, Ordering::Relaxed);
        let SubmitError { reason, task } = refused;
        SubmitError { reason, task: std::iter::once(task).chain(rest).collect() }
    }
}

/// Tasks of a batch that were not taken in, and why, beside those that were.
///
/// ```
/// use headcount_pool::{Overflow, Refusal, ThreadPool};
///
/// let pool = ThreadPool::builder()
///     .workers(1)
///     .queue_len_max(2)
///     .overflow(Overflow::Reject)
///     .build()?;
/// pool.pause();
/// let refused = pool.submit_all((0..3).map(|n| move || n)).expect_err("two may wait");
/// assert_eq!(refused.reason, Refusal::Full { queue_len_max: 2 });
/// assert_eq!((refused.handles.len(), refused.tasks.len()), (2, 1));
/// # pool.resume();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "some of the tasks were not taken in"]
pub struct SubmitAllError<F, T> {
    /// Why.
    pub reason: Refusal,
    /// The tasks that were not taken in, in the order in which they came.
    pub tasks: Vec<F>,
    /// Handles to those before, which were.
    pub handles: Vec<TaskHandle<T>>,
}

impl<F, T> fmt::Debug for SubmitAllError<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut error = f.debug_struct("SubmitAllError");
        error.field("reason", &self.reason).field("refused", &self.tasks.len());
        error.field("taken_in", &self.handles.len()).finish_non_exhaustive()
    }
}

impl<F, T> fmt::Display for SubmitAllError<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (refused, taken_in) = (self.tasks.len(), self.handles.len());
        write!(f, "{refused} of {} tasks were not taken in: {}", refused + taken_in, self.reason)
    }
}

impl<F, T> std::error::Error for SubmitAllError<F, T> {}
