//! Over a million random events, a pool that does what its roster says never goes wrong.
//!
//! The pool here has virtual time, a queue, slow and failing starts, deaths, stuck workers,
//! resizes and expiries that arrive late. Beside the roster it keeps a naive record of every
//! worker: a map and a list, counted afresh each time. Each answer of the roster is held against
//! that record, and so is the state after each event. A failing run names its seed.

mod dice;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::panic::catch_unwind;
use std::time::Duration;

use dice::Dice;
use headcount_core::roster::{
    BACKOFF_MAX, Counts, Expiry, Next, Order, Placement, Roster, RosterConfig, Setback, WorkerId,
};
use headcount_core::{Staffing, Timestamp};

const SEEDS: u64 = 24;
const EVENTS_PER_SEED: u64 = 60_000;
const WORKERS_MAX: u32 = 12;
const QUEUE_LEN_MAX: usize = 40;

#[test]
fn a_million_random_events_never_go_wrong() {
    let mut seen = Seen::default();
    for seed in 1..=SEEDS {
        let run = catch_unwind(|| Pool::new(seed).run(EVENTS_PER_SEED));
        let Ok(run) = run else { panic!("seed {seed} went wrong, as told above") };
        for (case, times) in run {
            *seen.entry(case).or_default() += times;
        }
    }
    check_that_each_case_was_met(&seen);
}

/// How often each case was met.
type Seen = BTreeMap<&'static str, u64>;

/// A model that never meets a case proves nothing about it.
fn check_that_each_case_was_met(seen: &Seen) {
    assert_eq!(seen.len(), 16, "some cases were never met: {seen:?}");
    assert!(seen.values().all(|times| 500 < *times), "some were met too seldom: {seen:?}");
    assert!(1_000_000 < seen["event"]);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Submit,
    Alarm,
    Started(WorkerId),
    SpawnFailed(WorkerId),
    Finished(WorkerId, u64),
    Expired(WorkerId),
    Left(WorkerId),
    Died(WorkerId),
    Stuck(WorkerId, u64),
    Resize,
}

/// What the naive record knows of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Starting,
    Task(u64),
    Nothing { since: Timestamp },
    Leaving,
    StuckIn(u64),
    LeavingWithoutPlace,
}

struct Pool {
    roster: Roster,
    dice: Dice,
    now: Timestamp,
    agenda: BinaryHeap<Reverse<(Timestamp, u64, Event)>>,
    planned: u64,
    alarm: Option<Timestamp>,
    queue: VecDeque<Timestamp>,
    workers: BTreeMap<WorkerId, Doing>,
    /// The parked, in the order in which they parked.
    parked: Vec<WorkerId>,
    submitted: u64,
    taken: u64,
    done: u64,
    open: bool,
    /// How many of a hundred starts fail.
    failing: u32,
    events: u64,
    seen: Seen,
}

