//! The parts, put together: what a submitter, a worker and the keeper call.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use headcount_core::roster::{RosterConfig, Setback, WorkerId};
use headcount_core::{Clock, Name, Staffing, Timestamp};

use super::Kind;
use super::badge::Badge;
use super::deserted::Seeing;
use super::desk::{Desk, Standing};
use super::door::Shut;
use super::errands::{Errands, Visitor};
use super::floor::{Entry, Floor};
use super::hooks::WorkerHooks;
use super::line::Line;
use super::notice::{QUICK, ROOM};
use super::tally::{Counter, Fate, Tally};
use super::timers::Alarm;
use super::watchdog::Watchdog;
use crate::clock::Monotonic;
use crate::event::{Event, Events};
use crate::park::Parker;
use crate::policy::{Policies, Witness};
use crate::pool::{BlockedShare, PanicPolicy};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use crate::sync::{Mutex, MutexGuard, lock};
use crate::task::BlocksOn;
use crate::unhurt::{drop_quietly, quietly};

/// While tasks are short, those who wait for a place are called when there are so many: to be put
/// to sleep and woken costs each of them as much as many short tasks do.
const ROOM_AT_ONCE_MAX: u64 = 256;
/// The same while they are tiny.
const ROOM_AT_ONCE_MAX_QUICK: u64 = 8192;

/// What a pool is made with.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) name: String,
    pub(crate) roster: RosterConfig,
    /// No resize goes beyond it.
    pub(crate) workers_max: u32,
    pub(crate) queue_len_max: u64,
    /// What a parked worker costs beside one at work, if idle time follows from that.
    pub(crate) keep_share: Option<f64>,
    pub(crate) compensate_max: u32,
    pub(crate) replace_stuck_max: u32,
    /// Over this a task is stuck. `None`: never.
    pub(crate) stuck_after: Option<Duration>,
    pub(crate) hooks: WorkerHooks,
    pub(crate) events: Events,
    pub(crate) panic_policy: PanicPolicy,
}

/// One pool's engine.
#[doc(hidden)]
pub struct Engine<K: Kind> {
    pub(crate) kind: K,
    pub(crate) name: String,
    pub(crate) workers_max: u32,
    cores: u32,
    pub(crate) hooks: WorkerHooks,
    pub(crate) floor: Floor<K::Work>,
    pub(crate) tally: Tally,
    pub(crate) events: Arc<Events>,
    pub(crate) policies: Policies,
    pub(crate) refused: AtomicU64,
    /// Whether the roster knows that a full line turns tasks away.
    turns_away: AtomicBool,
    /// Tasks that were not let in and that their submitters ran.
    pub(crate) ran_beside: AtomicU64,
    /// How many tasks policies were asked about.
    pub(crate) asked: AtomicU64,
    /// How many watches there were.
    pub(crate) watches: AtomicU64,
    pub(crate) panic_policy: PanicPolicy,
    pub(crate) bell: Arc<Parker>,
    pub(crate) blocked_share: Mutex<BlockedShare>,
    desk: Mutex<Desk<K>>,
}

impl<K: Kind> Engine<K> {
    pub(crate) fn new(kind: K, settings: Settings, line: Line<Entry<K::Work>>) -> Self {
        let watchdog = Watchdog::new(
            settings.stuck_after,
            settings.replace_stuck_max,
            settings.compensate_max,
        );
        let floor = Floor::new(line, settings.queue_len_max);
        let events = Arc::new(settings.events);
        Self {
            kind,
            name: settings.name,
            workers_max: settings.workers_max,
            cores: u32::try_from(crate::cores().get()).unwrap_or(u32::MAX),
            hooks: settings.hooks,
            policies: Policies::telling(Some(tells_of_hooks(&events, floor.clock))),
            floor,
            tally: Tally::new(),
            events,
            refused: AtomicU64::new(0),
            turns_away: AtomicBool::new(settings.roster.queue_len_max.is_some()),
            ran_beside: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            watches: AtomicU64::new(0),
            panic_policy: settings.panic_policy,
            bell: Arc::new(Parker::default()),
            blocked_share: Mutex::new(BlockedShare::default()),
            desk: Mutex::new(Desk::new(settings.roster, settings.keep_share, watchdog)),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.floor.clock.now()
    }

    /// The desk, to look at. Whoever changes anything visits.
    pub(crate) fn desk(&self) -> MutexGuard<'_, Desk<K>> {
        lock(&self.desk)
    }

