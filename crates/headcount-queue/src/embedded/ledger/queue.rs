//! The facts of one queue, and the few steps that all operations share.
//!
//! Everything that is asked often has an index; a job's small facts are in memory, its spec and
//! what its handler wrote are not. Each change of a job goes through [`Queue::leave_index`] and
//! [`Queue::enter_index`], so that it is in exactly one place.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use headcount_core::jobs::{
    Dependence, Event, Holder, JobId, JobSpec, Label, Rules, State, StateCounts, transition,
};

use crate::embedded::effect::{Effect, JobKey, Numbers};
use crate::embedded::row::{Extra, Row};

use super::keys::Keys;
use super::lanes::Lanes;
use super::slab::Slab;
use super::uniques::Uniques;

/// One queue.
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) number: u32,
    pub(crate) name: Label,
    pub(crate) rules: Rules,
    pub(crate) numbers: Numbers,
    pub(super) jobs: Slab<Entry>,
    pub(super) slots: HashMap<JobId, u32>,
    pub(super) counts: StateCounts,
    pub(super) lanes: Lanes,
    pub(super) keys: Keys,
    pub(super) uniques: Uniques,
    /// Those that wait for their time: scheduled ones, and those to be tried again.
    pub(super) timed: [BTreeMap<(u64, JobId), u32>; 2],
    /// Those of each state that is listed by id.
    pub(super) by_id: [BTreeSet<JobId>; State::ALL.len()],
    /// Ended jobs by the time until which they are kept; of the dead, by the time they ended.
    pub(super) done: BTreeSet<(u64, JobId)>,
    pub(super) dead: BTreeSet<(u64, JobId)>,
    pub(super) leases: BTreeMap<Holder, u64>,
    /// What each holder holds, in the order in which it was handed out.
    pub(super) held: BTreeMap<(Holder, u64), u32>,
    pub(super) holds: HashMap<u32, Hold>,
    pub(super) handed: u64,
    pub(super) blocked: HashMap<u32, Blocked>,
    /// Who may wait for a job. Some may have ceased to; `blocked` knows.
    pub(super) dependents: HashMap<JobId, Vec<JobId>>,
    pub(super) key_limit_raised: bool,
    /// Jobs that came back in this call; they go to the heads of their lanes at its end.
    pub(super) returned: Vec<u32>,
    /// Jobs whose key became free in this call; they go to the heads behind those.
    pub(super) freed: Vec<u32>,
    pub(super) repair_from: u32,
    pub(super) out: Out,
}

/// What is in memory of a job.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: JobId,
    pub(super) row: Row,
    pub(super) lane: u32,
    pub(super) key: Option<u32>,
    pub(super) crashes_max: u32,
    pub(super) keep: u64,
    /// Where a ready job is: its place is that of its lane or of its key's line.
    pub(super) spot: Spot,
}

/// Where a ready job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// In its lane, or not ready at all.
    Lane,
    /// In its key's line, at this place.
    Aside(i64),
    /// On its way to the head of its lane, at the end of this call.
    Between,
}

/// Who holds a job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    pub(super) holder: Holder,
    pub(super) epoch: u64,
    pub(super) nth: u64,
}

/// What a blocked job waits for.
#[derive(Debug)]
pub(super) struct Blocked {
    pub(super) waits: BTreeSet<JobId>,
    pub(super) dependence: Dependence,
}

/// What a call changed.
#[derive(Debug, Default)]
pub(crate) struct Out {
    pub(crate) effects: Vec<Effect>,
    /// Whether any of it must be on disk before the call is answered.
    pub(crate) lasting: bool,
    /// How many jobs became ready.
    pub(crate) ready: usize,
}

impl Queue {
    pub(crate) fn new(number: u32, name: Label) -> Self {
        Self {
            number,
            name,
            rules: Rules::default(),
            numbers: Numbers::default(),
            jobs: Slab::default(),
            slots: HashMap::new(),
            counts: StateCounts::default(),
            lanes: Lanes::default(),
            keys: Keys::default(),
            uniques: Uniques::default(),
            timed: [BTreeMap::new(), BTreeMap::new()],
            by_id: std::array::from_fn(|_| BTreeSet::new()),
            done: BTreeSet::new(),
            dead: BTreeSet::new(),
            leases: BTreeMap::new(),
            held: BTreeMap::new(),
            holds: HashMap::new(),
            handed: 0,
            blocked: HashMap::new(),
            dependents: HashMap::new(),
            key_limit_raised: false,
            returned: Vec::new(),
            freed: Vec::new(),
            repair_from: 0,
            out: Out::default(),
        }
    }

