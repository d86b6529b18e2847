//! Tasks that borrow from whoever submits them.
//!
//! A scope keeps its tasks in a queue of its own; what it puts into the pool's line is only a hint
//! that there is one to run. So nothing borrowed ever lies where a drain could hand it out, and
//! whoever opened the scope can run what is left by itself: it helps with its own tasks and no
//! others, which is why scopes inside of scopes cannot deadlock, whatever the size of the pool.
//!
//! Each task is counted once, as taken in where it is spawned and by how it ended where it ran. A
//! hint is no task: whoever finds nothing left to run counts nothing.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::abort;
use std::sync::{Arc, PoisonError};

use headcount_core::{Name, Timestamp};

use super::erase::{Erased, erase};

use crate::blocking::blocking;
use crate::engine::{Engine, Fate};
use crate::pool::{Admission, Bid, PoolHandle, Threads};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Condvar, Mutex, lock};
use crate::task::{Overflow, TaskOptions, Work, message_in, report_failure, small, take_failure};
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
    /// may be all of them: every task of a scope runs, and none is ever counted as rejected. Each
    /// is counted as submitted and by how it ended, wherever it ran.
    ///
    /// [Policies](Self::policies) are asked about each task, and told what becomes of those that
    /// they accept, wherever they run. One that a policy rejects is kept from the workers, and
    /// whoever opened the scope runs it: what it borrows cannot be handed back. Where a policy is
    /// to keep tasks from running at all, [`submit`](Self::submit) them.
    ///
    /// # Panics
    ///
    /// When `body` or one of the tasks panicked, after all have ended. A panic of a task is told as
    /// any other, and aborts the process where the pool was built so.
    pub fn scope<'scope, R>(&self, body: impl FnOnce(&Scope<'_, 'scope>) -> R) -> R {
        let queue = Arc::new(Queue::new(self.engine()));
        let scope = Scope { pool: self, queue: Arc::clone(&queue), borrows: PhantomData };
        let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
        // Whatever happened, nothing borrowed may be left when this returns. That it panics would
        // be a fault of the pool, and then nobody knows who still runs what.
        if catch_unwind(AssertUnwindSafe(|| queue.finish())).is_err() {
            abort();
        }
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
    /// It is a [`scope`](Self::scope) with a task for each item: all of them run, if need be on the
    /// thread that calls it, whatever the line has room for and policies say.
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
        match self.pool.ask(&TaskOptions::new()) {
            Ok(None) => self.offer(Box::new(task)),
            Ok(Some(escorting)) => self.offer(Box::new(escorting.around(task))),
            Err(_) => self.keep(Box::new(task)),
        }
    }

    /// Lets whoever comes first run it: a worker, or whoever opened the scope.
    fn offer(&self, task: Box<dyn FnOnce() + Send + 'scope>) {
        let (engine, task) = (self.pool.engine(), erase(task));
        // It is counted as taken in before anybody can run it and count its end.
        if let Ok(Admission::Enter(number)) = engine.admit(Bid::new(Overflow::Reject)) {
            engine.put(number, small(Hint::to(&self.queue, task)));
        } else {
            // A pool that takes no hint leaves the task to whoever opened the scope.
            engine.ran_beside.fetch_add(1, Ordering::Relaxed);
            let mut state = lock(&self.queue.state);
            state.offered.push_back(task);
            // A hint that is left over from another is one to this.
            self.queue.count_shells(&mut state);
        }
    }

    /// Leaves it to whoever opened the scope.
    fn keep(&self, task: Box<dyn FnOnce() + Send + 'scope>) {
        self.pool.engine().ran_beside.fetch_add(1, Ordering::Relaxed);
        lock(&self.queue.state).kept.push_back(erase(task));
    }
}

/// What waits in the pool's line: that a scope has a task to run, or had.
struct Hint {
    queue: Arc<Queue>,
    /// Whether it has been taken off the count of hints.
    is_out: AtomicBool,
}

impl Hint {
    /// To one more task of a scope, which anybody may run from here on.
    fn to(queue: &Arc<Queue>, task: Erased) -> Self {
        let mut state = lock(&queue.state);
        state.offered.push_back(task);
        state.hints += 1;
        queue.count_shells(&mut state);
        drop(state);
        Self { queue: Arc::clone(queue), is_out: AtomicBool::new(false) }
    }

    /// It leaves the line, whoever takes it: it is not counted as a hint any more. Not twice.
    fn leave(&self, state: &mut State) {
        if !self.is_out.swap(true, Ordering::Relaxed) {
            state.hints -= 1;
        }
    }
}

