//! A task whose outcome somebody may wait for.
//!
//! The promise owns the task; the line only points to the promise. So a task that is cancelled or
//! expires is freed at once, wherever it stands in the line, and a worker that waits for a task of
//! its own pool can run it by itself.
//!
//! States: *waiting* -> *running* -> *done* -> *over* (somebody has taken the outcome). From
//! waiting it can go straight to done: cancelled, expired, dropped, handed back. Every step is
//! taken under the promise's own lock, so whoever starts it and whoever cancels it cannot both win.
//!
//! Most tasks have no terms, are stopped by nobody and polled by nobody. So what those need lies in
//! a box or in the stage it belongs to, and a plain promise is two cache lines: submitter and
//! worker pass them back and forth, which is much of what a task with a result costs.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Weak};
#[cfg(feature = "tokio")]
use std::task::Context;
use std::task::{Poll, Waker};
use std::time::Duration;

use headcount_core::{Name, Timestamp};

use super::context::{Stoppable, as_stoppable, report_failure, take_failure};
use super::error::{TaskError, message_of};
use super::stage::{Ended, Stage, State};
use super::terms::{Home, Terms};
use super::token::{CancelToken, Listener};
use crate::engine::{Deadline, Fate};
use crate::group::Messenger;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, lock};
use crate::unhurt::{drop_quietly, quietly};

/// A task and its outcome.
pub(crate) struct Promise<F, T> {
    state: Mutex<State<F, T>>,
    /// Whether there is an outcome, or was: for those who only look.
    done: AtomicBool,
    /// Whether the task was asked to stop.
    stopped: AtomicBool,
    /// Whether its pool has handed it back, and counted it so. Under the lock, too; here it fits.
    off_the_books: AtomicBool,
    /// Whether it has ended in the line or was begun from elsewhere, and nobody has taken its shell
    /// out.
    shell: AtomicBool,
    /// `None`: nothing special was agreed on.
    terms: Option<Box<Terms>>,
    home: Arc<dyn Home>,
    /// How somebody who waits lets the task run without a worker: a closure there and then, a
    /// future beside the workers. Whether it did.
    help: Option<fn(&Arc<Self>) -> bool>,
    is_closure: bool,
}

impl<F: Send + 'static, T: Send + 'static> Promise<F, T> {
    pub(crate) fn new(
        home: Arc<dyn Home>,
        terms: Option<Box<Terms>>,
        herald: Option<Messenger>,
        task: F,
    ) -> Self {
        let state = State { stage: Stage::Waiting(task), waiting: None, herald };
        Self {
            state: Mutex::new(state),
            done: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            off_the_books: AtomicBool::new(false),
            shell: AtomicBool::new(false),
            terms,
            home,
            help: None,
            is_closure: false,
        }
    }

    /// From here on it hears of its token and of its deadline.
    fn arm(self: &Arc<Self>) {
        let Some(terms) = &self.terms else { return };
        if let Some(token) = &terms.token {
            let listener: Arc<dyn Listener> = Arc::clone(self) as _;
            token.listen(&listener);
        }
        if let Some(at) = terms.expires_at {
            self.home.remind(at, self.as_deadline());
        }
    }

    fn expires_at(&self) -> Option<Timestamp> {
        self.terms.as_ref()?.expires_at
    }

    fn run_max(&self) -> Option<Duration> {
        self.terms.as_ref()?.run_max
    }

    /// Writes the outcome down, and says what is left to do without the lock.
    fn end(&self, state: &mut State<F, T>, result: Result<T, TaskError>) -> Ended<F, T> {
        let before = std::mem::replace(&mut state.stage, Stage::Done(result));
        // After that: whoever sees it finds the outcome, as soon as it has the lock.
        self.done.store(true, Ordering::Release);
        Ended { before, herald: state.herald.take(), waiting: state.waiting.take() }
    }

    fn as_deadline(self: &Arc<Self>) -> Weak<dyn Deadline> {
        let deadline: Arc<dyn Deadline> = Arc::clone(self) as _;
        Arc::downgrade(&deadline)
    }

