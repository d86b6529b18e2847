//! What a limiter counts and measures. It is told the time.

use std::time::Duration;

use headcount_core::{Counters, PoolSnapshot, Timestamp};

use headcount_core::spans::RecentSpans;

/// How the work under a permit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Success,
    Ignored,
    Dropped,
    Panicked,
}

impl Outcome {
    pub(super) fn is_failure(self) -> bool {
        matches!(self, Self::Dropped | Self::Panicked)
    }
}

/// The books of one limiter.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    counters: Counters,
    wait: RecentSpans,
}

impl Ledger {
    /// So many came and found room: they waited for no time.
    pub(super) fn entered(&mut self, count: u64) {
        self.counters.submitted += count;
        self.counters.started += count;
        self.wait.add_many(Duration::ZERO, count);
    }

    /// Somebody came and joined the queue.
    pub(super) fn queued(&mut self) {
        self.counters.submitted += 1;
    }

    /// So many came and were refused.
    pub(super) fn refused(&mut self, count: u64) {
        self.counters.submitted += count;
        self.counters.rejected += count;
    }

    /// So many in the queue were given a place.
    pub(super) fn admitted(&mut self, count: usize) {
        self.counters.started += count as u64;
    }

    /// Somebody collected the permit for which it had waited so long.
    pub(super) fn collected(&mut self, waited: Duration) {
        self.wait.add(waited);
    }

    /// Somebody left the queue.
    pub(super) fn gave_up(&mut self) {
        self.counters.expired += 1;
    }

    /// So many in the queue were turned away.
    pub(super) fn turned_away(&mut self, count: usize) {
        self.counters.rejected += count as u64;
    }

    /// So many places were given back, by those whose work did not fail or who never collected.
    pub(super) fn left(&mut self, count: u64) {
        self.counters.completed += count;
    }

    /// A permit was given back.
    pub(super) fn ended(&mut self, outcome: Outcome) {
        self.counters.completed += 1;
        self.counters.failed += u64::from(outcome.is_failure());
        self.counters.panicked += u64::from(outcome == Outcome::Panicked);
    }

    /// Fills in what is counted and measured here.
    pub(super) fn write(&mut self, now: Timestamp, snapshot: &mut PoolSnapshot) {
        snapshot.counters = self.counters;
        snapshot.wait = self.wait.statistics(now);
    }
}