    /// Does something at the desk, then what follows from it.
    pub(crate) fn visit<R>(
        self: &Arc<Self>,
        starts_max: u32,
        act: impl FnOnce(&mut Desk<K>, Timestamp, &mut Errands<K>) -> R,
    ) -> R {
        let (result, errands) = self.decide(Visitor::Other, starts_max, act);
        // What nobody will come for is noted at the desk, and the keeper sees to it.
        self.run(errands);
        result
    }

    fn decide<R>(
        &self,
        visitor: Visitor,
        starts_max: u32,
        act: impl FnOnce(&mut Desk<K>, Timestamp, &mut Errands<K>) -> R,
    ) -> (R, Errands<K>) {
        let mut errands = Errands::of(visitor);
        let mut desk = lock(&self.desk);
        let now = self.now();
        let result = act(&mut desk, now, &mut errands);
        desk.settle(&self.floor, now, starts_max, &mut errands);
        (result, errands)
    }

    /// Runs errands, and says whether a task is left that no worker will come for.
    fn run(self: &Arc<Self>, errands: Errands<K>) -> bool {
        errands.rouse.iter().for_each(|badge| K::rouse(badge.bed()));
        errands.wake.into_iter().for_each(|waker| quietly(|| waker.wake()));
        if errands.ring_keeper {
            self.bell.call();
        }
        let mut stranded = errands.deserted;
        for worker in errands.start {
            stranded |= self.start(worker, errands.visitor);
        }
        errands.events.into_iter().for_each(|event| self.events.tell(self.now(), event));
        if let Some(poke) = errands.poke {
            quietly(|| poke());
        }
        stranded
    }

    /// Starts a worker, and says whether a task is left that nobody comes for as it could not be.
    fn start(self: &Arc<Self>, worker: WorkerId, visitor: Visitor) -> bool {
        match K::start(self, worker) {
            Ok(hand) => {
                // Nothing follows from that, unless it was quicker than we.
                let ended = self.desk().set_hand(worker, hand);
                if ended {
                    self.bell.call();
                }
                false
            }
            Err(error) => {
                let (_, errands) = self.decide(visitor, 0, |desk, now, errands| {
                    let setback = desk.spawn_failed(worker, now);
                    desk.news(errands);
                    is_stranded(desk, (setback, error.to_string()), now, errands)
                });
                self.run(errands)
            }
        }
    }

    /// A worker is gone although nobody told it to leave: its runtime has shut down.
    #[cfg(feature = "tokio")]
    pub(crate) fn lost(self: &Arc<Self>, worker: WorkerId) {
        let stranded = self.visit(0, |desk, now, errands| {
            let setback = desk.lost(worker, &self.floor, now);
            desk.news(errands);
            let error = "the runtime has shut down".to_owned();
            setback.is_some_and(|setback| is_stranded(desk, (setback, error), now, errands))
        });
        if stranded {
            self.strand_all();
        }
    }

    /// Does what is left to do with all that waits, since no worker can be started.
    pub(crate) fn strand_all(self: &Arc<Self>) {
        while let Some(entry) = self.floor.take_out() {
            K::strand(self, entry.work);
        }
        self.visit(0, |desk, _, errands| desk.news(errands));
    }

    /// Puts a task into the line that the door has let in.
    pub(crate) fn put(self: &Arc<Self>, number: u64, work: K::Work) {
        if self.floor.put(number, work) {
            self.summoned();
        }
    }

    /// Puts tasks into the line that the door has let in together, under numbers from `first` on.
    pub(crate) fn put_all(self: &Arc<Self>, first: u64, works: impl Iterator<Item = K::Work>) {
        // Whether somebody is wanted is asked after the last one, which is after all of them.
        let wanted =
            (first..).zip(works).fold(false, |_, (number, work)| self.floor.put(number, work));
        if wanted {
            self.summoned();
        }
    }

    /// A submitter was asked to come to the desk.
    #[cold]
    pub(crate) fn summoned(self: &Arc<Self>) {
        let ((), errands) = self.decide(Visitor::Submitter, 1, |_, _, _| ());
        if self.run(errands) {
            self.run_deserted();
        }
    }

    /// Does what is left to do with what waits, because there is no worker and none can be
    /// started. Not with what comes later: whoever brings that does it, unless it is too deep
    /// inside of this.
    fn run_deserted(self: &Arc<Self>) {
        let mut left = self.floor.queued();
        let Some(seeing) = Seeing::to(self.number(), left) else { return };
        while 0 < left && self.run_one_deserted() {
            left = (left - 1).max(seeing.take_left());
        }
    }

