//! Advice for code that keeps a semaphore of its own.
//!
//! It has a number for an answer and no workers. A scaler moves that number as it would a pool;
//! whoever asks only reads it, so to ask twice is to hear the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use headcount_core::{Counters, PoolSnapshot, Resizable, Staffing};

/// Says how many to run at once, for code that counts its own workers.
///
/// Clones are the same throttle. Switched off, which it is at first, it hands back what it is
/// given.
///
/// ```
/// use headcount::{Preset, Scaler, Throttle};
///
/// // Ten jobs at once, and fewer while the machine is unwell.
/// let throttle = Throttle::new(10);
/// let scaler = Scaler::of(throttle.clone()).policy(Preset::syshealth()).start()?;
/// assert_eq!(throttle.concurrency(10), 10, "it is switched off");
/// throttle.set_enabled(true);
/// assert!(throttle.concurrency(10) <= 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Throttle {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    enabled: AtomicBool,
    ceiling: AtomicU32,
    begun: AtomicU64,
    ended: AtomicU64,
    failed: AtomicU64,
    throttled: AtomicU64,
}

impl Throttle {
    /// A throttle that allows `concurrency` until a scaler says otherwise, switched off.
    #[must_use]
    pub fn new(concurrency: u32) -> Self {
        let shared = Shared {
            enabled: AtomicBool::new(false),
            ceiling: AtomicU32::new(concurrency),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            throttled: AtomicU64::new(0),
        };
        Self { shared: Arc::new(shared) }
    }

    /// How many to run at once, where you would run `fixed`. Reading it changes nothing.
    #[must_use]
    pub fn concurrency(&self, fixed: u32) -> u32 {
        match self.is_enabled() {
            true => self.shared.ceiling.load(Ordering::Relaxed).min(fixed),
            false => fixed,
        }
    }

    /// Whether its advice counts.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.shared.enabled.load(Ordering::Relaxed)
    }

    /// Switches it on or off.
    pub fn set_enabled(&self, enabled: bool) {
        self.shared.enabled.store(enabled, Ordering::Relaxed);
    }

    /// Takes note that so many jobs were left for later because of its advice.
    pub fn count_throttled(&self, jobs: u64) {
        self.shared.throttled.fetch_add(jobs, Ordering::Relaxed);
    }

    /// How many jobs were left for later.
    #[must_use]
    pub fn throttled(&self) -> u64 {
        self.shared.throttled.load(Ordering::Relaxed)
    }

    /// Takes note that a job runs, for policies that look at more than the machine. It has ended
    /// when what this returns is dropped.
    pub fn begin(&self) -> Job {
        self.shared.begun.fetch_add(1, Ordering::Relaxed);
        Job { shared: Arc::clone(&self.shared) }
    }
}

/// A job that runs under a [`Throttle`].
///
/// ```
/// use headcount::{Resizable, Throttle};
///
/// let throttle = Throttle::new(4);
/// let job = throttle.begin();
/// assert_eq!(throttle.snapshot().busy, 1);
/// job.failed();
/// assert_eq!(throttle.snapshot().counters.failed, 1);
/// ```
#[derive(Debug)]
#[must_use = "the job ends when this is dropped"]
pub struct Job {
    shared: Arc<Shared>,
}

impl Job {
    /// It ends, in an error.
    pub fn failed(self) {
        self.shared.failed.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.shared.ended.fetch_add(1, Ordering::Relaxed);
    }
}

impl Resizable for Throttle {
    fn snapshot(&self) -> PoolSnapshot {
        let shared = &self.shared;
        let ended = shared.ended.load(Ordering::Acquire);
        let begun = shared.begun.load(Ordering::Acquire).max(ended);
        let failed = shared.failed.load(Ordering::Relaxed).min(ended);
        let ceiling = shared.ceiling.load(Ordering::Relaxed);
        let busy = u32::try_from(begun - ended).unwrap_or(u32::MAX);
        let (submitted, started, completed) = (begun, begun, ended);
        let counters = Counters { submitted, started, completed, failed, ..Counters::default() };
        PoolSnapshot { counters, ..PoolSnapshot::at_work(Staffing::exactly(ceiling), busy) }
    }

    fn resize(&self, staffing: Staffing) {
        self.shared.ceiling.store(staffing.ceiling, Ordering::Relaxed);
    }
}
