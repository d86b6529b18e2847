//! A future that waits in line, and what becomes of it when it runs.
//!
//! Whoever runs one polls a [`Run`] to its end: a worker, the submitter of a task that found the
//! line full, or another task that awaits it. What a task says of itself goes along with it from
//! poll to poll, since polls of others come in between.

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use headcount_core::{Name, Timestamp};
use tokio::runtime::Handle;

use super::context::{
    PlaceBeside, Stoppable, as_stoppable, enter_workplace, swap_failure, workplace,
};
use super::error::{TaskError, message_of};
use super::lent::{Guest, Lends, LentPlace, Turn, lend_to, swap_lends};
use super::nested::{Nested, depth};
use super::promise::{Promise, Runner};
use super::terms::{Home, Terms};
use crate::engine::Fate;
use crate::group::Messenger;
use crate::unhurt::drop_quietly;

/// A future on the heap.
type Body<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A future in the line.
#[doc(hidden)]
pub enum TaskWork {
    /// Nobody waits for its result.
    Plain(Body<()>),
    /// Somebody may.
    Promised(Arc<dyn Job>),
}

impl TaskWork {
    pub(crate) fn plain(task: impl Future<Output = ()> + Send + 'static) -> Self {
        Self::Plain(Box::pin(task))
    }

    /// It will not run. False: somebody has counted it.
    pub(crate) fn give_up(&self, fate: Fate) -> bool {
        match self {
            Self::Plain(_) => true,
            Self::Promised(job) => job.give_up(fate),
        }
    }

    /// Takes it off the books, if it is still to run, and says whether it was.
    pub(crate) fn hand_back(&self) -> bool {
        match self {
            Self::Plain(_) => true,
            Self::Promised(job) => job.hand_back(),
        }
    }

    pub(crate) fn class(&self) -> Option<Name> {
        match self {
            Self::Plain(_) => None,
            Self::Promised(job) => job.class(),
        }
    }

    /// Whether it has ended in the line, for whoever takes it out.
    pub(crate) fn take_shell(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Promised(job) => job.take_shell(),
        }
    }
}

impl fmt::Debug for TaskWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskWork").field("class", &self.class()).finish_non_exhaustive()
    }
}

/// The promise of a future, whatever that is.
#[doc(hidden)]
pub trait Job: Send + Sync {
    /// Takes the future out, to run it, for whoever took this out of the line. `Err`: how it ended
    /// before, if this has just been found out.
    fn begin(self: Arc<Self>, now: Timestamp) -> Result<Body<Fate>, Option<Fate>>;

    /// It will not run. False: it has begun, or somebody has counted it.
    fn give_up(&self, fate: Fate) -> bool;

    /// Takes it off the pool's books, if it is still to run, and says whether it was.
    fn hand_back(&self) -> bool;

    /// The class that its submitter gave it.
    fn class(&self) -> Option<Name>;

    /// Whether it has ended in the line, for whoever takes it out.
    fn take_shell(&self) -> bool;
}

impl<F: Future<Output = T> + Send + 'static, T: Send + 'static> Promise<F, T> {
    /// A future, which another task of its pool that awaits it can poll.
    pub(crate) fn of_future(
        home: Arc<dyn Home>,
        terms: Option<Box<Terms>>,
        herald: Option<Messenger>,
        task: F,
    ) -> Self {
        Self::new(home, terms, herald, task).helped_by(run_beside)
    }

    /// The future, ready to be polled. `Err`: as above.
    fn body(
        self: Arc<Self>,
        now: Timestamp,
        runner: Runner,
    ) -> Result<Body<Fate>, (Arc<Self>, Option<Fate>)> {
        match Promise::begin(&self, now, runner) {
            Ok(task) => Ok(Box::pin(keep(Kept(Some(self)), task))),
            Err(fate) => Err((self, fate)),
        }
    }
}

impl<F: Future<Output = T> + Send + 'static, T: Send + 'static> Job for Promise<F, T> {
    fn begin(self: Arc<Self>, now: Timestamp) -> Result<Body<Fate>, Option<Fate>> {
        self.body(now, Runner::TookIt).map_err(|(promise, fate)| {
            Promise::take_shell(&promise);
            fate
        })
    }

    fn give_up(&self, fate: Fate) -> bool {
        Promise::give_up(self, fate)
    }

    fn hand_back(&self) -> bool {
        Promise::hand_back(self)
    }

    fn class(&self) -> Option<Name> {
        Promise::class(self)
    }

    fn take_shell(&self) -> bool {
        Promise::take_shell(self)
    }
}