    /// Does the same with the oldest that waits, and says whether there was one.
    fn run_one_deserted(self: &Arc<Self>) -> bool {
        let deserted = self.desk().is_deserted(&self.floor);
        let Some(entry) = deserted.then(|| self.floor.take_out()).flatten() else { return false };
        // It may take its time, and the keeper may see to those behind it.
        let leaves_others = 0 < self.floor.queued();
        if leaves_others {
            self.visit(0, |desk, _, _| desk.orphans.one_begins());
        }
        K::strand(self, entry.work);
        self.visit(0, |desk, _, errands| {
            if leaves_others {
                desk.orphans.one_ended();
            }
            desk.news(errands);
        });
        true
    }

    /// Does the same with one that its submitter counts on a worker for.
    pub(crate) fn run_orphan(self: &Arc<Self>) {
        quietly(|| {
            self.run_one_deserted();
        });
        self.visit(0, |desk, _, _| desk.orphans.cared());
    }

    /// Asks for a place in the line. Where that seems full it counts anew what was taken, and where
    /// it is full it clears shells out.
    pub(crate) fn enter(self: &Arc<Self>) -> Result<u64, Shut> {
        match self.floor.door.enter() {
            Err(Shut::Full) => match self.enter_counted() {
                Err(Shut::Full) if self.clear_shells() => self.enter_counted(),
                answer => answer,
            },
            answer => answer,
        }
    }

    fn enter_counted(self: &Arc<Self>) -> Result<u64, Shut> {
        self.count_taken();
        self.floor.door.enter()
    }

    /// Counts anew what was taken, so that the door knows how much room there is.
    #[cold]
    pub(crate) fn count_taken(self: &Arc<Self>) {
        let taken = self.desk().taken(&self.floor);
        self.floor.door.make_room(taken);
    }

    /// Takes the next task for a worker, and says whether there was one.
    pub(crate) fn take(
        self: &Arc<Self>,
        badge: &Badge<K>,
        hand: &mut Option<Entry<K::Work>>,
    ) -> bool {
        if !self.floor.next(hand) {
            return false;
        }
        badge.count();
        let short = badge.is_short();
        if !short {
            // Pairs with the one after `ROOM` was raised. Not while tasks are short: the next one
            // is taken at once, and the keeper looks after those who wait.
            fence(Ordering::SeqCst);
        }
        if self.floor.notice.read() & ROOM != 0 {
            self.serve_room(short);
        }
        true
    }

    #[cold]
    fn serve_room(self: &Arc<Self>, short: bool) {
        let len_max = self.floor.door.len_max();
        let quick = self.floor.notice.read() & QUICK != 0;
        let at_once = match short {
            true if quick => (len_max / 8).clamp(1, ROOM_AT_ONCE_MAX_QUICK),
            true => (len_max / 8).clamp(1, ROOM_AT_ONCE_MAX),
            false => 1,
        };
        if self.floor.queued() + at_once <= len_max {
            self.visit(0, |desk, _, errands| desk.serve_room(&self.floor, errands));
        }
    }

    /// A hired worker is ready for its first task.
    pub(crate) fn started(self: &Arc<Self>, worker: WorkerId, badge: &Arc<Badge<K>>) -> Standing {
        let badge = Arc::clone(badge);
        self.visit(0, |desk, now, errands| {
            desk.news(errands);
            desk.staff.came(worker, badge);
            desk.started(worker, &self.floor, now)
        })
    }

    /// A worker found the line empty, or was asked to report.
    pub(crate) fn report(self: &Arc<Self>, worker: WorkerId) -> Standing {
        self.visit(0, |desk, now, errands| {
            let standing = desk.reported(worker, &self.floor, now);
            desk.serve_room(&self.floor, errands);
            desk.news(errands);
            standing
        })
    }

    pub(crate) fn cores(&self) -> u32 {
        self.cores
    }

    /// Whether more workers are at short tasks than they are work for.
    pub(crate) fn is_crowded(&self) -> bool {
        self.floor.hands(self.cores) < self.floor.attentive()
    }

    /// A worker that was told to leave holds nothing any more. Says how many leave with it.
    pub(crate) fn leave(self: &Arc<Self>, worker: WorkerId) -> u32 {
        // Nothing follows from that but the keeper's work.
        let (rings, leaving) = {
            let mut desk = self.desk();
            (desk.leaves(worker, self.now()), desk.leaving())
        };
        if rings {
            self.bell.call();
        }
        leaving
    }

