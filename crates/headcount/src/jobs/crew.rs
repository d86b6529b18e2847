//! What the consumer, the pool and the scaler of a worker share.
//!
//! The consumer asks for free slots: places up to the ceiling that no job has. The scaler asks for
//! a snapshot: the pool, with the store's line before it. The pool hires for a job that has waited
//! for so long; what a job has waited in the store counts as well, so the older the oldest job
//! there is, the sooner the pool hires.
//!
//! Workers of several processes stand before one line. Each counts its share of it: all that wait,
//! by those who hold a lease. If each counted all of it, ten would hire ten times what is needed.
//! Where some of them cannot take their share the line grows old, and the others go by its age.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use headcount_core::jobs::{QueueStats, State};
use headcount_core::{Poke, PoolSnapshot, Resizable, Staffing};
use headcount_queue::{Slots, Work};

use super::hands::Hands;
use crate::sync::lock;

/// What the consumer, the pool and the scaler of a worker share.
#[derive(Clone, Debug)]
pub(super) struct Crew(Arc<Shared>);

struct Shared {
    pool: Box<dyn Hands>,
    ceiling: AtomicU32,
    /// Jobs that were handed over and have not ended.
    busy: AtomicUsize,
    line: Mutex<Line>,
    poke_consumer: OnceLock<Poke>,
}

/// The line in the store, as last counted.
#[derive(Default)]
struct Line {
    counted: Option<(Instant, Waiting)>,
    /// How long a job may wait in all, where the policy says so.
    wait_budget: Option<Duration>,
    poke_scaler: Option<Poke>,
}

/// How many jobs wait for us, and how old the oldest of all was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    jobs: u64,
    oldest: Option<Duration>,
}

/// A count that is older than this says nothing any more.
const COUNT_AGE_MAX: Duration = Duration::from_secs(10);

/// The place of a job, given back when dropped.
#[derive(Debug)]
pub(super) struct Slot(Crew);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.0.busy.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Crew {
    pub(super) fn new(pool: Box<dyn Hands>) -> Self {
        let ceiling = AtomicU32::new(pool.snapshot().ceiling);
        let line = Mutex::default();
        let (busy, poke_consumer) = (AtomicUsize::new(0), OnceLock::new());
        Self(Arc::new(Shared { pool, ceiling, busy, line, poke_consumer }))
    }

    /// Whom to tell that there may be free slots.
    pub(super) fn tell(&self, poke: Poke) {
        // Set once, when the worker starts.
        let _ = self.0.poke_consumer.set(poke);
    }

    /// The pool takes nothing more.
    pub(super) fn close(&self) {
        self.0.pool.close();
    }

    /// The store told how many jobs wait.
    pub(super) fn counted(&self, stats: &QueueStats) {
        let jobs = match stats.paused {
            true => 0,
            // A share is rounded up, so that a job alone is everybody's.
            false => stats.jobs[State::Ready].div_ceil(u64::from(stats.holders.max(1))),
        };
        let oldest = stats.oldest_ready_at.filter(|_| 0 < jobs).map(|at| stats.now.since(at));
        let mut line = lock(&self.0.line);
        line.counted = Some((Instant::now(), Waiting { jobs, oldest }));
        if let Some(wait_budget) = line.wait_budget {
            self.0.pool.set_wait_budget(wait_budget.saturating_sub(oldest.unwrap_or_default()));
        }
        let is_full = self.free() == 0 && 0 < jobs;
        let poke = line.poke_scaler.take_if(|_| is_full);
        drop(line);
        if let Some(poke) = poke {
            poke();
        }
    }
}

impl Slots for Crew {
    fn free(&self) -> usize {
        let ceiling = self.0.ceiling.load(Ordering::Acquire) as usize;
        ceiling.saturating_sub(self.0.busy.load(Ordering::Acquire))
    }

    fn run(&self, work: Work) {
        self.run_all(vec![work]);
    }

    fn run_all(&self, works: Vec<Work>) {
        self.0.busy.fetch_add(works.len(), Ordering::AcqRel);
        let works = works.into_iter().map(|work| (work, Slot(self.clone())));
        self.0.pool.take(works.collect());
    }
}

impl Resizable for Crew {
    fn snapshot(&self) -> PoolSnapshot {
        let mut pool = self.0.pool.snapshot();
        pool.queue_len_max = None;
        let counted = lock(&self.0.line).counted;
        let fresh = counted.filter(|(at, _)| at.elapsed() <= COUNT_AGE_MAX);
        if let Some((at, waiting)) = fresh {
            pool.queued = pool.queued.saturating_add(waiting.jobs);
            let oldest = waiting.oldest.map(|oldest| oldest + at.elapsed());
            pool.oldest_wait = pool.oldest_wait.max(oldest);
        }
        pool
    }

    fn resize(&self, staffing: Staffing) {
        self.0.pool.resize(staffing);
        self.0.ceiling.store(staffing.ceiling, Ordering::Release);
        if let Some(poke) = self.0.poke_consumer.get() {
            poke();
        }
    }

    fn set_wait_budget(&self, wait_budget: Duration) {
        lock(&self.0.line).wait_budget = Some(wait_budget);
        self.0.pool.set_wait_budget(wait_budget);
    }

    fn set_idle_time(&self, idle_time: Duration) {
        self.0.pool.set_idle_time(idle_time);
    }

    fn poke_when_full(&self, poke: Poke) {
        lock(&self.0.line).poke_scaler = Some(Arc::clone(&poke));
        self.0.pool.poke_when_full(poke);
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Crew");
        shown.field("pool", &self.pool).field("busy", &self.busy).finish_non_exhaustive()
    }
}
