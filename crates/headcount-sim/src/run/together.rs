//! What all pools of a simulation did as if they were one.

use super::books::{Books, Turns};
use super::pool::Pool;

/// What cannot be told from the books of each: the most workers at once, and how often their number
/// turned around.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Together {
    peak: u32,
    reversals: u64,
    turns: Turns,
}

impl Together {
    /// Takes in how many workers there are after an event.
    pub(super) fn count(&mut self, pools: &[Pool]) {
        let live: u32 = pools.iter().map(|pool| pool.roster.counts().live).sum();
        self.peak = self.peak.max(live);
        self.reversals += u64::from(self.turns.turned(live));
    }

    /// The books of all of them, as those of one.
    pub(super) fn books(self, books: impl Iterator<Item = Books>) -> Books {
        let mut all = Books::default();
        for one in books {
            all.waits.extend(one.waits);
            all.late += one.late;
            all.arrived += one.arrived;
            all.done += one.done;
            all.done_in_time += one.done_in_time;
            all.spawns += one.spawns;
            all.worker_seconds += one.worker_seconds;
            all.work_seconds += one.work_seconds;
            all.work_done_seconds += one.work_done_seconds;
            all.events += one.events;
        }
        Books { peak: self.peak, reversals: self.reversals, ..all }
    }
}