    /// Where the worker in this slot counts.
    pub(crate) fn counter(&self, slot: usize) -> Counter<'_> {
        self.tally.desk_of(slot)
    }

    /// Sets other bounds, within what the pool was made for.
    pub(crate) fn resize(self: &Arc<Self>, wanted: Staffing) -> Staffing {
        let ceiling = wanted.ceiling.min(self.workers_max);
        let staffing = Staffing::between(wanted.floor.min(ceiling), ceiling);
        self.visit(0, |desk, _, errands| {
            // A closed pool lets its workers finish; then there will be none.
            if !self.floor.door.is_closed() {
                desk.roster.resize(staffing);
            }
            desk.news(errands);
        });
        staffing
    }

    /// Hires for tasks that have waited for so long from now on.
    pub(crate) fn set_wait_budget(self: &Arc<Self>, wait_budget: Duration) {
        self.reconfigure(|config| RosterConfig { wait_budget, ..config });
    }

    /// Lets workers go that were idle for so long from now on.
    pub(crate) fn set_idle_time(self: &Arc<Self>, idle_time: Duration) {
        self.reconfigure(|config| RosterConfig { idle_time, ..config });
    }

    /// Somebody is turned away at a full line. From the first one on workers are hired before it is
    /// full, also where most submitters wait.
    #[cold]
    pub(crate) fn turns_away(self: &Arc<Self>) {
        // Relaxed: whoever does not see it yet only says it once more.
        if !self.turns_away.load(Ordering::Relaxed) {
            self.turns_away.store(true, Ordering::Relaxed);
            let queue_len_max = Some(self.floor.door.len_max());
            self.reconfigure(|config| RosterConfig { queue_len_max, ..config });
        }
    }

    fn reconfigure(self: &Arc<Self>, change: impl FnOnce(RosterConfig) -> RosterConfig) {
        self.visit(0, |desk, _, _| {
            let config = desk.roster.config();
            desk.roster.reconfigure(change(config));
        });
    }

    /// Closes the door. What was let in still runs.
    pub(crate) fn close(self: &Arc<Self>) {
        self.floor.door.close();
        self.visit(0, |desk, _, errands| {
            desk.paused = false;
            let Staffing { floor, ceiling } = desk.roster.config().staffing;
            desk.roster.resize(Staffing::between(floor, ceiling.max(1)));
            desk.dissolve_room_queue(errands);
            desk.news(errands);
        });
    }

    /// Takes everything out of the line.
    pub(crate) fn clear(self: &Arc<Self>) -> Vec<K::Work> {
        let mut out = Vec::new();
        // The line of a closed pool does not grow any more, but for those who are at the door.
        while let Some(entry) = self.floor.take_out() {
            out.push(entry.work);
        }
        self.visit(0, |desk, _, errands| desk.news(errands));
        out
    }

    /// Rings `alarm` at that time.
    pub(crate) fn remind_at(&self, at: Timestamp, alarm: Alarm) {
        let rings = self.desk().set_timer(at, alarm);
        if rings {
            self.bell.call();
        }
    }

    /// A worker is about to block, since now.
    pub(crate) fn blocks(self: &Arc<Self>, worker: WorkerId, badge: &Badge<K>, on: BlocksOn) {
        self.visit(0, |desk, now, errands| {
            badge.blocked(Some(now));
            desk.blocks(worker, on, now, errands);
        });
    }

    /// It does not any more.
    pub(crate) fn unblocks(self: &Arc<Self>, worker: WorkerId, badge: &Badge<K>) {
        self.visit(0, |desk, _, _| {
            badge.blocked(None);
            desk.unblocks(worker);
        });
    }

    /// Tells whoever waits for a task that was taken out that it does not run, and counts it.
    pub(crate) fn abandon(&self, mut work: K::Work, fate: Fate) {
        let class = K::class(&work);
        if K::give_up(&mut work, fate) {
            self.ended_unrun(fate);
            if fate == Fate::Dropped {
                self.dropped(class);
            }
        } else {
            K::take_shell(&work);
        }
        drop_quietly(work);
    }

    /// A task was dropped where the line was full.
    pub(crate) fn dropped(&self, class: Option<Name>) {
        self.events.tell(self.now(), Event::TaskDropped { class });
    }

    /// Counts a task that ended without having been run by a worker.
    pub(crate) fn ended_unrun(&self, fate: Fate) {
        self.counter(0).ended(fate);
    }

    /// A task waited for too long, and is gone.
    pub(crate) fn expired(&self, class: Option<Name>) {
        self.events.tell(self.now(), Event::TaskExpired { class });
    }

    /// A task begins beside the workers; it does not any more when what this returns is dropped.
    pub(crate) fn beside(self: &Arc<Self>) -> Beside<K> {
        self.floor.beside_changed(1);
        Beside { engine: Arc::clone(self) }
    }

    pub(crate) fn panicked(&self, class: Option<Name>, message: String) {
        self.events.tell(self.now(), Event::TaskPanicked { class, message });
        if self.panic_policy == PanicPolicy::Abort {
            std::process::abort();
        }
    }
}

