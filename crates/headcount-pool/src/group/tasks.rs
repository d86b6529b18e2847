//! A group of tasks, and how it is waited for.

use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::mailbox::{Mailbox, Messenger};

use crate::blocking::blocking_on;
use crate::engine::Kind;
use crate::park::Parker;
use crate::pool::{PoolHandle, Runs};
use crate::task::{
    BlocksOn, CancelToken, SubmitError, TaskError, TaskHandle, TaskOptions, Waiting,
};

/// Tasks that belong together: wait for all of them, take them as they end, or stop at the first
/// that has no result.
///
/// A worker that waits for a group of its own pool lets those run, one after the other, that
/// nobody else has begun, and nothing that is not of the group. Dropped, a group lets its tasks run
/// on by themselves.
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
    /// Those whose outcome was not taken, by index.
    handles: BTreeMap<usize, TaskHandle<T>>,
    mailbox: Arc<Mailbox>,
    /// How many were spawned.
    spawned: usize,
    /// Below this index nobody needs help.
    helped: usize,
}

impl<K: Kind> PoolHandle<K> {
    /// A group without tasks.
    #[must_use]
    pub fn group<T>(&self) -> Group<K, T> {
        Group {
            pool: self.clone(),
            token: CancelToken::new(),
            handles: BTreeMap::new(),
            mailbox: Arc::new(Mailbox::default()),
            spawned: 0,
            helped: 0,
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
        let herald = || Some(Messenger::new(&self.mailbox, self.spawned));
        let handle = self.pool.submit_heralded(&options, herald, task)?;
        self.handles.insert(self.spawned, handle);
        self.spawned += 1;
        Ok(())
    }

    /// How many tasks have an outcome that nobody has taken, or none yet.
    #[must_use]
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// Whether every outcome was taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
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
            if !self.help(Waiting::Asleep) {
                let of_group = self.pool.engine().number();
                blocking_on(|pool| BlocksOn::of(pool, of_group), || parker.park());
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
            None => {
                // One at a time: when it has ended there is word of it, and this is polled again.
                self.help(Waiting::Polled);
                Poll::Pending
            }
        }
    }

    /// Waits for all, and returns their outcomes in the order of spawning.
    #[must_use]
    pub fn join_all(mut self) -> Vec<Result<T, TaskError>> {
        std::mem::take(&mut self.handles).into_values().map(TaskHandle::join).collect()
    }

    /// The same, without blocking the thread.
    pub async fn join_all_async(mut self) -> Vec<Result<T, TaskError>> {
        let mut outcomes = Vec::with_capacity(self.len());
        for handle in std::mem::take(&mut self.handles).into_values() {
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
        let mut results = Results::new(self.spawned);
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
        let mut results = Results::new(self.spawned);
        while let Some((index, outcome)) = self.next_ended_async().await {
            if results.add(index, outcome) {
                self.cancel();
            }
        }
        results.finish()
    }

    fn take(&mut self, index: usize) -> Option<TaskHandle<T>> {
        self.handles.remove(&index)
    }

    /// Lets a task of the group run that nobody has begun, if this is a worker of its pool.
    fn help(&mut self, waiting: Waiting) -> bool {
        let next = self.handles.range(self.helped..).find(|(_, handle)| handle.help(waiting));
        // What was passed over has begun, or cannot be helped from here.
        self.helped = next.map_or(self.spawned, |(index, _)| index + 1);
        next.is_some()
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
        f.debug_struct("Group").field("left", &self.len()).finish_non_exhaustive()
    }
}