    pub(crate) fn class(&self) -> Option<Name> {
        self.terms.as_ref()?.class
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn home(&self) -> &Arc<dyn Home> {
        &self.home
    }

    /// Lets somebody who waits for it `help` it along.
    #[cfg(feature = "tokio")]
    pub(crate) fn helped_by(self, help: fn(&Arc<Self>) -> bool) -> Self {
        Self { help: Some(help), ..self }
    }

    /// Whether it has not begun.
    #[cfg(feature = "tokio")]
    pub(crate) fn is_waiting(&self) -> bool {
        lock(&self.state).is_waiting()
    }

    /// Takes it off its pool's books, if it still waits: its pool has counted it as handed back,
    /// and whatever becomes of it is not counted again. Says whether it was on them.
    pub(crate) fn hand_back(&self) -> bool {
        let state = lock(&self.state);
        state.is_waiting() && !self.off_the_books.swap(true, Ordering::Relaxed)
    }

    /// Takes the task, to run it. `Err`: how it ended before, if this has just been found out.
    pub(crate) fn begin(
        self: &Arc<Self>,
        now: Timestamp,
        runner: Runner,
    ) -> Result<F, Option<Fate>> {
        if self.is_late(now) {
            return Err(self.give_up(Fate::Expired).then_some(Fate::Expired));
        }
        // Its token tells one task after the other, and those that run may have stopped by then:
        // their workers must not begin one that is still to be told.
        if self.is_called_off() {
            return Err(self.give_up(Fate::Cancelled).then_some(Fate::Cancelled));
        }
        let task = {
            let mut state = lock(&self.state);
            if !state.is_waiting() {
                return Err(None);
            }
            if runner == Runner::WaitsForIt {
                self.leaves_place();
            }
            match std::mem::replace(&mut state.stage, Stage::Running(None)) {
                Stage::Waiting(task) => task,
                _ => unreachable!("it waits"),
            }
        };
        if runner == Runner::WaitsForIt {
            Arc::clone(&self.home).shell_was_left();
        }
        let run_until = self.terms.as_ref().and_then(|terms| terms.begin(|| self.home.now()));
        if let Some(at) = run_until {
            self.home.remind(at, self.as_deadline());
        }
        Ok(task)
    }

    /// Whether whoever takes it out of the line would run it. A look without the lock: it may end
    /// after that.
    pub(crate) fn is_to_run(&self, now: Timestamp) -> bool {
        let has_ended = self.done.load(Ordering::Acquire) || self.shell.load(Ordering::Acquire);
        !has_ended && !self.is_late(now) && !self.is_called_off()
    }

    /// Whether it has waited for too long.
    fn is_late(&self, now: Timestamp) -> bool {
        self.expires_at().is_some_and(|at| at <= now)
    }

    /// Whether its token was cancelled.
    fn is_called_off(&self) -> bool {
        let token = self.terms.as_ref().and_then(|terms| terms.token.as_ref());
        token.is_some_and(CancelToken::is_cancelled)
    }

    /// The task ran, and this came of it. Says how it is to be counted.
    pub(crate) fn finish(&self, result: Result<T, TaskError>) -> Fate {
        let failed = take_failure();
        self.has_run_out();
        let fate = match &result {
            Ok(_) if failed => Fate::Failed,
            Ok(_) => Fate::Ran,
            Err(TaskError::Panicked(message)) => {
                self.home.panicked(self.class(), message);
                Fate::Panicked
            }
            Err(_) => Fate::Stopped,
        };
        match self.conclude(result) {
            // Whoever waited has been told otherwise: that it took too long.
            Some(late) => {
                drop_quietly(late);
                if fate == Fate::Panicked { fate } else { Fate::Stopped }
            }
            None => fate,
        }
    }

    /// Writes the outcome down and calls who waits, unless there is an outcome already.
    fn conclude(&self, result: Result<T, TaskError>) -> Option<Result<T, TaskError>> {
        let ended = {
            let mut state = lock(&self.state);
            if matches!(state.stage, Stage::Done(_) | Stage::Over) {
                return Some(result);
            }
            self.end(&mut state, result)
        };
        ended.announce();
        None
    }

    /// It will not run. False: it has begun, or somebody has counted it.
    pub(crate) fn give_up(&self, fate: Fate) -> bool {
        self.give_up_and(fate, || ())
    }

    /// It ends where it waits, in the line, and leaves its shell there. False: as above.
    fn leave_shell(&self, fate: Fate) -> bool {
        let left = self.give_up_and(fate, || self.count_shell());
        if left {
            self.home.ended(fate);
            Arc::clone(&self.home).shell_was_left();
        }
        left
    }

    /// Somebody runs it who has not taken it out of the line: what is left there is a shell. Not
    /// of one that was handed back, which has left the line. Said under the lock.
    fn leaves_place(&self) {
        if !self.off_the_books.load(Ordering::Relaxed) {
            self.count_shell();
        }
    }

    fn count_shell(&self) {
        // In this order, so that nobody takes out what has not been counted.
        self.home.shell_left();
        self.shell.store(true, Ordering::Release);
    }

    /// Whether it has ended in the line, or runs elsewhere, for whoever takes it out: from here on
    /// its shell is not counted any more.
    pub(crate) fn take_shell(&self) -> bool {
        // A look first: most that are asked are none, and are not to be written to.
        let shell = self.shell.load(Ordering::Acquire) && self.shell.swap(false, Ordering::AcqRel);
        if shell {
            self.home.shell_taken();
        }
        shell
    }

    /// Ends it, if it still waits. Where that counts `then` is done, under the lock.
    fn give_up_and(&self, fate: Fate, then: impl FnOnce()) -> bool {
        let error = match fate {
            Fate::Expired => TaskError::Expired,
            Fate::Dropped => TaskError::Dropped,
            Fate::Returned => TaskError::Returned,
            _ => TaskError::Cancelled,
        };
        let (ended, counts) = {
            let mut state = lock(&self.state);
            if !state.is_waiting() {
                return false;
            }
            let counts = !self.off_the_books.load(Ordering::Relaxed);
            if counts {
                // Before its end: whoever sees that finds this done.
                then();
            }
            (self.end(&mut state, Err(error)), counts)
        };
        if counts && fate == Fate::Expired {
            self.home.expired(self.class());
        }
        ended.announce();
        counts
    }

    /// Writes down that its time is up, if that is so and it still runs. A closure may run on; what
    /// comes of it nobody waits for any more.
    fn run_out(&self, now: Timestamp) -> Option<Ended<F, T>> {
        self.terms.as_ref().filter(|terms| terms.has_run_out(now))?;
        let mut state = lock(&self.state);
        if !state.is_running() {
            return None;
        }
        // In one step: the runner of a future that is asked to stop must find this outcome, and
        // whoever waits, once told, must find that the task was asked.
        self.stopped.store(true, Ordering::Release);
        Some(self.end(&mut state, Err(TaskError::TimedOut)))
    }

    /// Looks at the clock, if it may not take its time, and tells it and who waits if that is up.
    ///
    /// The keeper does so in time. Where a task outlives its pool there is none, and it is seen as
    /// soon as the task asks, is polled, or ends.
    fn has_run_out(&self) -> bool {
        // Only then is the clock worth a look.
        let ended = self.run_max().and_then(|_| self.run_out(self.home.now()));
        ended.map(Self::tell_run_out).is_some()
    }

    /// Lets the runner of a future see that its time is up, and tells who waits.
    fn tell_run_out(mut ended: Ended<F, T>) {
        if let Stage::Running(runner) = &mut ended.before
            && let Some(waker) = runner.take()
        {
            quietly(|| waker.wake());
        }
        ended.announce();
    }

    /// Asks a task that runs to stop.
    fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        if let Some(waker) = self.take_runner() {
            quietly(|| waker.wake());
        }
    }

