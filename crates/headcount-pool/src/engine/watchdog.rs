//! Workers that block, tasks that are stuck, and pools that stand still.

use std::time::Duration;

use headcount_core::Timestamp;
use headcount_core::roster::WorkerId;

use super::Kind;
use super::desk::Desk;
use super::errands::Errands;
use super::floor::Floor;
use super::injection::Injection;
use crate::event::Event;
use crate::task::BlocksOn;

/// Where every worker blocks on a task of its own pool it is told after this, whatever else is.
const STANDSTILL_AFTER: Duration = Duration::from_secs(1);

/// What the watchdog remembers.
#[derive(Debug)]
pub(crate) struct Watchdog {
    pub(crate) stuck_after: Option<Duration>,
    pub(crate) replace_stuck_max: u32,
    pub(crate) compensate_max: u32,
    injection: Injection,
    blocked: Vec<Blocked>,
    /// Workers that were counted out because their task is stuck.
    replaced_stuck: Vec<WorkerId>,
    /// Since when nothing has moved, and whether that was told.
    stood: Option<(u64, Timestamp, bool)>,
    looks_at: Option<Timestamp>,
    /// When it was last worth trying to count another worker out.
    retry_at: Timestamp,
}

/// A worker that blocks.
#[derive(Debug)]
struct Blocked {
    worker: WorkerId,
    on: BlocksOn,
    /// Whether another may work in its place.
    replaced: bool,
}

impl Watchdog {
    pub(crate) fn new(
        stuck_after: Option<Duration>,
        replace_stuck_max: u32,
        compensate_max: u32,
    ) -> Self {
        let cores = u32::try_from(crate::cores().get()).unwrap_or(u32::MAX);
        Self {
            stuck_after,
            replace_stuck_max,
            compensate_max,
            injection: Injection::new(cores),
            blocked: Vec::new(),
            replaced_stuck: Vec::new(),
            stood: None,
            looks_at: None,
            retry_at: Timestamp::ORIGIN,
        }
    }

    /// How many workers block.
    pub(crate) fn blocked(&self) -> u32 {
        u32::try_from(self.blocked.len()).unwrap_or(u32::MAX)
    }

    fn compensated(&self) -> u32 {
        let count = self.blocked.iter().filter(|blocked| blocked.replaced).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}

impl<K: Kind> Desk<K> {
    /// A worker is about to block.
    pub(crate) fn blocks(
        &mut self,
        worker: WorkerId,
        on: BlocksOn,
        now: Timestamp,
        e: &mut Errands<K>,
    ) {
        self.watchdog.blocked.push(Blocked { worker, on, replaced: false });
        if self.all_wait_for_each_other() {
            let soon = now + STANDSTILL_AFTER / 4;
            self.watchdog.looks_at = Some(self.watchdog.looks_at.map_or(soon, |at| at.min(soon)));
        }
        self.compensate(now, e);
    }

    /// It does not any more. Whoever works in its place stays until one of them is not needed.
    pub(crate) fn unblocks(&mut self, worker: WorkerId) {
        self.watchdog.blocked.retain(|blocked| blocked.worker != worker);
    }

    /// Lets others work in the place of workers that block, as fast as the schedule allows.
    pub(crate) fn compensate(&mut self, now: Timestamp, e: &mut Errands<K>) {
        while let Some(index) = self.watchdog.blocked.iter().position(|blocked| !blocked.replaced) {
            let compensated = self.watchdog.compensated();
            if self.watchdog.compensate_max <= compensated
                || now < self.watchdog.injection.next_at(compensated)
            {
                return;
            }
            let worker = self.watchdog.blocked[index].worker;
            let counted_out = self.staff.badge(worker).is_some_and(|badge| badge.is_recalled());
            if !counted_out && !self.count_out(worker) {
                // As many as may be are counted out; when one of them is back we try again.
                return;
            }
            self.watchdog.blocked[index].replaced = true;
            self.watchdog.injection.granted(now);
            e.tell(Event::Compensated { blocked: self.watchdog.blocked() });
        }
    }