    /// How many jobs there are.
    pub(crate) fn len(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    /// What the calls since the last one changed.
    pub(crate) fn take_out(&mut self) -> Out {
        std::mem::take(&mut self.out)
    }

    pub(super) fn key_of(&self, slot: u32) -> JobKey {
        (self.number, self.jobs[slot].id)
    }

    pub(super) fn state(&self, slot: u32) -> State {
        self.jobs[slot].row.state
    }

    /// Something that must be on disk before the call is answered.
    pub(super) fn put(&mut self, effect: Effect) {
        self.out.lasting = true;
        self.out.effects.push(effect);
    }

    /// Something that would be found out again after a crash.
    pub(super) fn note(&mut self, effect: Effect) {
        self.out.effects.push(effect);
    }

    /// Writes a job's row down. One that runs is written as ready, as it would be found: that it
    /// runs says nothing that lasts.
    pub(super) fn put_row(&mut self, slot: u32) {
        let (job, mut row) = (self.key_of(slot), self.jobs[slot].row);
        if row.state == State::Running {
            row.state = State::Ready;
        }
        self.put(Effect::Changed { job, row });
    }

    /// Something of a job that is stored apart is this now.
    pub(super) fn put_extra(&mut self, slot: u32, extra: Extra, bytes: &[u8]) {
        self.jobs[slot].row.extras |= extra.bit();
        let job = self.key_of(slot);
        self.put(Effect::Extra { job, extra, bytes: Some(bytes.into()) });
    }

    /// Takes a job in that stands in no index yet.
    pub(super) fn admit(&mut self, id: JobId, spec: &JobSpec, row: Row) -> u32 {
        let entry = Entry {
            id,
            row,
            lane: self.lanes.join(spec.priority, spec.tenant.as_ref()),
            key: spec.key.as_ref().map(|key| self.keys.join(key)),
            crashes_max: spec.crashes_max,
            keep: millis(spec.keep),
            spot: Spot::Lane,
        };
        let slot = self.jobs.insert(entry);
        self.slots.insert(id, slot);
        slot
    }

    /// Forgets a job that stands in no index any more.
    pub(super) fn forget(&mut self, slot: u32) {
        let job = self.key_of(slot);
        self.uniques.free_of(slot);
        self.dependents.remove(&job.1);
        let entry = self.jobs.remove(slot);
        self.slots.remove(&entry.id);
        self.lanes.part(entry.lane);
        if let Some(key) = entry.key {
            self.keys.part(key);
        }
        self.put(Effect::Forgotten { job });
    }

    /// The only place where the state of a job changes. Nothing else of it is touched.
    pub(super) fn step(&mut self, slot: u32, event: Event) {
        let row = &mut self.jobs[slot].row;
        row.state = transition(row.state, event).expect("callers ask only for what can happen");
    }

    /// Takes a job out of the index of its state.
    pub(super) fn leave_index(&mut self, slot: u32) {
        let Entry { id, row, lane, key, spot, .. } = self.jobs[slot];
        self.counts[row.state] -= 1;
        match row.state {
            State::Ready => match (spot, key) {
                (Spot::Lane, _) => _ = self.lanes.remove(lane, row.place),
                (Spot::Aside(place), Some(key)) => self.keys.remove(key, place),
                (Spot::Aside(_) | Spot::Between, _) => {
                    self.returned.retain(|other| *other != slot);
                    self.freed.retain(|other| *other != slot);
                }
            },
            State::Scheduled => _ = self.timed[0].remove(&(row.due_at, id)),
            State::Retrying => _ = self.timed[1].remove(&(row.due_at, id)),
            State::Running => {
                self.by_id[State::Running as usize].remove(&id);
                if let Some(hold) = self.holds.remove(&slot) {
                    self.held.remove(&(hold.holder, hold.nth));
                }
                if let Some(key) = key {
                    self.keys.stopped(key);
                }
            }
            State::Blocked => {
                self.by_id[State::Blocked as usize].remove(&id);
                self.blocked.remove(&slot);
            }
            State::Done | State::Dead | State::Quarantined | State::Cancelled => {
                self.by_id[row.state as usize].remove(&id);
                let (index, at) = self.kept_until(slot);
                index.remove(&(at, id));
            }
        }
        self.jobs[slot].spot = Spot::Lane;
    }

    /// Puts a job into the index of its state. A ready one goes to the tail of its lane; what a
    /// blocked or running one needs besides is its caller's to add.
    pub(super) fn enter_index(&mut self, slot: u32) {
        let Entry { id, row, lane, .. } = self.jobs[slot];
        self.counts[row.state] += 1;
        match row.state {
            State::Ready => {
                self.jobs[slot].row.place = self.lanes.push_back(lane, slot);
                self.out.ready += 1;
            }
            State::Scheduled => _ = self.timed[0].insert((row.due_at, id), slot),
            State::Retrying => _ = self.timed[1].insert((row.due_at, id), slot),
            State::Blocked | State::Running => _ = self.by_id[row.state as usize].insert(id),
            State::Done | State::Dead | State::Quarantined | State::Cancelled => {
                self.by_id[row.state as usize].insert(id);
                let (index, at) = self.kept_until(slot);
                index.insert((at, id));
            }
        }
    }

    /// Where an ended job stands among those that are forgotten one day.
    fn kept_until(&mut self, slot: u32) -> (&mut BTreeSet<(u64, JobId)>, u64) {
        let Entry { row, keep, .. } = self.jobs[slot];
        let ended = row.ended_at.unwrap_or(0);
        match row.state {
            State::Done => (&mut self.done, ended.saturating_add(keep)),
            _ => (&mut self.dead, ended),
        }
    }

    /// A job that came back waits for the end of the call, to stand at the head of its lane.
    pub(super) fn come_back(&mut self, slot: u32, event: Event) {
        self.step(slot, event);
        self.counts[State::Ready] += 1;
        self.jobs[slot].spot = Spot::Between;
        self.returned.push(slot);
    }

    /// Whether as many jobs with this key run as may.
    pub(super) fn is_key_full(&self, key: u32) -> bool {
        self.rules.key_running_max.is_some_and(|max| max <= self.keys.running(key))
    }

    /// One with this key less runs or is about to: the first that was set aside for it may go on.
    pub(super) fn free_key(&mut self, key: Option<u32>) {
        let Some(key) = key else { return };
        if !self.is_key_full(key) {
            self.free_first_of(key);
        }
    }

    pub(super) fn free_first_of(&mut self, key: u32) -> bool {
        let Some(slot) = self.keys.first(key) else { return false };
        if let Spot::Aside(place) = self.jobs[slot].spot {
            self.keys.remove(key, place);
        }
        self.jobs[slot].spot = Spot::Between;
        self.freed.push(slot);
        true
    }

    /// The end of a call: what came back stands at the heads of its lanes, in the order in which
    /// it came, and what became free behind it.
    pub(super) fn put_back(&mut self) {
        let freed = std::mem::take(&mut self.freed);
        let returned = std::mem::take(&mut self.returned);
        for slot in freed.into_iter().rev() {
            // Its row is not written again: after a restart it stands where it stood, and is set
            // aside again if it must be.
            self.stand_first(slot);
        }
        for slot in returned.into_iter().rev() {
            self.stand_first(slot);
            self.put_row(slot);
        }
    }

    fn stand_first(&mut self, slot: u32) {
        let entry = &mut self.jobs[slot];
        entry.spot = Spot::Lane;
        entry.row.place = self.lanes.push_front(entry.lane, slot);
        self.out.ready += 1;
    }

    /// How many jobs have not ended.
    pub(super) fn waiting(&self) -> u64 {
        self.counts.iter().filter(|(state, _)| !state.is_final()).map(|(_, count)| count).sum()
    }

    /// When the next job that waits for its time is due.
    pub(crate) fn next_due(&self) -> Option<u64> {
        let firsts = self.timed.iter().filter_map(|timed| timed.first_key_value());
        firsts.map(|((due, _), _)| *due).min()
    }

    /// Those whose time has come stand at the tails of their lanes. Answers how many there were.
    pub(super) fn move_due(&mut self, limit: usize, now: u64) -> usize {
        let mut moved = 0;
        while moved < limit {
            let first = |timed: &BTreeMap<(u64, JobId), u32>| {
                timed.first_key_value().map(|(at, slot)| (*at, *slot))
            };
            let next = self.timed.iter().filter_map(first).min();
            let Some((_, slot)) = next.filter(|((due, _), _)| *due <= now) else { break };
            self.leave_index(slot);
            self.step(slot, Event::Due);
            self.enter_index(slot);
            let (job, row) = (self.key_of(slot), self.jobs[slot].row);
            self.note(Effect::Changed { job, row });
            moved += 1;
        }
        moved
    }
}

/// A span in whole milliseconds.
pub(super) fn millis(span: std::time::Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
