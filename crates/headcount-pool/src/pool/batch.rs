//! Handing many tasks to a pool at once.

use std::collections::VecDeque;
use std::fmt;

use super::handle::PoolHandle;
use super::submit::{Runs, Spawns};
use crate::engine::Kind;
use crate::sync::atomic::Ordering;
use crate::task::{Refusal, SubmitError, TaskHandle, TaskOptions};

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

impl<K: Kind, T> Heard<'_, K, T> {
    /// What became of the batch.
    fn finish<F>(
        self,
        handed_over: Result<usize, SubmitError<Vec<F>>>,
    ) -> Result<Vec<TaskHandle<T>>, SubmitAllError<F, T>> {
        let Self { handles, .. } = self;
        match handed_over {
            Ok(_) => Ok(handles),
            Err(SubmitError { reason, task: tasks }) => {
                Err(SubmitAllError { reason, tasks, handles })
            }
        }
    }
}

impl<K: Kind> PoolHandle<K> {
    /// Runs each of `tasks` on a worker, and returns handles to their results, in that order.
    ///
    /// Like [`spawn_all`](Self::spawn_all) it takes one look at the door and one at the notice for
    /// all that there is room for, and may block the thread where there is none: inside of a
    /// runtime use [`submit_all_async`](Self::submit_all_async).
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
        let handed_over = self.hand_over_all(tasks.into_iter().collect(), &mut batch);
        batch.finish(handed_over)
    }

    /// Like [`submit_all`](Self::submit_all), and waits for room without blocking the thread,
    /// whatever the pool was built with. Dropped before that is over, it drops the tasks that were
    /// not taken in.
    ///
    /// One of the pool's own tasks that finds the line full has those that there is no room for run
    /// in its place, one after the other, as with [`spawn_async`](Self::spawn_async).
    ///
    /// ```
    /// use headcount_pool::ThreadPool;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(async {
    /// let pool = ThreadPool::builder().workers(2).queue_len_max(4).build()?;
    /// let mut sum = 0;
    /// for square in pool.submit_all_async((1..=20).map(|n| move || n * n)).await? {
    ///     sum += square.await?;
    /// }
    /// assert_eq!(sum, 2_870);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).expect("all ran");
    /// ```
    ///
    /// # Errors
    ///
    /// Hands back what the pool did not take in, with the reason, and the handles to those before,
    /// which it did.
    pub fn submit_all_async<F, T>(
        &self,
        tasks: impl IntoIterator<Item = F>,
    ) -> impl Future<Output = Result<Vec<TaskHandle<T>>, SubmitAllError<F, T>>>
    where
        K: Runs<F, Output = T>,
    {
        // Here and not in the future, which may have to be `Send` where the iterator is not.
        let mut tasks: VecDeque<F> = tasks.into_iter().collect();
        async move {
            let mut batch = Heard { pool: self, handles: Vec::new() };
            // Not by a method of the batch: a future that a trait returns is not known to be `Send`
            // where the task is a box.
            while let Some(task) = self.hand_over_together(&mut tasks, &mut batch) {
                match self.submit_async(TaskOptions::new(), task).await {
                    Ok(handle) => batch.handles.push(handle),
                    Err(refused) => return batch.finish(Err(self.refuse_rest(refused, tasks))),
                }
            }
            let count = batch.handles.len();
            batch.finish(Ok(count))
        }
    }

    /// Like [`spawn_all`](Self::spawn_all), and waits for room without blocking the thread, as
    /// [`submit_all_async`](Self::submit_all_async) does.
    ///
    /// # Errors
    ///
    /// Hands back what the pool did not take in, with the reason. Those before were taken in.
    pub fn spawn_all_async<F>(
        &self,
        tasks: impl IntoIterator<Item = F>,
    ) -> impl Future<Output = Result<usize, SubmitError<Vec<F>>>>
    where
        K: Spawns<F>,
    {
        let mut tasks: VecDeque<F> = tasks.into_iter().collect();
        async move {
            let count = tasks.len();
            while let Some(task) = self.hand_over_together(&mut tasks, &mut Unheard { pool: self })
            {
                if let Err(refused) = self.spawn_async(task).await {
                    return Err(self.refuse_rest(refused, tasks));
                }
            }
            Ok(count)
        }
    }

    /// Hands over all of `tasks`, and says how many there were.
    pub(super) fn hand_over_all<F>(
        &self,
        mut tasks: VecDeque<F>,
        batch: &mut impl Batch<K, F>,
    ) -> Result<usize, SubmitError<Vec<F>>> {
        let count = tasks.len();
        while let Some(task) = self.hand_over_together(&mut tasks, batch) {
            if let Err(refused) = batch.hand_over(task) {
                return Err(self.refuse_rest(refused, tasks));
            }
        }
        Ok(count)
    }

    /// Hands over as many as there is room for, and returns the next one, if there is one.
    fn hand_over_together<F>(
        &self,
        tasks: &mut VecDeque<F>,
        batch: &mut impl Batch<K, F>,
    ) -> Option<F> {
        while !tasks.is_empty()
            && let Some((first, entered)) = self.enter_together(tasks.len() as u64)
        {
            let entered = usize::try_from(entered).unwrap_or(usize::MAX);
            let entering = tasks.drain(..entered);
            self.engine().put_all(first, entering.map(|task| batch.work(task)));
        }
        tasks.pop_front()
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