    /// When the keeper should look after those who block or are stuck.
    pub(crate) fn watchdog_looks_at(&self, now: Timestamp) -> Option<Timestamp> {
        let dog = &self.watchdog;
        let compensated = dog.compensated();
        let pending = dog.blocked.iter().any(|blocked| !blocked.replaced);
        let may = self.roster.counts().written_off < self.roster.config().written_off_max;
        let compensate = (pending && may && compensated < dog.compensate_max)
            .then(|| dog.injection.next_at(compensated).max(dog.retry_at));
        // The first task after a rest: from here on the keeper looks of its own accord.
        let first = || self.suspects_after().map(|after| now + after / 4);
        compensate.into_iter().chain(dog.looks_at.or_else(first)).min()
    }

    /// The keeper looks for tasks that are stuck and for a pool that stands still.
    pub(crate) fn watch_tasks(
        &mut self,
        floor: &Floor<K::Work>,
        now: Timestamp,
        e: &mut Errands<K>,
    ) {
        self.compensate(now, e);
        if self.watchdog.looks_at.is_some_and(|at| now < at) {
            return;
        }
        let suspects_after = self.suspects_after();
        self.watchdog.looks_at = suspects_after.map(|after| now + after / 4);
        if let Some(stuck_after) = self.watchdog.stuck_after {
            self.find_stuck(stuck_after, now, e);
        }
        match suspects_after {
            Some(after) => self.find_deadlock(after, floor, now, e),
            None => self.watchdog.stood = None,
        }
    }

    /// After how long a pool that stands still is told of. `None`: nobody looks.
    fn suspects_after(&self) -> Option<Duration> {
        let own = self.all_wait_for_each_other().then_some(STANDSTILL_AFTER);
        let stuck_after = self.watchdog.stuck_after.filter(|_| self.is_at_work());
        own.into_iter().chain(stuck_after).min()
    }

    /// Whether every worker blocks on a task of this very pool. So does whoever would run that.
    fn all_wait_for_each_other(&self) -> bool {
        let counts = self.roster.counts();
        let own = self.watchdog.blocked.iter().filter(|blocked| blocked.on == BlocksOn::OwnPool);
        let at_work = counts.busy + counts.written_off;
        0 < at_work && own.count() == at_work as usize
    }

    fn is_at_work(&self) -> bool {
        let counts = self.roster.counts();
        0 < counts.busy + counts.written_off
    }

    fn find_stuck(&mut self, stuck_after: Duration, now: Timestamp, e: &mut Errands<K>) {
        for (worker, since, class) in self.staff.newly_stuck(now, stuck_after) {
            let may = self.watchdog.replaced_stuck.len() < self.watchdog.replace_stuck_max as usize;
            let written_off = may && self.count_out(worker);
            if written_off {
                self.watchdog.replaced_stuck.push(worker);
            }
            e.tell(Event::TaskStuck {
                worker: worker.slot(),
                class,
                running_for: now.since(since),
                written_off,
            });
        }
    }

    /// Counts a worker out, so that another can have its place. It reports after its task.
    fn count_out(&mut self, worker: WorkerId) -> bool {
        let counted_out = self.roster.written_off(worker);
        if counted_out && let Some(badge) = self.staff.badge(worker) {
            badge.recall();
        }
        counted_out
    }

    /// A worker that was counted out has ended its task after all.
    pub(crate) fn came_back(&mut self, worker: WorkerId, now: Timestamp) {
        // There may be room now to count another one out.
        self.watchdog.retry_at = now;
        if let Some(badge) = self.staff.badge(worker) {
            badge.has_reported();
        }
        self.watchdog.replaced_stuck.retain(|known| *known != worker);
    }

    fn find_deadlock(
        &mut self,
        stuck_after: Duration,
        floor: &Floor<K::Work>,
        now: Timestamp,
        e: &mut Errands<K>,
    ) {
        let counts = self.roster.counts();
        let queued = floor.queued();
        let full = counts.parked == 0 && self.roster.config().staffing.ceiling <= counts.live;
        // What somebody else runs ends without a worker's doing.
        let circle = self.all_wait_for_each_other() && floor.running_beside() == 0;
        let taken = self.taken(floor);
        self.watchdog.stood = match self.watchdog.stood {
            _ if !full || (queued == 0 && !circle) || self.paused => None,
            Some((before, since, told)) if before == taken => {
                let stood_for = now.since(since);
                let tell = !told && stuck_after <= stood_for;
                if tell {
                    let workers = counts.live;
                    e.tell(Event::SuspectedDeadlock { workers, queued, stood_for });
                }
                Some((taken, since, told || tell))
            }
            _ => Some((taken, now, false)),
        };
    }
}
