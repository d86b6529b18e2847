//! Lets short jobs of a backlog end together before the store is asked again.
//!
//! Where jobs take less than a millisecond and more wait, the first that ends is soon followed by
//! the others of its lease. Whoever asks at the first asks for one job, and again for the rest;
//! whoever waits for most of them has one lease and one settlement travel together. Nobody waits
//! here when jobs are longer, or when the last lease found fewer jobs than it asked for.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::select;
use tokio::time::{Instant, Sleep};

use super::shared::Shared;

/// A job that ends within this of its lease is short.
const SHORT: Duration = Duration::from_millis(1);
/// How long others are waited for at most, give or take a tick of the runtime's clock.
const GATHER_MAX: Duration = Duration::from_millis(1);

/// What those who end jobs must know of those who wait for them.
#[derive(Debug, Default)]
pub(super) struct Gather {
    /// How many free slots are waited for; 0 when every end is told at once.
    wanted: AtomicUsize,
    /// The most that one lease took since ends were last waited for in vain.
    usual: AtomicUsize,
    /// Whether the job that ended last was short.
    is_short: AtomicBool,
}

/// A time in which ends are gathered. It is over when this is dropped; then all are told.
pub(super) struct Gathering<'a> {
    shared: &'a Shared,
    wanted: usize,
}

impl Gather {
    /// A job has ended, so long after it was leased.
    pub(super) fn ended(&self, took: Duration) {
        self.is_short.store(took < SHORT, Ordering::Relaxed);
    }

    /// Whether somebody gathers ends, and will see to what is written meanwhile.
    pub(super) fn is_on(&self) -> bool {
        self.wanted.load(Ordering::SeqCst) != 0
    }

    /// Whether so many free slots are worth telling.
    pub(super) fn is_enough(&self, free: impl FnOnce() -> usize) -> bool {
        match self.wanted.load(Ordering::SeqCst) {
            0 => true,
            wanted => wanted <= free(),
        }
    }
}

impl<'a> Gathering<'a> {
    /// Begins before the jobs of a lease do. Three of four slots are enough, so that a job that
    /// takes longer holds up nobody; where several do, fewer are enough the next time.
    pub(super) fn begin(shared: &'a Shared, leased: usize) -> Self {
        let usual = shared.gather.usual.fetch_max(leased, Ordering::Relaxed).max(leased);
        let wanted = match shared.gather.is_short.load(Ordering::Relaxed) {
            true => usual - usual / 4,
            false => 0,
        };
        shared.gather.wanted.store(wanted, Ordering::SeqCst);
        Self { shared, wanted }
    }

    /// Returns when enough have ended, or after a moment. The tick is made once and goes on from
    /// one time to the next, as setting an alarm costs more than a job.
    pub(super) async fn until_enough(self, mut tick: Pin<&mut Sleep>) {
        let begun = Instant::now();
        while self.shared.slots.free() < self.wanted {
            select! {
                () = self.shared.slot_bell.notified() => {}
                () = tick.as_mut() => {
                    let now = Instant::now();
                    tick.as_mut().reset(now + GATHER_MAX);
                    if begun + GATHER_MAX / 2 <= now {
                        self.shared.gather.usual.store(0, Ordering::Relaxed);
                        return;
                    }
                }
                () = self.shared.until_draining() => return,
            }
        }
    }
}

impl Drop for Gathering<'_> {
    fn drop(&mut self) {
        if self.wanted != 0 {
            self.shared.gather.wanted.store(0, Ordering::SeqCst);
            self.shared.ended_bell.notify_one();
        }
    }
}
