//! Workers that are tokio tasks, and futures handed to them.
//!
//! A worker takes a future and polls it to its end, then the next. So as many futures are under way
//! as there are workers, however many wait; which threads poll them is the runtime's business.

use std::future::{Future, poll_fn};
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use headcount_core::roster::WorkerId;
use headcount_core::{Name, Timestamp};
use tokio::runtime::{Handle, RuntimeFlavor};

use super::builder::{BuildFault, Builder, Workers};
use super::drained::Unrun;
use super::escorting::Escorting;
use super::owner::Pool;
use super::submit::{Bond, Runs, Spawns};
use super::task_shift::Presence;
use crate::engine::{Engine, Fate, Kind};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, lock};
use crate::task::{Aside, Inside, Promise, Refusal, Run, TaskHandle, TaskWork, Turn};

/// A pool of async tasks, for work that waits for others most of the time.
pub type TaskPool = Pool<Tasks>;

/// The kind of pool whose workers are tokio tasks.
///
/// As many futures are under way as there are workers. A task of the pool that hands it another and
/// finds the line full lends it its own place, if it awaits
/// ([`spawn_async`](crate::PoolHandle::spawn_async)), and gets it back if it does not
/// ([`spawn`](crate::PoolHandle::spawn)): so a task that hands over a thousand does not let more
/// run than the ceiling allows.
///
/// So does a task that awaits the [handle](TaskHandle) of another, and whatever becomes of the one
/// that awaited, its worker takes no other task before the place is back. Two exceptions are left.
/// A task that awaits another for a moment, under a timeout, and then goes on, does so beside that
/// one, until one of both has ended: either might wait for the other for ever.
///
/// The other exception has to be asked for. A future that finds the line full and whose
/// submitter is to run it ([`Overflow::CallerRuns`](crate::Overflow::CallerRuns)) is run to its end
/// on the submitter's thread, if that may block. A thread of a runtime may not: there it becomes a
/// tokio task of its own, beside the workers, and nothing bounds how many there are. Who submits
/// much from within a runtime uses `spawn_async`.
///
/// ```
/// use headcount_pool::{TaskPool, report_failure};
///
/// # tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(async {
/// let pool = TaskPool::builder().workers(1..=8).build()?;
/// let (ask, answer) = tokio::sync::oneshot::channel();
/// let waits = pool.submit(async { answer.await.map_or_else(|_| 0, |number: u32| number + 1) })?;
/// pool.spawn(async {
///     if ask.send(41).is_err() {
///         report_failure();
///     }
/// })?;
/// assert_eq!(waits.await?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).expect("both ran");
/// ```
#[derive(Clone, Debug)]
pub struct Tasks {
    pub(super) runtime: Handle,
    /// Whether the runtime has shut down.
    gone: Arc<AtomicBool>,
}

impl Tasks {
    /// The runtime drops its tasks: it shuts down, and does not come back.
    pub(super) fn shuts_down(&self) {
        self.gone.store(true, Ordering::Release);
    }
}

/// The bounds of a pool of async tasks, unless it is told otherwise.
const WORKERS: Workers = Workers { min: 1, max: 256 };

impl Pool<Tasks> {
    /// A pool of async tasks with 1 to 256 workers, unless told otherwise.
    pub fn builder() -> Builder<Tasks> {
        Builder::of(None, WORKERS)
    }
}

impl Builder<Tasks> {
    /// The runtime that the workers are tasks of. By default the one in which the pool is built.
    ///
    /// If it shuts down before the pool, what runs is dropped, what waits is handed back, and what
    /// comes later is [refused](crate::Refusal::RuntimeGone). A pool without workers learns of it
    /// with the next task, which then does not run; its handle says so.
    pub fn runtime(mut self, runtime: Handle) -> Self {
        self.plan = Some(runtime);
        self
    }
}

impl Unrun<Tasks> {
    /// Runs it here. Its handle hears of the result; a panic is an outcome, and told nowhere else.
    pub async fn run(self) {
        if let Some(work) = self.take()
            && let Ok(mut run) = Run::begin(work, Timestamp::ORIGIN)
        {
            let _ = poll_fn(|context| run.poll(context)).await;
            run.discard();
        }
    }
}

