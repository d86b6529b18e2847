//! What became of tasks, counted by many at once.
//!
//! Each worker adds to one of several shards, so that two workers seldom write the same cache line.
//! Everything only ever rises; whoever reads takes differences.

use std::time::Duration;

use crossbeam_utils::CachePadded;

use headcount_core::spans::Spans;

use crate::spans::SharedSpans;
use crate::sync::atomic::{AtomicU64, Ordering};

/// How a task ended.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Fate {
    /// It ran to its end.
    Ran,
    /// It ran and said that it failed.
    Failed,
    /// It ran and panicked.
    Panicked,
    /// It ran until it was cancelled or its time was up.
    Stopped,
    /// It did not run: cancelled before.
    Cancelled,
    /// It did not run: it had waited for too long.
    Expired,
    /// It did not run: it made room for another.
    Dropped,
    /// It did not run: it was handed back.
    Returned,
}

impl Fate {
    /// Whether it ran, to its end or not.
    pub(crate) fn has_begun(self) -> bool {
        matches!(self, Self::Ran | Self::Failed | Self::Panicked | Self::Stopped)
    }
}

const FATES: usize = 8;

#[derive(Debug)]
pub(crate) struct Tally {
    shards: Box<[CachePadded<Shard>]>,
}

#[derive(Debug, Default)]
struct Shard {
    fates: [AtomicU64; FATES],
    wait: SharedSpans,
    service: SharedSpans,
}

/// All that was counted.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    fates: [u64; FATES],
    pub(crate) wait: Spans,
    pub(crate) service: Spans,
}

impl Totals {
    /// How many tasks ended so.
    pub(crate) fn of(&self, fate: Fate) -> u64 {
        self.fates[fate as usize]
    }

    /// How many tasks ended before they had begun.
    pub(crate) fn unrun(&self) -> u64 {
        [Fate::Cancelled, Fate::Expired, Fate::Dropped, Fate::Returned]
            .map(|fate| self.of(fate))
            .iter()
            .sum()
    }

    /// How many tasks ended after they had begun.
    pub(crate) fn completed(&self) -> u64 {
        [Fate::Ran, Fate::Failed, Fate::Panicked, Fate::Stopped].map(|f| self.of(f)).iter().sum()
    }
}

impl Tally {
    /// Shards for as many threads as can run at once.
    pub(crate) fn new() -> Self {
        let cores = if cfg!(loom) { 1 } else { crate::cores().get() * 2 };
        let shards = cores.next_power_of_two().min(16);
        Self { shards: (0..shards).map(|_| CachePadded::default()).collect() }
    }

    /// Where the worker in this slot counts.
    pub(crate) fn desk_of(&self, slot: usize) -> Counter<'_> {
        Counter { shard: &self.shards[slot % self.shards.len()] }
    }

    /// Everything that was counted so far.
    pub(crate) fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for shard in &self.shards {
            for (total, fate) in totals.fates.iter_mut().zip(&shard.fates) {
                *total += fate.load(Ordering::Acquire);
            }
            shard.wait.add_to(&mut totals.wait);
            shard.service.add_to(&mut totals.service);
        }
        totals
    }
}

/// One shard, to count in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counter<'a> {
    shard: &'a Shard,
}

impl Counter<'_> {
    pub(crate) fn ended(self, fate: Fate) {
        self.ended_many(fate, 1);
    }

    pub(crate) fn ended_many(self, fate: Fate, times: u64) {
        self.shard.fates[fate as usize].fetch_add(times, Ordering::Release);
    }

    /// So many tasks waited for so long.
    pub(crate) fn waited(self, span: Duration, times: u32) {
        self.shard.wait.add(span, times);
    }

    /// So many tasks ran for so long.
    pub(crate) fn served(self, span: Duration, times: u32) {
        self.shard.service.add(span, times);
    }
}