/// A promise whose future runs. Dropped before its end, it says that it was cancelled.
struct Kept<F: Send + 'static, T: Send + 'static>(Option<Arc<Promise<F, T>>>);

impl<F: Send + 'static, T: Send + 'static> Drop for Kept<F, T> {
    fn drop(&mut self) {
        if let Some(promise) = self.0.take() {
            promise.finish(Err(TaskError::Cancelled));
        }
    }
}

/// Polls a future until it is ready or to be stopped, drops it, and says what came of it.
async fn keep<F, T>(mut kept: Kept<F, T>, task: F) -> Fate
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let promise = Arc::clone(kept.0.as_ref().expect("it has not ended"));
    let as_task = || Arc::clone(&promise) as Arc<dyn Stoppable>;
    let mut task = pin!(Some(task));
    let result = poll_fn(|context| {
        if promise.poll_stopped(context) {
            return Poll::Ready(Err(TaskError::Cancelled));
        }
        let task = task.as_mut().as_pin_mut().expect("it is dropped after its last poll");
        match as_stoppable(as_task(), move || task.poll(context)).0 {
            Ok(polled) => polled.map(Ok),
            Err(payload) => Poll::Ready(Err(TaskError::Panicked(message_of(payload)))),
        }
    })
    .await;
    // Before the outcome is told, and as the task: whoever waits finds what it held given back.
    let (dropped, _) = as_stoppable(as_task(), || task.set(None));
    dropped.unwrap_or_else(std::mem::forget);
    kept.0 = None;
    promise.finish(result)
}

/// A future that runs.
pub(crate) struct Run {
    body: RunBody,
    class: Option<Name>,
    /// Whether it has said that it failed.
    failed: bool,
    lends: Lends,
}

enum RunBody {
    Plain(Body<()>),
    Promised(Body<Fate>),
}

/// How a run ended: it is counted so, or it panicked and nobody was told.
pub(crate) type Ended = Result<Fate, String>;

impl Run {
    /// Begins what waited. `Err`: how it ended before, if this has just been found out.
    pub(crate) fn begin(work: TaskWork, now: Timestamp) -> Result<Self, Option<Fate>> {
        let class = work.class();
        let body = match work {
            TaskWork::Plain(body) => RunBody::Plain(body),
            TaskWork::Promised(job) => RunBody::Promised(job.begin(now)?),
        };
        Ok(Self::of(body, class))
    }

    fn of(body: RunBody, class: Option<Name>) -> Self {
        Self { body, class, failed: false, lends: Lends::default() }
    }

    pub(crate) fn class(&self) -> Option<Name> {
        self.class
    }

    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Ended> {
        let outer = swap_failure(self.failed);
        let outer_lends = swap_lends(std::mem::take(&mut self.lends));
        let polled = catch_unwind(AssertUnwindSafe(|| match &mut self.body {
            RunBody::Plain(body) => body.as_mut().poll(context).map(|()| Fate::Ran),
            RunBody::Promised(body) => body.as_mut().poll(context),
        }));
        self.lends = swap_lends(outer_lends);
        self.failed = swap_failure(outer);
        match polled {
            Ok(Poll::Ready(Fate::Ran)) if self.failed => Poll::Ready(Ok(Fate::Failed)),
            Ok(polled) => polled.map(Ok),
            Err(payload) => Poll::Ready(Err(message_of(payload))),
        }
    }

    /// It has ended. What it lent and may not have back yet; nobody else gets that.
    #[must_use = "until it is back, others must not have the place where this ran"]
    pub(crate) fn close(&mut self) -> Lends {
        let lends = std::mem::take(&mut self.lends);
        lends.close();
        lends
    }

    /// Drops what is left of it. Its drop is the user's code: it may panic, and say that it failed.
    pub(crate) fn discard(self) {
        let outer = swap_failure(false);
        drop_quietly(self);
        swap_failure(outer);
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("class", &self.class).finish_non_exhaustive()
    }
}

/// A future that runs beside the workers, and is counted all the same.
pub(crate) struct Aside {
    run: Option<Run>,
    home: Arc<dyn Home>,
    /// By which the pool knows that it is not idle.
    #[expect(dead_code, reason = "it is there to be dropped")]
    beside: Box<dyn Send + Sync>,
    /// Whose place it has, if it runs in that of another.
    place: Option<LentPlace>,
    /// What it had lent when it ended.
    lends: Lends,
}

