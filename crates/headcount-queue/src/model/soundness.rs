//! What holds after every call, whatever the calls were.

use headcount_core::jobs::{JobId, JobRecord, State, UniqueSpan};

use super::queue::Queue;

impl Queue {
    pub(super) fn sound(&self) -> Result<(), String> {
        self.lines_hold_what_is_ready()?;
        self.lines.sound()?;
        for job in self.jobs.values() {
            self.record_makes_sense(job).map_err(|why| format!("{why}: {job:?}"))?;
        }
        if !self.returned.is_empty() || !self.freed.is_empty() {
            return Err("a call left jobs between two places".to_owned());
        }
        self.waits_come_to_an_end()?;
        self.keys_have_owners()
    }

    fn lines_hold_what_is_ready(&self) -> Result<(), String> {
        let sorted = |mut ids: Vec<JobId>| {
            ids.sort_unstable();
            ids
        };
        let lines = [
            (State::Ready, self.lines.all()),
            (State::Running, self.held.clone()),
            (State::Blocked, self.waits.keys().copied().collect()),
        ];
        for (state, line) in lines {
            let jobs: Vec<JobId> = self.in_state(state).map(|job| job.id).collect();
            if sorted(line.clone()) != jobs {
                return Err(format!("{state} are {jobs:?}, but in line stand {line:?}"));
            }
        }
        Ok(())
    }

    fn record_makes_sense(&self, job: &JobRecord) -> Result<(), &'static str> {
        let claims = [
            (job.held.is_some() == (job.state == State::Running), "held, if and only if it runs"),
            (job.ended_at.is_some() == job.state.is_final(), "has an end, if and only if it ended"),
            (!job.cancelling || job.state == State::Running, "only what runs is being cancelled"),
            (
                job.held.is_none_or(|(holder, _)| self.leases.contains_key(&holder)),
                "whoever holds a job has a lease",
            ),
            (job.held.is_none_or(|(_, epoch)| epoch <= self.epoch), "no epoch is ahead"),
            (
                job.crashes < job.spec.crashes_max || job.state.is_final(),
                "what crashed too often is put aside",
            ),
        ];
        match claims.iter().find(|(holds, _)| !holds) {
            Some((_, claim)) => Err(claim),
            None => Ok(()),
        }
    }

    /// What waits for another waits for one that is still to end.
    fn waits_come_to_an_end(&self) -> Result<(), String> {
        let open = |id: &JobId| self.jobs.get(id).is_some_and(|job| !job.state.is_final());
        match self.waits.iter().find(|(_, waits)| waits.is_empty() || !waits.iter().all(open)) {
            Some((id, waits)) => Err(format!("{id} waits for {waits:?}, which cannot end")),
            None => Ok(()),
        }
    }

    fn keys_have_owners(&self) -> Result<(), String> {
        let open = |id: &JobId| self.jobs.get(id).is_some_and(|job| !job.state.is_final());
        let mut held = self.uniques.iter().filter(|(_, by)| by.span == UniqueSpan::UntilEnded);
        match held.find(|(_, taken)| !open(&taken.by)) {
            Some((key, taken)) => Err(format!("{key} is taken by {}, which has ended", taken.by)),
            None => Ok(()),
        }
    }
}
