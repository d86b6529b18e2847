//! Handing tasks to a pool: the same words for closures and for futures.

use std::fmt;
use std::sync::Arc;

use super::admission::Admission;
use super::batch::Unheard;
use super::bid::Bid;
use super::escorting::Escorting;
use super::handle::PoolHandle;
use crate::engine::{Fate, Kind};
use crate::group::Messenger;
use crate::sync::atomic::Ordering;
use crate::task::{Home, Overflow, Refusal, SubmitError, TaskHandle, TaskOptions, Terms};
use crate::unhurt::drop_quietly;

/// A kind of pool that can run `F`: threads run closures, async workers run futures.
///
/// ```
/// use headcount_pool::ThreadPool;
///
/// let pool = ThreadPool::builder().workers(1).build()?;
/// assert_eq!(pool.submit(|| 6 * 7)?.join()?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a pool of `{Self}` cannot run `{F}`",
    label = "not a task for this pool",
    note = "a `ThreadPool` runs closures, a `TaskPool` runs futures; both are `Send + 'static`, \
            and so is what they return"
)]
pub trait Runs<F>: Kind {
    /// What comes of it.
    type Output: Send + 'static;

    /// Work with an outcome, and a handle to that.
    fn promised(bond: Bond, task: F) -> (Self::Work, TaskHandle<Self::Output>);
}

/// What a promise is made with, beside its task.
#[doc(hidden)]
pub struct Bond {
    pub(super) home: Arc<dyn Home>,
    /// `None`: nothing special was agreed on.
    pub(super) terms: Option<Box<Terms>>,
    /// Who announces the end, if anybody does.
    pub(super) herald: Option<Messenger>,
    /// The policies that go along, if there are any.
    pub(super) escorting: Option<Escorting>,
}

impl fmt::Debug for Bond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bond").field("terms", &self.terms).finish_non_exhaustive()
    }
}

/// A kind of pool that can run `F` without anybody waiting for it.
///
/// ```
/// use headcount_pool::ThreadPool;
///
/// let pool = ThreadPool::builder().workers(1).build()?;
/// pool.spawn(|| ())?;
/// pool.await_idle();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a pool of `{Self}` cannot run `{F}` by itself",
    label = "not a task for this pool, or it returns something",
    note = "use `submit` for a task with a result"
)]
pub trait Spawns<F>: Runs<F, Output = ()> {
    /// Work without an outcome.
    fn plain(task: F) -> Self::Work;

    /// The same, with policies that go along.
    fn escorted(escorting: Escorting, task: F) -> Self::Work;
}

impl<K: Kind> PoolHandle<K> {
    /// Runs `task` on a worker; nobody hears of its result.
    ///
    /// The cheapest way in: a small closure costs no allocation, a future one. Where the line is
    /// full, what the pool was built with happens; by default the caller waits, and blocks its
    /// thread. Inside of a runtime use [`spawn_async`](Self::spawn_async), for the thread may be
    /// the one that the workers need.
    ///
    /// One of the pool's own workers does not wait. A thread runs the task right here, inside of
    /// the one that calls this, 16 deep at most: do not call it with a lock held that the task
    /// wants. An async task cannot, and gets the task back ([`Full`](Refusal::Full)).
    ///
    /// # Errors
    ///
    /// Hands the task back with the reason when the pool does not take it in.
    pub fn spawn<F>(&self, task: F) -> Result<(), SubmitError<F>>
    where
        K: Spawns<F>,
    {
        self.spawn_or(self.overflow(), task)
    }

    /// Runs `task` on a worker if there is room in the line right now.
    ///
    /// # Errors
    ///
    /// Hands the task back with the reason when the pool does not take it in.
    pub fn try_spawn<F>(&self, task: F) -> Result<(), SubmitError<F>>
    where
        K: Spawns<F>,
    {
        self.spawn_or(Overflow::Reject, task)
    }

