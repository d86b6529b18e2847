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
    BlocksOn, CancelToken, Refusal, SubmitError, TaskError, TaskHandle, TaskOptions, Waiting,
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
    /// Where the line is full it does as [`spawn`](PoolHandle::spawn) of the pool, which by default
    /// blocks the thread: inside of a runtime use [`spawn_async`](Self::spawn_async).
    ///
    /// # Errors
    ///
    /// Hands the task back with the reason when the pool does not take it in.
    pub fn spawn<F>(&mut self, task: F) -> Result<(), SubmitError<F>>
    where
        K: Runs<F, Output = T>,
    {
        self.spawn_with(TaskOptions::new(), task)
    }

    /// Runs `task` on a worker, with options, as the next of the group. A token among them stops
    /// this task alone; the group stops it as well.
    ///
    /// # Errors
    ///
    /// Hands the task back with the reason when the pool does not take it in.
    pub fn spawn_with<F>(&mut self, options: TaskOptions, task: F) -> Result<(), SubmitError<F>>
    where
        K: Runs<F, Output = T>,
    {
        let Some(options) = self.options(options) else { return Err(self.refused(task)) };
        let herald = herald(&self.mailbox, &mut self.spawned);
        let handle = self.pool.submit_heralded(&options, herald, task)?;
        self.handles.insert(self.spawned - 1, handle);
        Ok(())
    }

    /// Runs `task` on a worker, as the next of the group, and waits for room without blocking the
    /// thread, as [`spawn_async`](PoolHandle::spawn_async) of the pool does.
    ///
    /// ```
    /// use headcount_pool::ThreadPool;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(async {
    /// let pool = ThreadPool::builder().workers(2).queue_len_max(4).build()?;
    /// let mut squares = pool.group();
    /// for n in 1..=20 {
    ///     squares.spawn_async(move || n * n).await?;
    /// }
    /// assert_eq!(squares.try_join_async().await?.len(), 20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).expect("all ran");
    /// ```
    ///
    /// # Errors
    ///
    /// Hands the task back with the reason when the pool does not take it in.
    pub async fn spawn_async<F>(&mut self, task: F) -> Result<(), SubmitError<F>>
    where
        K: Runs<F, Output = T>,
    {
        self.spawn_async_with(TaskOptions::new(), task).await
    }

    /// The same, with options: what they say of a full line is done, and where they say nothing it
    /// waits. A token among them stops this task alone; the group stops it as well.
    ///
    /// # Errors
    ///
    /// Hands the task back with the reason when the pool does not take it in.
    pub async fn spawn_async_with<F>(
        &mut self,
        options: TaskOptions,
        task: F,
    ) -> Result<(), SubmitError<F>>
    where
        K: Runs<F, Output = T>,
    {
        let Some(options) = self.options(options) else { return Err(self.refused(task)) };
        let herald = herald(&self.mailbox, &mut self.spawned);
        let handle = self.pool.submit_heralded_async(&options, herald, task).await?;
        self.handles.insert(self.spawned - 1, handle);
        Ok(())
    }

    /// The options of one of its tasks, which hears the group's token if it has none of its own.
    /// `None`: the group has been cancelled.
    fn options(&self, mut options: TaskOptions) -> Option<TaskOptions> {
        options.token.get_or_insert_with(|| self.token.clone());
        (!self.token.is_cancelled()).then_some(options)
    }

    fn refused<F>(&self, task: F) -> SubmitError<F> {
        SubmitError { reason: self.pool.refuse(Refusal::Cancelled), task }
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
        // Those with a token of their own have not heard that one.
        self.handles.values().for_each(TaskHandle::cancel);
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
            match self.mailbox.take_or_watch(&waker) {
                Some(index) => {
                    if let Some(handle) = self.take(index) {
                        return Some((index, handle.join()));
                    }
                }
                None if self.help(Waiting::Asleep) => {}
                None => {
                    let of_group = self.pool.engine().number();
                    blocking_on(|pool| BlocksOn::of(pool, of_group), || parker.park());
                }
            }
        }
    }

    /// The same, without blocking the thread.
    pub async fn next_ended_async(&mut self) -> Option<(usize, Result<T, TaskError>)> {
        loop {
            let index = poll_fn(|context| self.poll_index(context)).await?;
            if let Some(handle) = self.take(index) {
                return Some((index, handle.await));
            }
        }
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

    /// `None`: it ran inside of a [`spawn_async`](Self::spawn_async) that was dropped, and nobody
    /// has a handle to it.
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

/// Whoever announces the end of the next task. Called for when that has been let in, and only then
/// is it one of the group.
fn herald(mailbox: &Arc<Mailbox>, spawned: &mut usize) -> impl FnOnce() -> Option<Messenger> {
    || {
        let index = *spawned;
        *spawned += 1;
        Some(Messenger::new(mailbox, index))
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
