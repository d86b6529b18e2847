//! Handing tasks to a pool: the same words for closures and for futures.

use std::fmt;
use std::sync::Arc;

use super::admission::Admission;
use super::batch::Unheard;
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

    /// Runs `task` on a worker, and waits for room without blocking the thread.
    ///
    /// # Errors
    ///
    /// Hands the task back with the reason when the pool does not take it in.
    pub async fn spawn_async<F>(&self, task: F) -> Result<(), SubmitError<F>>
    where
        K: Spawns<F>,
    {
        let let_in = self.let_in_async(&TaskOptions::new()).await;
        self.if_let_in(let_in, task, |escorting, admission, task| {
            self.place_escorted(escorting, admission, task);
        })
    }

    /// Runs each of `tasks` on a worker, and returns how many there were.
    ///
    /// One look at the door and one at the notice for all that there is room for.
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
        match self.engine().admit(self.overflow()) {
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
        let let_in = self.let_in(options);
        self.if_let_in(let_in, task, |escorting, admission, task| {
            let bond = Bond { terms, herald: herald(), escorting, ..self.bond() };
            self.promise(admission, bond, task)
        })
    }

    /// Runs `task` on a worker, and waits for room without blocking the thread, whatever the
    /// options say of a full line.
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
        // Reckoned from before the wait for room, which is waiting as well.
        let terms = self.terms(&options);
        let let_in = self.let_in_async(&options).await;
        self.if_let_in(let_in, task, |escorting, admission, task| {
            self.promise(admission, Bond { terms, escorting, ..self.bond() }, task)
        })
    }

    /// Hands `task` over if it was let in, and back if not.
    fn if_let_in<F, R>(
        &self,
        let_in: Result<(Option<Escorting>, Admission), Refusal>,
        task: F,
        hand_over: impl FnOnce(Option<Escorting>, Admission, F) -> R,
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
        match self.engine().admit(overflow) {
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
        let let_in = self.let_in(&TaskOptions::new().overflow(overflow));
        self.if_let_in(let_in, task, |escorting, admission, task| {
            self.place_escorted(escorting, admission, task);
        })
    }

    fn place_escorted<F>(&self, escorting: Option<Escorting>, admission: Admission, task: F)
    where
        K: Spawns<F>,
    {
        match escorting {
            None => self.place(admission, K::plain(task)),
            Some(escorting) => self.place(admission, K::escorted(escorting, task)),
        }
    }

    /// Puts work where it was admitted to.
    fn place(&self, admission: Admission, work: K::Work) {
        match admission {
            Admission::Enter(number) => self.engine().put(number, work),
            Admission::RunHere => {
                self.engine().ran_beside.fetch_add(1, Ordering::Relaxed);
                K::run_here(self.engine(), work);
            }
            Admission::Drop => self.drop_unadmitted(work),
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

    fn promise<F, T>(&self, admission: Admission, bond: Bond, task: F) -> TaskHandle<T>
    where
        K: Runs<F, Output = T>,
    {
        let armed = bond.terms.as_ref().is_some_and(|terms| terms.are_armed());
        let (work, handle) = K::promised(bond, task);
        self.place(admission, work);
        if armed {
            handle.arm();
        }
        handle
    }
}
