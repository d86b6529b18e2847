//! Taking jobs in: each once, unless its key is taken, and after those it waits for.

use std::collections::BTreeSet;

use headcount_core::Timestamp;
use headcount_core::jobs::port::{NewJob, StoreError, Submitted};
use headcount_core::jobs::{Dependence, JobId, JobRecord, JobSpec, State, Unique, UniqueSpan};

use super::queue::{Queue, Taken, later, whole};

impl Queue {
    pub(super) fn enqueue(
        &mut self,
        jobs: Vec<NewJob>,
        now: Timestamp,
    ) -> Result<Vec<Submitted>, StoreError> {
        let (waiting, max) = (self.waiting(), self.rules.waiting_max);
        let before = (max < waiting + jobs.len() as u64).then(|| self.clone());
        let submitted: Vec<_> = jobs.into_iter().map(|job| self.submit(job, now)).collect();

        let new = submitted.iter().filter(|one| matches!(one, Submitted::New(_))).count() as u64;
        match before {
            Some(before) if 0 < new && max < waiting + new => {
                *self = before;
                Err(StoreError::full(waiting, max))
            }
            _ => Ok(submitted),
        }
    }

    fn submit(&mut self, job: NewJob, now: Timestamp) -> Submitted {
        let known = self.jobs.contains_key(&job.id).then_some(job.id);
        let taken_by = || job.spec.unique.as_ref().and_then(|unique| self.taken_by(unique, now));
        if let Some(first) = known.or_else(taken_by) {
            self.totals.existing += 1;
            return Submitted::Existing(first);
        }
        if let Some(Unique { key, span }) = &job.spec.unique {
            self.uniques.insert(key.clone(), Taken { by: job.id, at: now, span: *span });
        }
        self.totals.submitted += 1;
        self.record(job.id, job.spec, now);
        Submitted::New(job.id)
    }

    /// Who stands in the way of a submit with this key.
    fn taken_by(&self, unique: &Unique, now: Timestamp) -> Option<JobId> {
        let taken = self.uniques.get(&unique.key)?;
        let stands = match (taken.span, unique.span) {
            (UniqueSpan::For(span), _) => now < later(taken.at, span),
            (UniqueSpan::Above(last), UniqueSpan::Above(number)) => number <= last,
            // Whoever took it until it ends frees it then.
            (UniqueSpan::UntilEnded | UniqueSpan::Above(_), _) => true,
        };
        stands.then_some(taken.by)
    }

    fn record(&mut self, id: JobId, spec: JobSpec, now: Timestamp) {
        let orphaned = self.ended_badly(&spec);
        let waits = self.not_ended(&spec);
        let mut job = JobRecord::new(id, self.name.clone(), spec, now);
        job.due_at = whole(job.due_at);
        job.state = match () {
            () if orphaned.is_some() || !waits.is_empty() => State::Blocked,
            () if now < job.due_at => State::Scheduled,
            () => State::Ready,
        };
        let state = job.state;
        self.jobs.insert(id, job);
        match orphaned {
            Some((other, ended)) => {
                // Nobody can wait for it: the store has only just learned of it.
                self.orphan(id, format!("dependency {other} ended {ended}"), now);
            }
            None if state == State::Blocked => drop(self.waits.insert(id, waits)),
            None if state == State::Ready => self.lines.push_tail(&self.jobs[&id]),
            None => {}
        }
    }

    /// The first of those the job waits for that ended otherwise than it needs.
    fn ended_badly(&self, spec: &JobSpec) -> Option<(JobId, State)> {
        let badly = |state: State| state.is_final() && state != State::Done;
        let others = spec.after.iter().filter_map(|id| self.jobs.get(id));
        let bad = others.map(|other| (other.id, other.state)).find(|(_, state)| badly(*state));
        bad.filter(|_| spec.dependence == Dependence::Success)
    }

    /// Those it must wait for. One that the store does not know counts as ended well.
    fn not_ended(&self, spec: &JobSpec) -> BTreeSet<JobId> {
        let open = |id: &JobId| self.jobs.get(id).is_some_and(|other| !other.state.is_final());
        spec.after.iter().copied().filter(open).collect()
    }
}
