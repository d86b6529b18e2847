//! What is counted while a run goes on, and how far along it is.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::time::Duration;

/// How a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Jobs begin.
    Running,
    /// No job begins; those that run may finish.
    Draining,
    /// Those that run are told to stop.
    Stopping,
}

/// Counts, which many threads add to.
#[derive(Debug, Default)]
pub(super) struct Tally {
    stage: AtomicU8,
    /// The signal that ended the run, or 0.
    signal: AtomicU8,
    pub(super) read: AtomicU64,
    pub(super) skipped: AtomicU64,
    pub(super) succeeded: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) retried: AtomicU64,
    /// Jobs that were never begun, or not let finish.
    pub(super) left: AtomicU64,
    /// Jobs handed over and not settled.
    outstanding: AtomicU64,
    /// Nanoseconds that jobs took, those that ended.
    service: AtomicU64,
}

impl Tally {
    pub(super) fn stage(&self) -> Stage {
        match self.stage.load(SeqCst) {
            0 => Stage::Running,
            1 => Stage::Draining,
            _ => Stage::Stopping,
        }
    }

    /// Goes on to `stage`; there is no way back.
    pub(super) fn advance(&self, stage: Stage) {
        self.stage.fetch_max(stage as u8, SeqCst);
    }

    pub(super) fn is_running(&self) -> bool {
        self.stage() == Stage::Running
    }

    pub(super) fn set_signal(&self, signal: u8) {
        self.signal.store(signal, SeqCst);
    }

    pub(super) fn signal(&self) -> Option<u8> {
        Some(self.signal.load(SeqCst)).filter(|signal| *signal != 0)
    }

    pub(super) fn handed_over(&self) {
        self.outstanding.fetch_add(1, SeqCst);
    }

    /// One is settled; says whether it was the last one.
    pub(super) fn settled(&self) -> bool {
        self.outstanding.fetch_sub(1, SeqCst) == 1
    }

    pub(super) fn is_all_settled(&self) -> bool {
        self.outstanding.load(SeqCst) == 0
    }

    pub(super) fn served(&self, took: Duration) {
        self.service.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Relaxed);
    }

    pub(super) fn service(&self) -> Duration {
        Duration::from_nanos(self.service.load(Relaxed))
    }

    pub(super) fn ended(&self) -> u64 {
        self.succeeded.load(Relaxed) + self.failed.load(Relaxed)
    }
}
