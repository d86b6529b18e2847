//! How a run knows that all of its tasks have run, without a thread that watches them.
//!
//! Both are leaked, a few dozen bytes for each run: a task then carries a plain reference, and no
//! pool pays for the counting of another reference.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Pool;

/// A run that takes longer than this has lost a task.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// Counts the tasks of one run, and keeps the moment at which the last of them had run.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Tally {
    ran: AtomicUsize,
    total: usize,
    end: Mutex<Option<Instant>>,
    bell: Condvar,
}

impl Tally {
    /// Counts up to `total`.
    pub(super) fn of(total: usize) -> &'static Self {
        Box::leak(Box::new(Self {
            ran: AtomicUsize::new(0),
            total,
            end: Mutex::new(None),
            bell: Condvar::new(),
        }))
    }

    /// One more has run.
    pub(super) fn count(&self) {
        if self.ran.fetch_add(1, Ordering::AcqRel) + 1 == self.total {
            *self.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
            self.bell.notify_all();
        }
    }

    /// When the last one had run.
    pub(super) fn wait(&self) -> Instant {
        self.wait_for(WAIT_MAX).unwrap_or_else(|| {
            let ran = self.ran.load(Ordering::Acquire);
            panic!("only {ran} of {} tasks ran within {WAIT_MAX:?}", self.total)
        })
    }

    /// When the last one had run, if that is within `most` from now.
    pub(super) fn wait_for(&self, most: Duration) -> Option<Instant> {
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.bell.wait_timeout_while(end, most, |end| end.is_none());
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Holds every task that comes to it until it is opened. When all have come, so many workers run
/// at once.
#[derive(Debug)]
pub(super) struct Gate {
    came: &'static Tally,
    left: &'static Tally,
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    /// A gate for so many tasks.
    pub(super) fn of(tasks: usize) -> &'static Self {
        Box::leak(Box::new(Self {
            came: Tally::of(tasks),
            left: Tally::of(tasks),
            open: Mutex::new(false),
            opened: Condvar::new(),
        }))
    }

    /// Comes to the gate, waits for it to open, and leaves.
    pub(super) fn pass(&self) {
        self.came.count();
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.opened.wait_while(open, |open| !*open).unwrap_or_else(PoisonError::into_inner));
        self.left.count();
    }

    /// When all had come, if that is within `most` from now.
    pub(super) fn all_came(&self, most: Duration) -> Option<Instant> {
        self.came.wait_for(most)
    }

    /// Opens, and returns when all have left.
    pub(super) fn open(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_all();
        self.left.wait();
    }
}

/// A pool all of whose workers have done one task each, and idle.
pub(super) fn warm<P: Pool>(workers: usize) -> P {
    let pool = P::start(workers);
    let threads = workers.min(P::THREADS_MAX);
    let gate = Gate::of(threads);
    let kept: Vec<_> = (0..threads).map(|_| pool.spawn(|| gate.pass())).collect();
    gate.all_came(WAIT_MAX).expect("as many tasks run at once as there are workers");
    gate.open();
    drop(kept);
    pool
}
