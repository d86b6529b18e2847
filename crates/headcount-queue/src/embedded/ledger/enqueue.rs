//! Taking jobs in: each once, unless its key is taken, and after those it waits for.

use std::collections::{BTreeMap, BTreeSet};

use headcount_core::Timestamp;
use headcount_core::jobs::port::{NewJob, StoreError, Submitted};
use headcount_core::jobs::{Dependence, JobId, JobSpec, Key, State};

use crate::embedded::effect::{ClaimSpan, Effect};
use crate::embedded::row::Row;
use crate::encoding::encode;

use super::queue::{Blocked, Queue};
use super::uniques::{span_of, stands};

impl Queue {
    pub(crate) fn enqueue(
        &mut self,
        jobs: &[NewJob],
        now: u64,
    ) -> Result<Vec<Submitted>, StoreError> {
        let (waiting, max) = (self.waiting(), self.rules.waiting_max);
        if max < waiting.saturating_add(jobs.len() as u64) {
            let new = self.count_new(jobs, now);
            if 0 < new && max < waiting + new {
                return Err(StoreError::full(waiting, max));
            }
        }
        Ok(jobs.iter().map(|job| self.submit(job, now)).collect())
    }

    /// How many of the jobs would be new.
    fn count_new(&self, jobs: &[NewJob], now: u64) -> u64 {
        let mut ids: BTreeSet<JobId> = BTreeSet::new();
        let mut claims: BTreeMap<&Key, ClaimSpan> = BTreeMap::new();
        for NewJob { id, spec } in jobs {
            if self.slots.contains_key(id) || ids.contains(id) {
                continue;
            }
            if let Some(unique) = &spec.unique {
                let here = claims.get(&unique.key);
                let taken = match here {
                    Some(claim) => stands(*claim, unique.span, now),
                    None => self.uniques.taken_by(unique, now).is_some(),
                };
                if taken {
                    continue;
                }
                let span = span_of(unique.span, now);
                // What is dead at once has already let go of its key.
                if span != ClaimSpan::Ended || self.ended_badly(spec).is_none() {
                    claims.insert(&unique.key, span);
                }
            }
            ids.insert(*id);
        }
        ids.len() as u64
    }

    fn submit(&mut self, job: &NewJob, now: u64) -> Submitted {
        let known = self.slots.contains_key(&job.id).then_some(job.id);
        let taken_by = || job.spec.unique.as_ref().and_then(|key| self.uniques.taken_by(key, now));
        if let Some(first) = known.or_else(taken_by) {
            self.numbers.totals.existing += 1;
            return Submitted::Existing(first);
        }
        self.numbers.totals.submitted += 1;
        self.record(job.id, &job.spec, now);
        Submitted::New(job.id)
    }

    fn record(&mut self, id: JobId, spec: &JobSpec, now: u64) {
        let orphaned = self.ended_badly(spec);
        let waits = self.not_ended(spec);
        let due = spec.start.due(Timestamp::from_millis(now)).as_nanos() / 1_000_000;
        let state = match () {
            () if orphaned.is_some() || !waits.is_empty() => State::Blocked,
            () if now < due => State::Scheduled,
            () => State::Ready,
        };
        let slot = self.admit(id, spec, Row::new(state, now, due, self.numbers.epoch));
        self.enter_index(slot);
        let (job, row) = (self.key_of(slot), self.jobs[slot].row);
        self.put(Effect::New { job, row, spec: encode(spec).into() });
        self.claim(slot, spec, now);
        match orphaned {
            Some((other, ended)) => {
                let error = format!("dependency {other} ended {ended}");
                self.orphan(slot, &error, now);
                self.put_row(slot);
            }
            None if state == State::Blocked => self.block(slot, waits, spec.dependence),
            None => {}
        }
    }

    fn claim(&mut self, slot: u32, spec: &JobSpec, now: u64) {
        let Some(unique) = &spec.unique else { return };
        let claim = self.uniques.take(slot, self.jobs[slot].id, unique, now);
        // A claim that ends with its job replaces one that ran out and was not swept yet.
        let claim = Some(claim).filter(|claim| claim.span != ClaimSpan::Ended);
        let key = unique.key.as_str().into();
        self.put(Effect::Unique { queue: self.number, key, claim });
    }

    pub(super) fn block(&mut self, slot: u32, waits: BTreeSet<JobId>, dependence: Dependence) {
        let id = self.jobs[slot].id;
        for other in &waits {
            self.dependents.entry(*other).or_default().push(id);
        }
        self.blocked.insert(slot, Blocked { waits, dependence });
    }

    /// The first of those the job waits for that ended otherwise than it needs.
    fn ended_badly(&self, spec: &JobSpec) -> Option<(JobId, State)> {
        if spec.dependence == Dependence::End {
            return None;
        }
        let badly = |state: State| state.is_final() && state != State::Done;
        let others = spec.after.iter().filter_map(|id| Some((*id, *self.slots.get(id)?)));
        others.map(|(id, slot)| (id, self.state(slot))).find(|(_, state)| badly(*state))
    }

    /// Those it must wait for. One that the store does not know counts as ended well.
    pub(super) fn not_ended(&self, spec: &JobSpec) -> BTreeSet<JobId> {
        let open =
            |id: &JobId| self.slots.get(id).is_some_and(|slot| !self.state(*slot).is_final());
        spec.after.iter().copied().filter(open).collect()
    }
}