    /// Who polls it, to be woken without the lock.
    fn take_runner(&self) -> Option<Waker> {
        lock(&self.state).runner()?.take()
    }

    /// Whether the future that runs is to be dropped; if not, its runner is woken when it is.
    #[cfg(feature = "tokio")]
    pub(crate) fn poll_stopped(&self, context: &Context<'_>) -> bool {
        if self.is_stopped() {
            return true;
        }
        // To compare is ours; to clone and to drop is the user's, and done without the lock.
        let is_known = |runner: &mut Option<Waker>| {
            runner.as_ref().is_some_and(|known| known.will_wake(context.waker()))
        };
        if !lock(&self.state).runner().is_some_and(is_known) {
            let mut waker = Some(context.waker().clone());
            // Where it has ended meanwhile, it is to stop.
            if let Some(runner) = lock(&self.state).runner() {
                std::mem::swap(runner, &mut waker);
            }
            drop(waker);
        }
        self.is_stopped()
    }

    fn cancel(&self) {
        if !self.leave_shell(Fate::Cancelled) {
            self.stop();
        }
    }
}

impl<F: FnOnce() -> T + Send + 'static, T: Send + 'static> Promise<F, T> {
    /// A closure, which somebody who waits can run.
    pub(crate) fn of_closure(
        home: Arc<dyn Home>,
        terms: Option<Box<Terms>>,
        herald: Option<Messenger>,
        task: F,
    ) -> Self {
        let help = Some(Self::run_for_joiner as fn(&Arc<Self>) -> bool);
        Self { help, is_closure: true, ..Self::new(home, terms, herald, task) }
    }