    /// Runs `task` on a worker, with options; nobody hears of its result.
    ///
    /// # Errors
    ///
    /// Hands the task back with the reason when the pool does not take it in.
    pub fn spawn_with<F>(&self, options: TaskOptions, task: F) -> Result<(), SubmitError<F>>
    where
        K: Spawns<F>,
    {
        match options.is_plain() {
            true => self.spawn_or(options.overflow.unwrap_or(self.overflow()), task),
            false => self.submit_with(options, task).map(drop),
        }
    }

    /// Runs `task` on a worker, and waits for room without blocking the thread, whatever the pool
    /// was built with. Dropped before that is over, it drops the task.
    ///
    /// One of the pool's own tasks that finds the line full has `task` run in its place, one at a
    /// time: this is over when `task` has ended, which must not need anything that comes after it.
    /// Such tasks run inside of one another 16 deep; beyond that they are handed back
    /// ([`Full`](Refusal::Full)).
    ///
    /// # Errors
    ///
    /// Hands the task back with the reason when the pool does not take it in.
    pub async fn spawn_async<F>(&self, task: F) -> Result<(), SubmitError<F>>
    where
        K: Spawns<F>,
    {
        let options = TaskOptions::new();
        let (escorting, admission) =
            match self.let_in_async(&options, Bid::new(Overflow::Wait)).await {
                Ok(let_in) => let_in,
                Err(reason) => return Err(SubmitError { reason: self.refuse(reason), task }),
            };
        let work = match escorting {
            None => K::plain(task),
            Some(escorting) => K::escorted(escorting, task),
        };
        self.place_async(admission, work).await;
        Ok(())
    }

    /// Runs each of `tasks` on a worker, and returns how many there were.
    ///
    /// One look at the door and one at the notice for all that there is room for. Where there is
    /// none it does as [`spawn`](Self::spawn), which may block the thread: inside of a runtime use
    /// [`spawn_all_async`](Self::spawn_all_async).
    ///
    /// # Errors
    ///
    /// Hands back what the pool did not take in, with the reason. Those before were taken in.
    pub fn spawn_all<F>(
        &self,
        tasks: impl IntoIterator<Item = F>,
    ) -> Result<usize, SubmitError<Vec<F>>>
    where
        K: Spawns<F>,
    {
        self.hand_over_all(tasks.into_iter().collect(), &mut Unheard { pool: self })
    }

    /// Runs `task` on a worker, and returns a handle to its result.
    ///
    /// Where the line is full it does as [`spawn`](Self::spawn): it may block the thread, and on a
    /// thread of the pool itself it runs `task` right here, before it returns.
    ///
    /// # Errors
    ///
    /// Hands the task back with the reason when the pool does not take it in.
    pub fn submit<F, T>(&self, task: F) -> Result<TaskHandle<T>, SubmitError<F>>
    where
        K: Runs<F, Output = T>,
    {
        if self.policies().any_enabled() {
            return self.submit_with(TaskOptions::new(), task);
        }
        // As with `spawn`: nothing is passed along that only a few tasks have.
        match self.engine().admit(Bid::new(self.overflow())) {
            Ok(admission) => Ok(self.promise(admission, self.bond(), task)),
            Err(reason) => Err(SubmitError { reason: self.refuse(reason), task }),
        }
    }

    /// Runs `task` on a worker, with options, and returns a handle to its result.
    ///
    /// # Errors
    ///
    /// Hands the task back with the reason when the pool does not take it in.
    #[expect(clippy::needless_pass_by_value, reason = "options are written for one call")]
    pub fn submit_with<F, T>(
        &self,
        options: TaskOptions,
        task: F,
    ) -> Result<TaskHandle<T>, SubmitError<F>>
    where
        K: Runs<F, Output = T>,
    {
        self.submit_heralded(&options, || None, task)
    }

    /// The same, with somebody who announces its end. The herald is called for when the task has
    /// been let in: to drop one is to announce.
    pub(crate) fn submit_heralded<F, T>(
        &self,
        options: &TaskOptions,
        herald: impl FnOnce() -> Option<Messenger>,
        task: F,
    ) -> Result<TaskHandle<T>, SubmitError<F>>
    where
        K: Runs<F, Output = T>,
    {
        // Reckoned from before the wait for room, which is waiting as well.
        let terms = self.terms(options);
        let bid = Self::bid(options, terms.as_deref(), self.overflow());
        let let_in = self.let_in(options, bid);
        self.if_let_in(let_in, task, |escorting, admission, task| {
            let bond = Bond { terms, herald: herald(), escorting, ..self.bond() };
            self.promise(admission, bond, task)
        })
    }

