//! Workers that are OS threads, and closures handed to them.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle, Thread};

use headcount_core::roster::WorkerId;
use headcount_core::{Name, Timestamp};

use super::builder::{BuildFault, Builder};
use super::drained::Unrun;
use super::escorting::Escorting;
use super::exit::{CROWD, go_where_all_end};
use super::sampling::this_thread;
use super::shift::{Found, Shift};
use super::submit::{Bond, Runs, Spawns};
use super::workplace::Place;
use crate::engine::{Badge, Engine, Entry, Fate, Kind, Standing};
use crate::task::{
    Nested, Once, PlaceBeside, Promise, Promised, SmallWork, TaskHandle, Work, depth,
    enter_workplace, hired_for, message_of, report_failure, small, take_failure, workplace,
};
use crate::unhurt::quietly;

/// The kind of pool whose workers are OS threads.
///
/// ```
/// use headcount_pool::{PoolHandle, ThreadPool, Threads};
///
/// fn double_all(pool: &PoolHandle<Threads>, numbers: [u32; 2]) -> [u32; 2] {
///     numbers.map(|n| pool.submit(move || n * 2).expect("open").join().expect("no panic"))
/// }
///
/// let pool = ThreadPool::builder().workers(1).build()?;
/// assert_eq!(double_all(&pool, [3, 4]), [6, 8]);
/// # Ok::<(), headcount_pool::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Threads {
    stack_size: Option<usize>,
}

impl Builder<Threads> {
    /// How many bytes of stack each thread has. The system's default, by default.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.plan.stack_size = Some(bytes);
        self
    }
}

impl Unrun<Threads> {
    /// Runs it here. Its handle hears of the result; a panic is an outcome, and told nowhere else.
    pub fn run(self) {
        if let Some(mut work) = self.take() {
            quietly(|| {
                work.run(Timestamp::ORIGIN);
            });
        }
    }
}

/// Runs what its submitter has to run, because the line is full or there is no worker.
fn run_uncounted(engine: &Arc<Engine<Threads>>, work: &mut dyn Work) {
    let class = work.class();
    let _beside = engine.beside();
    let _nested = Nested::at(depth() + 1);
    let outer_failed = take_failure();
    let ran = catch_unwind(AssertUnwindSafe(|| work.run(engine.now())));
    let fate = match ran {
        Ok(fate) => fate,
        Err(payload) => {
            engine.panicked(class, message_of(payload));
            Some(Fate::Panicked)
        }
    };
    if let Some(fate) = fate {
        let fate = if take_failure() && fate == Fate::Ran { Fate::Failed } else { fate };
        engine.ended_unrun(fate);
    }
    if outer_failed {
        report_failure();
    }
}

impl<F, T> Runs<F> for Threads
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    type Output = T;

    fn promised(mut bond: Bond, task: F) -> (SmallWork, TaskHandle<T>) {
        match bond.escorting.take() {
            None => promised(bond, task),
            Some(escorting) => promised(bond, escorting.around(task)),
        }
    }
}

fn promised<T: Send + 'static>(
    bond: Bond,
    task: impl FnOnce() -> T + Send + 'static,
) -> (SmallWork, TaskHandle<T>) {
    let promise = Arc::new(Promise::of_closure(bond.home, bond.terms, bond.herald, task));
    (small(Promised::new(Arc::clone(&promise))), TaskHandle::new(promise))
}

impl<F: FnOnce() + Send + 'static> Spawns<F> for Threads {
    fn plain(task: F) -> SmallWork {
        small(Once::new(task))
    }

    fn escorted(escorting: Escorting, task: F) -> SmallWork {
        small(Once::new(escorting.around(task)))
    }
}

impl Kind for Threads {
    type Plan = Self;
    type Work = SmallWork;
    type Bed = Bed;
    type Hand = JoinHandle<()>;
    type Turn = ();

    const RUNS_AT_ONCE: bool = true;

    fn open(plan: &Self) -> Result<Self, BuildFault> {
        Ok(*plan)
    }

    fn may_block(&self) -> bool {
        true
    }

    fn rouse(bed: &Bed) {
        if let Some(thread) = bed.thread.get() {
            thread.unpark();
        }
    }

    fn start(engine: &Arc<Engine<Self>>, worker: WorkerId) -> io::Result<JoinHandle<()>> {
        let builder = thread::Builder::new().name(format!("{}-{}", engine.name, worker.slot()));
        let builder = match engine.kind.stack_size {
            Some(bytes) => builder.stack_size(bytes),
            None => builder,
        };
        let engine = Arc::clone(engine);
        builder.spawn(move || Shift::new(&engine, worker, &Arc::new(Badge::new())).work())
    }

