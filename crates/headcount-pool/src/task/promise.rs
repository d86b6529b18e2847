//! A task whose outcome somebody may wait for.
//!
//! The promise owns the task; the line only points to the promise. So a task that is cancelled or
//! expires is freed at once, wherever it stands in the line, and a worker that waits for a task of
//! its own pool can run it by itself.
//!
//! States: *waiting* -> *running* -> *done* -> *over* (somebody has taken the outcome). From
//! waiting it can go straight to done: cancelled, expired, dropped, handed back. Every step is
//! taken under the promise's own lock, so whoever starts it and whoever cancels it cannot both win.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
#[cfg(feature = "tokio")]
use std::task::Context;
use std::task::{Poll, Waker};
use std::time::Duration;

use headcount_core::{Name, Timestamp};

use super::context::{Stoppable, as_stoppable, report_failure, take_failure};
use super::error::{TaskError, message_of};
use super::token::{CancelToken, Listener};
use super::work::Work;
use crate::engine::{Deadline, Fate, carried};
use crate::group::Messenger;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, lock};
use crate::unhurt::{drop_quietly, quietly};

/// The pool of a promise, as far as it needs one.
pub(crate) trait Home: Send + Sync {
    /// The pool, told from others by a number.
    fn pool(&self) -> usize;

    fn now(&self) -> Timestamp;

    /// A task ended without a worker having counted it.
    fn ended(&self, fate: Fate);

    /// A task runs beside the workers until what this returns is dropped.
    #[cfg(feature = "tokio")]
    fn beside(self: Arc<Self>) -> Box<dyn Send + Sync>;

    /// A task waited for too long.
    fn expired(&self, class: Option<Name>);

    /// A task panicked.
    fn panicked(&self, class: Option<Name>, message: &str);

    /// Tells `deadline` when it is that late.
    fn remind(&self, at: Timestamp, deadline: Weak<dyn Deadline>);
}

/// What was agreed on with the submitter.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    pub(crate) class: Option<Name>,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) run_max: Option<Duration>,
    pub(crate) token: Option<CancelToken>,
    /// Who announces the end, if anybody does.
    pub(crate) herald: Option<Messenger>,
}

/// A task and its outcome.
pub(crate) struct Promise<F, T> {
    state: Mutex<State<F, T>>,
    /// Whether the task was asked to stop.
    stopped: AtomicBool,
    terms: Terms,
    home: Arc<dyn Home>,
    /// How somebody who waits lets the task run without a worker: a closure there and then, a
    /// future beside the workers. Whether it did.
    help: Option<fn(&Arc<Self>) -> bool>,
    is_closure: bool,
}

struct State<F, T> {
    stage: Stage<F, T>,
    /// Whether its pool has handed it back, and counted it so.
    off_the_books: bool,
    /// When it will have run for too long. `None`: it may take its time, or does not run.
    run_until: Option<Timestamp>,
    /// Who waits for the outcome.
    waiting: Option<Waker>,
    /// Who polls it, if it is a future that runs.
    runner: Option<Waker>,
    /// Who announces the end when it is dropped.
    herald: Option<Messenger>,
}

impl<F, T> State<F, T> {
    /// Writes the outcome down, and says what is left to do without the lock.
    fn end(&mut self, result: Result<T, TaskError>) -> Ended<F, T> {
        let before = std::mem::replace(&mut self.stage, Stage::Done(result));
        Ended { before, herald: self.herald.take(), waiting: self.waiting.take() }
    }
}

/// What is left of a task that has ended, to be dropped, told and woken; all of it the user's.
struct Ended<F, T> {
    before: Stage<F, T>,
    herald: Option<Messenger>,
    waiting: Option<Waker>,
}

impl<F: Send + 'static, T: Send + 'static> Ended<F, T> {
    fn announce(self) {
        // What it held may block where it is dropped, which is not the keeper's to wait for.
        match self.before {
            Stage::Waiting(task) => carried(move || drop_quietly(task)),
            other => drop_quietly(other),
        }
        drop(self.herald);
        if let Some(waker) = self.waiting {
            quietly(|| waker.wake());
        }
    }
}

enum Stage<F, T> {
    Waiting(F),
    Running,
    Done(Result<T, TaskError>),
    Over,
}

