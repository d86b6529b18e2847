//! How a pool is made.

use std::fmt;
use std::io;
use std::ops::{RangeInclusive, RangeToInclusive};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use headcount_core::Staffing;
use headcount_core::roster::RosterConfig;

use super::handle::PoolHandle;
use super::owner::Pool;
use crate::engine::{Engine, Entry, Kind, Line, Order, Settings, WorkerHooks, keep};
use crate::event::{Event, Events, Listener};
use crate::task::Overflow;

/// How many workers a pool begins with: a number, or the fewest and the most.
///
/// ```
/// use headcount_pool::{ThreadPool, Workers};
///
/// assert_eq!(Workers::from(4), Workers { min: 4, max: 4 });
/// assert_eq!(Workers::from(2..=64), Workers { min: 2, max: 64 });
/// let pool = ThreadPool::builder().workers(..=8).build()?;
/// assert_eq!(pool.snapshot().ceiling, 8);
/// # Ok::<(), headcount_pool::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workers {
    /// The floor.
    pub min: u32,
    /// The ceiling.
    pub max: u32,
}

impl From<u32> for Workers {
    fn from(count: u32) -> Self {
        Self { min: count, max: count }
    }
}

impl From<RangeInclusive<u32>> for Workers {
    fn from(range: RangeInclusive<u32>) -> Self {
        Self { min: *range.start(), max: *range.end() }
    }
}

impl From<RangeToInclusive<u32>> for Workers {
    fn from(range: RangeToInclusive<u32>) -> Self {
        Self { min: 0, max: range.end }
    }
}

/// What happens when a task panics.
///
/// ```
/// use headcount_pool::{PanicPolicy, ThreadPool};
///
/// let pool = ThreadPool::builder().workers(1).panic_policy(PanicPolicy::Catch).build()?;
/// pool.spawn(|| panic!("nobody minds"))?;
/// assert_eq!(pool.submit(|| "the worker goes on")?.join()?, "the worker goes on");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PanicPolicy {
    /// Its outcome and an event say so, and the worker goes on; the default.
    #[default]
    Catch,
    /// An event says so, and the process is aborted.
    Abort,
}

/// The settings of a pool that is about to be made.
///
/// ```
/// use headcount_pool::{Overflow, ThreadPool};
/// use std::time::Duration;
///
/// let pool = ThreadPool::builder()
///     .name("thumbs")
///     .workers(1..=16)
///     .queue_len_max(1_000)
///     .overflow(Overflow::Reject)
///     .wait_budget(Duration::from_millis(20))
///     .idle_time(Duration::from_secs(5))
///     .build()?;
/// let name = pool.submit(|| std::thread::current().name().map(str::to_owned))?.join()?;
/// assert_eq!(name.as_deref(), Some("thumbs-0"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a builder makes nothing until it is told to build"]
pub struct Builder<K: Kind> {
    pub(crate) plan: K::Plan,
    name: String,
    workers: Workers,
    workers_max: u32,
    queue_len_max: u64,
    overflow: Overflow,
    wait_budget: Duration,
    newest_first_after: Option<Duration>,
    idle_time: Duration,
    keep_share: Option<f64>,
    compensate_max: u32,
    written_off_max: u32,
    stuck_after: Option<Duration>,
    on_event: Option<Listener>,
    hooks: WorkerHooks,
    panic_policy: PanicPolicy,
    order: Option<Box<dyn Order<Entry<K::Work>>>>,
}

impl<K: Kind> Builder<K> {
    /// No resize goes beyond this many workers, unless it is told otherwise.
    pub const WORKERS_MAX: u32 = 10_000;
    /// No task is stuck before it has run for so long.
    const STUCK_AFTER_MIN: Duration = Duration::from_millis(1);
    /// How many tasks may wait, unless it is told otherwise.
    pub const QUEUE_LEN_MAX: u64 = 65_536;

    pub(crate) fn of(plan: K::Plan, workers: Workers) -> Self {
        Self {
            plan,
            name: "pool".to_owned(),
            workers,
            workers_max: Self::WORKERS_MAX,
            queue_len_max: Self::QUEUE_LEN_MAX,
            overflow: Overflow::default(),
            wait_budget: Duration::ZERO,
            newest_first_after: None,
            idle_time: Duration::from_secs(1),
            keep_share: None,
            compensate_max: 64,
            written_off_max: 0,
            stuck_after: None,
            on_event: None,
            hooks: WorkerHooks::default(),
            panic_policy: PanicPolicy::default(),
            order: None,
        }
    }

