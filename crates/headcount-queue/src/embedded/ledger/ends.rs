//! What follows when a job ends: its key is free, and those that wait for it are told.

use std::collections::VecDeque;

use headcount_core::jobs::{Dependence, Event, JobId, JobRecord, State};

use crate::embedded::row::Extra;

use super::queue::Queue;

impl Queue {
    /// A job that stands in no index reaches a final state, and all whom it concerns are told.
    /// Its row is still to be written.
    pub(super) fn end(&mut self, slot: u32, event: Event, now: u64) {
        self.end_untold(slot, event, now);
        let (id, state) = (self.jobs[slot].id, self.state(slot));
        self.tell(id, state == State::Done, format!("dependency {id} ended {state}"), now);
    }

    /// A job cannot be read: it is kept aside, with what was found, so that others go on.
    pub(crate) fn set_apart(&mut self, id: JobId, why: &str, now: u64) {
        let Some(slot) = self.slots.get(&id).copied() else { return };
        self.let_go(slot);
        self.put_extra(slot, Extra::Error, JobRecord::cut_error(why).as_bytes());
        self.end(slot, Event::Garbled, now);
        self.put_row(slot);
        self.put_back();
    }

    /// A job that it needed ended badly, so it is dead. Its row is still to be written.
    pub(super) fn orphan(&mut self, slot: u32, error: &str, now: u64) {
        self.leave_index(slot);
        self.put_extra(slot, Extra::Error, error.as_bytes());
        self.end_untold(slot, Event::Orphaned, now);
    }

    fn end_untold(&mut self, slot: u32, event: Event, now: u64) {
        self.step(slot, event);
        self.uniques.free_of(slot);
        self.jobs[slot].row.ended_at = Some(now);
        self.enter_index(slot);
        let totals = &mut self.numbers.totals;
        match self.jobs[slot].row.state {
            State::Done => totals.done += 1,
            State::Dead => totals.died += 1,
            State::Quarantined => totals.quarantined += 1,
            State::Cancelled => totals.cancelled += 1,
            State::Blocked | State::Scheduled | State::Ready | State::Running | State::Retrying => {
                unreachable!("{event} ends a job")
            }
        }
    }

    /// Tells those that wait for a job how it ended, in the order of their ids. Those that end by
    /// it tell theirs after that.
    pub(super) fn tell(&mut self, id: JobId, well: bool, error: String, now: u64) {
        let mut news = VecDeque::from([(id, well, error)]);
        while let Some((id, well, error)) = news.pop_front() {
            let mut waiters = self.dependents.remove(&id).unwrap_or_default();
            waiters.sort_unstable();
            waiters.dedup();
            for waiter in waiters {
                let Some(slot) = self.waits_for(waiter, id) else { continue };
                if well || self.blocked[&slot].dependence == Dependence::End {
                    self.no_longer_waits_for(slot, id, now);
                } else {
                    self.orphan(slot, &error, now);
                    self.put_row(slot);
                    let state = self.state(slot);
                    news.push_back((waiter, false, format!("dependency {waiter} ended {state}")));
                }
            }
        }
    }

    fn waits_for(&self, waiter: JobId, id: JobId) -> Option<u32> {
        let slot = *self.slots.get(&waiter)?;
        self.blocked.get(&slot)?.waits.contains(&id).then_some(slot)
    }

    fn no_longer_waits_for(&mut self, slot: u32, id: JobId, now: u64) {
        let blocked = self.blocked.get_mut(&slot).expect("whoever is told waits");
        blocked.waits.remove(&id);
        if blocked.waits.is_empty() {
            self.unblock(slot, now);
        }
    }

    /// A blocked job that waits for nobody any more.
    pub(super) fn unblock(&mut self, slot: u32, now: u64) {
        self.leave_index(slot);
        if now < self.jobs[slot].row.due_at {
            self.step(slot, Event::UnblockedEarly);
        } else {
            self.step(slot, Event::Unblocked);
            self.jobs[slot].row.due_at = now;
        }
        self.enter_index(slot);
        self.put_row(slot);
    }
}
