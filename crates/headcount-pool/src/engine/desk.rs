//! What is decided under the lock: who is woken, hired and sent home, and who waits for what.
//!
//! Decides nothing by itself: it tells the roster what happened, writes down what the roster says
//! as errands, and posts the notice by which others know whether to come.

use std::fmt;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use headcount_core::roster::{
    Next, Order, Placement, Roster, RosterConfig, Setback, Spread, WorkerId,
};
use headcount_core::{Poke, Staffing, Timestamp};

use super::Kind;
use super::badge::Signal;
use super::errands::{Errands, Visitor};
use super::floor::Floor;
use super::leavers::Leavers;
use super::lookout::{Lookout, Progress, SHORT_LOOK};
use super::notice::{CALM, QUICK, REPORT, ROOM, SHARED, SUMMON, TINY};
use super::orphans::Orphans;
use super::room::RoomQueue;
use super::staff::Staff;
use super::timers::{Alarm, Timers};
use super::watchdog::Watchdog;
use crate::sync::atomic::{Ordering, fence};
use headcount_core::spans::Window;

/// While tasks are short, another worker is woken for each so many that wait.
const SHORT_TASKS_EACH: u64 = 64;
/// The same while they are tiny, and a worker needs no longer for so many.
const QUICK_TASKS_EACH: u64 = 4096;
/// So many workers are sent home by whoever comes to the desk; the keeper sends the others.
const DISMISSALS_MAX: usize = 8;
/// What is left of the longest time that a worker took to start, from one start to the next.
const SPAWN_DELAY_KEPT: f64 = 0.9;

/// What a worker does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Take tasks until there is none.
    Take,
    /// Sleep until there is a signal.
    Park,
    /// Go home.
    Leave,
}

/// The state of a pool behind its lock.
pub(crate) struct Desk<K: Kind> {
    pub(crate) roster: Roster,
    pub(crate) staff: Staff<K>,
    pub(crate) timers: Timers,
    pub(crate) room: RoomQueue,
    /// Who waits until something about the pool is so, by number.
    watchers: Vec<(u64, Waker)>,
    pub(crate) paused: bool,
    /// Whether the pool is closed and every task was taken.
    through: bool,
    /// Workers that are done and wait for the keeper to bury them.
    leavers: Leavers,
    /// When the keeper looks next of its own accord.
    keeper_looks_at: Timestamp,
    /// Whether the keeper starts workers just now, and looks again right after that.
    keeper_hires: bool,
    lookout: Lookout,
    longest_start: Duration,
    /// What was said when a worker could last not be started.
    pub(crate) hire_error: Option<String>,
    /// Whom to call, once, when a task waits and nobody may be hired.
    poke: Option<Poke>,
    cores: u32,
    keep_share: Option<f64>,
    pub(super) orphans: Orphans,
    pub(crate) watchdog: Watchdog,
    pub(crate) wait_window: Window,
    pub(crate) service_window: Window,
}

/// What waits, beyond those that somebody is about to take.
#[derive(Clone, Copy, Debug)]
struct Demand {
    excess: u64,
    /// The same without shells, where somebody is there who takes those out: what it is worth to
    /// hire for.
    living: u64,
    /// Nobody is woken for a few tasks that are as short as these.
    deferred: bool,
}

impl<K: Kind> Desk<K> {
    pub(crate) fn new(config: RosterConfig, keep_share: Option<f64>, watchdog: Watchdog) -> Self {
        Self {
            roster: Roster::new(config),
            staff: Staff::default(),
            timers: Timers::default(),
            room: RoomQueue::default(),
            watchers: Vec::new(),
            paused: false,
            through: false,
            leavers: Leavers::default(),
            keeper_looks_at: Timestamp::MAX,
            keeper_hires: false,
            lookout: Lookout::default(),
            longest_start: Duration::ZERO,
            hire_error: None,
            poke: None,
            cores: u32::try_from(crate::cores().get()).unwrap_or(u32::MAX),
            keep_share,
            orphans: Orphans::default(),
            watchdog,
            wait_window: Window::default(),
            service_window: Window::default(),
        }
    }

