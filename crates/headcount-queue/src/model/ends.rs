//! What follows when a job ends: its key is free, and those that wait for it are told.

use std::collections::VecDeque;

use headcount_core::Timestamp;
use headcount_core::jobs::{Dependence, Event, JobId, State, UniqueSpan};

use super::queue::Queue;

impl Queue {
    /// The job reaches a final state by this event, and all whom it concerns are told.
    pub(super) fn end(&mut self, id: JobId, event: Event, now: Timestamp) {
        let state = self.end_untold(id, event, now);
        self.tell(id, state == State::Done, format!("dependency {id} ended {state}"), now);
    }

    /// A job that it needed ended badly, so it is dead.
    pub(super) fn orphan(&mut self, id: JobId, error: String, now: Timestamp) -> State {
        self.waits.remove(&id);
        self.job_mut(id).error = Some(error);
        self.end_untold(id, Event::Orphaned, now)
    }

    fn end_untold(&mut self, id: JobId, event: Event, now: Timestamp) -> State {
        self.step(id, event);
        self.free_unique_of(id);
        let job = self.job_mut(id);
        job.ended_at = Some(now);
        let state = job.state;
        match state {
            State::Done => self.totals.done += 1,
            State::Dead => self.totals.died += 1,
            State::Quarantined => self.totals.quarantined += 1,
            State::Cancelled => self.totals.cancelled += 1,
            State::Blocked | State::Scheduled | State::Ready | State::Running | State::Retrying => {
                unreachable!("{event} ends a job")
            }
        }
        state
    }

    /// Frees the job's unique key, if it holds it until it ends.
    pub(super) fn free_unique_of(&mut self, id: JobId) {
        self.uniques.retain(|_, taken| taken.by != id || taken.span != UniqueSpan::UntilEnded);
    }

    /// Tells those that wait for a job how it ended, in the order of their ids. Those that end by
    /// it tell theirs after that.
    pub(super) fn tell(&mut self, id: JobId, well: bool, error: String, now: Timestamp) {
        let mut news = VecDeque::from([(id, well, error)]);
        while let Some((id, well, error)) = news.pop_front() {
            let waiters = self.waits.iter().filter(|(_, waits)| waits.contains(&id));
            let waiters: Vec<JobId> = waiters.map(|(waiter, _)| *waiter).collect();
            for waiter in waiters {
                if well || self.job(waiter).spec.dependence == Dependence::End {
                    self.no_longer_waits_for(waiter, id, now);
                } else {
                    let state = self.orphan(waiter, error.clone(), now);
                    news.push_back((waiter, false, format!("dependency {waiter} ended {state}")));
                }
            }
        }
    }

    fn no_longer_waits_for(&mut self, waiter: JobId, id: JobId, now: Timestamp) {
        let waits = self.waits.get_mut(&waiter).expect("whoever is told waits");
        waits.remove(&id);
        if !waits.is_empty() {
            return;
        }
        self.waits.remove(&waiter);
        if now < self.job(waiter).due_at {
            self.step(waiter, Event::UnblockedEarly);
            return;
        }
        self.step(waiter, Event::Unblocked);
        self.job_mut(waiter).due_at = now;
        self.lines.push_tail(&self.jobs[&waiter]);
    }
}