/// Tells of the hooks of policies that panicked.
fn tells_of_hooks(events: &Arc<Events>, clock: Monotonic) -> Witness {
    let events = Arc::clone(events);
    Arc::new(move |policy, hook| {
        let event = Event::HookPanicked { hook, policy: Some(policy) };
        events.tell(clock.now(), event);
    })
}

/// Tells of a worker that could not be started, and says whether there is none at all.
fn is_stranded<K: Kind>(
    desk: &mut Desk<K>,
    (setback, error): (Setback, String),
    now: Timestamp,
    errands: &mut Errands<K>,
) -> bool {
    desk.hire_error = Some(error.clone());
    let (stranded, retry_at) = match setback {
        Setback::Stranded { retry_at } => (true, retry_at),
        Setback::Short { retry_at } => (false, retry_at),
    };
    errands.tell(Event::HireFailed { error, retry_in: retry_at.since(now), stranded });
    stranded
}

/// A task that runs beside the workers.
#[derive(Debug)]
pub(crate) struct Beside<K: Kind> {
    engine: Arc<Engine<K>>,
}

impl<K: Kind> Drop for Beside<K> {
    fn drop(&mut self) {
        self.engine.floor.beside_changed(-1);
        self.engine.visit(0, |desk, _, errands| desk.news(errands));
    }
}

impl<K: Kind> fmt::Debug for Engine<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc;
    use std::thread::{self, JoinHandle};

    use super::*;
    use crate::engine::keep;
    use crate::task::{Once, small};
    use crate::{ThreadPool, Threads};

    /// Longer than it takes, even where many others use the machine.
    const LIMIT: Duration = Duration::from_secs(20);

    /// One that cannot start a worker, and has no keeper yet.
    fn powerless(workers_max: u32) -> Arc<Engine<Threads>> {
        let builder = ThreadPool::builder().workers(0..=workers_max).wait_budget(10 * LIMIT);
        let engine = builder.stack_size(1 << 60).unkept();
        engine.visit(0, |_, _, _| ());
        engine
    }

    /// Puts a task into the line; its submitter is still to come to the desk, if it is called.
    fn put(engine: &Arc<Engine<Threads>>, task: impl FnOnce() + Send + 'static) -> bool {
        let number = engine.enter().expect("open");
        engine.floor.put(number, small(Once::new(task)))
    }

    fn keeper_of(engine: &Arc<Engine<Threads>>) -> JoinHandle<()> {
        let engine = Arc::clone(engine);
        thread::spawn(move || keep(&engine))
    }

    /// Somebody is at the desk first and starts a worker for a task; its submitter comes meanwhile,
    /// counts on that and goes. Then the start fails.
    fn check(first: Visitor) {
        let engine = powerless(1);
        let (ran, runs) = mpsc::channel();
        assert!(put(&engine, move || ran.send(()).expect("somebody waits")), "it is called");
        let ((), errands) = engine.decide(first, 1, |_, _, _| ());
        assert_eq!(errands.start.len(), 1, "one is hired for it");
        engine.summoned();
        assert!(runs.try_recv().is_err(), "a worker may come");
        if engine.run(errands) && first == Visitor::Submitter {
            engine.run_deserted();
        }
        let keeper = keeper_of(&engine);
        assert_eq!(runs.recv_timeout(LIMIT), Ok(()), "{first:?} was first");
        engine.close();
        keeper.join().expect("no panic");
    }

    #[test]
    fn a_task_whose_start_failed_is_run_whoever_was_at_the_desk() {
        for first in [Visitor::Submitter, Visitor::Other, Visitor::Keeper] {
            check(first);
        }
    }

    #[test]
    fn a_task_does_not_wait_for_a_submitter_that_is_kept_by_another_one() {
        let engine = powerless(2);
        let (second_ran, second_runs) = mpsc::channel();
        let (first_ran, first_runs) = mpsc::channel();
        let first = move || {
            first_ran.send(second_runs.recv_timeout(LIMIT)).expect("somebody waits");
        };
        assert!(put(&engine, first));
        let ((), errands) = engine.decide(Visitor::Submitter, 1, |_, _, _| ());
        if put(&engine, move || second_ran.send(()).expect("it waits")) {
            engine.summoned();
        }
        assert!(engine.run(errands), "nobody can be started");
        let keeper = keeper_of(&engine);
        engine.run_deserted();
        assert_eq!(first_runs.recv(), Ok(Ok(())), "the second runs beside it");
        engine.close();
        keeper.join().expect("no panic");
    }
}
