//! What anybody does every second or two: sweep.

use headcount_core::jobs::port::Swept;
use headcount_core::jobs::{Event, Holder, State};

use crate::embedded::effect::Effect;
use crate::embedded::row::Extra;

use super::queue::{Queue, Spot, millis};

impl Queue {
    /// In the order of the protocol.
    pub(crate) fn sweep(&mut self, limit: usize, now: u64) -> Swept {
        let mut swept = Swept::default();
        let due = self.move_due(limit, now);
        swept.due = due as u64;
        let lost = self.expire(limit, now, &mut swept);
        self.put_back();
        let forgotten = self.forget_ended(limit, now);
        swept.forgotten = forgotten as u64;
        while let Some(key) = self.uniques.expire(now) {
            self.note(Effect::Unique { queue: self.number, key, claim: None });
        }
        let freed = self.free_keys(limit);
        self.put_back();
        swept.repaired = self.repair(limit, now);
        swept.more = [due, lost, forgotten, freed].contains(&limit);
        swept
    }

    /// Leases that ran out, the earliest first. Answers how many jobs were looked at.
    fn expire(&mut self, limit: usize, now: u64, swept: &mut Swept) -> usize {
        let leases = self.leases.iter().map(|(holder, expiry)| (*expiry, *holder));
        let mut leases: Vec<(u64, Holder)> = leases.filter(|(expiry, _)| *expiry <= now).collect();
        leases.sort_unstable();

        let mut lost = 0;
        for (_, holder) in leases {
            if lost == limit {
                break;
            }
            let mut held = self.held_by(holder);
            let held_before = held.len();
            held.truncate(limit - lost);
            lost += held.len();
            for slot in &held {
                self.crash(*slot, now, swept);
            }
            if held.len() == held_before {
                self.leases.remove(&holder);
                let expired = u64::from(0 < held_before);
                swept.expired += expired;
                self.numbers.totals.leases_expired += expired;
            }
        }
        lost
    }

    /// A job's holder was lost.
    pub(super) fn crash(&mut self, slot: u32, now: u64, swept: &mut Swept) {
        self.numbers.totals.crashed += 1;
        let cancelling = self.let_go(slot);
        let entry = &mut self.jobs[slot];
        entry.row.crashes += 1;
        let crashes = entry.row.crashes;
        if entry.crashes_max <= crashes {
            let error = format!("its worker was lost {crashes} times");
            self.put_extra(slot, Extra::Error, error.as_bytes());
            swept.quarantined += 1;
            self.end(slot, Event::Poisoned, now);
            self.put_row(slot);
        } else if cancelling {
            self.end(slot, Event::Cancelled, now);
            self.put_row(slot);
        } else {
            swept.recovered += 1;
            self.come_back(slot, Event::Crashed);
        }
    }

    /// Ended jobs that are kept no longer: those that are done, then the others. Answers how many.
    fn forget_ended(&mut self, limit: usize, now: u64) -> usize {
        let (done_max, dead_max) = (self.rules.done_max, self.rules.dead_max);
        let dead_keep = millis(self.rules.dead_keep);
        let mut forgotten = 0;
        while forgotten < limit {
            let beyond = |count: usize, max: u64| max < count as u64;
            let done = self
                .done
                .first()
                .filter(|(until, _)| beyond(self.done.len(), done_max) || *until <= now);
            let dead = || {
                self.dead.first().filter(|(ended, _)| {
                    beyond(self.dead.len(), dead_max) || ended.saturating_add(dead_keep) <= now
                })
            };
            let Some((_, id)) = done.or_else(dead) else { break };
            let slot = self.slots[id];
            self.leave_index(slot);
            self.forget(slot);
            forgotten += 1;
        }
        forgotten
    }

    /// What a raised limit freed. Answers how many.
    fn free_keys(&mut self, limit: usize) -> usize {
        if !std::mem::take(&mut self.key_limit_raised) {
            return 0;
        }
        let max = self.rules.key_running_max.map_or(usize::MAX, |max| max as usize);
        for key in self.keys.with_lines() {
            let room = max.saturating_sub(self.keys.running(key) as usize);
            for _ in 0..room.min(self.keys.line_len(key)) {
                if self.freed.len() == limit {
                    self.key_limit_raised = true;
                    return limit;
                }
                self.free_first_of(key);
            }
        }
        self.freed.len()
    }