    /// Lets tasks leave the line in another order.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn order(mut self, order: Box<dyn Order<Entry<K::Work>>>) -> Self {
        self.order = Some(order);
        self
    }

    /// What the pool is called; its threads are called after it. "pool" by default.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// How many workers there are, or the fewest and the most. The floor is started at once.
    pub fn workers(mut self, workers: impl Into<Workers>) -> Self {
        self.workers = workers.into();
        self
    }

    /// How many workers there may ever be, whatever a resize asks for. 10,000 by default.
    pub fn workers_max(mut self, workers_max: u32) -> Self {
        self.workers_max = workers_max;
        self
    }

    /// How many tasks may wait. 65,536 by default.
    pub fn queue_len_max(mut self, queue_len_max: u64) -> Self {
        self.queue_len_max = queue_len_max;
        self
    }

    /// What happens to a task that finds the line full. Its submitter waits, by default.
    pub fn overflow(mut self, overflow: Overflow) -> Self {
        self.overflow = overflow;
        self
    }

    /// How long a task may wait before a worker is hired for it. 0 by default: at once.
    ///
    /// Nobody waits at the cost of others. So all that may be hired are as soon as more tasks wait
    /// than that would be, and workers are hired as soon as half of a line is taken that
    /// [turns tasks away](Self::overflow). Where submitters wait for a place, a full line holds
    /// them back and hires nobody.
    pub fn wait_budget(mut self, wait_budget: Duration) -> Self {
        self.wait_budget = wait_budget;
        self
    }

    /// The newest tasks go first while the oldest has waited for longer than this. Never, by
    /// default.
    ///
    /// Where more comes than can be done, first in first out makes every task as late as the
    /// oldest. This way most are served at once, and those that are late anyway when nothing newer
    /// waits; how long they wait then has no bound but the end of the overload. Under an autoscaler
    /// its policy says so, see
    /// [`set_newest_first_after`](PoolHandle::set_newest_first_after).
    pub fn newest_first_after(mut self, newest_first_after: Duration) -> Self {
        self.newest_first_after = Some(newest_first_after);
        self
    }

    /// How long a worker above the floor stays without a task. 1 s by default.
    pub fn idle_time(mut self, idle_time: Duration) -> Self {
        (self.idle_time, self.keep_share) = (idle_time, None);
        self
    }

    /// Lets a worker above the floor stay for as long as starting another one would cost.
    ///
    /// `keep_share` is what a parked worker costs beside one at work. What a start costs is
    /// measured.
    pub fn idle_break_even(mut self, keep_share: f64) -> Self {
        self.keep_share = Some(keep_share);
        self
    }

    /// How many workers that are in a [`blocking`](crate::blocking) section may have others work in
    /// their place. So many workers can exist beyond the ceiling. 64 by default.
    pub fn compensate_max(mut self, compensate_max: u32) -> Self {
        self.compensate_max = compensate_max;
        self
    }

    /// A task that runs for longer than this is told of, as an [`Event::TaskStuck`], and so is a
    /// pool in which nothing has moved for that long, as an [`Event::SuspectedDeadlock`]. Never, by
    /// default; less than a millisecond counts as one.
    pub fn stuck_after(mut self, stuck_after: Duration) -> Self {
        self.stuck_after = Some(stuck_after.max(Self::STUCK_AFTER_MIN));
        self
    }

    /// How many workers with a stuck task are counted out, so that others are hired in their place.
    /// None, by default: they keep their places under the ceiling.
    pub fn replace_stuck_max(mut self, replace_stuck_max: u32) -> Self {
        self.written_off_max = replace_stuck_max;
        self
    }

    /// Is told of every event, on the thread on which it happens, or on one of the pool's own that
    /// has little else to do. It may take its time, but holds up later events, and the places of
    /// workers that leave; so it must not wait for those.
    pub fn on_event(mut self, listener: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.on_event = Some(Arc::new(listener));
        self
    }

    /// What happens when a task panics. It is caught, by default.
    pub fn panic_policy(mut self, panic_policy: PanicPolicy) -> Self {
        self.panic_policy = panic_policy;
        self
    }

    /// Runs on every worker before its first task, with the worker's slot. A panic is ignored.
    pub fn on_worker_start(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.hooks.start = Some(Arc::new(hook));
        self
    }

    /// Runs on every worker after its last task, with the worker's slot. A panic is ignored.
    pub fn on_worker_stop(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.hooks.stop = Some(Arc::new(hook));
        self
    }

    /// Makes the pool and starts its floor of workers.
    ///
    /// # Errors
    ///
    /// When settings contradict each other, all of them told at once, or when the pool's own
    /// thread cannot be started. Workers that cannot be started are no error: the pool tries again,
    /// and says so in an event.
    pub fn build(self) -> Result<Pool<K>, BuildError> {
        let kind = self.check()?;
        let overflow = self.overflow;
        let engine = Arc::new(self.engine(kind));
        let keeper = thread::Builder::new().name(format!("{}-keeper", engine.name)).spawn({
            let engine = Arc::clone(&engine);
            move || keep(&engine)
        });
        let keeper = keeper.map_err(|error| BuildError::of(BuildFault::Keeper(error)))?;
        engine.visit(u32::MAX, |_, _, _| ());
        Ok(Pool::new(PoolHandle::new(engine, overflow), keeper))
    }

    /// An engine that nobody keeps, for a test that is its keeper.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn unkept(self) -> Arc<Engine<K>> {
        let kind = self.check().expect("no fault");
        Arc::new(self.engine(kind))
    }

    fn check(&self) -> Result<K, BuildError> {
        let Workers { min, max } = self.workers;
        let (kind, mut faults) = match K::open(&self.plan) {
            Ok(kind) => (Some(kind), Vec::new()),
            Err(fault) => (None, vec![fault]),
        };
        if max == 0 {
            faults.push(BuildFault::NoWorkers);
        }
        if max < min {
            faults.push(BuildFault::BoundsCrossed { min, max });
        }
        if self.workers_max < max {
            faults.push(BuildFault::BeyondMax { max, workers_max: self.workers_max });
        }
        if self.queue_len_max == 0 {
            faults.push(BuildFault::NoQueue);
        }
        if self.name.contains('\0') {
            faults.push(BuildFault::Name);
        }
        kind.filter(|_| faults.is_empty()).ok_or(BuildError { faults })
    }

    fn engine(self, kind: K) -> Engine<K> {
        let Workers { min, max } = self.workers;
        let roster = RosterConfig {
            wait_budget: self.wait_budget,
            idle_time: self.idle_time,
            written_off_max: self.compensate_max.saturating_add(self.written_off_max),
            queue_len_max: self.overflow.turns_away().then_some(self.queue_len_max),
            ..RosterConfig::new(Staffing::between(min, max))
        };
        let settings = Settings {
            name: self.name,
            roster,
            workers_max: self.workers_max,
            queue_len_max: self.queue_len_max,
            keep_share: self.keep_share,
            compensate_max: self.compensate_max,
            replace_stuck_max: self.written_off_max,
            stuck_after: self.stuck_after,
            hooks: self.hooks,
            events: Events::new(self.on_event),
            panic_policy: self.panic_policy,
        };
        let engine = Engine::new(kind, settings, Line::new(self.queue_len_max, self.order));
        engine.floor.set_newest_first_after(self.newest_first_after);
        engine
    }
}

