//! Lets short jobs of a backlog end together before the store is asked again.
//!
//! Where jobs take less than a millisecond and more wait, the first that ends is soon followed by
//! the others of its lease. Whoever asks at the first asks for one job, and again for the rest;
//! whoever waits for most of them has their ends and one lease travel together. What ends while
//! that is on its way goes with the next. Nobody waits here when jobs are longer, or when the last
//! lease found fewer jobs than it asked for.

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

/// The times in which ends are gathered, one after the other. When this is dropped there are no
/// more, and all ends are told.
pub(super) struct Gathering<'a> {
    shared: &'a Shared,
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
    /// Nothing is gathered yet.
    pub(super) const fn new(shared: &'a Shared) -> Self {
        Self { shared }
    }

    /// Begins before the jobs of a lease do. Three of four slots are enough, so that a job that
    /// takes longer holds up nobody; where several do, fewer are enough the next time.
    pub(super) fn begin(&mut self, leased: usize) {
        let gather = &self.shared.gather;
        let usual = gather.usual.fetch_max(leased, Ordering::Relaxed).max(leased);
        match gather.is_short.load(Ordering::Relaxed) {
            true => gather.wanted.store(usual - usual / 4, Ordering::SeqCst),
            false => self.end(),
        }
    }

    /// Every end is told at once from now on.
    pub(super) fn end(&mut self) {
        if self.shared.gather.wanted.swap(0, Ordering::SeqCst) != 0 {
            self.shared.ended_bell.notify_one();
        }
    }

    /// Returns when enough have ended, or after a moment. The tick is made once and goes on from
    /// one time to the next, as setting an alarm costs more than a job.
    pub(super) async fn until_enough(&mut self, mut tick: Pin<&mut Sleep>) {
        let begun = Instant::now();
        while !self.shared.gather.is_enough(|| self.shared.free()) {
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
        self.end();
    }
}