    /// Runs `task` on a worker, and waits for room without blocking the thread. Dropped before that
    /// is over, it drops the task.
    ///
    /// What the options say of a full line is done; if they say nothing it waits, whatever the pool
    /// was built with. A task that its caller is to run, or that one of the pool's own tasks hands
    /// over, runs inside of this await, as with [`spawn_async`](Self::spawn_async).
    ///
    /// ```
    /// use headcount_pool::{Overflow, Refusal, TaskOptions, ThreadPool};
    /// use std::time::Duration;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(async {
    /// let pool = ThreadPool::builder().workers(1).queue_len_max(1).build()?;
    /// pool.pause();
    /// pool.spawn(|| ())?;
    /// let in_time = Overflow::WaitFor(Duration::from_millis(5));
    /// let options = TaskOptions::new().overflow(in_time);
    /// let refused = pool.submit_async(options, || 6 * 7).await.expect_err("there is no room");
    /// assert_eq!((refused.reason, (refused.task)()), (Refusal::TimedOut, 42));
    /// # pool.resume();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).expect("it was handed back");
    /// ```
    ///
    /// # Errors
    ///
    /// Hands the task back with the reason when the pool does not take it in.
    pub async fn submit_async<F, T>(
        &self,
        options: TaskOptions,
        task: F,
    ) -> Result<TaskHandle<T>, SubmitError<F>>
    where
        K: Runs<F, Output = T>,
    {
        self.submit_heralded_async(&options, || None, task).await
    }

    /// The same, with somebody who announces its end.
    pub(crate) async fn submit_heralded_async<F, T>(
        &self,
        options: &TaskOptions,
        herald: impl FnOnce() -> Option<Messenger>,
        task: F,
    ) -> Result<TaskHandle<T>, SubmitError<F>>
    where
        K: Runs<F, Output = T>,
    {
        // Reckoned from before the wait for room, which is waiting as well.
        let terms = self.terms(options);
        let bid = Self::bid(options, terms.as_deref(), Overflow::Wait);
        let (escorting, admission) = match self.let_in_async(options, bid).await {
            Ok(let_in) => let_in,
            Err(reason) => return Err(SubmitError { reason: self.refuse(reason), task }),
        };
        let bond = Bond { terms, herald: herald(), escorting, ..self.bond() };
        let arms = Arms::of(&bond, &admission);
        let (work, handle) = K::promised(bond, task);
        arms.before(&handle);
        self.place_async(admission, work).await;
        arms.after(&handle);
        Ok(handle)
    }

    /// Hands `task` over if it was let in, and back if not.
    fn if_let_in<F, R>(
        &self,
        let_in: Result<(Option<Escorting>, Admission<K>), Refusal>,
        task: F,
        hand_over: impl FnOnce(Option<Escorting>, Admission<K>, F) -> R,
    ) -> Result<R, SubmitError<F>> {
        match let_in {
            Ok((escorting, admission)) => Ok(hand_over(escorting, admission, task)),
            Err(reason) => Err(SubmitError { reason: self.refuse(reason), task }),
        }
    }

    fn spawn_or<F>(&self, overflow: Overflow, task: F) -> Result<(), SubmitError<F>>
    where
        K: Spawns<F>,
    {
        if self.policies().any_enabled() {
            return self.spawn_escorted(overflow, task);
        }
        match self.engine().admit(Bid::new(overflow)) {
            Ok(admission) => {
                self.place(admission, K::plain(task));
                Ok(())
            }
            Err(reason) => Err(SubmitError { reason: self.refuse(reason), task }),
        }
    }

    #[cold]
    fn spawn_escorted<F>(&self, overflow: Overflow, task: F) -> Result<(), SubmitError<F>>
    where
        K: Spawns<F>,
    {
        let let_in = self.let_in(&TaskOptions::new(), Bid::new(overflow));
        self.if_let_in(let_in, task, |escorting, admission, task| {
            self.place_escorted(escorting, admission, task);
        })
    }

