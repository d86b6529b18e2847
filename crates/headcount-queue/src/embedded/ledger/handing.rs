//! Handing out and taking back: lease, extend, settle.

use std::time::Duration;

use headcount_core::jobs::port::{Ending, ExtendAsk, Extended, LeaseAsk, Settled, Settlement};
use headcount_core::jobs::{Event, Holder, JobId, JobRecord};

use crate::embedded::effect::Effect;
use crate::embedded::row::{Extra, Row};

use super::queue::{Hold, Queue, Spot, millis};

/// The most jobs that a lease makes ready because they are due.
const LEASE_DUE_MAX: usize = 1000;
/// The most jobs that a lease sets aside for their keys before it gives up.
const LEASE_ASIDE_MAX: usize = 1000;

/// What a holder was given: the jobs as they were when their turn came, without their specs.
#[derive(Debug)]
pub(crate) struct Grant {
    pub(crate) epoch: u64,
    pub(crate) jobs: Vec<(JobId, Row)>,
    pub(crate) again_in: Option<Duration>,
}

impl Queue {
    pub(crate) fn lease(&mut self, ask: LeaseAsk, now: u64) -> Grant {
        self.leases.insert(ask.holder, now.saturating_add(millis(ask.ttl)));
        self.numbers.epoch += 1;
        self.move_due(LEASE_DUE_MAX, now);
        let jobs = match self.numbers.paused {
            true => Vec::new(),
            false => self.take(ask.holder, ask.jobs_max.min(self.room(now)), now),
        };
        Grant { epoch: self.numbers.epoch, jobs, again_in: self.again_in(now) }
    }

    /// How many more may start now.
    fn room(&self, now: u64) -> usize {
        let free = self.free_slots();
        match self.rules.rate {
            Some(rate) => free.min(rate.free(self.numbers.theoretical, micros(now)) as usize),
            None => free,
        }
    }

    fn free_slots(&self) -> usize {
        let max = self.rules.running_max.map_or(usize::MAX, |max| max as usize);
        max.saturating_sub(self.held.len())
    }

    /// Takes up to so many jobs out of their lanes, whoever is next first.
    fn take(&mut self, holder: Holder, count: usize, now: u64) -> Vec<(JobId, Row)> {
        let mut jobs = Vec::new();
        let mut aside = 0;
        while jobs.len() < count && aside < LEASE_ASIDE_MAX {
            let Some(slot) = self.lanes.first(&self.rules, self.numbers.taken) else { break };
            match self.jobs[slot].key {
                Some(key) if self.is_key_full(key) => {
                    self.lanes.remove(self.jobs[slot].lane, self.jobs[slot].row.place);
                    self.jobs[slot].spot = Spot::Aside(self.keys.set_aside(key, slot));
                    aside += 1;
                }
                _ => jobs.push(self.hand_out(slot, holder, now)),
            }
        }
        if let Some(rate) = self.rules.rate {
            let started = u32::try_from(jobs.len()).expect("a rate allows no more");
            let numbers = &mut self.numbers;
            numbers.theoretical = rate.taken(numbers.theoretical, micros(now), started);
        }
        jobs
    }

    fn hand_out(&mut self, slot: u32, holder: Holder, now: u64) -> (JobId, Row) {
        self.lanes.take(&self.rules, self.numbers.taken);
        let (job, epoch) = (self.key_of(slot), self.numbers.epoch);
        let row = self.jobs[slot].row;
        self.numbers.taken += 1;
        self.run(slot, holder, epoch);
        self.jobs[slot].row.started_at = Some(now);
        self.note(Effect::Held { job, holder, epoch });
        (job.1, row)
    }

    /// A ready job that stands in no lane any more is held from now on.
    pub(super) fn run(&mut self, slot: u32, holder: Holder, epoch: u64) {
        let state = self.state(slot);
        self.counts[state] -= 1;
        self.step(slot, Event::Leased);
        self.enter_index(slot);
        let nth = self.handed;
        self.handed += 1;
        self.held.insert((holder, nth), slot);
        self.holds.insert(slot, Hold { holder, epoch, nth });
        if let Some(key) = self.jobs[slot].key {
            self.keys.started(key);
        }
    }

    /// How long until there may be more, if nobody does anything. Not at all, when somebody must.
    fn again_in(&self, now: u64) -> Option<Duration> {
        if self.numbers.paused || self.free_slots() == 0 {
            return None;
        }
        let due = self.next_due().map(|due| Duration::from_millis(due.saturating_sub(now)));
        let ready = (!self.lanes.is_empty()).then(|| self.rate_wait(now));
        due.into_iter().chain(ready).min()
    }

    /// How long until the rate allows another, up to a whole millisecond.
    fn rate_wait(&self, now: u64) -> Duration {
        let Some(rate) = self.rules.rate else { return Duration::ZERO };
        let each = rate.micros_each();
        let burst = each.saturating_mul(u64::from(rate.jobs));
        let allowed_at = self.numbers.theoretical.saturating_add(each).saturating_sub(burst);
        Duration::from_millis(allowed_at.saturating_sub(micros(now)).div_ceil(1000))
    }

    /// Whether a lease at this time may find something.
    pub(crate) fn has_work(&self, now: u64) -> bool {
        let due = || self.next_due().is_some_and(|due| due <= now);
        !self.numbers.paused && 0 < self.room(now) && (!self.lanes.is_empty() || due())
    }