impl<F: Send + 'static, T: Send + 'static> Promise<F, T> {
    pub(crate) fn new(home: Arc<dyn Home>, mut terms: Terms, task: F) -> Self {
        let (stage, herald) = (Stage::Waiting(task), terms.herald.take());
        let state = State {
            stage,
            off_the_books: false,
            run_until: None,
            waiting: None,
            runner: None,
            herald,
        };
        let stopped = AtomicBool::new(false);
        let state = Mutex::new(state);
        Self { state, stopped, terms, home, help: None, is_closure: false }
    }

    /// From here on it hears of its token and of its deadline.
    fn arm(self: &Arc<Self>) {
        if let Some(token) = &self.terms.token {
            let listener: Arc<dyn Listener> = Arc::clone(self) as _;
            token.listen(&listener);
        }
        if let Some(at) = self.terms.expires_at {
            self.home.remind(at, self.as_deadline());
        }
    }

    fn as_deadline(self: &Arc<Self>) -> Weak<dyn Deadline> {
        let deadline: Arc<dyn Deadline> = Arc::clone(self) as _;
        Arc::downgrade(&deadline)
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn class(&self) -> Option<Name> {
        self.terms.class
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
        matches!(lock(&self.state).stage, Stage::Waiting(_))
    }

    /// Takes it off its pool's books, if it still waits: its pool has counted it as handed back,
    /// and whatever becomes of it is not counted again. Says whether it was on them.
    pub(crate) fn hand_back(&self) -> bool {
        let mut state = lock(&self.state);
        let waits = matches!(state.stage, Stage::Waiting(_));
        waits && !std::mem::replace(&mut state.off_the_books, true)
    }

    /// Takes the task, to run it. `Err`: how it ended before, if this has just been found out.
    pub(crate) fn begin(self: &Arc<Self>, now: Timestamp) -> Result<F, Option<Fate>> {
        if self.terms.expires_at.is_some_and(|at| at <= now) {
            return Err(self.give_up(Fate::Expired).then_some(Fate::Expired));
        }
        let task = {
            let mut state = lock(&self.state);
            match std::mem::replace(&mut state.stage, Stage::Running) {
                Stage::Waiting(task) => task,
                other => {
                    state.stage = other;
                    return Err(None);
                }
            }
        };
        if let Some(run_max) = self.terms.run_max {
            let at = self.home.now() + run_max;
            lock(&self.state).run_until = Some(at);
            self.home.remind(at, self.as_deadline());
        }
        Ok(task)
    }

    /// The task ran, and this came of it. Says how it is to be counted.
    pub(crate) fn finish(&self, result: Result<T, TaskError>) -> Fate {
        let failed = take_failure();
        drop(self.take_runner());
        self.has_run_out();
        let fate = match &result {
            Ok(_) if failed => Fate::Failed,
            Ok(_) => Fate::Ran,
            Err(TaskError::Panicked(message)) => {
                self.home.panicked(self.terms.class, message);
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
            state.end(result)
        };
        ended.announce();
        None
    }

    /// It will not run. False: it has begun, or somebody has counted it.
    pub(crate) fn give_up(&self, fate: Fate) -> bool {
        let error = match fate {
            Fate::Expired => TaskError::Expired,
            Fate::Dropped => TaskError::Dropped,
            Fate::Returned => TaskError::Returned,
            _ => TaskError::Cancelled,
        };
        let (ended, counts) = {
            let mut state = lock(&self.state);
            if !matches!(state.stage, Stage::Waiting(_)) {
                return false;
            }
            (state.end(Err(error)), !state.off_the_books)
        };
        if counts && fate == Fate::Expired {
            self.home.expired(self.terms.class);
        }
        ended.announce();
        counts
    }

    /// Writes down that its time is up, if that is so and it still runs. A closure may run on; what
    /// comes of it nobody waits for any more.
    fn run_out(&self, now: Timestamp) -> Option<Ended<F, T>> {
        let mut state = lock(&self.state);
        let runs = matches!(state.stage, Stage::Running);
        if !runs || state.run_until.is_none_or(|at| now < at) {
            return None;
        }
        // In one step: the runner of a future that is asked to stop must find this outcome, and
        // whoever waits, once told, must find that the task was asked.
        self.stopped.store(true, Ordering::Release);
        Some(state.end(Err(TaskError::TimedOut)))
    }

    /// Looks at the clock, if it may not take its time, and tells it and who waits if that is up.
    ///
    /// The keeper does so in time. Where a task outlives its pool there is none, and it is seen as
    /// soon as the task asks, is polled, or ends.
    fn has_run_out(&self) -> bool {
        let ended = self.terms.run_max.and_then(|_| self.run_out(self.home.now()));
        ended.map(|ended| self.tell_run_out(ended)).is_some()
    }

    fn tell_run_out(&self, ended: Ended<F, T>) {
        self.stop();
        ended.announce();
    }

    /// Asks a task that runs to stop.
    fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        if let Some(waker) = self.take_runner() {
            quietly(|| waker.wake());
        }
    }

    /// Who polls it, to be dropped or woken without the lock.
    fn take_runner(&self) -> Option<Waker> {
        lock(&self.state).runner.take()
    }

    /// Whether the future that runs is to be dropped; if not, its runner is woken when it is.
    #[cfg(feature = "tokio")]
    pub(crate) fn poll_stopped(&self, context: &Context<'_>) -> bool {
        if self.is_stopped() {
            return true;
        }
        // To compare is ours; to clone and to drop is the user's, and done without the lock.
        let is_known = |known: &Waker| known.will_wake(context.waker());
        if !lock(&self.state).runner.as_ref().is_some_and(is_known) {
            let waker = context.waker().clone();
            let before = lock(&self.state).runner.replace(waker);
            drop(before);
        }
        self.is_stopped()
    }

    fn cancel(&self) {
        match self.give_up(Fate::Cancelled) {
            true => self.home.ended(Fate::Cancelled),
            false => self.stop(),
        }
    }
}

impl<F: FnOnce() -> T + Send + 'static, T: Send + 'static> Promise<F, T> {
    /// A closure, which somebody who waits can run.
    pub(crate) fn of_closure(home: Arc<dyn Home>, terms: Terms, task: F) -> Self {
        let help = Some(Self::run_for_joiner as fn(&Arc<Self>) -> bool);
        Self { help, is_closure: true, ..Self::new(home, terms, task) }
    }