impl Pool {
    fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let mut micros = |end| Duration::from_micros(dice.below(end).into());
        // Every third seed has no wait budget, so that it hires like ants.
        let wait_budget = if seed.is_multiple_of(3) { Duration::ZERO } else { micros(20_000) };
        let config = RosterConfig {
            wait_budget,
            spawn_delay: micros(2_000),
            idle_time: micros(30_000),
            written_off_max: dice.below(4),
            // Every fifth turns away whoever comes when so many wait.
            queue_len_max: seed.is_multiple_of(5).then(|| (1 + dice.below(9)).into()),
            ..RosterConfig::new(Staffing::between(1, 4))
        };
        Self {
            roster: Roster::new(config),
            dice,
            now: Timestamp::ORIGIN,
            agenda: BinaryHeap::new(),
            planned: 0,
            alarm: None,
            queue: VecDeque::new(),
            workers: BTreeMap::new(),
            parked: Vec::new(),
            submitted: 0,
            taken: 0,
            done: 0,
            open: true,
            failing: if seed.is_multiple_of(4) { 50 } else { 5 },
            events: 0,
            seen: Seen::default(),
        }
    }

    fn run(mut self, events: u64) -> Seen {
        self.look();
        self.plan(Duration::ZERO, Event::Submit);
        self.plan(Duration::ZERO, Event::Resize);
        while self.events < events {
            self.step();
        }
        self.close();
        self.seen.insert("event", self.events);
        self.seen
    }

    fn step(&mut self) {
        let Reverse((at, _, event)) = self.agenda.pop().expect("submissions never end");
        self.now = at;
        self.events += 1;
        self.check_nobody_is_late();
        match event {
            Event::Submit => self.submit(),
            Event::Alarm => self.ring(),
            Event::Started(worker) => self.started(worker),
            Event::SpawnFailed(worker) => self.spawn_failed(worker),
            Event::Finished(worker, task) => self.finished(worker, task),
            Event::Expired(worker) => self.expired(worker),
            Event::Left(worker) => self.left(worker),
            Event::Died(worker) => self.died(worker),
            Event::Stuck(worker, task) => self.stuck(worker, task),
            Event::Resize => self.resize(),
        }
        self.check_state();
    }

    /// Takes no more tasks, lets everything end, and finds nothing left over.
    fn close(&mut self) {
        self.open = false;
        self.roster.resize(Staffing::between(0, WORKERS_MAX));
        self.look();
        while !self.agenda.is_empty() {
            self.step();
        }
        assert_eq!(self.done, self.submitted, "every task ran once");
        self.roster.resize(Staffing::exactly(0));
        self.look();
        while !self.agenda.is_empty() {
            self.step();
        }
        assert!(self.workers.is_empty(), "nobody is left: {:?}", self.workers);
        assert_eq!(self.roster.counts(), Counts::default());
    }

    // The pool: it does what the roster says, and holds each answer against the record.

    fn submit(&mut self) {
        if !self.open {
            return;
        }
        self.plan_submission();
        if self.queue.len() == QUEUE_LEN_MAX {
            return;
        }
        self.submitted += 1;
        self.place();
        if self.is_crowded() {
            self.saw("crowd");
            self.look();
        }
    }

    fn place(&mut self) {
        match self.roster.submitted(self.now, self.queue.len() as u64) {
            Placement::Wake(worker) => {
                self.saw("wake");
                assert_eq!(self.parked.pop(), Some(worker), "last parked, first woken");
                self.begin(worker);
            }
            Placement::Hire(worker) => {
                assert!(self.parked.is_empty(), "hired while somebody was parked");
                assert!(self.starting() <= self.queue.len(), "hired for a covered task");
                self.queue.push_back(self.now);
                self.hire(worker);
            }
            Placement::Wait { hire_at } => {
                self.saw("wait");
                assert!(self.parked.is_empty(), "a task waits while somebody is parked");
                self.queue.push_back(self.now);
                if let Some(at) = hire_at {
                    self.set_alarm(at);
                }
            }
        }
    }

    fn ring(&mut self) {
        if self.alarm.is_some_and(|at| at <= self.now) {
            self.look();
        }
    }

    fn started(&mut self, worker: WorkerId) {
        if self.workers.get(&worker) != Some(&Doing::Starting) {
            return;
        }
        let next = self.roster.started(worker, self.now, self.queue.len() as u64);
        self.follow(worker, next);
        assert_eq!(self.roster.unreachable_until(), None, "starting works");
        self.look();
    }

    fn spawn_failed(&mut self, worker: WorkerId) {
        if self.workers.get(&worker) != Some(&Doing::Starting) {
            return;
        }
        let setback = self.roster.spawn_failed(worker, self.now);
        self.check_setback(worker, setback);
        self.look();
    }

    fn check_setback(&mut self, worker: WorkerId, setback: Setback) {
        self.saw("start failed");
        self.workers.remove(&worker);
        let (stranded, retry_at) = match setback {
            Setback::Short { retry_at } => (false, retry_at),
            Setback::Stranded { retry_at } => (true, retry_at),
        };
        assert_eq!(stranded, self.staying() == 0);
        if stranded {
            self.saw("stranded");
        }
        assert!(self.now < retry_at && retry_at <= self.now + BACKOFF_MAX);
        assert_eq!(self.roster.unreachable_until(), Some(retry_at));
    }

    fn finished(&mut self, worker: WorkerId, task: u64) {
        let came_back = match self.workers.get(&worker) {
            Some(Doing::Task(current)) if *current == task => false,
            Some(Doing::StuckIn(current)) if *current == task => true,
            // It died in the task, which was submitted again.
            _ => return,
        };
        self.done += 1;
        let room = self.live() < self.ceiling();
        let next = self.roster.finished(worker, self.now, self.queue.len() as u64);
        if came_back && !room {
            self.saw("turned away");
            assert_eq!(next, Next::Leave, "there is no room for one that comes back");
            self.workers.insert(worker, Doing::LeavingWithoutPlace);
            return self.go(worker);
        }
        if came_back {
            self.saw("came back");
        }
        self.follow(worker, next);
    }

    fn follow(&mut self, worker: WorkerId, next: Next) {
        // As good as busy, so that it is counted among those who stay.
        self.workers.insert(worker, Doing::Task(0));
        match next {
            Next::Take => {
                assert!(self.staying() <= self.ceiling(), "surplus takes no task");
                self.queue.pop_front().expect("a task waits");
                self.begin(worker);
            }
            Next::Park { until } => {
                assert!(self.staying() <= self.ceiling(), "surplus does not park");
                assert!(self.queue.is_empty(), "parked while a task waits");
                self.workers.insert(worker, Doing::Nothing { since: self.now });
                self.parked.push(worker);
                assert_eq!(until.is_some(), self.roster.config().staffing.floor < self.staying());
                self.plan_expiry(worker, until);
            }
            Next::Leave => {
                self.saw("retired");
                assert!(self.ceiling() < self.staying(), "sent away although there is room");
                self.workers.insert(worker, Doing::Leaving);
                self.go(worker);
            }
        }
    }

    fn expired(&mut self, worker: WorkerId) {
        let doing = self.workers.get(&worker).copied();
        let staying = self.staying();
        match self.roster.expired(worker, self.now) {
            Expiry::Leave => {
                self.saw("expired");
                let Some(Doing::Nothing { since }) = doing else {
                    panic!("{worker} was sent away while {doing:?}");
                };
                assert!(self.roster.config().idle_time <= self.now.since(since), "too early");
                assert!(self.roster.config().staffing.floor < staying, "below the floor");
                self.send_home(worker);
            }
            Expiry::Stay { until } => {
                if !matches!(doing, Some(Doing::Nothing { .. })) {
                    self.saw("expired late");
                    assert_eq!(until, None, "it is not parked");
                }
                self.plan_expiry(worker, until);
            }
        }
    }

    fn left(&mut self, worker: WorkerId) {
        if self.workers.remove(&worker).is_some() {
            self.roster.left(worker);
            self.look();
        }
    }

    fn died(&mut self, worker: WorkerId) {
        let Some(doing) = self.workers.get(&worker).copied() else { return };
        self.saw("died");
        self.parked.retain(|other| *other != worker);
        let setback = self.roster.died(worker, self.now);
        assert_eq!(setback.is_some(), doing == Doing::Starting);
        self.workers.remove(&worker);
        if let Some(setback) = setback {
            self.check_setback(worker, setback);
        }
        if let Doing::Task(_) | Doing::StuckIn(_) = doing {
            self.place();
        }
        self.look();
    }

    fn stuck(&mut self, worker: WorkerId, task: u64) {
        let doing = self.workers.get(&worker).copied();
        if doing != Some(Doing::Task(task)) {
            self.saw("watchdog late");
        }
        let written_off = self.roster.counts().written_off;
        let counted_out = self.roster.written_off(worker);
        let Some(Doing::Task(task)) = doing else {
            assert!(!counted_out, "{worker} was counted out while {doing:?}");
            return;
        };
        assert_eq!(counted_out, written_off < self.roster.config().written_off_max);
        if counted_out {
            self.saw("written off");
            self.workers.insert(worker, Doing::StuckIn(task));
        }
        self.look();
    }

    fn resize(&mut self) {
        if !self.open {
            return;
        }
        let ceiling = self.dice.below(WORKERS_MAX + 1);
        let floor = self.dice.below(WORKERS_MAX + 1);
        let floor = if self.one_in(3) { floor } else { floor / 6 };
        if self.one_in(4) {
            let idle_time = self.micros(30_000);
            let spawn_delay = self.micros(2_000);
            let config = RosterConfig { idle_time, spawn_delay, ..self.roster.config() };
            self.roster.reconfigure(config);
        }
        self.roster.resize(Staffing { floor, ceiling });
        self.look();
        let span = self.micros(20_000);
        self.plan(span, Event::Resize);
    }

    /// Does what is ordered until there is nothing, and sets the alarm.
    fn look(&mut self) {
        for _ in 0..=2 * WORKERS_MAX {
            match self.roster.next_order(self.now, &self.queue) {
                Some(Order::Hire(worker)) => {
                    assert!(self.hire_is_due(), "hired without need");
                    self.hire(worker);
                }
                Some(Order::Dismiss(worker)) => self.dismiss(worker),
                None => {
                    self.alarm = None;
                    if let Some(at) = self.roster.next_look(&self.queue) {
                        assert!(self.now < at, "there are orders now, and they were not given");
                        self.set_alarm(at);
                    }
                    assert!(!self.hire_is_due(), "a needed worker was not hired");
                    return;
                }
            }
        }
        panic!("orders without end");
    }

    fn dismiss(&mut self, worker: WorkerId) {
        self.saw("dismissed");
        assert_eq!(self.parked.first(), Some(&worker), "the longest parked goes first");
        let Doing::Nothing { since } = self.workers[&worker] else { panic!("it is busy") };
        let idle = self.roster.config().idle_time <= self.now.since(since);
        let surplus = self.ceiling() < self.staying();
        let above_floor = self.roster.config().staffing.floor < self.staying();
        assert!(surplus || (idle && above_floor), "dismissed without reason");
        self.send_home(worker);
    }

    fn send_home(&mut self, worker: WorkerId) {
        self.parked.retain(|other| *other != worker);
        self.workers.insert(worker, Doing::Leaving);
        self.go(worker);
    }

    fn begin(&mut self, worker: WorkerId) {
        self.taken += 1;
        let task = self.taken;
        self.workers.insert(worker, Doing::Task(task));
        let span = self.micros(8_000);
        if self.open && self.one_in(20) {
            let watchdog = self.micros(8_000);
            self.plan(watchdog, Event::Stuck(worker, task));
            if self.one_in(2) {
                // The watchdog finds it in its task, and it takes a long time yet.
                return self.plan(span + Duration::from_millis(10), Event::Finished(worker, task));
            }
        }
        self.plan(span, Event::Finished(worker, task));
    }

    fn hire(&mut self, worker: WorkerId) {
        self.saw("hire");
        assert!(self.live() < self.ceiling(), "hired above the ceiling");
        let known = self.workers.insert(worker, Doing::Starting);
        assert_eq!(known, None, "a name is given to one worker at a time");
        let delay = self.micros(2_000);
        if self.open && self.dice.below(100) < self.failing {
            return self.plan(delay, Event::SpawnFailed(worker));
        }
        self.plan(delay, Event::Started(worker));
        if self.open && self.one_in(25) {
            let life = if self.one_in(2) { 1_000 } else { 50_000 };
            let life = self.micros(life);
            self.plan(life, Event::Died(worker));
        }
    }

    fn micros(&mut self, end: u32) -> Duration {
        Duration::from_micros(self.dice.below(end).into())
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.dice.below(n) == 0
    }

    fn saw(&mut self, case: &'static str) {
        *self.seen.entry(case).or_default() += 1;
    }

    fn go(&mut self, worker: WorkerId) {
        let span = self.micros(1_000);
        self.plan(span, Event::Left(worker));
    }

    fn plan(&mut self, span: Duration, event: Event) {
        self.planned += 1;
        self.agenda.push(Reverse((self.now + span, self.planned, event)));
    }

    fn plan_submission(&mut self) {
        // Busy, calm and silent spells follow one another.
        let pace = match self.events / 500 % 3 {
            0 => 300,
            1 => 2_000,
            _ => 10_000,
        };
        let span = self.micros(pace);
        self.plan(span, Event::Submit);
    }

    /// Timers ring late, and often for a worker that has been woken meanwhile.
    fn plan_expiry(&mut self, worker: WorkerId, until: Option<Timestamp>) {
        if let Some(until) = until {
            let late = self.micros(3_000);
            let late = if self.one_in(2) { late } else { Duration::ZERO };
            self.plan(until.since(self.now) + late, Event::Expired(worker));
        }
    }

    fn set_alarm(&mut self, at: Timestamp) {
        if self.alarm.is_none_or(|set| at < set || set < self.now) {
            self.alarm = Some(at);
            self.plan(at.since(self.now), Event::Alarm);
        }
    }

    // The record: everything is counted afresh.

    fn count(&self, wanted: impl Fn(&Doing) -> bool) -> u32 {
        self.workers.values().map(|doing| u32::from(wanted(doing))).sum()
    }

    fn starting(&self) -> usize {
        self.count(|doing| *doing == Doing::Starting) as usize
    }

    fn without_place(&self) -> u32 {
        self.count(|doing| matches!(doing, Doing::StuckIn(_) | Doing::LeavingWithoutPlace))
    }

    fn live(&self) -> u32 {
        self.count(|_| true) - self.without_place()
    }

    fn staying(&self) -> u32 {
        self.live() - self.count(|doing| *doing == Doing::Leaving)
    }

    fn ceiling(&self) -> u32 {
        self.roster.config().staffing.ceiling
    }

    /// Whether a worker is needed, there is room, and starting is not known to fail.
    fn hire_is_due(&self) -> bool {
        let config = self.roster.config();
        let barred = self
            .roster
            .unreachable_until()
            .is_some_and(|retry_at| self.now < retry_at || 0 < self.starting());
        if barred || config.staffing.ceiling <= self.live() {
            return false;
        }
        let uncovered = self.queue.get(self.starting()).copied();
        let nobody_waits = self.staying() == 0 || self.is_crowded();
        let overdue = uncovered
            .is_some_and(|submitted| nobody_waits || submitted + config.patience() <= self.now);
        self.staying() < config.staffing.floor || overdue
    }

    /// Whether half of a line is taken that turns tasks away, or more wait than may be hired.
    fn is_crowded(&self) -> bool {
        let queued = self.queue.len();
        let room = self.ceiling().saturating_sub(self.live()) as usize;
        let len_max = self.roster.config().queue_len_max;
        room + self.starting() < queued || len_max.is_some_and(|most| most <= 2 * queued as u64)
    }

    /// Nothing became due between two events without the alarm being set for it.
    fn check_nobody_is_late(&self) {
        let rings = self.alarm.is_some_and(|at| at <= self.now);
        assert!(rings || !self.hire_is_due(), "a hire is due and no alarm rings");
    }

    fn check_state(&self) {
        let counts = self.roster.counts();
        assert_eq!(counts.starting, self.count(|doing| *doing == Doing::Starting));
        assert_eq!(counts.busy, self.count(|doing| matches!(doing, Doing::Task(_))));
        assert_eq!(counts.parked, self.count(|doing| matches!(doing, Doing::Nothing { .. })));
        assert_eq!(counts.leaving, self.count(|doing| *doing == Doing::Leaving));
        assert_eq!(counts.written_off, self.without_place());
        assert_eq!(counts.live, self.live());
        assert_eq!(
            counts.live,
            counts.starting + counts.busy + counts.parked + counts.leaving,
            "everybody who is live does one thing"
        );
        assert_eq!(counts.parked as usize, self.parked.len());

        assert!(counts.live <= WORKERS_MAX, "live is above max");
        assert!(counts.written_off <= self.roster.config().written_off_max);
        assert!(self.parked.is_empty() || self.queue.is_empty(), "parked while a task waits");
        let surplus = self.staying().saturating_sub(self.ceiling());
        assert_eq!(counts.retiring, surplus);
        assert!(surplus == 0 || self.parked.is_empty(), "parked above the ceiling");

        let running = self.count(|doing| matches!(doing, Doing::Task(_) | Doing::StuckIn(_)));
        let accounted = self.done + u64::from(running) + self.queue.len() as u64;
        assert_eq!(self.submitted, accounted, "no task is lost and none runs twice");
    }
}
