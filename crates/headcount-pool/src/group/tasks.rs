//! A group of tasks, and how it is waited for.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::mailbox::{Mailbox, Messenger};

use crate::blocking::blocking;
use crate::engine::Kind;
use crate::park::Parker;
use crate::pool::{PoolHandle, Runs};
use crate::task::{CancelToken, SubmitError, TaskError, TaskHandle, TaskOptions};

/// Tasks that belong together: wait for all of them, take them as they end, or stop at the first
/// that has no result.
///
/// A worker that waits for a group of its own pool runs what nobody else has begun, and nothing
/// that is not of the group. Dropped, a group lets its tasks run on by themselves.
///
/// ```
/// use headcount_pool::{TaskError, ThreadPool};
///
/// let pool = ThreadPool::builder().workers(2).build()?;
/// let mut squares = pool.group();
/// for n in 1..=3 {
///     squares.spawn(move || n * n)?;
/// }
/// assert_eq!(squares.try_join()?, [1, 4, 9], "in the order in which they were spawned");
///
/// let mut mixed = pool.group();
/// mixed.spawn(|| 1)?;
/// mixed.spawn(|| panic!("no luck"))?;
/// let outcomes = mixed.join_all();
/// assert_eq!(outcomes, [Ok(1), Err(TaskError::Panicked("no luck".to_owned()))]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Group<K: Kind, T> {
    pool: PoolHandle<K>,
    token: CancelToken,
    /// By index. `None`: its outcome was taken.
    handles: Vec<Option<TaskHandle<T>>>,
    mailbox: Arc<Mailbox>,
    /// How many outcomes were not taken.
    left: usize,
}

impl<K: Kind> PoolHandle<K> {
    /// A group without tasks.
    #[must_use]
    pub fn group<T>(&self) -> Group<K, T> {
        Group {
            pool: self.clone(),
            token: CancelToken::new(),
            handles: Vec::new(),
            mailbox: Arc::new(Mailbox::default()),
            left: 0,
        }
    }
}

impl<K: Kind, T> Group<K, T> {
    /// Runs `task` on a worker, as the next of the group.
    ///
    /// # Errors
    ///
    /// Hands the task back with the reason when the pool does not take it in.
    pub fn spawn<F>(&mut self, task: F) -> Result<(), SubmitError<F>>
    where
        K: Runs<F, Output = T>,
    {
        let options = TaskOptions::new().token(self.token.clone());
        let herald = || Some(Messenger::new(&self.mailbox, self.handles.len()));
        let handle = self.pool.submit_heralded(options, herald, task)?;
        self.handles.push(Some(handle));
        self.left += 1;
        Ok(())
    }

    /// How many tasks have an outcome that nobody has taken, or none yet.
    #[must_use]
    pub fn len(&self) -> usize {
        self.left
    }

    /// Whether every outcome was taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Stops the tasks that have not begun, and asks the others to.
    pub fn cancel(&self) {
        self.token.cancel();
    }

    /// Waits for a task that has ended: its index in the order of spawning, and its outcome.
    /// `None`: there is none left.
    pub fn next_ended(&mut self) -> Option<(usize, Result<T, TaskError>)> {
        let parker = Arc::new(Parker::default());
        let waker = Waker::from(Arc::clone(&parker));
        loop {
            if self.is_empty() {
                return None;
            }
            if let Some(index) = self.mailbox.take_or_watch(&waker) {
                return self.take(index).map(|handle| (index, handle.join()));
            }
            if !self.help() {
                blocking(|| parker.park());
            }
        }
    }

    /// The same, without blocking the thread.
    pub async fn next_ended_async(&mut self) -> Option<(usize, Result<T, TaskError>)> {
        let index = poll_fn(|context| self.poll_index(context)).await?;
        let handle = self.take(index)?;
        Some((index, handle.await))
    }

    fn poll_index(&mut self, context: &Context<'_>) -> Poll<Option<usize>> {
        if self.is_empty() {
            return Poll::Ready(None);
        }
        match self.mailbox.take_or_watch(context.waker()) {
            Some(index) => Poll::Ready(Some(index)),
            None => Poll::Pending,
        }
    }

    /// Waits for all, and returns their outcomes in the order of spawning.
    #[must_use]
    pub fn join_all(mut self) -> Vec<Result<T, TaskError>> {
        self.handles.drain(..).flatten().map(TaskHandle::join).collect()
    }

    /// The same, without blocking the thread.
    pub async fn join_all_async(mut self) -> Vec<Result<T, TaskError>> {
        let mut outcomes = Vec::with_capacity(self.left);
        for handle in self.handles.drain(..).flatten() {
            outcomes.push(handle.await);
        }
        outcomes
    }

    /// Waits for all results, in the order of spawning, and stops at the first task without one:
    /// the others are cancelled, and it returns when those that had begun have ended.
    ///
    /// # Errors
    ///
    /// Why the first task that failed has no result.
    pub fn try_join(mut self) -> Result<Vec<T>, TaskError> {
        let mut results = Results::new(self.handles.len());
        while let Some((index, outcome)) = self.next_ended() {
            if results.add(index, outcome) {
                self.cancel();
            }
        }
        results.finish()
    }

    /// The same, without blocking the thread.
    ///
    /// # Errors
    ///
    /// Why the first task that failed has no result.
    pub async fn try_join_async(mut self) -> Result<Vec<T>, TaskError> {
        let mut results = Results::new(self.handles.len());
        while let Some((index, outcome)) = self.next_ended_async().await {
            if results.add(index, outcome) {
                self.cancel();
            }
        }
        results.finish()
    }

    fn take(&mut self, index: usize) -> Option<TaskHandle<T>> {
        let handle = self.handles.get_mut(index)?.take()?;
        self.left -= 1;
        Some(handle)
    }

    /// Runs a task of the group that nobody has begun, if this is a worker of its pool.
    fn help(&self) -> bool {
        self.handles.iter().flatten().any(|handle| !handle.is_done() && handle.run_here())
    }
}

/// Results by index, until one is missing for good.
struct Results<T> {
    results: Vec<Option<T>>,
    error: Option<TaskError>,
}

impl<T> Results<T> {
    fn new(len: usize) -> Self {
        Self { results: (0..len).map(|_| None).collect(), error: None }
    }

    /// Adds an outcome, and says whether it is the first that is none.
    fn add(&mut self, index: usize, outcome: Result<T, TaskError>) -> bool {
        match outcome {
            Ok(result) => {
                self.results[index] = Some(result);
                false
            }
            Err(error) if self.error.is_none() => {
                self.error = Some(error);
                true
            }
            Err(_) => false,
        }
    }

    fn finish(self) -> Result<Vec<T>, TaskError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.results.into_iter().flatten().collect()),
        }
    }
}

impl<K: Kind, T> fmt::Debug for Group<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("left", &self.left).finish_non_exhaustive()
    }
}