impl Work for Hint {
    fn run(&mut self, _now: Timestamp) -> Option<Fate> {
        let task = self.queue.begin(|state| {
            self.leave(state);
            state.offered.pop_front()
        })?;
        Some(self.queue.run(task))
    }

    /// Whoever opened the scope runs the task and counts it, and so here and below nobody does.
    fn abandon(&mut self, _fate: Fate) -> bool {
        false
    }

    fn hand_back(&mut self) -> bool {
        false
    }

    fn is_to_run(&self, _now: Timestamp) -> bool {
        !lock(&self.queue.state).offered.is_empty()
    }

    fn class(&self) -> Option<Name> {
        None
    }

    /// One hint is as good as another: while there are more than tasks any of them is a shell.
    fn take_shell(&self) -> bool {
        let mut state = lock(&self.queue.state);
        let is_shell = 0 < state.shells && !self.is_out.load(Ordering::Relaxed);
        if is_shell {
            self.leave(&mut state);
            self.queue.count_shells(&mut state);
        }
        is_shell
    }
}

impl Drop for Hint {
    /// It may be dropped unrun, where the line is emptied.
    fn drop(&mut self) {
        if self.is_out.load(Ordering::Relaxed) {
            return;
        }
        let mut state = lock(&self.queue.state);
        self.leave(&mut state);
        self.queue.count_shells(&mut state);
    }
}

/// The tasks of a scope.
struct Queue {
    engine: Arc<Engine<Threads>>,
    state: Mutex<State>,
    all_ended: Condvar,
}

#[derive(Default)]
struct State {
    /// Those that anybody may run.
    offered: VecDeque<Erased>,
    /// Those that whoever opened the scope runs.
    kept: VecDeque<Erased>,
    /// How many hints are in the line, and how many of them there is no task for: those are shells.
    hints: usize,
    shells: usize,
    running: u32,
    panic: Option<Box<dyn Any + Send>>,
}

impl Queue {
    fn new(engine: &Arc<Engine<Threads>>) -> Self {
        let engine = Arc::clone(engine);
        Self { engine, state: Mutex::default(), all_ended: Condvar::default() }
    }

    fn begin(&self, next: impl FnOnce(&mut State) -> Option<Erased>) -> Option<Erased> {
        let mut state = lock(&self.state);
        let task = next(&mut state);
        state.running += u32::from(task.is_some());
        let left = self.count_shells(&mut state);
        drop(state);
        if left {
            self.engine.shell_was_left();
        }
        task
    }

    /// Counts how many hints are shells by now, and says whether there are more.
    fn count_shells(&self, state: &mut State) -> bool {
        let shells = state.hints.saturating_sub(state.offered.len());
        let before = std::mem::replace(&mut state.shells, shells);
        (before..shells).for_each(|_| self.engine.floor.shell_left());
        (shells..before).for_each(|_| self.engine.floor.shell_taken());
        before < shells
    }

    /// Runs a task that has begun, and says how it is to be counted.
    fn run(&self, task: Erased) -> Fate {
        // One that runs inside another, which opened the scope, fails for itself alone.
        let outer_failed = take_failure();
        let panic = catch_unwind(AssertUnwindSafe(task)).err();
        let failed = take_failure();
        if outer_failed {
            report_failure();
        }
        let fate = match &panic {
            Some(payload) => {
                // Before its scope can end, so that whoever hears of the panic finds it told.
                self.engine.panicked(None, message_in(&**payload));
                Fate::Panicked
            }
            None if failed => Fate::Failed,
            None => Fate::Ran,
        };
        self.ended(panic);
        fate
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
        self.run_what_is_left();
        let is_running = |state: &State| 0 < state.running;
        if !is_running(&lock(&self.state)) {
            return;
        }
        blocking(|| {
            let mut state = lock(&self.state);
            while is_running(&state) {
                state = self.all_ended.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        });
    }

    /// Runs and counts what nobody has begun. First what nobody else may run.
    fn run_what_is_left(&self) {
        let next = |state: &mut State| state.kept.pop_front().or_else(|| state.offered.pop_front());
        let Some(mut task) = self.begin(next) else { return };
        // Not idle meanwhile. Once for all of them, for each time is a visit to the desk.
        let _beside = self.engine.beside();
        loop {
            self.engine.ended_unrun(self.run(task));
            match self.begin(next) {
                Some(another) => task = another,
                None => return,
            }
        }
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