impl<F, T> Runs<F> for Tasks
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    type Output = T;

    fn promised(mut bond: Bond, task: F) -> (TaskWork, TaskHandle<T>) {
        match bond.escorting.take() {
            None => promised(bond, task),
            Some(escorting) => promised(bond, escorting.around_polls(task)),
        }
    }
}

fn promised<T: Send + 'static>(
    bond: Bond,
    task: impl Future<Output = T> + Send + 'static,
) -> (TaskWork, TaskHandle<T>) {
    let promise = Arc::new(Promise::of_future(bond.home, bond.terms, bond.herald, task));
    (TaskWork::Promised(Arc::clone(&promise) as _), TaskHandle::new(promise))
}

impl<F: Future<Output = ()> + Send + 'static> Spawns<F> for Tasks {
    fn plain(task: F) -> TaskWork {
        TaskWork::plain(task)
    }

    fn escorted(escorting: Escorting, task: F) -> TaskWork {
        TaskWork::plain(escorting.around_polls(task))
    }
}

impl Kind for Tasks {
    type Plan = Option<Handle>;
    type Work = TaskWork;
    type Bed = Bed;
    type Hand = ();
    type Turn = Turn;

    const RUNS_AT_ONCE: bool = false;

    fn open(plan: &Option<Handle>) -> Result<Self, BuildFault> {
        let runtime = plan.clone().or_else(|| Handle::try_current().ok());
        runtime.map(|runtime| Self { runtime, gone: Arc::default() }).ok_or(BuildFault::NoRuntime)
    }

    fn refusal(&self) -> Refusal {
        match self.gone.load(Ordering::Acquire) {
            true => Refusal::RuntimeGone,
            false => Refusal::Closed,
        }
    }

    /// Not where the thread that would wait may be the one that the workers need.
    fn may_block(&self) -> bool {
        let inside = Handle::try_current().is_ok();
        !inside && self.runtime.runtime_flavor() != RuntimeFlavor::CurrentThread
    }

    fn rouse(bed: &Bed) {
        let waker = lock(&bed.waker).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn start(engine: &Arc<Engine<Self>>, worker: WorkerId) -> io::Result<()> {
        // A runtime that has shut down drops it here; its presence tells the engine.
        let presence = Presence::new(Arc::clone(engine), worker);
        engine.kind.runtime.spawn(presence.work());
        Ok(())
    }

    /// The runtime buries its tasks.
    fn bury((): ()) {}

    fn run_here(engine: &Arc<Engine<Self>>, work: TaskWork) {
        let Some(aside) = Aside::begin(Arc::clone(engine) as _, work) else { return };
        match Handle::try_current() {
            Ok(_) => drop(engine.kind.runtime.spawn(aside)),
            Err(_) => engine.kind.runtime.block_on(aside),
        }
    }

    fn poll_turn(turn: &mut Turn, context: &Context<'_>) -> Poll<()> {
        turn.poll(context)
    }

    async fn run_inside(engine: &Arc<Engine<Self>>, work: TaskWork, turn: Turn) {
        if let Some(aside) = Aside::begin(Arc::clone(engine) as _, work) {
            Inside::new(aside, turn).await;
        }
    }

    /// The runtime is gone, without which it cannot run.
    fn strand(engine: &Arc<Engine<Self>>, work: TaskWork) {
        engine.abandon(work, Fate::Returned);
    }

    fn give_up(work: &mut TaskWork, fate: Fate) -> bool {
        work.give_up(fate)
    }

    fn hand_back(work: &mut TaskWork) -> bool {
        work.hand_back()
    }

    fn class(work: &TaskWork) -> Option<Name> {
        work.class()
    }

    fn take_shell(work: &TaskWork) -> bool {
        work.take_shell()
    }
}

/// Where a parked worker sleeps.
///
/// Whoever rouses it has left a signal before. It leaves its waker here and then looks for a signal
/// once more; so either it sees the signal or the other one its waker.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Bed {
    waker: Mutex<Option<Waker>>,
}

impl Bed {
    /// From here on whoever sleeps here is woken by this.
    pub(super) fn lie_down(&self, waker: &Waker) {
        let before = lock(&self.waker).replace(waker.clone());
        drop(before);
    }
}