    fn place_escorted<F>(&self, escorting: Option<Escorting>, admission: Admission<K>, task: F)
    where
        K: Spawns<F>,
    {
        match escorting {
            None => self.place(admission, K::plain(task)),
            Some(escorting) => self.place(admission, K::escorted(escorting, task)),
        }
    }

    /// Puts work where it was admitted to.
    #[expect(clippy::needless_pass_by_value, reason = "whoever was admitted was admitted once")]
    fn place(&self, admission: Admission<K>, work: K::Work) {
        match admission {
            Admission::Enter(number) => self.engine().put(number, work),
            Admission::RunHere => {
                self.engine().ran_beside.fetch_add(1, Ordering::Relaxed);
                K::run_here(self.engine(), work);
            }
            Admission::RunInside(_) => unreachable!("only who awaits is told to run it so"),
            Admission::Drop => self.drop_unadmitted(work),
        }
    }

    /// The same, for a submitter that awaits.
    async fn place_async(&self, admission: Admission<K>, work: K::Work) {
        match admission {
            Admission::RunInside(turn) => {
                self.engine().ran_beside.fetch_add(1, Ordering::Relaxed);
                K::run_inside(self.engine(), work, turn).await;
            }
            admission => self.place(admission, work),
        }
    }

    fn drop_unadmitted(&self, mut work: K::Work) {
        let class = K::class(&work);
        // Counted and told before whoever holds its handle hears of it.
        self.engine().refused.fetch_add(1, Ordering::Relaxed);
        self.engine().dropped(class);
        K::give_up(&mut work, Fate::Dropped);
        drop_quietly(work);
    }

    /// What binds a task to this pool, with nothing special agreed on.
    pub(super) fn bond(&self) -> Bond {
        let home: Arc<dyn Home> = Arc::clone(self.engine()) as _;
        Bond { home, terms: None, herald: None, escorting: None }
    }

    fn promise<F, T>(&self, admission: Admission<K>, bond: Bond, task: F) -> TaskHandle<T>
    where
        K: Runs<F, Output = T>,
    {
        let arms = Arms::of(&bond, &admission);
        let (work, handle) = K::promised(bond, task);
        arms.before(&handle);
        self.place(admission, work);
        arms.after(&handle);
        handle
    }
}

/// When a task begins to hear of its token and of its deadline.
///
/// Where its submitter runs it, before that. Otherwise when it is in the line: one that ends before
/// it was put there would be counted before it was taken in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arms {
    Never,
    Before,
    After,
}

impl Arms {
    fn of<K: Kind>(bond: &Bond, admission: &Admission<K>) -> Self {
        let armed = bond.terms.as_ref().is_some_and(|terms| terms.are_armed());
        match admission.is_to_run() {
            _ if !armed => Self::Never,
            true => Self::Before,
            false => Self::After,
        }
    }

    fn before<T>(self, handle: &TaskHandle<T>) {
        if self == Self::Before {
            handle.arm();
        }
    }

    fn after<T>(self, handle: &TaskHandle<T>) {
        if self == Self::After {
            handle.arm();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use headcount_core::Timestamp;

    use super::*;
    use crate::{CancelToken, ThreadPool, Threads, is_cancelled};

    /// A worker may be quicker than the submitter, which has the token told of the task only when
    /// that is in the line.
    #[test]
    fn a_task_knows_that_its_token_was_cancelled_before_the_token_knows_the_task() {
        let pool = ThreadPool::builder().workers(1).build().expect("no fault");
        let token = CancelToken::new();
        let terms = pool.terms(&TaskOptions::new().token(token.clone()));
        let bond = Bond { terms, ..pool.bond() };
        let asks = move || {
            let before = is_cancelled();
            token.cancel();
            (before, is_cancelled())
        };
        let (mut work, task) = Threads::promised(bond, asks);
        work.run(Timestamp::ORIGIN);
        assert_eq!(task.join(), Ok((false, true)));
    }
}
