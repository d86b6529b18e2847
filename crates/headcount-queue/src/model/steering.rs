//! What an operator wants.

use headcount_core::Timestamp;
use headcount_core::jobs::port::{Command, Which};
use headcount_core::jobs::{Event, JobId, Rules, State, transition};

use super::queue::Queue;

impl Queue {
    pub(super) fn steer(&mut self, command: Command, now: Timestamp) -> u64 {
        let concerned = match command {
            Command::Pause => self.pause(true),
            Command::Resume => self.pause(false),
            Command::Rules(rules) => self.live_by(*rules),
            Command::Purge => self.purge(),
            Command::Revive(which) => self.each(which, |queue, id| queue.revive(id, now)),
            Command::Cancel(which) => self.each(which, |queue, id| queue.cancel(id, now)),
            Command::Delete(which) => self.each(which, |queue, id| queue.delete(id, now)),
        };
        self.put_back();
        concerned
    }

    fn pause(&mut self, paused: bool) -> u64 {
        self.paused = paused;
        0
    }

    fn live_by(&mut self, rules: Rules) -> u64 {
        let max = |rules: &Rules| rules.key_running_max.unwrap_or(u32::MAX);
        self.key_limit_raised |= max(&self.rules) < max(&rules);
        self.rules = rules;
        0
    }

    /// Nobody is told: whoever waits for one of them goes as well.
    fn purge(&mut self) -> u64 {
        let waits = |state: State| !state.is_final() && state != State::Running;
        let ids: Vec<JobId> =
            self.jobs.values().filter(|job| waits(job.state)).map(|job| job.id).collect();
        for id in &ids {
            self.free_unique_of(*id);
            self.waits.remove(id);
            if let Some(job) = self.jobs.remove(id) {
                self.lines.remove(&job);
            }
        }
        ids.len() as u64
    }

    /// Does it to each of them, and counts those that it concerned.
    fn each(&mut self, which: Which, does: impl Fn(&mut Self, JobId) -> bool) -> u64 {
        let (ids, max) = match which {
            Which::Ids(ids) => (ids, usize::MAX),
            Which::In(state) => (self.listed(state), Which::AT_ONCE_MAX),
        };
        let concerned = ids.into_iter().filter(|id| does(self, *id));
        concerned.take(max).count() as u64
    }

    fn revive(&mut self, id: JobId, now: Timestamp) -> bool {
        let Some(job) = self.jobs.get_mut(&id) else { return false };
        if transition(job.state, Event::Revived).is_err() {
            return false;
        }
        (job.attempts, job.crashes) = (0, 0);
        job.due_at = now;
        job.ended_at = None;
        self.step(id, Event::Revived);
        self.lines.push_tail(&self.jobs[&id]);
        true
    }

    fn cancel(&mut self, id: JobId, now: Timestamp) -> bool {
        let Some(job) = self.jobs.get_mut(&id) else { return false };
        if job.state == State::Running {
            return !std::mem::replace(&mut job.cancelling, true);
        }
        if transition(job.state, Event::Cancelled).is_err() {
            return false;
        }
        self.stop_waiting(id);
        self.end(id, Event::Cancelled, now);
        true
    }

    fn delete(&mut self, id: JobId, now: Timestamp) -> bool {
        let Some(job) = self.jobs.get(&id) else { return false };
        let state = job.state;
        if state == State::Running {
            return false;
        }
        self.stop_waiting(id);
        self.free_unique_of(id);
        self.tell(id, state == State::Done, format!("dependency {id} was deleted"), now);
        self.jobs.remove(&id);
        true
    }

    /// Takes a job out of whatever it waits in.
    fn stop_waiting(&mut self, id: JobId) {
        self.waits.remove(&id);
        let job = self.job(id).clone();
        if job.state != State::Ready {
            return;
        }
        let was_freed = self.freed.contains(&id);
        self.freed.retain(|freed| *freed != id);
        let was_aside = !was_freed && self.lines.remove(&job);
        // Perhaps it was the one that had been let go on for its key.
        if !was_aside {
            self.free_key_of(&job);
        }
    }
}