    fn bury(hand: JoinHandle<()>) {
        // Tasks and hooks were caught; what a thread's own destructors do is between them and it.
        let _ = hand.join();
    }

    fn run_here(engine: &Arc<Engine<Self>>, mut work: SmallWork) {
        run_uncounted(engine, &mut *work);
    }

    fn poll_turn((): &mut (), _context: &Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    async fn run_inside(engine: &Arc<Engine<Self>>, work: SmallWork, (): ()) {
        Self::run_here(engine, work);
    }

    /// Where its submitter is no worker, as one of its pool: it must not wait for those who do not
    /// come.
    fn strand(engine: &Arc<Engine<Self>>, work: SmallWork) {
        if workplace().is_some() {
            return Self::run_here(engine, work);
        }
        enter_workplace(Some(Arc::new(PlaceBeside::of(engine.number()))));
        Self::run_here(engine, work);
        enter_workplace(None);
    }

    fn give_up(work: &mut SmallWork, fate: Fate) -> bool {
        work.abandon(fate)
    }

    fn hand_back(work: &mut SmallWork) -> bool {
        work.hand_back()
    }

    fn class(work: &SmallWork) -> Option<Name> {
        work.class()
    }

    fn take_shell(work: &SmallWork) -> bool {
        work.take_shell()
    }
}

/// Where a parked thread sleeps.
///
/// The token of `std::thread::park` is shared with what tasks do on the same thread. That does no
/// harm: a worker sleeps only while it has no signal, and looks again whenever it wakes.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Bed {
    thread: OnceLock<Thread>,
}

/// How often a worker that finds the line empty looks again before it parks.
const LOOKS_MAX: u32 = 24;

impl Shift<'_, Threads> {
    fn work(mut self) {
        // Set before it can be parked, so whoever wakes it knows whom to wake.
        self.badge.bed().thread.get_or_init(thread::current);
        self.badge.set_thread(this_thread().unwrap_or(0));
        hired_for(self.engine.number());
        enter_workplace(Some(Place::at(self.engine, self.worker, self.badge)));
        self.engine.hooks.started(self.engine, self.worker.slot());
        let mut standing = self.started();
        loop {
            standing = match standing {
                Standing::Take => self.work_off(),
                Standing::Park => self.sleep(),
                Standing::Leave => break,
            };
        }
        self.engine.hooks.stopped(self.engine, self.worker.slot());
        enter_workplace(None);
        if CROWD <= self.engine.leave(self.worker) {
            go_where_all_end();
        }
    }

    fn sleep(&mut self) -> Standing {
        loop {
            match self.receive() {
                Some(standing) => return standing,
                None => thread::park(),
            }
        }
    }

    /// Runs tasks until there is none or it is asked to report.
    fn work_off(&mut self) -> Standing {
        let mut hand = None;
        loop {
            match self.look(&mut hand) {
                Found::Task => self.serve(&mut hand),
                Found::Nothing if self.linger() => {}
                Found::Nothing | Found::Notice => break,
            }
        }
        self.rest();
        self.report()
    }

    /// Waits a little for the next task, and says whether there may be one.
    fn linger(&mut self) -> bool {
        self.pause();
        self.patience.idle(self.engine.now());
        let floor = &self.engine.floor;
        self.patience.expects_soon() && floor.look_again(LOOKS_MAX, self.engine.cores())
            || self.patience.waits_until().is_some_and(|until| floor.linger(until))
    }

    /// Runs what it has in hand.
    fn serve(&mut self, hand: &mut Option<Entry<SmallWork>>) {
        let Some(entry) = hand else { return };
        let began = self.begin();
        // Only if the clock was read for it: to ask is to go to where its promise lies.
        if entry.stamp.is_known() && entry.work.is_to_run(began) {
            self.waited(entry.stamp, began);
        }
        let class = entry.work.class();
        if class.is_some() {
            self.badge.set_class(class);
        }
        // The task is dropped inside: what it holds is the user's, too.
        let ran = catch_unwind(AssertUnwindSafe(|| {
            let ran = hand.as_mut().and_then(|entry| entry.work.run(began));
            *hand = None;
            ran
        }));
        let mut served = true;
        match ran {
            Ok(Some(Fate::Ran)) if take_failure() => self.ended(Fate::Failed),
            Ok(Some(fate)) if fate.has_begun() => self.ended(fate),
            Ok(ended) => {
                served = false;
                self.ran_nothing(ended);
            }
            Err(payload) => {
                quietly(|| *hand = None);
                take_failure();
                self.ended(Fate::Panicked);
                self.engine.panicked(class, message_of(payload));
            }
        }
        if class.is_some() {
            self.badge.set_class(None);
        }
        if served {
            self.served();
        }
    }
}