    /// A hired worker is ready for its first task.
    pub(crate) fn started(
        &mut self,
        worker: WorkerId,
        floor: &Floor<K::Work>,
        now: Timestamp,
    ) -> Standing {
        let delay = now.since(self.staff.hired_at(worker));
        self.longest_start = self.longest_start.mul_f64(SPAWN_DELAY_KEPT).max(delay);
        self.go_by_start_time();
        sent(standing(self.roster.started(worker, now, self.queued(floor))), floor)
    }

    /// Hires earlier the longer a start takes, and keeps workers for as long as one costs.
    fn go_by_start_time(&mut self) {
        let config = self.roster.config();
        let spawn_delay = self.longest_start;
        let idle_time = match self.keep_share {
            Some(share) => RosterConfig::break_even(spawn_delay, share),
            None => config.idle_time,
        };
        self.roster.reconfigure(RosterConfig { spawn_delay, idle_time, ..config });
    }

    /// A worker found the line empty, or was asked to report.
    pub(crate) fn reported(
        &mut self,
        worker: WorkerId,
        floor: &Floor<K::Work>,
        now: Timestamp,
    ) -> Standing {
        if self.staff.badge(worker).is_some_and(|badge| badge.is_recalled()) {
            self.came_back(worker, now);
        }
        // Whoever is told that there is nothing parks: enough others are at short tasks.
        let is_enough = floor.hands(self.cores) <= floor.attentive();
        let queued = if is_enough { 0 } else { self.queued(floor) };
        sent(standing(self.roster.finished(worker, now, queued)), floor)
    }

    /// How long workers took to start lately. `None`: none has.
    pub(crate) fn spawn_delay(&self) -> Option<Duration> {
        Some(self.longest_start).filter(|delay| !delay.is_zero())
    }

    /// A worker could not be started.
    pub(crate) fn spawn_failed(&mut self, worker: WorkerId, now: Timestamp) -> Setback {
        self.staff.remove(worker);
        self.roster.spawn_failed(worker, now)
    }

    /// A worker that was told to leave is done; the keeper buries it. Says whether the keeper is to
    /// be told.
    pub(crate) fn leaves(&mut self, worker: WorkerId, now: Timestamp) -> bool {
        self.leavers.came(worker, self.leaving(), now)
    }

    /// How many were told to leave and are not gone.
    pub(crate) fn leaving(&self) -> u32 {
        self.roster.counts().leaving
    }

    /// When those who are done are buried, if there are any whose hands are known.
    fn buries_at(&self, floor: &Floor<K::Work>) -> Option<Timestamp> {
        let known = self.leavers.iter().any(|worker| self.staff.has_hand(worker));
        known.then(|| self.leavers.buried_at(self.leaving(), 0 < self.queued(floor)))
    }

    /// The worker was started, and this is what is left when it ends. Says whether it has ended.
    pub(crate) fn set_hand(&mut self, worker: WorkerId, hand: K::Hand) -> bool {
        self.staff.set_hand(worker, hand);
        self.leavers.iter().any(|known| known == worker)
    }

    /// The workers to bury now whose hands are known, and what is left of them.
    pub(crate) fn take_leavers(
        &mut self,
        floor: &Floor<K::Work>,
        now: Timestamp,
    ) -> Vec<(WorkerId, K::Hand)> {
        match self.buries_at(floor) {
            Some(at) if at <= now => self.leavers.take(|worker| self.staff.take_hand(worker)),
            _ => Vec::new(),
        }
    }

    /// A worker is gone for good.
    pub(crate) fn buried(&mut self, worker: WorkerId) {
        self.leavers.buried();
        self.staff.remove(worker);
        self.roster.left(worker);
    }

