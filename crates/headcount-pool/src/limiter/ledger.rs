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

/// The books of one limiter.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    counters: Counters,
    wait: RecentSpans,
    service: RecentSpans,
}

impl Ledger {
    /// Somebody came and found room.
    pub(super) fn entered(&mut self) {
        self.counters.submitted += 1;
        self.counters.started += 1;
        self.wait.add(Duration::ZERO);
    }

    /// Somebody came and joined the queue.
    pub(super) fn queued(&mut self) {
        self.counters.submitted += 1;
    }

    /// Somebody came and was refused.
    pub(super) fn refused(&mut self) {
        self.counters.submitted += 1;
        self.counters.rejected += 1;
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

    /// A place was given back that nobody had collected.
    pub(super) fn passed_on(&mut self) {
        self.counters.completed += 1;
    }

    /// A permit was given back.
    pub(super) fn ended(&mut self, outcome: Outcome, held: Duration) {
        self.counters.completed += 1;
        self.counters.failed += u64::from(matches!(outcome, Outcome::Dropped | Outcome::Panicked));
        self.counters.panicked += u64::from(outcome == Outcome::Panicked);
        if outcome != Outcome::Ignored {
            self.service.add(held);
        }
    }

    /// Fills in what is counted and measured here.
    pub(super) fn write(&mut self, now: Timestamp, snapshot: &mut PoolSnapshot) {
        snapshot.counters = self.counters;
        snapshot.wait = self.wait.statistics(now);
        snapshot.service = self.service.statistics(now);
        snapshot.service_logs = Some(self.service.log_sums());
    }
}