    /// Runs the closure, if it still waits. `None`: somebody else has counted it.
    pub(crate) fn run_now(self: &Arc<Self>, now: Timestamp) -> Option<Fate> {
        let task = match self.begin(now) {
            Ok(task) => task,
            Err(fate) => return fate,
        };
        // One that runs inside another, because that one waits for it, fails for itself alone.
        let outer_failed = take_failure();
        let stoppable: Arc<dyn Stoppable> = Arc::clone(self) as _;
        let result = catch_unwind(AssertUnwindSafe(|| as_stoppable(stoppable, task)));
        let result = result.map_err(|payload| TaskError::Panicked(message_of(payload)));
        let fate = self.finish(result);
        if outer_failed {
            report_failure();
        }
        Some(fate)
    }

    fn run_for_joiner(self: &Arc<Self>) -> bool {
        let fate = self.run_now(self.home.now());
        if let Some(fate) = fate {
            self.home.ended(fate);
        }
        fate.is_some()
    }
}

impl<F: FnOnce() -> T + Send + 'static, T: Send + 'static> Work for Arc<Promise<F, T>> {
    fn run(&mut self, now: Timestamp) -> Option<Fate> {
        self.run_now(now)
    }

    fn abandon(&mut self, fate: Fate) -> bool {
        self.give_up(fate)
    }

    fn hand_back(&mut self) -> bool {
        Promise::hand_back(self)
    }

    fn class(&self) -> Option<Name> {
        self.terms.class
    }
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
        let waker = waker.clone();
        let mut state = lock(&self.state);
        match std::mem::replace(&mut state.stage, Stage::Over) {
            Stage::Done(result) => Poll::Ready(result),
            Stage::Over => panic!("the outcome of a task can be taken once"),
            unfinished => {
                state.stage = unfinished;
                let before = state.waiting.replace(waker);
                drop(state);
                drop(before);
                Poll::Pending
            }
        }
    }

    fn is_done(&self) -> bool {
        matches!(lock(&self.state).stage, Stage::Done(_) | Stage::Over)
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
        self.stopped.load(Ordering::Acquire) || self.has_run_out()
    }

    fn has_timed_out(&self) -> bool {
        lock(&self.state).run_until.is_some_and(|at| at <= self.home.now())
    }
}

impl<F: Send + 'static, T: Send + 'static> Deadline for Promise<F, T> {
    fn passed(&self, now: Timestamp) {
        if self.terms.expires_at.is_some_and(|at| at <= now) && self.give_up(Fate::Expired) {
            self.home.ended(Fate::Expired);
        }
        if let Some(ended) = self.run_out(now) {
            self.tell_run_out(ended);
        }
    }
}

impl<F, T> fmt::Debug for Promise<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Promise").field("terms", &self.terms).finish_non_exhaustive()
    }
}
