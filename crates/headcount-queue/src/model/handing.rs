//! Handing out and taking back: lease, extend, settle.

use std::time::Duration;

use headcount_core::Timestamp;
use headcount_core::jobs::port::{
    Ending, ExtendAsk, Extended, LeaseAsk, Leased, LeasedJob, Settled, Settlement,
};
use headcount_core::jobs::{Event, Holder, JobId, JobRecord};

use super::queue::{Queue, later};

/// The most jobs that a lease makes ready because they are due.
const LEASE_DUE_MAX: usize = 1000;
/// The most jobs that a lease sets aside for their keys before it gives up.
const LEASE_ASIDE_MAX: usize = 1000;

impl Queue {
    pub(super) fn lease(&mut self, ask: LeaseAsk, now: Timestamp) -> Leased {
        self.leases.insert(ask.holder, later(now, ask.ttl));
        self.epoch += 1;
        self.move_due(LEASE_DUE_MAX, now);
        let ids = match self.paused {
            true => Vec::new(),
            false => self.take(ask.jobs_max.min(self.room(now)), now),
        };
        let epoch = self.epoch;
        let jobs = ids.into_iter().map(|id| self.hand_out(id, (ask.holder, epoch), now)).collect();
        Leased { epoch, jobs, again_in: self.again_in(now) }
    }

    /// How many more may start now.
    fn room(&self, now: Timestamp) -> usize {
        let slots = self.slots();
        match self.rules.rate {
            Some(rate) => slots.min(rate.free(self.theoretical, micros(now)) as usize),
            None => slots,
        }
    }

    fn slots(&self) -> usize {
        let max = self.rules.running_max.map_or(usize::MAX, |max| max as usize);
        max.saturating_sub(self.held.len())
    }

    /// Takes up to so many jobs out of their lanes, whoever is next first.
    fn take(&mut self, count: usize, now: Timestamp) -> Vec<JobId> {
        let mut ids = Vec::new();
        let mut aside = 0;
        while ids.len() < count && aside < LEASE_ASIDE_MAX {
            let Some(id) = self.next() else { break };
            let job = self.jobs[&id].clone();
            match &job.spec.key {
                Some(key) if self.is_key_full(key) => {
                    self.lines.set_aside(&job, key);
                    aside += 1;
                }
                _ => {
                    self.lines.take(&job, self.rules.weight(job.spec.tenant.as_ref()));
                    self.step(id, Event::Leased);
                    self.held.push(id);
                    self.taken += 1;
                    ids.push(id);
                }
            }
        }
        if let Some(rate) = self.rules.rate {
            let started = u32::try_from(ids.len()).expect("a rate allows no more");
            self.theoretical = rate.taken(self.theoretical, micros(now), started);
        }
        ids
    }

    fn next(&self) -> Option<JobId> {
        let priority = self.lines.priority(self.rules.order.turn(self.taken))?;
        self.lines.front(priority)
    }

    fn hand_out(&mut self, id: JobId, held: (Holder, u64), now: Timestamp) -> LeasedJob {
        let job = self.job_mut(id);
        job.held = Some(held);
        job.started_at = Some(now);
        LeasedJob {
            id,
            spec: job.spec.clone(),
            submitted_at: job.submitted_at,
            due_at: job.due_at,
            leased_at: now,
            attempts: job.attempts,
            crashes: job.crashes,
            preemptions: job.preemptions,
            checkpoint: job.checkpoint.clone(),
        }
    }

    /// How long until there may be more, if nobody does anything. Not at all, when somebody must.
    fn again_in(&self, now: Timestamp) -> Option<Duration> {
        if self.paused || self.slots() == 0 {
            return None;
        }
        let due = self.timed().first().map(|(due_at, _)| due_at.since(now));
        let ready = self.lines.any().then(|| self.rate_wait(now));
        due.into_iter().chain(ready).min()
    }

    /// How long until the rate allows another, up to a whole millisecond.
    fn rate_wait(&self, now: Timestamp) -> Duration {
        let Some(rate) = self.rules.rate else { return Duration::ZERO };
        let each = rate.micros_each();
        let burst = each.saturating_mul(u64::from(rate.jobs));
        let allowed_at = self.theoretical.saturating_add(each).saturating_sub(burst);
        Duration::from_millis(allowed_at.saturating_sub(micros(now)).div_ceil(1000))
    }

    /// Whether a lease at this time may find something.
    pub(super) fn has_work(&self, now: Timestamp) -> bool {
        let due = || self.timed().first().is_some_and(|(due_at, _)| *due_at <= now);
        !self.paused && 0 < self.room(now) && (self.lines.any() || due())
    }