impl<K: Kind> fmt::Debug for Builder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, workers) = (&self.name, &self.workers);
        let mut builder = f.debug_struct("Builder");
        builder.field("name", name).field("workers", workers).finish_non_exhaustive()
    }
}

/// Everything that is wrong with the settings of a pool.
///
/// ```
/// use headcount_pool::ThreadPool;
///
/// let builder = ThreadPool::builder().workers(5..=3).queue_len_max(0);
/// let error = builder.build().expect_err("two faults");
/// let text = "the most workers (3) are below the fewest (5); \
///             queue_len_max is 0, let at least 1 task wait";
/// assert_eq!(error.to_string(), text);
/// ```
#[derive(Debug)]
pub struct BuildError {
    faults: Vec<BuildFault>,
}

impl BuildError {
    pub(crate) fn of(fault: BuildFault) -> Self {
        Self { faults: vec![fault] }
    }

    /// Each fault.
    #[must_use]
    pub fn faults(&self) -> &[BuildFault] {
        &self.faults
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: Vec<_> = self.faults.iter().map(ToString::to_string).collect();
        f.write_str(&faults.join("; "))
    }
}

impl std::error::Error for BuildError {}

/// Something that is wrong with the settings of a pool.
///
/// ```
/// use headcount_pool::{BuildFault, ThreadPool};
///
/// let error = ThreadPool::builder().workers(0).build().expect_err("nobody would work");
/// assert!(matches!(error.faults(), [BuildFault::NoWorkers]));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildFault {
    /// There may be no worker.
    NoWorkers,
    /// The most are fewer than the fewest.
    BoundsCrossed {
        /// The fewest.
        min: u32,
        /// The most.
        max: u32,
    },
    /// The most at the start are more than there may ever be.
    BeyondMax {
        /// The most at the start.
        max: u32,
        /// The most ever.
        workers_max: u32,
    },
    /// No task may wait.
    NoQueue,
    /// The name cannot be given to a thread.
    Name,
    /// There is no runtime for async tasks.
    NoRuntime,
    /// The pool's own thread could not be started.
    Keeper(io::Error),
}

impl fmt::Display for BuildFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoWorkers => write!(f, "the most workers are 0, allow at least 1"),
            Self::BoundsCrossed { min, max } => {
                write!(f, "the most workers ({max}) are below the fewest ({min})")
            }
            Self::BeyondMax { max, workers_max } => {
                write!(f, "the most workers ({max}) are above workers_max ({workers_max})")
            }
            Self::NoQueue => write!(f, "queue_len_max is 0, let at least 1 task wait"),
            Self::Name => write!(f, "the name holds a zero byte; leave it out"),
            Self::NoRuntime => {
                write!(f, "there is no tokio runtime here; pass one with runtime(handle)")
            }
            Self::Keeper(error) => {
                write!(f, "the pool's own thread could not be started: {error}")
            }
        }
    }
}