    /// A worker is gone although nobody told it to leave. It is taken off the books at once, for
    /// it would not hear a signal any more.
    #[cfg(feature = "tokio")]
    pub(crate) fn lost(
        &mut self,
        worker: WorkerId,
        floor: &Floor<K::Work>,
        now: Timestamp,
    ) -> Option<Setback> {
        if let Some(badge) = self.staff.badge(worker) {
            if badge.receive() == Some(Signal::Take) {
                // It was sent for a task, and will not look for one.
                floor.en_route.fetch_sub(1, Ordering::Relaxed);
            }
            if badge.set_short(false) {
                floor.short.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.unblocks(worker);
        self.staff.remove(worker);
        self.roster.died(worker, now)
    }

    /// How many tasks were ever taken out of the line.
    pub(crate) fn taken(&self, floor: &Floor<K::Work>) -> u64 {
        self.staff.taken() + floor.taken_by_others()
    }

    /// Whether nothing waits and nobody runs anything.
    pub(crate) fn is_idle(&self, floor: &Floor<K::Work>) -> bool {
        let counts = self.roster.counts();
        let rests = counts.busy == 0 && counts.written_off == 0 && floor.running_beside() == 0;
        rests && self.taken(floor) == floor.door.admitted()
    }

    /// Whether the door is closed, every task was taken and every worker is gone.
    pub(crate) fn is_over(&self, floor: &Floor<K::Work>) -> bool {
        self.staff.is_empty() && self.is_through(floor)
    }

    /// Whether tasks wait and nobody is there to run them, nor could be hired.
    pub(crate) fn is_deserted(&self, floor: &Floor<K::Work>) -> bool {
        self.is_forsaken() && 0 < self.queued(floor)
    }

    /// Whether nobody is there, and the last who was hired could not be started. Nobody counts on
    /// one that is just being tried.
    fn is_forsaken(&self) -> bool {
        let counts = self.roster.counts();
        let nobody = counts.live == counts.leaving + counts.starting;
        nobody && self.roster.unreachable_until().is_some()
    }

    /// Sets a timer, and says whether the keeper has to be told.
    pub(crate) fn set_timer(&mut self, at: Timestamp, alarm: Alarm) -> bool {
        self.timers.set(at, alarm);
        let sooner = at < self.keeper_looks_at;
        self.keeper_looks_at = self.keeper_looks_at.min(at);
        sooner
    }

    /// Wakes `waker` when something has changed. What is left of the one before, under the same
    /// number, is to be dropped away from the desk.
    pub(crate) fn watch(&mut self, number: u64, waker: Waker) -> Option<Waker> {
        let before = self.unwatch(number);
        self.watchers.push((number, waker));
        before
    }

    /// Whether somebody waits until something is so, and no worker comes to the line meanwhile.
    pub(crate) fn is_watched_paused(&self) -> bool {
        self.paused && !self.watchers.is_empty()
    }

    /// Does not wake it any more. What is left of it is to be dropped away from the desk.
    pub(crate) fn unwatch(&mut self, number: u64) -> Option<Waker> {
        let index = self.watchers.iter().position(|(known, _)| *known == number)?;
        Some(self.watchers.swap_remove(index).1)
    }

    /// Something has changed that those who watch may have waited for.
    pub(crate) fn news(&mut self, errands: &mut Errands<K>) {
        errands.wake_all(self.watchers.drain(..).map(|(_, waker)| waker));
    }

    /// Counts what was taken, and calls as many of those who queue as there is room for.
    pub(crate) fn serve_room(&mut self, floor: &Floor<K::Work>, errands: &mut Errands<K>) {
        if self.room.is_empty() {
            return;
        }
        let taken = self.taken(floor);
        floor.door.make_room(taken);
        let waiting = floor.door.admitted().saturating_sub(taken);
        let free = floor.door.len_max().saturating_sub(waiting);
        errands.wake_all(self.room.call(free));
    }

    /// Calls everybody who queues for a place: there will be none.
    pub(crate) fn dissolve_room_queue(&mut self, errands: &mut Errands<K>) {
        errands.wake_all(self.room.call(u64::MAX));
    }

    /// The keeper looks: it forgets its alarm, and counts who seems to be at a long task by now.
    pub(crate) fn keeper_looks(&mut self, floor: &Floor<K::Work>, now: Timestamp) {
        self.keeper_looks_at = Timestamp::MAX;
        let queued = floor.queued();
        let line = Progress { moved: floor.door.admitted().saturating_sub(queued), queued };
        let alone = floor.notice.read() & TINY != 0;
        let stands = self.lookout.look(now, line, alone);
        floor.notice.set(SHARED, self.lookout.is_shared(now));
        floor.have_stalled(match floor.short.load(Ordering::Relaxed) {
            0 => 0,
            short if stands => short,
            _ => self.count_stalled(now),
        });
    }

    /// Workers that were at short tasks and have not come back.
    fn count_stalled(&self, now: Timestamp) -> u32 {
        let turns = self.roster.counts().busy / self.cores + 1;
        self.staff.count(|badge| {
            let since = badge.since().filter(|_| badge.is_short());
            since.is_some_and(|since| self.lookout.has_stalled(since, now, turns))
        })
    }

    pub(crate) fn keeper_looks_at(&self) -> Timestamp {
        self.keeper_looks_at
    }

    /// Brings workers and notice into line with what is so now; to be done after every visit.
    ///
    /// At most `starts_max` workers are started by the visitor; the keeper starts the others.
    pub(crate) fn settle(
        &mut self,
        floor: &Floor<K::Work>,
        now: Timestamp,
        starts_max: u32,
        e: &mut Errands<K>,
    ) {
        self.send_home_when_closed(floor);
        let mut starts_left = starts_max;
        let alarm = loop {
            self.dismiss(now, e);
            let demand = self.wake(floor, now, e);
            // As old as the oldest of all: nobody is hired later because it may be a shell.
            let waiting = Spread { queued: demand.living, ..floor.newest(demand.excess, now) };
            while 0 < starts_left
                && let Some(order) = self.roster.next_order(now, &waiting)
            {
                starts_left -= 1;
                self.follow(order, now, e);
            }
            if e.is_keepers() {
                self.keeper_hires = e.only_start();
            }
            self.call_when_full(demand, e);
            let raised = self.post(floor, demand);
            // Pairs with the one after a push: either they see the flag or we the task.
            fence(Ordering::SeqCst);
            if !raised || floor.queued() == 0 {
                self.note_orphans(floor, e.visitor);
                break self.alarm(floor, &waiting, demand, now);
            }
        };
        if alarm < self.keeper_looks_at {
            self.keeper_looks_at = alarm;
            e.ring_keeper();
        }
        e.deserted = self.is_deserted(floor);
    }

    /// Where submitters are called from now on to run what they hand over, those before them may be
    /// gone.
    fn note_orphans(&mut self, floor: &Floor<K::Work>, visitor: Visitor) {
        let called = self.is_forsaken() && !self.paused;
        self.orphans.posted(called, floor.door.admitted(), visitor);
    }

    /// Whether a task waits that the keeper is to have run.
    fn has_orphans(&self, floor: &Floor<K::Work>) -> bool {
        let ceiling = self.roster.config().staffing.ceiling;
        self.orphans.wait(ceiling, || self.taken(floor)) && self.is_deserted(floor)
    }

    /// Whether a task waits that the keeper has run now.
    pub(crate) fn takes_care_of_orphan(&mut self, floor: &Floor<K::Work>) -> bool {
        let takes = self.has_orphans(floor);
        if takes {
            self.orphans.take_care();
        }
        takes
    }

    /// Sends home whoever is not needed. Where there are many, the keeper wakes them: a resize
    /// returns at once.
    fn dismiss(&mut self, now: Timestamp, e: &mut Errands<K>) {
        let dismissals_max = if e.is_keepers() { usize::MAX } else { DISMISSALS_MAX };
        while e.rouse.len() < dismissals_max
            && let Some(worker) = self.roster.next_dismissal(now)
        {
            self.signal(worker, Signal::Leave, e);
        }
    }

    /// Somebody is to be called when a task waits and nobody may be hired.
    pub(crate) fn poke_when_full(&mut self, poke: Poke) {
        self.poke = Some(poke);
    }

    fn call_when_full(&mut self, demand: Demand, e: &mut Errands<K>) {
        if 0 < demand.living && self.is_at_ceiling() && e.poke.is_none() {
            e.poke = self.poke.take();
        }
    }

    /// Whether everybody is at work, and nobody more may be hired.
    fn is_at_ceiling(&self) -> bool {
        let counts = self.roster.counts();
        counts.parked == 0 && self.roster.config().staffing.ceiling <= counts.live
    }

    /// Once all tasks of a closed pool were taken, nobody is needed any more.
    fn send_home_when_closed(&mut self, floor: &Floor<K::Work>) {
        if self.is_through(floor) {
            self.through = true;
            // Each time: whoever closes a second time raises the ceiling once more.
            self.roster.resize(Staffing::exactly(0));
        }
    }

    /// Whether the door is closed and every task was taken. Once that is so it stays so.
    pub(crate) fn is_through(&self, floor: &Floor<K::Work>) -> bool {
        self.through || (floor.door.is_closed() && self.taken(floor) == floor.door.admitted())
    }

    /// Wakes parked workers for tasks that wait, and says what is left over.
    fn wake(&mut self, floor: &Floor<K::Work>, now: Timestamp, e: &mut Errands<K>) -> Demand {
        loop {
            let demand = self.demand(floor);
            if demand.excess == 0 || self.roster.counts().parked == 0 {
                return demand;
            }
            match self.roster.submitted(now, 0) {
                Placement::Wake(worker) => {
                    floor.en_route.fetch_add(1, Ordering::Relaxed);
                    self.signal(worker, Signal::Take, e);
                }
                other => unreachable!("{other:?}, although somebody is parked"),
            }
        }
    }

    fn demand(&self, floor: &Floor<K::Work>) -> Demand {
        // Before those on their way: they say that they have arrived before they take a task, so
        // nobody is taken to come for this one who has just taken another.
        let queued = self.queued(floor);
        let short = floor.attentive();
        let deferred = 0 < short;
        let attended = match deferred {
            // Short tasks compute. Where all cores do already, another worker is in their way.
            true if floor.hands(self.cores) <= short => u64::MAX,
            true if floor.notice.read() & QUICK != 0 => u64::from(short) * QUICK_TASKS_EACH,
            true => u64::from(short) * SHORT_TASKS_EACH,
            false => u64::from(floor.en_route.load(Ordering::Relaxed)),
        };
        let excess = queued.saturating_sub(attended);
        let counts = self.roster.counts();
        let living = match counts.leaving < counts.live {
            true => excess.saturating_sub(floor.shells()),
            false => excess,
        };
        Demand { excess, living, deferred }
    }

    fn follow(&mut self, order: Order, now: Timestamp, e: &mut Errands<K>) {
        match order {
            Order::Dismiss(worker) => self.signal(worker, Signal::Leave, e),
            Order::Hire(worker) => {
                self.staff.hire(worker, now);
                e.start(worker);
            }
        }
    }

    fn signal(&mut self, worker: WorkerId, signal: Signal, e: &mut Errands<K>) {
        let badge = self.staff.badge(worker).expect("who is parked has come");
        badge.send(signal);
        e.rouse(Arc::clone(badge));
    }

    /// Posts the notice, and says whether `SUMMON` was raised that was down.
    fn post(&self, floor: &Floor<K::Work>, demand: Demand) -> bool {
        let counts = self.roster.counts();
        let covered = u64::from(counts.starting);
        let config = self.roster.config();
        // Where a task waits uncovered already, the alarm is set for it, and rings for later ones;
        // unless they make a crowd before that.
        let matters = demand.living <= covered || !config.wait_budget.is_zero();
        let hires = counts.live < config.staffing.ceiling && matters && !self.is_being_filled();
        // The next to wait calls for more workers, if somebody asked to be called.
        let calls = self.poke.is_some() && self.is_at_ceiling();
        let worth_it = !demand.deferred && (0 < counts.parked || hires || calls);
        let summon = worth_it || floor.door.is_closed() || self.is_forsaken();
        floor.notice.set(REPORT, self.paused || 0 < counts.retiring);
        floor.notice.set(ROOM, !self.room.is_empty());
        floor.notice.set(CALM, self.is_watched_paused());
        floor.notice.set(SUMMON, summon && !self.paused)
    }

    /// Whether too few are here for the floor and the keeper is at it, who then looks after those
    /// that wait, too. Nobody relies on that where no worker is here yet, or a start has failed.
    fn is_being_filled(&self) -> bool {
        let counts = self.roster.counts();
        let staying = counts.live - counts.leaving;
        let is_manned = counts.starting < staying && self.roster.unreachable_until().is_none();
        self.keeper_hires && is_manned && staying < self.roster.config().staffing.floor
    }

    /// When the keeper should look, if nothing happens before.
    fn alarm(
        &self,
        floor: &Floor<K::Work>,
        waiting: &Spread,
        demand: Demand,
        now: Timestamp,
    ) -> Timestamp {
        let look = self.roster.next_look(waiting);
        let is_watched = (demand.deferred || floor.has_stalled()) && self.has_others_to_send();
        let short = is_watched.then(|| now + SHORT_LOOK);
        // By then one worker alone is tried again.
        let shared = self.lookout.shared_until(now);
        let leavers = self.buries_at(floor);
        let watchdog = self.watchdog_looks_at(now);
        // Nothing else would tell the keeper of a pool without workers that it may go.
        let over = self.is_over(floor).then_some(now);
        let orphans = self.has_orphans(floor).then_some(now);
        let others = [self.timers.next(), watchdog, short, shared, leavers, look, over, orphans];
        others.into_iter().flatten().min().unwrap_or(Timestamp::MAX)
    }

    /// Whether anything follows from it that somebody is held up. Where all are at work and nobody
    /// more may come, the keeper would only take a core from one of them twice in a millisecond.
    fn has_others_to_send(&self) -> bool {
        let counts = self.roster.counts();
        let hires = counts.live < self.roster.config().staffing.ceiling;
        0 < counts.parked || hires || !self.room.is_empty() || self.poke.is_some()
    }

    /// How many tasks wait that may be taken.
    fn queued(&self, floor: &Floor<K::Work>) -> u64 {
        match self.paused {
            true => 0,
            false => floor.queued(),
        }
    }
}

impl<K: Kind> fmt::Debug for Desk<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("roster", &self.roster).finish_non_exhaustive()
    }
}