    /// Looks at some jobs, each time at others, and puts right what cannot be. Answers how many.
    ///
    /// Only a defect of ours or a damaged file leads here; a job that nobody would ever hand out is
    /// worse than one that is handed out late.
    fn repair(&mut self, limit: usize, now: u64) -> u64 {
        let end = self.jobs.end();
        let mut repaired = 0;
        for _ in 0..limit.min(end as usize) {
            let slot = self.repair_from;
            self.repair_from = if slot + 1 < end { slot + 1 } else { 0 };
            if self.jobs.get(slot).is_some() && self.is_lost(slot) {
                self.find(slot, now);
                repaired += 1;
            }
        }
        self.numbers.totals.repaired += repaired;
        repaired
    }

    /// Whether nothing would ever come to this job.
    fn is_lost(&self, slot: u32) -> bool {
        let entry = &self.jobs[slot];
        match entry.row.state {
            State::Ready => match entry.spot {
                Spot::Lane => !self.lanes.has(entry.lane, entry.row.place, slot),
                Spot::Aside(place) => !self.keys.has(place, slot),
                Spot::Between => true,
            },
            State::Scheduled => !self.timed[0].contains_key(&(entry.row.due_at, entry.id)),
            State::Retrying => !self.timed[1].contains_key(&(entry.row.due_at, entry.id)),
            State::Blocked => self.blocked.get(&slot).is_none_or(|wait| wait.waits.is_empty()),
            State::Running => {
                self.holds.get(&slot).is_none_or(|hold| !self.leases.contains_key(&hold.holder))
            }
            State::Done | State::Dead | State::Quarantined | State::Cancelled => false,
        }
    }

    /// Puts a lost job where it is found.
    fn find(&mut self, slot: u32, now: u64) {
        match self.state(slot) {
            State::Running => {
                self.crash(slot, now, &mut Swept::default());
                self.put_back();
            }
            State::Blocked => self.unblock(slot, now),
            _ => {
                // It may stand where it does not know of.
                let (lane, place) = (self.jobs[slot].lane, self.jobs[slot].row.place);
                if self.lanes.has(lane, place, slot) {
                    self.lanes.remove(lane, place);
                }
                self.leave_index(slot);
                self.enter_index(slot);
                self.put_row(slot);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headcount_core::jobs::port::{LeaseAsk, NewJob};
    use headcount_core::jobs::{JobId, JobSpec};
    use std::time::Duration;

    fn queue_of(jobs: u64) -> Queue {
        let mut queue = Queue::new(0, "default".parse().expect("a fine name"));
        let kind = || "kind".parse().expect("a fine name");
        let job =
            |number| NewJob { id: JobId::new(number, 0), spec: JobSpec::new(kind(), Vec::new()) };
        let jobs: Vec<NewJob> = (0..jobs).map(job).collect();
        queue.enqueue(&jobs, 1).expect("there is room");
        queue
    }

    fn lease(queue: &mut Queue) -> usize {
        let ask = LeaseAsk { holder: Holder::new(1), ttl: Duration::from_secs(8), jobs_max: 10 };
        queue.lease(ask, 2).jobs.len()
    }

    /// Breaks a queue of two jobs, and counts what a sweep puts right and what can be leased then.
    #[track_caller]
    fn check(break_it: impl FnOnce(&mut Queue), repaired: u64, leased: usize) {
        let mut queue = queue_of(2);
        break_it(&mut queue);
        assert_eq!(queue.sweep(1000, 2).repaired, repaired);
        assert_eq!(queue.numbers.totals.repaired, repaired);
        assert_eq!(lease(&mut queue), leased);
        assert_eq!(queue.sweep(1000, 2).repaired, 0, "it was put right for good");
    }

    #[test]
    fn a_job_that_nobody_would_come_to_is_found() {
        check(|_| {}, 0, 2);
        check(|queue| _ = queue.lanes.remove(queue.jobs[0].lane, queue.jobs[0].row.place), 1, 2);
        check(|queue| queue.jobs[1].spot = Spot::Aside(7), 1, 2);
    }

    #[test]
    fn a_job_whose_holder_has_no_lease_is_found() {
        check(
            |queue| {
                lease(queue);
                queue.leases.clear();
            },
            2,
            2,
        );
    }
}