    /// Runs the closure, if it still waits. `None`: somebody else has counted it.
    pub(crate) fn run_now(self: Arc<Self>, now: Timestamp, runner: Runner) -> Option<Fate> {
        let task = match self.begin(now, runner) {
            Ok(task) => task,
            Err(fate) => {
                if runner == Runner::TookIt {
                    self.take_shell();
                }
                return fate;
            }
        };
        // One that runs inside another, because that one waits for it, fails for itself alone.
        let outer_failed = take_failure();
        // It is lent out meanwhile, and not cloned: to count references costs as much as a lock.
        let (result, stoppable) = as_stoppable(self, task);
        let promise: Arc<dyn Any + Send + Sync> = stoppable;
        let promise = promise.downcast::<Self>().expect("it was lent, and comes back");
        let result = result.map_err(|payload| TaskError::Panicked(message_of(payload)));
        let fate = promise.finish(result);
        if outer_failed {
            report_failure();
        }
        Some(fate)
    }

    fn run_for_joiner(self: &Arc<Self>) -> bool {
        let fate = Arc::clone(self).run_now(self.home.now(), Runner::WaitsForIt);
        if let Some(fate) = fate {
            self.home.ended(fate);
        }
        fate.is_some()
    }
}

/// Who runs a closure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runner {
    /// Whoever took it out of the line.
    TookIt,
    /// Somebody who waits for it; its shell stays in the line.
    WaitsForIt,
}

/// How somebody waits for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// Its thread sleeps. A future is not helped then: the runtime might leave it to that thread.
    Asleep,
    /// It is polled.
    Polled,
}

/// What a handle asks of a promise, whatever its task is.
pub(crate) trait Pledge<T>: Send + Sync {
    fn poll_outcome(&self, waker: &Waker) -> Poll<Result<T, TaskError>>;
    fn is_done(&self) -> bool;
    fn cancel(&self);
    /// The pool that it is of.
    fn pool(&self) -> usize;
    /// Lets the task run without a worker, if it still waits and this thread is a worker of its
    /// pool; whether it did.
    fn help(self: Arc<Self>, pool: usize, waiting: Waiting) -> bool;
    /// From here on it hears of its token and of its deadline.
    fn arm(self: Arc<Self>);
}

impl<F: Send + 'static, T: Send + 'static> Pledge<T> for Promise<F, T> {
    fn poll_outcome(&self, waker: &Waker) -> Poll<Result<T, TaskError>> {
        // Cloned before and dropped after: what a waker does then is the user's.
        let mut waker = (!self.is_done()).then(|| waker.clone());
        let mut state = lock(&self.state);
        match std::mem::replace(&mut state.stage, Stage::Over) {
            Stage::Done(result) => Poll::Ready(result),
            Stage::Over => panic!("the outcome of a task can be taken once"),
            unfinished => {
                state.stage = unfinished;
                std::mem::swap(&mut state.waiting, &mut waker);
                drop(state);
                drop(waker);
                Poll::Pending
            }
        }
    }

    fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    fn cancel(&self) {
        Promise::cancel(self);
    }

    fn pool(&self) -> usize {
        self.home.pool()
    }

    fn help(self: Arc<Self>, pool: usize, waiting: Waiting) -> bool {
        let helps = self.home.pool() == pool && (self.is_closure || waiting == Waiting::Polled);
        self.help.filter(|_| helps).is_some_and(|help| help(&self))
    }

    fn arm(self: Arc<Self>) {
        Promise::arm(&self);
    }
}

impl<F: Send + 'static, T: Send + 'static> Listener for Promise<F, T> {
    fn cancelled(&self) {
        self.cancel();
    }
}

impl<F: Send + 'static, T: Send + 'static> Stoppable for Promise<F, T> {
    fn is_stopped(&self) -> bool {
        // Its token may not know of it yet: it does when its submitter is back from the line.
        self.stopped.load(Ordering::Acquire) || self.is_called_off() || self.has_run_out()
    }

    fn has_timed_out(&self) -> bool {
        self.terms.as_ref().is_some_and(|terms| terms.has_run_out(self.home.now()))
    }
}

impl<F: Send + 'static, T: Send + 'static> Deadline for Promise<F, T> {
    fn passed(&self, now: Timestamp) {
        if self.expires_at().is_some_and(|at| at <= now) {
            self.leave_shell(Fate::Expired);
        }
        if let Some(ended) = self.run_out(now) {
            Self::tell_run_out(ended);
        }
    }
}

impl<F, T> fmt::Debug for Promise<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Promise").field("terms", &self.terms).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// With the two words by which `Arc` counts, and one that the allocator keeps.
    #[test]
    fn a_plain_promise_fits_into_two_cache_lines() {
        let words = 3 * size_of::<usize>();
        assert!(size_of::<Promise<fn() -> u64, u64>>() + words <= 2 * 64);
    }
}