    pub(crate) fn extend(&mut self, ask: ExtendAsk, now: u64) -> Extended {
        if !self.leases.contains_key(&ask.holder) {
            return Extended::default();
        }
        let mut stale = Vec::new();
        for note in ask.notes {
            let Some(slot) = self.held_slot(note.id, ask.holder, note.epoch) else {
                self.numbers.totals.stale += 1;
                stale.push(note.id);
                continue;
            };
            let row = &mut self.jobs[slot].row;
            row.progress = note.progress.or(row.progress);
            if note.checkpoint.is_some() {
                self.keep_checkpoint(slot, note.checkpoint);
                self.put_row(slot);
            }
        }
        if ask.ttl.is_zero() {
            self.end_lease(ask.holder, now);
        } else {
            self.leases.insert(ask.holder, now.saturating_add(millis(ask.ttl)));
        }
        let held = self.held_by(ask.holder);
        let cancelling = held.into_iter().filter(|slot| self.jobs[*slot].row.cancelling);
        let mut cancel: Vec<JobId> = cancelling.map(|slot| self.jobs[slot].id).collect();
        cancel.sort_unstable();
        Extended { alive: true, cancel, stale }
    }

    /// The holder says goodbye: what it still holds is given back.
    fn end_lease(&mut self, holder: Holder, now: u64) {
        self.leases.remove(&holder);
        for slot in self.held_by(holder) {
            self.settle_held(slot, Ending::Release { checkpoint: None }, now);
        }
        self.put_back();
    }

    /// What a holder holds, in the order in which it was handed out.
    pub(super) fn held_by(&self, holder: Holder) -> Vec<u32> {
        let range = (holder, 0)..=(holder, u64::MAX);
        self.held.range(range).map(|(_, slot)| *slot).collect()
    }

    /// The job, if it is held under this fence.
    fn held_slot(&self, id: JobId, holder: Holder, epoch: u64) -> Option<u32> {
        let slot = *self.slots.get(&id)?;
        let hold = self.holds.get(&slot)?;
        (hold.holder == holder && hold.epoch == epoch).then_some(slot)
    }

    pub(crate) fn settle(
        &mut self,
        holder: Holder,
        settlements: Vec<Settlement>,
        now: u64,
    ) -> Vec<Settled> {
        let mut settled = Vec::with_capacity(settlements.len());
        for Settlement { id, epoch, ending } in settlements {
            match self.held_slot(id, holder, epoch) {
                Some(slot) => {
                    self.settle_held(slot, ending, now);
                    settled.push(Settled::Taken);
                }
                None => {
                    self.numbers.totals.stale += 1;
                    settled.push(Settled::Stale);
                }
            }
        }
        self.put_back();
        settled
    }

    fn settle_held(&mut self, slot: u32, ending: Ending, now: u64) {
        let cancelling = self.let_go(slot);
        match ending {
            Ending::Retry { .. } | Ending::Release { .. } | Ending::Snooze { .. } if cancelling => {
                self.end(slot, Event::Cancelled, now);
                self.put_row(slot);
            }
            Ending::Done { result } => self.succeed(slot, result.as_deref(), now),
            Ending::Retry { after, error } => {
                self.fail(slot, &error);
                self.numbers.totals.failed += 1;
                self.later(slot, Event::Failed, now.saturating_add(millis(after)));
            }
            Ending::Dead { error } => {
                self.fail(slot, &error);
                self.end(slot, Event::Died, now);
                self.put_row(slot);
            }
            Ending::Release { checkpoint } => {
                self.jobs[slot].row.preemptions += 1;
                self.numbers.totals.preempted += 1;
                self.keep_checkpoint(slot, checkpoint);
                self.come_back(slot, Event::Released);
            }
            Ending::Snooze { after, checkpoint } => {
                self.keep_checkpoint(slot, checkpoint);
                self.later(slot, Event::Snoozed, now.saturating_add(millis(after)));
            }
            Ending::Cancelled => {
                self.end(slot, Event::Cancelled, now);
                self.put_row(slot);
            }
        }
    }

    /// Nobody holds the job any more, and its key is free for another. It stands in no index.
    /// Answers whether somebody wanted it stopped.
    pub(super) fn let_go(&mut self, slot: u32) -> bool {
        let epoch = self.holds.get(&slot).map(|hold| hold.epoch);
        self.leave_index(slot);
        let entry = &mut self.jobs[slot];
        entry.row.epoch = epoch.unwrap_or(entry.row.epoch);
        let cancelling = std::mem::take(&mut entry.row.cancelling);
        let key = entry.key;
        self.free_key(key);
        cancelling
    }

    fn keep_checkpoint(&mut self, slot: u32, checkpoint: Option<Vec<u8>>) {
        if let Some(checkpoint) = checkpoint {
            self.put_extra(slot, Extra::Checkpoint, &checkpoint);
        }
    }

    fn later(&mut self, slot: u32, event: Event, due: u64) {
        self.jobs[slot].row.due_at = due;
        self.step(slot, event);
        self.enter_index(slot);
        self.put_row(slot);
    }

    fn succeed(&mut self, slot: u32, result: Option<&[u8]>, now: u64) {
        self.end(slot, Event::Succeeded, now);
        if self.jobs[slot].keep == 0 {
            self.leave_index(slot);
            self.forget(slot);
            return;
        }
        if let Some(result) = result {
            self.put_extra(slot, Extra::Result, result);
        }
        self.put_row(slot);
    }

    fn fail(&mut self, slot: u32, error: &str) {
        self.jobs[slot].row.attempts += 1;
        self.put_extra(slot, Extra::Error, JobRecord::cut_error(error).as_bytes());
    }
}

const fn micros(now: u64) -> u64 {
    now.saturating_mul(1000)
}
