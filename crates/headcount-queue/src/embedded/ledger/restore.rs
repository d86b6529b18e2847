//! A queue as it was written down, and what follows for jobs whose holders are gone.

use headcount_core::jobs::port::Swept;
use headcount_core::jobs::{Holder, JobId, JobSpec, Key, State, UniqueSpan};

use crate::embedded::effect::Claim;
use crate::embedded::row::Row;
use crate::encoding::stand_in;

use super::queue::Queue;

/// What was written down of a blocked job, until all jobs are known.
type Waiting = Vec<(u32, JobSpec)>;

/// A queue that is being read.
#[derive(Debug)]
pub(crate) struct Restoring {
    pub(crate) queue: Queue,
    blocked: Waiting,
    /// Ready jobs and where they stood: they enter their lanes in that order.
    ready: Vec<(i64, u32)>,
    /// Jobs that cannot be read, and why.
    garbled: Vec<(JobId, String)>,
}

impl Restoring {
    pub(crate) const fn new(queue: Queue) -> Self {
        Self { queue, blocked: Vec::new(), ready: Vec::new(), garbled: Vec::new() }
    }

    pub(crate) fn claim(&mut self, key: Key, claim: Claim) {
        self.queue.uniques.restore(key, claim);
    }

    /// A job as it was written down.
    pub(crate) fn job(&mut self, id: JobId, mut row: Row, spec: JobSpec, now: u64) {
        let queue = &mut self.queue;
        queue.numbers.epoch = queue.numbers.epoch.max(row.epoch);
        queue.numbers.totals.repaired += u64::from(repair(&mut row, now));
        let slot = queue.admit(id, &spec, row);
        let ends = spec.unique.as_ref().filter(|key| key.span == UniqueSpan::UntilEnded);
        if let Some(unique) = ends.filter(|_| !row.state.is_final()) {
            queue.uniques.take(slot, id, unique, now);
        }
        match row.state {
            State::Ready => self.ready.push((row.place, slot)),
            State::Blocked => self.blocked.push((slot, spec)),
            _ => queue.enter_index(slot),
        }
    }

    /// A job of which not all can be read. It is set aside as soon as those are known that may
    /// wait for it.
    pub(crate) fn garbled(&mut self, id: JobId, row: Option<Row>, why: String, now: u64) {
        let mut row = row.unwrap_or_else(|| Row::new(State::Ready, now, now, 0));
        if !row.state.is_final() {
            // Nothing is known of what it waits for.
            row.state = State::Scheduled;
            self.garbled.push((id, why));
        }
        self.job(id, row, stand_in(&[]), now);
    }

    /// All jobs are known.
    pub(crate) fn finish(mut self, now: u64) -> Queue {
        self.ready.sort_unstable();
        for (place, slot) in self.ready {
            self.queue.enter_lane_at(slot, place);
        }
        for (slot, spec) in self.blocked {
            let waits = self.queue.not_ended(&spec);
            self.queue.enter_index(slot);
            let free = waits.is_empty();
            self.queue.block(slot, waits, spec.dependence);
            if free {
                self.queue.numbers.totals.repaired += 1;
                self.queue.unblock(slot, now);
            }
        }
        for (id, why) in self.garbled {
            self.queue.set_apart(id, &why, now);
        }
        self.queue.out.ready = 0;
        self.queue
    }
}

/// Puts right what cannot be in a row. Tells whether there was something.
fn repair(row: &mut Row, now: u64) -> bool {
    let before = *row;
    if row.state == State::Running {
        row.state = State::Ready;
    }
    row.ended_at = row.state.is_final().then(|| row.ended_at.unwrap_or(now));
    *row != before
}

impl Queue {
    /// A ready job stands where it stood; of two that claim the same place the second goes behind
    /// all.
    fn enter_lane_at(&mut self, slot: u32, place: i64) {
        let lane = self.jobs[slot].lane;
        if self.lanes.is_taken(lane, place) {
            self.numbers.totals.repaired += 1;
            self.enter_index(slot);
            return;
        }
        self.counts[State::Ready] += 1;
        self.lanes.put(lane, slot, place);
    }

    /// A job was handed out and nobody has said how it ended: it is held again, if that is so.
    pub(crate) fn hold_again(&mut self, id: JobId, holder: Holder, epoch: u64) {
        self.numbers.epoch = self.numbers.epoch.max(epoch);
        let Some(slot) = self.slots.get(&id).copied() else { return };
        let row = self.jobs[slot].row;
        if row.state != State::Ready || epoch <= row.epoch {
            return;
        }
        self.lanes.remove(self.jobs[slot].lane, row.place);
        self.run(slot, holder, epoch);
    }

    /// The lease of a holder that is still there.
    pub(crate) fn restore_lease(&mut self, holder: Holder, expires: u64) {
        self.leases.insert(holder, expires);
    }

    /// All leases: who, until when.
    pub(crate) fn leases(&self) -> impl Iterator<Item = (Holder, u64)> + '_ {
        self.leases.iter().map(|(holder, expires)| (*holder, *expires))
    }

    /// All that is held: job, holder, epoch; in the order in which it was handed out.
    pub(crate) fn all_held(&self) -> Vec<(JobId, Holder, u64)> {
        let mut held: Vec<_> =
            self.holds.iter().map(|(slot, hold)| (hold.nth, *slot, *hold)).collect();
        held.sort_unstable_by_key(|(nth, ..)| *nth);
        held.into_iter()
            .map(|(_, slot, hold)| (self.jobs[slot].id, hold.holder, hold.epoch))
            .collect()
    }

    /// The process that held them is gone: all that is held counts as crashed.
    pub(crate) fn lose_holders(&mut self, now: u64) {
        let mut slots: Vec<(u64, u32)> =
            self.holds.iter().map(|(slot, hold)| (hold.nth, *slot)).collect();
        slots.sort_unstable();
        for (_, slot) in slots {
            self.crash(slot, now, &mut Swept::default());
        }
        self.leases.clear();
        self.put_back();
    }
}