impl Aside {
    /// Begins what waited. `None`: there was nothing left to run, and it has been counted.
    pub(crate) fn begin(home: Arc<dyn Home>, work: TaskWork) -> Option<Self> {
        let begun = Run::begin(work, home.now());
        Self::begun(home, begun)
    }

    fn begun(home: Arc<dyn Home>, begun: Result<Run, Option<Fate>>) -> Option<Self> {
        match begun {
            Ok(run) => {
                let beside = Arc::clone(&home).beside();
                Some(Self { run: Some(run), home, beside, place: None, lends: Lends::default() })
            }
            Err(fate) => {
                if let Some(fate) = fate {
                    home.ended(fate);
                }
                None
            }
        }
    }

    /// Polls it where this thread works already.
    fn poll_here(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(run) = &mut self.run else { return Poll::Ready(()) };
        let polled = run.poll(context);
        polled.map(|ended| self.end(ended))
    }

    fn end(&mut self, ended: Ended) {
        let Some(mut run) = self.run.take() else { return };
        let class = run.class();
        self.lends = run.close();
        run.discard();
        let fate = ended.unwrap_or_else(|message| {
            self.home.panicked(class, &message);
            Fate::Panicked
        });
        self.home.ended(fate);
    }

    /// It has ended: somebody else gets its place, as soon as nobody has what it lent.
    fn pass_on(&mut self) {
        if let Some(place) = self.place.take() {
            std::mem::take(&mut self.lends).pass_on_after(place);
        }
    }
}

impl Future for Aside {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let pool = self.home.pool();
        // A task of the pool like any other: what it waits for is helped along as well.
        let before = enter_workplace(Some(Arc::new(PlaceBeside::of(pool))));
        let polled = self.poll_here(context);
        enter_workplace(before);
        if polled.is_pending() {
            return Poll::Pending;
        }
        // Not where it is dropped: then its runtime goes, and nobody runs there any more.
        self.pass_on();
        // Where it had no place, whoever runs it stands for one.
        self.lends.poll_back(context)
    }
}

/// A future that runs inside of an await of its submitter, and is dropped with that.
///
/// Polled where its submitter is: what it holds up is held up there, and what blocks it blocks a
/// worker, if its submitter is the task of one.
pub(crate) struct Inside {
    aside: Aside,
    depth: u32,
}

impl Inside {
    /// In the place that its submitter lends, if that is one of the pool.
    pub(crate) fn new(mut aside: Aside, mut turn: Turn) -> Self {
        aside.place = turn.take_place();
        Self { aside, depth: depth() + 1 }
    }
}

impl Future for Inside {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // As deep as when it began, whichever thread polls it now.
        let _nested = Nested::at(self.depth);
        let pool = self.aside.home.pool();
        let polled = as_task_of(pool, || self.aside.poll_here(context));
        if polled.is_ready() {
            self.aside.pass_on();
        }
        polled
    }
}

/// Does it as a task of `pool`. Where this thread is at one already, that one's place is lent.
fn as_task_of<R>(pool: usize, act: impl FnOnce() -> R) -> R {
    let around = workplace();
    if around.as_ref().is_some_and(|place| place.pool() == pool) {
        return act();
    }
    let before = enter_workplace(Some(Arc::new(PlaceBeside::inside_of(pool, around))));
    let result = act();
    enter_workplace(before);
    result
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.aside.end(Ok(Fate::Stopped));
        self.aside.pass_on();
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        self.end(Ok(Fate::Stopped));
    }
}

/// Lets a task that waits run beside the workers, in the place of one that awaits it.
///
/// Not polled by who waits: that one may stop doing so and wait for something else, which this task
/// is to bring about.
fn run_beside<F, T>(promise: &Arc<Promise<F, T>>) -> bool
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    promise.is_waiting() && lend_to(Arc::clone(promise) as _)
}

impl<F: Future<Output = T> + Send + 'static, T: Send + 'static> Guest for Promise<F, T> {
    fn begin_in(self: Arc<Self>, place: LentPlace) -> Result<(), LentPlace> {
        let Ok(runtime) = Handle::try_current() else { return Err(place) };
        let home = Arc::clone(self.home());
        let class = self.class();
        // Where it has ended meanwhile its shell stays in the line, for whoever takes that out.
        let begun = match self.body(home.now(), Runner::WaitsForIt) {
            Ok(body) => Ok(Run::of(RunBody::Promised(body), class)),
            Err((_, fate)) => Err(fate),
        };
        let Some(mut aside) = Aside::begun(home, begun) else { return Err(place) };
        aside.place = Some(place);
        drop(runtime.spawn(aside));
        Ok(())
    }
}
