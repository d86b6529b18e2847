//! What an operator wants.

use std::sync::Arc;

use headcount_core::jobs::port::{Command, Which};
use headcount_core::jobs::{Event, Rules, State, transition};

use crate::embedded::effect::Effect;

use super::queue::{Queue, Spot};

impl Queue {
    pub(crate) fn steer(&mut self, command: Command, now: u64) -> u64 {
        let concerned = match command {
            Command::Pause => self.pause(true),
            Command::Resume => self.pause(false),
            Command::Rules(rules) => self.live_by(*rules),
            Command::Purge => self.purge(),
            Command::Revive(which) => self.each(which, |queue, slot| queue.revive(slot, now)),
            Command::Cancel(which) => self.each(which, |queue, slot| queue.cancel(slot, now)),
            Command::Delete(which) => self.each(which, |queue, slot| queue.delete(slot, now)),
        };
        self.put_back();
        concerned
    }

    fn pause(&mut self, paused: bool) -> u64 {
        self.numbers.paused = paused;
        // The numbers of a queue are written with whatever else is; this alone must last.
        self.out.lasting = true;
        0
    }

    fn live_by(&mut self, rules: Rules) -> u64 {
        let max = |rules: &Rules| rules.key_running_max.unwrap_or(u32::MAX);
        self.key_limit_raised |= max(&self.rules) < max(&rules);
        let json: Arc<[u8]> =
            serde_json::to_vec(&rules).expect("rules are plain data, and memory takes them").into();
        self.put(Effect::Rules { queue: self.number, json });
        self.rules = rules;
        0
    }

    /// Nobody is told: whoever waits for one of them goes as well.
    fn purge(&mut self) -> u64 {
        let slots: Vec<u32> = (0..self.jobs.end())
            .filter(|slot| {
                let waits = |state: State| !state.is_final() && state != State::Running;
                self.jobs.get(*slot).is_some_and(|job| waits(job.row.state))
            })
            .collect();
        for slot in &slots {
            self.leave_index(*slot);
            self.forget(*slot);
        }
        slots.len() as u64
    }

    /// Does it to each of them, and counts those that it concerned.
    fn each(&mut self, which: Which, does: impl Fn(&mut Self, u32) -> bool) -> u64 {
        let (ids, max) = match which {
            Which::Ids(ids) => (ids, usize::MAX),
            Which::In(state) => {
                // Of those that run some may have been told already, so all are looked at.
                let all = state == State::Running;
                let limit = if all { usize::MAX } else { Which::AT_ONCE_MAX };
                (self.listed(state, None, limit), Which::AT_ONCE_MAX)
            }
        };
        let concerned = ids.into_iter().filter(|id| {
            let slot = self.slots.get(id).copied();
            slot.is_some_and(|slot| does(self, slot))
        });
        concerned.take(max).count() as u64
    }

    fn revive(&mut self, slot: u32, now: u64) -> bool {
        if transition(self.state(slot), Event::Revived).is_err() {
            return false;
        }
        self.leave_index(slot);
        let row = &mut self.jobs[slot].row;
        (row.attempts, row.crashes) = (0, 0);
        row.due_at = now;
        row.ended_at = None;
        self.step(slot, Event::Revived);
        self.enter_index(slot);
        self.put_row(slot);
        true
    }

    fn cancel(&mut self, slot: u32, now: u64) -> bool {
        if self.state(slot) == State::Running {
            let told = std::mem::replace(&mut self.jobs[slot].row.cancelling, true);
            if !told {
                self.put_row(slot);
            }
            return !told;
        }
        if transition(self.state(slot), Event::Cancelled).is_err() {
            return false;
        }
        self.stop_waiting(slot);
        self.end(slot, Event::Cancelled, now);
        self.put_row(slot);
        true
    }

    fn delete(&mut self, slot: u32, now: u64) -> bool {
        let (id, state) = (self.jobs[slot].id, self.state(slot));
        if state == State::Running {
            return false;
        }
        self.stop_waiting(slot);
        self.uniques.free_of(slot);
        self.tell(id, state == State::Done, format!("dependency {id} was deleted"), now);
        self.forget(slot);
        true
    }

    /// Takes a job out of whatever it stands in.
    fn stop_waiting(&mut self, slot: u32) {
        let (state, spot, key) = (self.state(slot), self.jobs[slot].spot, self.jobs[slot].key);
        self.leave_index(slot);
        // Perhaps it was the one that had been let go on for its key.
        if state == State::Ready && !matches!(spot, Spot::Aside(_)) {
            self.free_key(key);
        }
    }
}
