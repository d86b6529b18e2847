//! What a consumer counts.

use std::sync::atomic::{AtomicU64, Ordering};

use super::events::{ConsumerStats, Ended};

/// What a consumer counts.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) running: Gauge,
    pub(super) unsettled: Gauge,
    pub(super) stuck: Gauge,
    pub(super) leased: Gauge,
    pub(super) done: Gauge,
    pub(super) failed: Gauge,
    pub(super) dead: Gauge,
    pub(super) panicked: Gauge,
    pub(super) timed_out: Gauge,
    pub(super) cancelled: Gauge,
    pub(super) released: Gauge,
    pub(super) snoozed: Gauge,
    pub(super) stale: Gauge,
    pub(super) lost_leases: Gauge,
    pub(super) store_errors: Gauge,
    pub(super) lease_calls: Gauge,
    pub(super) settle_calls: Gauge,
    pub(super) scheduled: Gauge,
}

/// A number that many threads change and nobody draws conclusions from.
#[derive(Debug, Default)]
pub(super) struct Gauge(AtomicU64);

impl Gauge {
    pub(super) fn add(&self, count: usize) {
        self.0.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(super) fn subtract(&self, count: usize) {
        self.0.fetch_sub(count as u64, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Tally {
    pub(super) fn ended(&self, how: Ended) {
        let gauge = match how {
            Ended::Done => &self.done,
            Ended::Failed => &self.failed,
            Ended::Dead => {
                self.failed.add(1);
                &self.dead
            }
            Ended::Released => &self.released,
            Ended::Snoozed => &self.snoozed,
            Ended::Cancelled => &self.cancelled,
        };
        gauge.add(1);
    }

    /// All of it, when this many jobs are held.
    pub(super) fn stats(&self, held: usize) -> ConsumerStats {
        let (running, unsettled) = (self.running.get(), self.unsettled.get());
        ConsumerStats {
            running,
            buffered: (held as u64).saturating_sub(running + unsettled),
            unsettled,
            stuck: self.stuck.get(),
            leased_total: self.leased.get(),
            done_total: self.done.get(),
            failed_total: self.failed.get(),
            dead_total: self.dead.get(),
            panicked_total: self.panicked.get(),
            timed_out_total: self.timed_out.get(),
            cancelled_total: self.cancelled.get(),
            released_total: self.released.get(),
            snoozed_total: self.snoozed.get(),
            stale_total: self.stale.get(),
            lost_leases_total: self.lost_leases.get(),
            store_errors_total: self.store_errors.get(),
            lease_calls_total: self.lease_calls.get(),
            settle_calls_total: self.settle_calls.get(),
            scheduled_total: self.scheduled.get(),
        }
    }
}