    pub(super) fn extend(&mut self, ask: ExtendAsk, now: Timestamp) -> Extended {
        if !self.leases.contains_key(&ask.holder) {
            return Extended::default();
        }
        let mut stale = Vec::new();
        for note in ask.notes {
            if !self.is_held(note.id, ask.holder, note.epoch) {
                self.totals.stale += 1;
                stale.push(note.id);
                continue;
            }
            let job = self.job_mut(note.id);
            job.progress = note.progress.or(job.progress);
            job.checkpoint = note.checkpoint.or(job.checkpoint.take());
        }
        if ask.ttl.is_zero() {
            self.end_lease(ask.holder, now);
        } else {
            self.leases.insert(ask.holder, later(now, ask.ttl));
        }
        let mut cancel = self.held_by(ask.holder);
        cancel.retain(|id| self.job(*id).cancelling);
        cancel.sort_unstable();
        Extended { alive: true, cancel, stale }
    }

    /// The holder says goodbye: what it still holds is given back.
    fn end_lease(&mut self, holder: Holder, now: Timestamp) {
        self.leases.remove(&holder);
        for id in self.held_by(holder) {
            self.settle_held(id, Ending::Release { checkpoint: None }, now);
        }
        self.put_back();
    }

    /// What a holder holds, in the order in which it was handed out.
    pub(super) fn held_by(&self, holder: Holder) -> Vec<JobId> {
        let by = |id: &JobId| self.job(*id).held.is_some_and(|(by, _)| by == holder);
        self.held.iter().copied().filter(by).collect()
    }

    fn is_held(&self, id: JobId, holder: Holder, epoch: u64) -> bool {
        self.jobs.get(&id).is_some_and(|job| job.held == Some((holder, epoch)))
    }

    pub(super) fn settle(
        &mut self,
        holder: Holder,
        settlements: Vec<Settlement>,
        now: Timestamp,
    ) -> Vec<Settled> {
        let mut settled = Vec::new();
        for settlement in settlements {
            if self.is_held(settlement.id, holder, settlement.epoch) {
                self.settle_held(settlement.id, settlement.ending, now);
                settled.push(Settled::Taken);
            } else {
                self.totals.stale += 1;
                settled.push(Settled::Stale);
            }
        }
        self.put_back();
        settled
    }

    fn settle_held(&mut self, id: JobId, ending: Ending, now: Timestamp) {
        let comes_back = matches!(
            ending,
            Ending::Retry { .. } | Ending::Release { .. } | Ending::Snooze { .. },
        );
        let cancelling = self.leave(id);
        match ending {
            _ if comes_back && cancelling => self.end(id, Event::Cancelled, now),
            Ending::Done { result } => self.succeed(id, result, now),
            Ending::Retry { after, error } => {
                self.fail(id, &error);
                self.totals.failed += 1;
                self.job_mut(id).due_at = later(now, after);
                self.step(id, Event::Failed);
            }
            Ending::Dead { error } => {
                self.fail(id, &error);
                self.end(id, Event::Died, now);
            }
            Ending::Release { checkpoint } => {
                let job = self.job_mut(id);
                job.preemptions += 1;
                job.checkpoint = checkpoint.or(job.checkpoint.take());
                self.totals.preempted += 1;
                self.come_back(id, Event::Released);
            }
            Ending::Snooze { after, checkpoint } => {
                let job = self.job_mut(id);
                job.due_at = later(now, after);
                job.checkpoint = checkpoint.or(job.checkpoint.take());
                self.step(id, Event::Snoozed);
            }
            Ending::Cancelled => self.end(id, Event::Cancelled, now),
        }
    }

    /// Nobody holds the job any more, and its key is free for another. Answers whether somebody
    /// wanted it stopped.
    pub(super) fn leave(&mut self, id: JobId) -> bool {
        self.held.retain(|held| *held != id);
        let job = self.job_mut(id);
        job.held = None;
        let cancelling = std::mem::take(&mut job.cancelling);
        let job = job.clone();
        self.free_key_of(&job);
        cancelling
    }

    pub(super) fn come_back(&mut self, id: JobId, event: Event) {
        self.step(id, event);
        self.returned.push(id);
    }

    fn succeed(&mut self, id: JobId, result: Option<Vec<u8>>, now: Timestamp) {
        self.job_mut(id).result = result;
        self.end(id, Event::Succeeded, now);
        if self.job(id).spec.keep.as_millis() == 0 {
            self.jobs.remove(&id);
        }
    }

    fn fail(&mut self, id: JobId, error: &str) {
        let job = self.job_mut(id);
        job.attempts += 1;
        job.error = Some(JobRecord::cut_error(error).to_owned());
    }
}

fn micros(now: Timestamp) -> u64 {
    now.as_nanos() / 1000
}
