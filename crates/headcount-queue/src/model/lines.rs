//! Who is next: lanes, rings, credit, and the lines of those set aside for their key.

use std::collections::{BTreeMap, VecDeque};

use headcount_core::jobs::{JobId, JobRecord, Key, Label, Priority};

/// Where a ready job stands.
type Lane = (Priority, Option<Label>);

/// The order among ready jobs. No lane, ring or line in it is empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    lanes: BTreeMap<Lane, VecDeque<JobId>>,
    /// The tenants of a priority that have jobs, whose turn it is first.
    rings: BTreeMap<Priority, VecDeque<Option<Label>>>,
    /// How many jobs more the tenant at the front of the ring may take, once its turn has begun.
    credit: BTreeMap<Priority, u32>,
    /// Those whose key had enough running when their turn came.
    aside: BTreeMap<Key, VecDeque<JobId>>,
}

fn lane_of(job: &JobRecord) -> Lane {
    (job.spec.priority, job.spec.tenant.clone())
}

impl Lines {
    pub(super) fn push_tail(&mut self, job: &JobRecord) {
        self.lane(job).push_back(job.id);
    }

    pub(super) fn push_head(&mut self, job: &JobRecord) {
        self.lane(job).push_front(job.id);
    }

    /// The job's lane, which joins its ring at the back when it was empty.
    fn lane(&mut self, job: &JobRecord) -> &mut VecDeque<JobId> {
        let lane = lane_of(job);
        if !self.lanes.contains_key(&lane) {
            self.rings.entry(lane.0).or_default().push_back(lane.1.clone());
        }
        self.lanes.entry(lane).or_default()
    }

    /// Whether a job stands in any lane; those set aside do not.
    pub(super) fn any(&self) -> bool {
        !self.lanes.is_empty()
    }

    /// Which priority is next, when it is this one's turn.
    pub(super) fn priority(&self, turn: Option<Priority>) -> Option<Priority> {
        match turn {
            Some(turn) if self.rings.contains_key(&turn) => Some(turn),
            _ => self.rings.keys().next().copied(),
        }
    }

    /// The job at the head of the lane that is at the front of this priority's ring.
    pub(super) fn front(&self, priority: Priority) -> Option<JobId> {
        let tenant = self.rings.get(&priority)?.front()?.clone();
        self.lanes.get(&(priority, tenant))?.front().copied()
    }

    /// The job at the front is taken, by a tenant of this weight.
    pub(super) fn take(&mut self, job: &JobRecord, weight: u32) {
        let priority = job.spec.priority;
        let left = self.credit.get(&priority).copied().unwrap_or(weight) - 1;
        self.credit.insert(priority, left);
        self.leave_lane(job);
        if left == 0 {
            self.credit.remove(&priority);
            if self.lanes.contains_key(&lane_of(job)) {
                let ring = self.rings.get_mut(&priority).expect("a lane with jobs is in its ring");
                ring.rotate_left(1);
            }
        }
    }

    /// The job at the front waits for its key instead.
    pub(super) fn set_aside(&mut self, job: &JobRecord, key: &Key) {
        self.leave_lane(job);
        self.aside.entry(key.clone()).or_default().push_back(job.id);
    }

    /// A lane that runs empty leaves the ring, and its turn is over.
    fn leave_lane(&mut self, job: &JobRecord) {
        let lane = lane_of(job);
        let Some(jobs) = self.lanes.get_mut(&lane) else { return };
        jobs.retain(|id| *id != job.id);
        if !jobs.is_empty() {
            return;
        }
        self.lanes.remove(&lane);
        let ring = self.rings.get_mut(&lane.0).expect("a lane with jobs is in its ring");
        if ring.front() == Some(&lane.1) {
            self.credit.remove(&lane.0);
        }
        ring.retain(|tenant| *tenant != lane.1);
        if ring.is_empty() {
            self.rings.remove(&lane.0);
        }
    }

    /// A ready job that is not wanted any more leaves, wherever it stands. Tells whether it was
    /// set aside.
    pub(super) fn remove(&mut self, job: &JobRecord) -> bool {
        let Some(key) = self.aside_for(job) else {
            self.leave_lane(job);
            return false;
        };
        let line = self.aside.get_mut(&key).expect("it stands in this line");
        line.retain(|id| *id != job.id);
        if line.is_empty() {
            self.aside.remove(&key);
        }
        true
    }

    fn aside_for(&self, job: &JobRecord) -> Option<Key> {
        let key = job.spec.key.as_ref()?;
        self.aside.get(key)?.contains(&job.id).then(|| key.clone())
    }

    /// The first of those set aside for this key.
    pub(super) fn free(&mut self, key: &Key) -> Option<JobId> {
        let line = self.aside.get_mut(key)?;
        let first = line.pop_front();
        if line.is_empty() {
            self.aside.remove(key);
        }
        first
    }

    /// The keys for which jobs are set aside, in order.
    pub(super) fn keys_aside(&self) -> Vec<Key> {
        self.aside.keys().cloned().collect()
    }

    /// The heads of the lanes of the most urgent priority that has jobs.
    pub(super) fn heads(&self) -> Vec<JobId> {
        let Some(priority) = self.priority(None) else { return Vec::new() };
        let lanes = self.lanes.iter().filter(|((number, _), _)| *number == priority);
        lanes.filter_map(|(_, jobs)| jobs.front().copied()).collect()
    }

    /// Every ready job: lane by lane, then those set aside, key by key.
    pub(super) fn all(&self) -> Vec<JobId> {
        self.lanes.values().chain(self.aside.values()).flatten().copied().collect()
    }

    /// Whether every lane with jobs is in its ring once, and nothing is empty.
    pub(super) fn sound(&self) -> Result<(), String> {
        let mut of_rings: Vec<Lane> = Vec::new();
        for (priority, ring) in &self.rings {
            of_rings.extend(ring.iter().map(|tenant| (*priority, tenant.clone())));
        }
        of_rings.sort();
        let lanes: Vec<Lane> = self.lanes.keys().cloned().collect();
        if of_rings != lanes {
            return Err(format!("lanes are {lanes:?}, but in rings stand {of_rings:?}"));
        }
        if self.lanes.values().chain(self.aside.values()).any(VecDeque::is_empty) {
            return Err("a line is empty and still there".to_owned());
        }
        match self.credit.iter().find(|(priority, _)| !self.rings.contains_key(*priority)) {
            Some((priority, _)) => Err(format!("credit, but no ring, at {}", priority.get())),
            None => Ok(()),
        }
    }
}
