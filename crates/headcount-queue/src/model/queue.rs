//! The facts of one queue, and the few steps that all operations share.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use headcount_core::Timestamp;
use headcount_core::jobs::{
    Event, Holder, JobId, JobRecord, Key, Label, Rules, State, Totals, UniqueSpan, transition,
};

use super::lines::Lines;

/// One queue. Every job is in `jobs`; the other fields say what its record does not.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) name: Label,
    pub(super) jobs: BTreeMap<JobId, JobRecord>,
    /// The order among ready jobs.
    pub(super) lines: Lines,
    /// Running jobs, in the order in which they were handed out.
    pub(super) held: Vec<JobId>,
    /// What each blocked job still waits for.
    pub(super) waits: BTreeMap<JobId, BTreeSet<JobId>>,
    pub(super) uniques: BTreeMap<Key, Taken>,
    /// When the lease of each holder runs out.
    pub(super) leases: BTreeMap<Holder, Timestamp>,
    pub(super) rules: Rules,
    pub(super) paused: bool,
    pub(super) totals: Totals,
    /// The epoch of the last lease.
    pub(super) epoch: u64,
    /// How many jobs were ever handed out.
    pub(super) taken: u64,
    /// What the rate remembers, in microseconds since 1970.
    pub(super) theoretical: u64,
    /// Whether the rules changed in a way that may free jobs which were set aside.
    pub(super) key_limit_raised: bool,
    /// Jobs that came back in this call; they go to the heads of their lanes at its end.
    pub(super) returned: Vec<JobId>,
    /// Jobs whose key became free in this call; they go to the heads behind those.
    pub(super) freed: Vec<JobId>,
}

/// A unique key, and who took it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) by: JobId,
    pub(super) at: Timestamp,
    pub(super) span: UniqueSpan,
}

/// Of every time and span, whole milliseconds count.
pub(super) fn whole(at: Timestamp) -> Timestamp {
    Timestamp::from_millis(at.as_nanos() / 1_000_000)
}

/// The time this much later.
pub(super) fn later(now: Timestamp, span: Duration) -> Timestamp {
    whole(now + span)
}

impl Queue {
    pub(super) fn new(name: Label) -> Self {
        Self {
            name,
            jobs: BTreeMap::new(),
            lines: Lines::default(),
            held: Vec::new(),
            waits: BTreeMap::new(),
            uniques: BTreeMap::new(),
            leases: BTreeMap::new(),
            rules: Rules::default(),
            paused: false,
            totals: Totals::default(),
            epoch: 0,
            taken: 0,
            theoretical: 0,
            key_limit_raised: false,
            returned: Vec::new(),
            freed: Vec::new(),
        }
    }

    pub(super) fn job(&self, id: JobId) -> &JobRecord {
        self.jobs.get(&id).expect("whoever stands in a line is in the store")
    }

    pub(super) fn job_mut(&mut self, id: JobId) -> &mut JobRecord {
        self.jobs.get_mut(&id).expect("whoever stands in a line is in the store")
    }

    /// The only place where the state of a job changes.
    pub(super) fn step(&mut self, id: JobId, event: Event) {
        let job = self.job_mut(id);
        job.state = transition(job.state, event).expect("callers ask only for what can happen");
    }

    pub(super) fn in_state(&self, state: State) -> impl Iterator<Item = &JobRecord> {
        self.jobs.values().filter(move |job| job.state == state)
    }

    /// How many jobs have not ended.
    pub(super) fn waiting(&self) -> u64 {
        self.jobs.values().filter(|job| !job.state.is_final()).count() as u64
    }

    /// Jobs that wait for their time, the next one first.
    pub(super) fn timed(&self) -> Vec<(Timestamp, JobId)> {
        let timed = |job: &&JobRecord| matches!(job.state, State::Scheduled | State::Retrying);
        let mut jobs: Vec<_> =
            self.jobs.values().filter(timed).map(|job| (job.due_at, job.id)).collect();
        jobs.sort_unstable();
        jobs
    }

    /// Those whose time has come stand at the tails of their lanes. Answers how many there were.
    pub(super) fn move_due(&mut self, limit: usize, now: Timestamp) -> usize {
        let mut due = self.timed();
        due.retain(|(due_at, _)| *due_at <= now);
        due.truncate(limit);
        for (_, id) in &due {
            self.step(*id, Event::Due);
            self.lines.push_tail(&self.jobs[id]);
        }
        due.len()
    }

    /// How many jobs with this key run.
    pub(super) fn running_of(&self, key: &Key) -> usize {
        self.held.iter().filter(|id| self.job(**id).spec.key.as_ref() == Some(key)).count()
    }

    /// Whether as many jobs with this key run as may.
    pub(super) fn is_key_full(&self, key: &Key) -> bool {
        let max = self.rules.key_running_max;
        max.is_some_and(|max| max as usize <= self.running_of(key))
    }

    /// One with this key less runs or is about to: the first that was set aside for it may go on.
    pub(super) fn free_key_of(&mut self, job: &JobRecord) {
        let Some(key) = &job.spec.key else { return };
        if !self.is_key_full(key) {
            self.freed.extend(self.lines.free(key));
        }
    }

    /// The end of a call: what came back stands at the heads of its lanes, in the order in which
    /// it came, and what became free behind it.
    pub(super) fn put_back(&mut self) {
        let freed = std::mem::take(&mut self.freed);
        let returned = std::mem::take(&mut self.returned);
        for id in freed.iter().rev().chain(returned.iter().rev()) {
            self.lines.push_head(&self.jobs[id]);
        }
    }
}
