//! Who is next: lanes of ready jobs, and the rings in which tenants take turns.

use std::collections::{BTreeMap, VecDeque};

use headcount_core::jobs::{Label, Priority, Rules};

use super::slab::Slab;

/// All lanes of a queue. Jobs are numbers here: their slots.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    all: Slab<Lane>,
    numbers: BTreeMap<(u8, Option<Label>), u32>,
    /// Lanes with jobs in them, by priority; the one whose turn it is stands in front.
    rings: [VecDeque<u32>; Priority::COUNT],
    /// The next place at the tail of any lane, and the last one given at the head.
    tail: i64,
    head: i64,
}

#[derive(Debug)]
struct Lane {
    priority: u8,
    tenant: Option<Label>,
    jobs: BTreeMap<i64, u32>,
    /// How many jobs name it, whatever their state. A lane that nobody names is forgotten.
    members: usize,
    /// How many more it may have in this turn; 0 where its turn has not begun.
    credit: u32,
}

impl Lanes {
    /// The lane of this priority and tenant, for one more job.
    pub(crate) fn join(&mut self, priority: Priority, tenant: Option<&Label>) -> u32 {
        let name = (priority.get(), tenant.cloned());
        let number = match self.numbers.get(&name) {
            Some(number) => *number,
            None => {
                let lane = Lane {
                    priority: name.0,
                    tenant: name.1.clone(),
                    jobs: BTreeMap::new(),
                    members: 0,
                    credit: 0,
                };
                let number = self.all.insert(lane);
                self.numbers.insert(name, number);
                number
            }
        };
        self.all[number].members += 1;
        number
    }

    /// A job of this lane is forgotten. It stands in it no longer.
    pub(crate) fn part(&mut self, number: u32) {
        self.all[number].members -= 1;
        if self.all[number].members == 0 {
            let lane = self.all.remove(number);
            self.numbers.remove(&(lane.priority, lane.tenant));
        }
    }

    /// Puts a job behind all others of its lane, and says where that is.
    pub(crate) fn push_back(&mut self, number: u32, job: u32) -> i64 {
        let place = self.tail;
        self.put(number, job, place);
        place
    }

    /// Puts a job before all others of its lane, and says where that is.
    pub(crate) fn push_front(&mut self, number: u32, job: u32) -> i64 {
        let place = self.head - 1;
        self.put(number, job, place);
        place
    }

    /// Puts a job where it stood.
    pub(crate) fn put(&mut self, number: u32, job: u32, place: i64) {
        self.tail = self.tail.max(place.saturating_add(1));
        self.head = self.head.min(place);
        let lane = &mut self.all[number];
        if lane.jobs.is_empty() {
            lane.credit = 0;
            self.rings[usize::from(lane.priority)].push_back(number);
        }
        lane.jobs.insert(place, job);
    }

    /// Takes a job out of its lane, wherever it stands.
    pub(crate) fn remove(&mut self, number: u32, place: i64) -> Option<u32> {
        let lane = &mut self.all[number];
        let job = lane.jobs.remove(&place)?;
        if lane.jobs.is_empty() {
            lane.credit = 0;
            let ring = &mut self.rings[usize::from(lane.priority)];
            match ring.front() == Some(&number) {
                true => _ = ring.pop_front(),
                false => ring.retain(|other| *other != number),
            }
        }
        Some(job)
    }

    /// The job whose turn it is, when this many were taken so far.
    pub(crate) fn first(&self, rules: &Rules, taken: u64) -> Option<u32> {
        let lane = &self.all[self.turn(rules, taken)?];
        lane.jobs.first_key_value().map(|(_, job)| *job)
    }

    /// Takes the job that [`Lanes::first`] names: it uses up a part of its lane's turn.
    pub(crate) fn take(&mut self, rules: &Rules, taken: u64) {
        let number = self.turn(rules, taken).expect("the first job was just seen");
        let lane = &mut self.all[number];
        if lane.credit == 0 {
            lane.credit = rules.weight(lane.tenant.as_ref());
        }
        lane.credit = lane.credit.saturating_sub(1);
        let turn_is_over = lane.credit == 0;
        let ring = usize::from(lane.priority);
        let place = *lane.jobs.first_key_value().expect("a lane of a ring has jobs").0;
        self.remove(number, place);
        if turn_is_over && self.rings[ring].front() == Some(&number) {
            self.rings[ring].rotate_left(1);
        }
    }

    fn turn(&self, rules: &Rules, taken: u64) -> Option<u32> {
        let due = rules.order.turn(taken).map(|priority| &self.rings[usize::from(priority.get())]);
        due.and_then(VecDeque::front)
            .or_else(|| self.rings.iter().find_map(VecDeque::front))
            .copied()
    }

    /// Whether no lane has a job.
    pub(crate) fn is_empty(&self) -> bool {
        self.rings.iter().all(VecDeque::is_empty)
    }

    /// The first job of each lane of the most urgent priority that has any.
    pub(crate) fn heads(&self) -> impl Iterator<Item = u32> + '_ {
        let ring = self.rings.iter().find(|ring| !ring.is_empty());
        ring.into_iter()
            .flatten()
            .filter_map(|number| self.all[*number].jobs.first_key_value().map(|(_, job)| *job))
    }

    /// Jobs by lane and place, from after the one named on.
    pub(crate) fn after(
        &self,
        last: Option<(u8, Option<Label>, i64)>,
    ) -> impl Iterator<Item = u32> + '_ {
        let (from, place) = match last {
            Some((priority, tenant, place)) => ((priority, tenant), place),
            None => ((0, None), i64::MIN),
        };
        let first = from.clone();
        self.numbers.range(from..).flat_map(move |(name, number)| {
            let after = if *name == first { place.saturating_add(1) } else { i64::MIN };
            self.all[*number].jobs.range(after..).map(|(_, job)| *job)
        })
    }

    /// What a lane is called.
    pub(crate) fn name(&self, number: u32) -> (u8, Option<&Label>) {
        let lane = &self.all[number];
        (lane.priority, lane.tenant.as_ref())
    }

    /// Whether some job stands at this place.
    pub(crate) fn is_taken(&self, number: u32, place: i64) -> bool {
        self.all[number].jobs.contains_key(&place)
    }

    /// Whether this job stands at this place.
    pub(crate) fn has(&self, number: u32, place: i64, job: u32) -> bool {
        self.all[number].jobs.get(&place) == Some(&job)
    }
}
