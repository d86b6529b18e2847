//! What anybody does every second or two: sweep.

use headcount_core::Timestamp;
use headcount_core::jobs::port::Swept;
use headcount_core::jobs::{Event, Holder, JobId, JobRecord, State, UniqueSpan};

use super::queue::{Queue, later};

impl Queue {
    /// In the order of the protocol. There is no repair: what cannot be is not in here.
    pub(super) fn sweep(&mut self, limit: usize, now: Timestamp) -> Swept {
        let mut swept = Swept::default();
        let due = self.move_due(limit, now);
        swept.due = due as u64;
        let lost = self.expire(limit, now, &mut swept);
        self.put_back();
        let forgotten = self.forget(limit, now);
        swept.forgotten = forgotten as u64;
        self.uniques.retain(|_, taken| match taken.span {
            UniqueSpan::For(span) => now < later(taken.at, span),
            UniqueSpan::UntilEnded | UniqueSpan::Above(_) => true,
        });
        let freed = self.free_keys(limit);
        self.put_back();
        swept.more = [due, lost, forgotten, freed].contains(&limit);
        swept
    }

    /// Leases that ran out, the earliest first. Answers how many jobs were looked at.
    fn expire(&mut self, limit: usize, now: Timestamp, swept: &mut Swept) -> usize {
        let mut leases: Vec<(Timestamp, Holder)> =
            self.leases.iter().map(|(holder, expiry)| (*expiry, *holder)).collect();
        leases.retain(|(expiry, _)| *expiry <= now);
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
            for id in &held {
                self.crash(*id, now, swept);
            }
            if held.len() == held_before {
                self.leases.remove(&holder);
                let expired = u64::from(0 < held_before);
                swept.expired += expired;
                self.totals.leases_expired += expired;
            }
        }
        lost
    }

    fn crash(&mut self, id: JobId, now: Timestamp, swept: &mut Swept) {
        self.totals.crashed += 1;
        let cancelling = self.leave(id);
        let job = self.job_mut(id);
        job.crashes += 1;
        let crashes = job.crashes;
        if job.spec.crashes_max <= crashes {
            job.error = Some(format!("its worker was lost {crashes} times"));
            swept.quarantined += 1;
            self.end(id, Event::Poisoned, now);
        } else if cancelling {
            self.end(id, Event::Cancelled, now);
        } else {
            swept.recovered += 1;
            self.come_back(id, Event::Crashed);
        }
    }

    /// Ended jobs that are kept no longer: those that are done, then the others. Answers how many.
    fn forget(&mut self, limit: usize, now: Timestamp) -> usize {
        let rules = &self.rules;
        let (done_max, dead_max, dead_keep) = (rules.done_max, rules.dead_max, rules.dead_keep);
        let until_done = |job: &JobRecord| Some(later(job.ended_at?, job.spec.keep));
        let mut ids = self.beyond(&[State::Done], done_max, now, until_done);
        let dead = [State::Dead, State::Quarantined, State::Cancelled];
        let until_dead = |job: &JobRecord| Some(later(job.ended_at?, dead_keep));
        ids.extend(self.beyond(&dead, dead_max, now, until_dead));
        ids.truncate(limit);
        for id in &ids {
            self.jobs.remove(id);
        }
        ids.len()
    }

    /// The jobs in these states whose time ran out, or that are too many; the earliest first.
    fn beyond(
        &self,
        states: &[State],
        max: u64,
        now: Timestamp,
        until: impl Fn(&JobRecord) -> Option<Timestamp>,
    ) -> Vec<JobId> {
        let ended = self.jobs.values().filter(|job| states.contains(&job.state));
        let mut jobs: Vec<_> = ended.filter_map(|job| Some((until(job)?, job.id))).collect();
        jobs.sort_unstable();
        let too_many = (jobs.len() as u64).saturating_sub(max);
        let gone = |(at, (until, _)): &(u64, (Timestamp, JobId))| *at < too_many || *until <= now;
        (0..).zip(jobs).take_while(gone).map(|(_, (_, id))| id).collect()
    }

    /// What a raised limit freed, key by key. Answers how many.
    fn free_keys(&mut self, limit: usize) -> usize {
        if !std::mem::take(&mut self.key_limit_raised) {
            return 0;
        }
        let max = self.rules.key_running_max.map_or(usize::MAX, |max| max as usize);
        for key in self.lines.keys_aside() {
            let room = max.saturating_sub(self.running_of(&key));
            for _ in 0..room {
                if self.freed.len() == limit {
                    self.key_limit_raised = true;
                    return limit;
                }
                let Some(id) = self.lines.free(&key) else { break };
                self.freed.push(id);
            }
        }
        self.freed.len()
    }
}
