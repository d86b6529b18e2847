//! Tasks that borrow from whoever submits them.
//!
//! A scope keeps its tasks in a queue of its own; what it puts into the pool's line is only a hint
//! that there is one to run. So nothing borrowed ever lies where a drain could hand it out, and
//! whoever opened the scope can run what is left by itself: it helps with its own tasks and no
//! others, which is why scopes inside of scopes cannot deadlock, whatever the size of the pool.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, PoisonError};

use super::erase::{Erased, erase};

use crate::blocking::blocking;
use crate::pool::{PoolHandle, Threads};
use crate::sync::{Condvar, Mutex, lock};
use crate::unhurt::drop_quietly;

/// Where tasks can be spawned that borrow what outlives the call of
/// [`scope`](PoolHandle::scope).
///
/// ```
/// use headcount_pool::ThreadPool;
///
/// let pool = ThreadPool::builder().workers(2).build()?;
/// let mut numbers = [1, 2, 3, 4];
/// let (left, right) = numbers.split_at_mut(2);
/// pool.scope(|scope| {
///     scope.spawn(|| left.reverse());
///     scope.spawn(|| right.reverse());
/// });
/// assert_eq!(numbers, [2, 1, 4, 3]);
/// # Ok::<(), headcount_pool::BuildError>(())
/// ```
pub struct Scope<'pool, 'scope> {
    pool: &'pool PoolHandle<Threads>,
    queue: Arc<Queue>,
    /// What is borrowed must live as long as the scope, neither shorter nor longer.
    borrows: PhantomData<&'scope mut &'scope ()>,
}

impl PoolHandle<Threads> {
    /// Runs `body`, which may spawn tasks that borrow, and returns when all of them have ended.
    ///
    /// Whoever calls it runs those that no worker has begun. Where the pool is full or closed that
    /// may be all of them.
    ///
    /// # Panics
    ///
    /// When `body` or one of the tasks panicked, after all have ended.
    pub fn scope<'scope, R>(&self, body: impl FnOnce(&Scope<'_, 'scope>) -> R) -> R {
        let queue = Arc::new(Queue::default());
        let scope = Scope { pool: self, queue: Arc::clone(&queue), borrows: PhantomData };
        let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
        // Whatever happened, nothing borrowed may be left when this returns.
        queue.finish();
        match (result, queue.take_panic()) {
            (Ok(result), None) => result,
            // What goes must be gone before the panic goes on: a second one then ends the process.
            (Ok(result), Some(payload)) => {
                drop_quietly(result);
                resume_unwind(payload)
            }
            (Err(payload), thrown) => {
                drop_quietly(thrown);
                resume_unwind(payload)
            }
        }
    }

    /// Applies `apply` to every item, on many workers at once, and returns the results in order.
    ///
    /// ```
    /// use headcount_pool::ThreadPool;
    ///
    /// let pool = ThreadPool::builder().workers(4).build()?;
    /// let words = ["one", "three", "five"];
    /// assert_eq!(pool.map(words, str::len), [3, 5, 4]);
    /// # Ok::<(), headcount_pool::BuildError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// When `apply` panicked for one of the items, after all have ended.
    pub fn map<I, T, R>(&self, items: I, apply: impl Fn(T) -> R + Sync) -> Vec<R>
    where
        I: IntoIterator<Item = T>,
        T: Send,
        R: Send,
    {
        let items: Vec<T> = items.into_iter().collect();
        let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
        let apply = &apply;
        self.scope(|scope| {
            for (item, result) in items.into_iter().zip(&mut results) {
                scope.spawn(move || *result = Some(apply(item)));
            }
        });
        results.into_iter().map(|result| result.expect("a scope ends when all have run")).collect()
    }
}

impl<'scope> Scope<'_, 'scope> {
    /// Runs `task` on a worker, or on the thread that opened the scope.
    pub fn spawn(&self, task: impl FnOnce() + Send + 'scope) {
        self.queue.push(erase(Box::new(task)));
        let queue = Arc::clone(&self.queue);
        // A pool that takes no hint leaves the task to whoever opened the scope.
        drop(self.pool.try_spawn(move || {
            queue.run_one();
        }));
    }
}

/// The tasks of a scope.
#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    all_ended: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Erased>,
    running: u32,
    panic: Option<Box<dyn Any + Send>>,
}

impl Queue {
    fn push(&self, task: Erased) {
        lock(&self.state).waiting.push_back(task);
    }

    /// Runs the next task, if there is one left.
    fn run_one(&self) -> bool {
        let Some(task) = self.begin() else { return false };
        let panic = catch_unwind(AssertUnwindSafe(task)).err();
        self.ended(panic);
        true
    }

    fn begin(&self) -> Option<Erased> {
        let mut state = lock(&self.state);
        let task = state.waiting.pop_front()?;
        state.running += 1;
        Some(task)
    }

    fn ended(&self, panic: Option<Box<dyn Any + Send>>) {
        let (second, last) = {
            let mut state = lock(&self.state);
            state.running -= 1;
            let second = match state.panic {
                // The first one is told; what the others threw is the user's to drop.
                Some(_) => panic,
                None => {
                    state.panic = panic;
                    None
                }
            };
            (second, state.running == 0)
        };
        drop_quietly(second);
        if last {
            self.all_ended.notify_all();
        }
    }

    /// Runs what is left, and waits for what others run.
    fn finish(&self) {
        while self.run_one() {}
        let running = |state: &State| 0 < state.running || !state.waiting.is_empty();
        if !running(&lock(&self.state)) {
            return;
        }
        blocking(|| {
            let mut state = lock(&self.state);
            while running(&state) {
                state = self.all_ended.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        });
    }

    fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        lock(&self.state).panic.take()
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("pool", self.pool).finish_non_exhaustive()
    }
}