/// Whoever is told to take a task is on its way to one: nobody else need come for that.
fn sent<W: Send>(standing: Standing, floor: &Floor<W>) -> Standing {
    if standing == Standing::Take {
        floor.en_route.fetch_add(1, Ordering::Relaxed);
    }
    standing
}

fn standing(next: Next) -> Standing {
    match next {
        Next::Take => Standing::Take,
        Next::Park { .. } => Standing::Park,
        Next::Leave => Standing::Leave,
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc;

    use headcount_core::roster::Counts;

    use super::*;
    use crate::{ThreadPool, Threads};

    /// Whether the keeper of a pool with so many workers, one of them at a task that passes for
    /// short, looks after it of its own accord.
    fn is_looked_after(workers: u32) -> bool {
        let pool = ThreadPool::builder().workers(workers..=workers).build().expect("no fault");
        let (begun, begins) = mpsc::channel();
        let (ends, ended) = mpsc::channel::<()>();
        let task = move || {
            begun.send(()).expect("somebody waits for it");
            let _ = ended.recv();
        };
        pool.spawn(task).expect("open");
        begins.recv().expect("it begins");
        let engine = pool.engine();
        // Another may have come for the same task, and not have parked yet.
        let settled = |counts: Counts| counts.starting == 0 && counts.busy == 1;
        while !settled(engine.desk().roster.counts()) {
            crate::sync::yield_now();
        }
        engine.floor.short.fetch_add(1, Ordering::Relaxed);
        engine.visit(0, |_, _, _| ());
        // Every visit sets the alarm anew, and the keeper's own looks are visits, too.
        let looks = engine.desk().keeper_looks_at() < Timestamp::MAX;
        engine.floor.short.fetch_sub(1, Ordering::Relaxed);
        drop(ends);
        looks
    }

    /// A pool between 1 and 4 workers, whose only one is parked.
    fn at_rest(wait_budget: Duration) -> ThreadPool {
        let pool = ThreadPool::builder().workers(1..=4).wait_budget(wait_budget);
        let pool = pool.build().expect("no fault");
        while pool.engine().desk().roster.counts().parked == 0 {
            crate::sync::yield_now();
        }
        pool
    }

    /// Whether submitters are summoned where its worker is at a task, and `excess` others wait.
    fn summons(pool: &ThreadPool, excess: u64, change: impl FnOnce(&mut Desk<Threads>)) -> bool {
        let engine = pool.engine();
        // Nobody is called meanwhile, as the desk is held; so what is read is what was posted.
        let mut desk = engine.desk();
        change(&mut desk);
        let Placement::Wake(worker) = desk.roster.submitted(Timestamp::ORIGIN, 0) else {
            panic!("it is parked");
        };
        desk.post(&engine.floor, Demand { excess, living: excess, deferred: false });
        let _ = desk.roster.finished(worker, Timestamp::ORIGIN, 0);
        engine.floor.notice.read() & SUMMON != 0
    }

    #[test]
    fn nobody_is_summoned_while_the_keeper_starts_those_who_are_to_be_there() {
        let pool = at_rest(Duration::ZERO);
        let check = |staffing, keeper_hires| {
            summons(&pool, 0, |desk| {
                desk.roster.resize(staffing);
                desk.keeper_hires = keeper_hires;
            })
        };
        let (met, short) = (Staffing::between(1, 4), Staffing::between(2, 4));
        assert!(check(met, false), "it may be hired for a task");
        assert!(!check(short, true), "the keeper hires one anyway");
        assert!(check(short, false), "it is not at it yet");
        assert!(check(met, true));
    }

    #[test]
    fn who_comes_after_one_that_waits_is_summoned_where_they_may_make_a_crowd() {
        let patient = at_rest(Duration::from_secs(3600));
        assert!(summons(&patient, 0, |_| ()));
        assert!(summons(&patient, 1, |_| ()), "two more may be hired, and three may come");
        let eager = at_rest(Duration::ZERO);
        assert!(!summons(&eager, 1, |_| ()), "somebody is at it");
    }

    #[test]
    fn whoever_comes_where_nobody_is_here_yet_is_summoned() {
        let engine = ThreadPool::builder().workers(2).unkept();
        let mut desk = engine.desk();
        let hired = desk.roster.next_order(Timestamp::ORIGIN, &Spread::default());
        assert!(matches!(hired, Some(Order::Hire(_))));
        desk.keeper_hires = true;
        desk.post(&engine.floor, Demand { excess: 0, living: 0, deferred: false });
        assert!(engine.floor.notice.read() & SUMMON != 0, "the start may fail");
    }

    #[test]
    fn the_keeper_does_not_look_after_short_tasks_where_nobody_else_could_come() {
        assert!(is_looked_after(2), "another worker is parked");
        assert!(!is_looked_after(1), "all are at work");
    }
}
