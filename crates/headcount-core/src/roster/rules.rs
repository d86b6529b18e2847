//! The rules: what to do about each event.
//!
//! The protocol, its terms and the races it closes are in this module's README.

use super::backoff::Backoff;
use super::crew::{Crew, State};
use super::{Counts, Expiry, Next, Order, Placement, RosterConfig, Setback, Waiting, WorkerId};
use crate::{PoolSnapshot, Staffing, Timestamp};

/// Who works, who is parked, who comes and who goes.
///
/// It is told what happens and answers what to do; it does nothing itself.
///
/// ```
/// use headcount_core::roster::{Next, Order, Placement, Roster, RosterConfig};
/// use headcount_core::{Staffing, Timestamp};
/// use std::collections::VecDeque;
/// use std::time::Duration;
///
/// let at = Timestamp::from_millis;
/// let mut queue = VecDeque::new();
/// let mut roster = Roster::new(RosterConfig {
///     wait_budget: Duration::from_millis(100),
///     ..RosterConfig::new(Staffing::between(1, 4))
/// });
///
/// // The floor is hired at the first look.
/// let Some(Order::Hire(first)) = roster.next_order(at(0), &queue) else { unreachable!() };
/// assert_eq!(roster.started(first, at(1), 0), Next::Park { until: None });
///
/// // A task finds it parked; the next one waits for 85 ms before somebody is hired for it.
/// assert_eq!(roster.submitted(at(10), 0), Placement::Wake(first));
/// assert_eq!(roster.submitted(at(11), 0), Placement::Wait { hire_at: Some(at(96)) });
/// queue.push_back(at(11));
/// assert_eq!(roster.next_order(at(95), &queue), None);
/// assert!(matches!(roster.next_order(at(96), &queue), Some(Order::Hire(_))));
/// ```
#[derive(Clone, Debug)]
pub struct Roster {
    config: RosterConfig,
    crew: Crew,
    backoff: Backoff,
}

impl Roster {
    /// A roster without workers. The first look hires the floor.
    #[must_use]
    pub fn new(config: RosterConfig) -> Self {
        let mut roster = Self { config, crew: Crew::default(), backoff: Backoff::default() };
        roster.reconfigure(config);
        roster
    }

    /// The settings in force.
    #[must_use]
    pub fn config(&self) -> RosterConfig {
        self.config
    }

    /// Goes by other settings from now on. Then look.
    pub fn reconfigure(&mut self, config: RosterConfig) {
        let Staffing { floor, ceiling } = config.staffing;
        self.config = RosterConfig { staffing: Staffing::between(floor, ceiling), ..config };
    }

    /// Keeps the number of workers within other bounds from now on. Then look.
    pub fn resize(&mut self, staffing: Staffing) {
        self.reconfigure(RosterConfig { staffing, ..self.config });
    }

    /// Says where a task goes that was just submitted, when `queued` others wait already.
    pub fn submitted(&mut self, now: Timestamp, queued: u64) -> Placement {
        if let Some(worker) = self.crew.last_parked() {
            // Last parked, first woken: the surplus stays idle long enough to expire. It is busy
            // from here on, so an expiry that comes later finds nobody to send home.
            self.crew.shift(worker, State::Busy);
            return Placement::Wake(worker);
        }
        let covered = queued < u64::from(self.crew.starting);
        let needed_at = (!covered).then(|| self.deadline(now));
        match self.hire_at(needed_at) {
            Some(at) if at <= now => Placement::Hire(self.crew.hire()),
            hire_at => Placement::Wait { hire_at },
        }
    }

    /// Says what a hired worker does first, when `queued` tasks wait. Then look.
    ///
    /// To be reported when the worker is ready for a task, after anything that might fail.
    ///
    /// # Panics
    ///
    /// When `worker` is not starting.
    pub fn started(&mut self, worker: WorkerId, now: Timestamp, queued: u64) -> Next {
        self.demand(worker, &[State::Starting], "start");
        self.backoff.cleared();
        self.next(worker, now, queued)
    }

    /// Says what a worker does that has ended its task, when `queued` others wait.
    ///
    /// # Panics
    ///
    /// When `worker` is not busy.
    pub fn finished(&mut self, worker: WorkerId, now: Timestamp, queued: u64) -> Next {
        let state = self.demand(worker, &[State::Busy, State::WrittenOff], "finish a task");
        if state == State::WrittenOff && !self.has_room() {
            self.crew.shift(worker, State::WrittenOffLeaving);
            return Next::Leave;
        }
        self.next(worker, now, queued)
    }

    /// Says what a parked worker does whose time is up.
    ///
    /// It may come late or for a worker that is gone: whoever is not parked stays.
    pub fn expired(&mut self, worker: WorkerId, now: Timestamp) -> Expiry {
        let Some(State::Parked { since }) = self.crew.state(worker) else {
            // Woken at the very moment it expired: it has a task to do.
            return Expiry::Stay { until: None };
        };
        match self.leave_at(since) {
            Some(at) if at <= now => {
                self.crew.shift(worker, State::Leaving);
                Expiry::Leave
            }
            until => Expiry::Stay { until },
        }
    }

    /// Gives back the place of a worker that was told to leave and is gone. Then look.
    ///
    /// # Panics
    ///
    /// When `worker` was not told to leave.
    pub fn left(&mut self, worker: WorkerId) {
        self.demand(worker, &[State::Leaving, State::WrittenOffLeaving], "leave");
        self.crew.remove(worker);
    }

    /// Gives back the place of a worker that is gone although nobody told it to leave. Then look.
    ///
    /// Tasks that it held are the pool's to submit again. One that dies before it has started is
    /// taken as a failed start, so that workers that die young are not hired in a hot loop.
    ///
    /// # Panics
    ///
    /// When `worker` is gone already.
    pub fn died(&mut self, worker: WorkerId, now: Timestamp) -> Option<Setback> {
        let state = self.crew.state(worker);
        assert!(state.is_some(), "worker {worker} is gone; nobody dies twice");
        if state == Some(State::Starting) {
            return Some(self.spawn_failed(worker, now));
        }
        self.crew.remove(worker);
        None
    }

    /// Gives back the place of a worker that could not be started. Then look.
    ///
    /// # Panics
    ///
    /// When `worker` is not starting.
    pub fn spawn_failed(&mut self, worker: WorkerId, now: Timestamp) -> Setback {
        self.demand(worker, &[State::Starting], "fail to start");
        self.crew.remove(worker);
        let retry_at = self.backoff.failed(now);
        match self.staying() {
            0 => Setback::Stranded { retry_at },
            _ => Setback::Short { retry_at },
        }
    }

    /// Counts a stuck worker out, so that another can have its place. Then look.
    ///
    /// False, and nothing changes, when it is not busy (any more) or when as many as
    /// [`RosterConfig::written_off_max`] are written off.
    #[must_use = "a worker that keeps its place is not replaced"]
    pub fn written_off(&mut self, worker: WorkerId) -> bool {
        let busy = self.crew.state(worker) == Some(State::Busy);
        if !busy || self.config.written_off_max <= self.crew.written_off {
            return false;
        }
        self.crew.shift(worker, State::WrittenOff);
        true
    }

    /// Says what to do next to bring the workers into line; to be asked until there is nothing.
    pub fn next_order(&mut self, now: Timestamp, waiting: &dyn Waiting) -> Option<Order> {
        if let Some(worker) = self.next_dismissal(now) {
            return Some(Order::Dismiss(worker));
        }
        let hire_at = self.hire_at(self.needed_at(waiting))?;
        (hire_at <= now).then(|| Order::Hire(self.crew.hire()))
    }

    /// Says whom to send home next, and hires nobody; for whoever cannot start workers just now.
    pub fn next_dismissal(&mut self, now: Timestamp) -> Option<WorkerId> {
        let (worker, since) = self.crew.longest_parked()?;
        if self.leave_at(since).is_none_or(|at| now < at) {
            return None;
        }
        self.crew.shift(worker, State::Leaving);
        Some(worker)
    }

    /// When there will be orders, if nothing happens before. `None`: not without an event.
    #[must_use]
    pub fn next_look(&self, waiting: &dyn Waiting) -> Option<Timestamp> {
        let hire_at = self.hire_at(self.needed_at(waiting));
        let leave_at = self.crew.longest_parked().and_then(|(_, since)| self.leave_at(since));
        hire_at.into_iter().chain(leave_at).min()
    }

    /// How many workers there are, by what they do.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let surplus = self.staying().saturating_sub(self.config.staffing.ceiling);
        Counts {
            live: self.crew.live(),
            starting: self.crew.starting,
            busy: self.crew.busy,
            parked: self.crew.parked,
            leaving: self.crew.leaving,
            // Parked surplus is not among the retiring: the next look dismisses it.
            retiring: surplus.saturating_sub(self.crew.parked),
            written_off: self.crew.written_off,
        }
    }

    /// The pool as an observation has it, as far as the roster knows it.
    #[must_use]
    pub fn snapshot(&self, now: Timestamp, waiting: &dyn Waiting) -> PoolSnapshot {
        let Counts { live, starting, busy, parked, leaving, retiring, .. } = self.counts();
        let longest_parked = self.crew.longest_parked();
        PoolSnapshot {
            live,
            starting,
            busy,
            parked,
            // Who was told to leave and is not gone yet is on the way out as well.
            retiring: retiring + leaving,
            queued: waiting.queued(),
            oldest_wait: waiting.submitted(0).map(|submitted| now.since(submitted)),
            longest_idle: longest_parked.map(|(_, since)| now.since(since)),
            ..PoolSnapshot::of(self.config.staffing)
        }
    }

    /// Until when nobody is hired because the last start failed. `None`: it went well.
    #[must_use]
    pub fn unreachable_until(&self) -> Option<Timestamp> {
        self.backoff.retry_at()
    }

    /// What a worker without a task does next.
    fn next(&mut self, worker: WorkerId, now: Timestamp, queued: u64) -> Next {
        // Busy first: a written-off worker that comes back counts from here on.
        self.crew.shift(worker, State::Busy);
        if self.config.staffing.ceiling < self.staying() {
            self.crew.shift(worker, State::Leaving);
            return Next::Leave;
        }
        if 0 < queued {
            return Next::Take;
        }
        self.crew.shift(worker, State::Parked { since: now });
        Next::Park { until: self.leave_at(now) }
    }

    /// Live workers that were not told to leave.
    fn staying(&self) -> u32 {
        self.crew.live() - self.crew.leaving
    }

    fn has_room(&self) -> bool {
        self.crew.live() < self.config.staffing.ceiling
    }

    /// When a worker parked since then may leave. `None`: the floor keeps it, or it never does.
    fn leave_at(&self, since: Timestamp) -> Option<Timestamp> {
        let Staffing { floor, ceiling } = self.config.staffing;
        let staying = self.staying();
        if ceiling < staying {
            return Some(since);
        }
        (floor < staying).then(|| since + self.config.idle_time).filter(|at| *at < Timestamp::MAX)
    }

    /// When a worker is hired for a task submitted then, if it still waits.
    fn deadline(&self, submitted: Timestamp) -> Timestamp {
        match self.staying() {
            // Nobody will ever take it, so there is nothing to wait for.
            0 => submitted,
            _ => submitted + self.config.patience(),
        }
    }

    /// When another worker is needed. `None`: the floor is met and every waiting task is covered.
    fn needed_at(&self, waiting: &dyn Waiting) -> Option<Timestamp> {
        if self.staying() < self.config.staffing.floor {
            return Some(Timestamp::ORIGIN);
        }
        let covered = u64::from(self.crew.starting);
        waiting.submitted(covered).map(|submitted| self.deadline(submitted))
    }

    /// When a worker that is needed then can be hired. `None`: not before an event makes room.
    fn hire_at(&self, needed_at: Option<Timestamp>) -> Option<Timestamp> {
        if !self.has_room() || self.backoff.awaits(self.crew.starting) {
            return None;
        }
        needed_at.map(|at| self.backoff.not_before(at)).filter(|at| *at < Timestamp::MAX)
    }

    /// The state of `worker`, which must be one of `allowed` to `act`.
    fn demand(&self, worker: WorkerId, allowed: &[State], act: &str) -> State {
        match self.crew.state(worker) {
            Some(state) if allowed.contains(&state) => state,
            state => panic!("worker {worker} is {state:?}; to {act} it must be in {allowed:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::time::Duration;

    use super::*;
    use crate::roster::BACKOFF_MIN;

    /// A pool that does what its roster says, told in words. Times are milliseconds; workers are
    /// called `a`, `b`, `c` in the order of their hire.
    struct Story {
        roster: Roster,
        queue: VecDeque<Timestamp>,
        workers: Vec<WorkerId>,
    }

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    /// A pool between `floor` and `ceiling` whose tasks wait for 85 ms and workers idle for 1 s.
    fn patient(floor: u32, ceiling: u32) -> Story {
        story(RosterConfig {
            wait_budget: Duration::from_millis(100),
            ..RosterConfig::new(Staffing::between(floor, ceiling))
        })
    }

    /// The same, where tasks do not wait while there is room.
    fn eager(floor: u32, ceiling: u32) -> Story {
        story(RosterConfig::new(Staffing::between(floor, ceiling)))
    }

    fn story(config: RosterConfig) -> Story {
        Story { roster: Roster::new(config), queue: VecDeque::new(), workers: Vec::new() }
    }

    fn when(until: Option<Timestamp>) -> String {
        until.map_or("for ever".to_owned(), |at| format!("until {}", at.as_nanos() / 1_000_000))
    }

    impl Story {
        fn submit(&mut self, ms: u64) -> String {
            match self.roster.submitted(at(ms), self.queue.len() as u64) {
                Placement::Wake(worker) => format!("wake {}", self.name(worker)),
                Placement::Hire(worker) => {
                    self.queue.push_back(at(ms));
                    format!("hire {}", self.name(worker))
                }
                Placement::Wait { hire_at } => {
                    self.queue.push_back(at(ms));
                    format!("wait {}", when(hire_at))
                }
            }
        }

        fn start(&mut self, name: char, ms: u64) -> String {
            let next = self.roster.started(self.worker(name), at(ms), self.queue.len() as u64);
            self.follow(next)
        }

        fn finish(&mut self, name: char, ms: u64) -> String {
            let next = self.roster.finished(self.worker(name), at(ms), self.queue.len() as u64);
            self.follow(next)
        }

        fn expire(&mut self, name: char, ms: u64) -> String {
            match self.roster.expired(self.worker(name), at(ms)) {
                Expiry::Leave => "leave".to_owned(),
                Expiry::Stay { until } => format!("stay {}", when(until)),
            }
        }

        fn leave(&mut self, name: char) {
            self.roster.left(self.worker(name));
        }

        /// All orders, then when to look again.
        fn look(&mut self, ms: u64) -> String {
            let mut said = Vec::new();
            while let Some(order) = self.roster.next_order(at(ms), &self.queue) {
                said.push(match order {
                    Order::Hire(worker) => format!("hire {}", self.name(worker)),
                    Order::Dismiss(worker) => format!("dismiss {}", self.name(worker)),
                });
            }
            said.push(when(self.roster.next_look(&self.queue)));
            said.join(", ")
        }

        fn resize(&mut self, floor: u32, ceiling: u32, ms: u64) -> String {
            self.roster.resize(Staffing::between(floor, ceiling));
            self.look(ms)
        }

        /// `live: starting+busy+parked+leaving`, and who else there is.
        fn counts(&self) -> String {
            let Counts { live, starting, busy, parked, leaving, retiring, written_off } =
                self.roster.counts();
            let mut said = vec![format!("{live}: {starting}+{busy}+{parked}+{leaving}")];
            if 0 < retiring {
                said.push(format!("{retiring} retiring"));
            }
            if 0 < written_off {
                said.push(format!("{written_off} written off"));
            }
            said.join(", ")
        }

        fn follow(&mut self, next: Next) -> String {
            match next {
                Next::Take => {
                    self.queue.pop_front().expect("the roster saw a task");
                    "take".to_owned()
                }
                Next::Park { until } => format!("park {}", when(until)),
                Next::Leave => "leave".to_owned(),
            }
        }

        fn worker(&self, name: char) -> WorkerId {
            self.workers[name as usize - 'a' as usize]
        }

        fn name(&mut self, worker: WorkerId) -> char {
            let known = self.workers.iter().position(|known| *known == worker);
            let index = known.unwrap_or_else(|| {
                self.workers.push(worker);
                self.workers.len() - 1
            });
            ('a'..='z').nth(index).expect("stories have few workers")
        }

        /// Hires, starts and parks the floor at time 0.
        fn opened(mut self) -> Self {
            let _ = self.look(0);
            for index in 0..self.workers.len() {
                let _ = self.roster.started(self.workers[index], at(0), 0);
            }
            self
        }
    }

    #[test]
    fn without_a_wait_budget_a_task_hires_until_the_ceiling() {
        let mut pool = eager(0, 2);
        assert_eq!(pool.submit(0), "hire a");
        assert_eq!(pool.submit(0), "hire b");
        assert_eq!(pool.submit(0), "wait for ever");
        assert_eq!(pool.counts(), "2: 2+0+0+0");
        assert_eq!(pool.start('b', 1), "take");
        assert_eq!(pool.start('a', 1), "take");
        assert_eq!(pool.finish('b', 2), "take");
        assert_eq!(pool.finish('a', 3), "park until 1003");
    }

    #[test]
    fn a_task_waits_for_its_deadline_before_somebody_is_hired() {
        let mut pool = patient(1, 2).opened();
        assert_eq!(pool.submit(0), "wake a");
        assert_eq!(pool.submit(10), "wait until 95");
        assert_eq!(pool.look(94), "until 95");
        assert_eq!(pool.look(95), "hire b, for ever");
    }

    #[test]
    fn a_worker_that_frees_up_in_time_saves_the_hire() {
        let mut pool = patient(1, 2).opened();
        assert_eq!(pool.submit(0), "wake a");
        assert_eq!(pool.submit(10), "wait until 95");
        assert_eq!(pool.finish('a', 90), "take");
        assert_eq!(pool.look(95), "for ever");
    }

    #[test]
    fn the_spawn_delay_brings_the_hire_forward() {
        let mut pool = patient(1, 2).opened();
        let delay = Duration::from_millis(60);
        pool.roster.reconfigure(RosterConfig { spawn_delay: delay, ..pool.roster.config() });
        assert_eq!(pool.submit(0), "wake a");
        assert_eq!(pool.submit(10), "wait until 35");
    }

    #[test]
    fn a_pool_without_workers_does_not_let_its_first_task_wait() {
        let mut pool = patient(0, 2);
        assert_eq!(pool.submit(0), "hire a");
        assert_eq!(pool.submit(1), "wait until 86");
    }

    #[test]
    fn nobody_is_hired_twice_for_one_task() {
        let mut pool = patient(1, 9).opened();
        assert_eq!(pool.submit(0), "wake a");
        assert_eq!(pool.submit(0), "wait until 85");
        assert_eq!(pool.submit(5), "wait until 90");
        assert_eq!(pool.look(85), "hire b, until 90");
        assert_eq!(pool.look(85), "until 90");
        assert_eq!(pool.look(90), "hire c, for ever");
    }

    #[test]
    fn a_starting_worker_covers_the_next_task_when_its_own_was_taken() {
        let mut pool = patient(1, 9).opened();
        assert_eq!(pool.submit(0), "wake a");
        assert_eq!(pool.submit(0), "wait until 85");
        assert_eq!(pool.look(85), "hire b, for ever");
        assert_eq!(pool.finish('a', 86), "take");
        assert_eq!(pool.submit(87), "wait for ever");
        assert_eq!(pool.submit(88), "wait until 173");
        assert_eq!(pool.start('b', 89), "take");
        assert_eq!(pool.look(172), "until 173");
    }

    #[test]
    fn a_floor_that_is_warming_up_serves_those_who_wait() {
        let mut pool = eager(0, 8);
        assert_eq!(pool.resize(2, 8, 0), "hire a, hire b, for ever");
        assert_eq!(pool.submit(0), "wait for ever");
        assert_eq!(pool.submit(0), "wait for ever");
        assert_eq!(pool.submit(0), "hire c");
    }

    #[test]
    fn the_last_parked_is_woken_first_and_the_longest_parked_goes_first() {
        let mut pool = eager(0, 3);
        for _ in 0..3 {
            let _ = pool.submit(0);
        }
        for name in ['a', 'b', 'c'] {
            assert_eq!(pool.start(name, 0), "take");
        }
        assert_eq!(pool.finish('b', 1), "park until 1001");
        assert_eq!(pool.finish('c', 2), "park until 1002");
        assert_eq!(pool.finish('a', 3), "park until 1003");
        assert_eq!(pool.submit(4), "wake a");
        assert_eq!(pool.look(1001), "dismiss b, until 1002");
        assert_eq!(pool.submit(1002), "wake c");
    }

    #[test]
    fn woken_at_the_moment_it_expired_it_stays() {
        let mut pool = eager(0, 1);
        assert_eq!(pool.submit(0), "hire a");
        assert_eq!(pool.start('a', 0), "take");
        assert_eq!(pool.finish('a', 0), "park until 1000");
        assert_eq!(pool.submit(1000), "wake a");
        assert_eq!(pool.expire('a', 1000), "stay for ever");
        assert_eq!(pool.counts(), "1: 0+1+0+0");
    }

    #[test]
    fn expired_at_the_moment_a_task_came_it_is_replaced() {
        let mut pool = patient(0, 1);
        assert_eq!(pool.submit(0), "hire a");
        assert_eq!(pool.start('a', 0), "take");
        assert_eq!(pool.finish('a', 0), "park until 1000");
        assert_eq!(pool.expire('a', 1000), "leave");
        // The leaver holds the only place until it is gone; then its task has waited enough.
        assert_eq!(pool.submit(1000), "wait for ever");
        assert_eq!(pool.look(1000), "for ever");
        pool.leave('a');
        assert_eq!(pool.look(1001), "hire b, for ever");
    }

    #[test]
    fn the_idle_time_starts_anew_with_every_park() {
        let mut pool = eager(0, 1);
        assert_eq!(pool.submit(0), "hire a");
        assert_eq!(pool.start('a', 0), "take");
        assert_eq!(pool.finish('a', 0), "park until 1000");
        assert_eq!(pool.submit(600), "wake a");
        assert_eq!(pool.finish('a', 700), "park until 1700");
        assert_eq!(pool.expire('a', 1000), "stay until 1700");
        assert_eq!(pool.expire('a', 1699), "stay until 1700");
        assert_eq!(pool.expire('a', 1700), "leave");
    }

    #[test]
    fn the_floor_does_not_expire() {
        let mut pool = eager(1, 4).opened();
        assert_eq!(pool.expire('a', 1_000_000), "stay for ever");
        assert_eq!(pool.look(1_000_000), "for ever");
        assert_eq!(pool.resize(0, 4, 1_000_000), "dismiss a, for ever");
    }

    #[test]
    fn a_lowered_floor_lets_workers_go_when_they_have_idled() {
        let mut pool = eager(2, 4).opened();
        assert_eq!(pool.resize(1, 4, 400), "until 1000");
        assert_eq!(pool.look(1000), "dismiss a, for ever");
        assert_eq!(pool.counts(), "2: 0+0+1+1");
    }

    #[test]
    fn a_shrink_sends_the_parked_home_and_lets_the_busy_finish() {
        let mut pool = eager(4, 4).opened();
        assert_eq!(pool.submit(1), "wake d");
        assert_eq!(pool.submit(1), "wake c");
        assert_eq!(pool.resize(1, 1, 2), "dismiss a, dismiss b, for ever");
        assert_eq!(pool.counts(), "4: 0+2+0+2, 1 retiring");
        assert_eq!(pool.finish('c', 3), "leave", "whoever is first");
        assert_eq!(pool.finish('d', 4), "park for ever");
        for name in ['a', 'b', 'c'] {
            pool.leave(name);
        }
        assert_eq!(pool.counts(), "1: 0+0+1+0");
    }

    #[test]
    fn a_ceiling_that_rises_again_keeps_the_retiring() {
        let mut pool = eager(2, 2).opened();
        assert_eq!(pool.submit(0), "wake b");
        assert_eq!(pool.submit(0), "wake a");
        assert_eq!(pool.resize(1, 1, 0), "for ever");
        assert_eq!(pool.counts(), "2: 0+2+0+0, 1 retiring");
        assert_eq!(pool.resize(2, 2, 1), "for ever");
        assert_eq!(pool.finish('a', 2), "park for ever");
        assert_eq!(pool.finish('b', 2), "park for ever");
    }

    #[test]
    fn those_who_leave_hold_their_place_until_they_are_gone() {
        let mut pool = eager(2, 2).opened();
        assert_eq!(pool.resize(0, 0, 0), "dismiss a, dismiss b, for ever");
        assert_eq!(pool.resize(2, 2, 0), "for ever");
        assert_eq!(pool.submit(0), "wait for ever");
        pool.leave('b');
        assert_eq!(pool.look(1), "hire c, for ever");
        pool.leave('a');
        assert_eq!(pool.look(1), "hire d, for ever");
        assert_eq!(pool.counts(), "2: 2+0+0+0");
    }

    #[test]
    fn a_worker_that_starts_above_the_ceiling_leaves_at_once() {
        let mut pool = eager(0, 2);
        assert_eq!(pool.submit(0), "hire a");
        assert_eq!(pool.submit(0), "hire b");
        assert_eq!(pool.resize(0, 1, 0), "for ever");
        assert_eq!(pool.counts(), "2: 2+0+0+0, 1 retiring");
        assert_eq!(pool.start('a', 1), "leave");
        assert_eq!(pool.start('b', 1), "take");
        assert_eq!(pool.finish('b', 2), "take");
    }

    #[test]
    fn a_raised_ceiling_hires_for_all_that_are_overdue() {
        let mut pool = patient(1, 1).opened();
        assert_eq!(pool.submit(0), "wake a");
        for ms in [0, 1, 50] {
            assert_eq!(pool.submit(ms), "wait for ever");
        }
        assert_eq!(pool.look(200), "for ever");
        assert_eq!(pool.resize(1, 9, 100), "hire b, hire c, until 135");
    }

    #[test]
    fn a_failed_start_is_tried_again_alone_after_a_while() {
        let mut pool = eager(1, 9).opened();
        assert_eq!(pool.submit(0), "wake a");
        assert_eq!(pool.submit(0), "hire b");
        assert_eq!(pool.submit(0), "hire c");
        let setback = Setback::Short { retry_at: at(10) };
        assert_eq!(pool.roster.spawn_failed(pool.worker('b'), at(0)), setback);
        assert_eq!(pool.roster.spawn_failed(pool.worker('c'), at(0)), setback);
        assert_eq!(pool.roster.unreachable_until(), Some(at(10)));
        assert_eq!(pool.look(0), "until 10");
        assert_eq!(pool.submit(1), "wait until 10");
        assert_eq!(pool.look(10), "hire d, for ever");
        assert_eq!(pool.submit(10), "wait for ever");
        assert_eq!(pool.start('d', 11), "take");
        assert_eq!(pool.roster.unreachable_until(), None);
        assert_eq!(pool.look(11), "hire e, hire f, hire g, for ever");
    }

    #[test]
    fn without_anybody_the_tasks_are_stranded() {
        let mut pool = eager(0, 9);
        assert_eq!(pool.submit(0), "hire a");
        let retry_at = at(0) + BACKOFF_MIN;
        assert_eq!(
            pool.roster.spawn_failed(pool.worker('a'), at(0)),
            Setback::Stranded { retry_at }
        );
        assert_eq!(pool.counts(), "0: 0+0+0+0");
    }

    #[test]
    fn workers_that_die_young_are_not_hired_in_a_hot_loop() {
        let mut pool = eager(1, 1);
        assert_eq!(pool.look(0), "hire a, for ever");
        assert!(pool.roster.died(pool.worker('a'), at(0)).is_some());
        assert_eq!(pool.look(0), "until 10");
        assert_eq!(pool.look(10), "hire b, for ever");
        assert!(pool.roster.died(pool.worker('b'), at(10)).is_some());
        assert_eq!(pool.look(10), "until 30");
    }

    #[test]
    fn a_dead_worker_is_replaced_below_the_floor_or_for_overdue_tasks() {
        let mut pool = patient(1, 1).opened();
        assert_eq!(pool.roster.died(pool.worker('a'), at(5)), None);
        assert_eq!(pool.look(5), "hire b, for ever");

        let mut pool = patient(0, 2);
        assert_eq!(pool.submit(0), "hire a");
        assert_eq!(pool.start('a', 0), "take");
        assert_eq!(pool.roster.died(pool.worker('a'), at(5)), None);
        assert_eq!(pool.look(5), "for ever", "nobody is needed");
        assert_eq!(pool.submit(6), "hire b");
    }

    #[test]
    fn a_stuck_worker_is_replaced_and_comes_back_where_there_is_room() {
        let mut pool = eager(1, 1).opened();
        let config = RosterConfig { written_off_max: 1, ..pool.roster.config() };
        pool.roster.reconfigure(config);
        assert_eq!(pool.submit(0), "wake a");
        assert!(pool.roster.written_off(pool.worker('a')));
        assert_eq!(pool.look(1), "hire b, for ever");
        assert_eq!(pool.start('b', 1), "park for ever");
        assert_eq!(pool.submit(2), "wake b");
        assert!(!pool.roster.written_off(pool.worker('b')), "one at a time");
        assert_eq!(pool.counts(), "1: 0+1+0+0, 1 written off");

        assert_eq!(pool.resize(1, 2, 3), "for ever");
        assert_eq!(pool.finish('a', 4), "park until 1004");
        assert_eq!(pool.counts(), "2: 0+1+1+0");
    }

    #[test]
    fn a_stuck_worker_leaves_where_its_place_was_taken() {
        let mut pool = eager(1, 1).opened();
        let config = RosterConfig { written_off_max: 1, ..pool.roster.config() };
        pool.roster.reconfigure(config);
        assert_eq!(pool.submit(0), "wake a");
        assert!(pool.roster.written_off(pool.worker('a')));
        assert_eq!(pool.look(1), "hire b, for ever");
        assert_eq!(pool.submit(1), "wait for ever");
        assert_eq!(pool.finish('a', 2), "leave", "though a task waits");
        pool.leave('a');
        assert_eq!(pool.counts(), "1: 1+0+0+0");
    }

    #[test]
    fn a_worker_without_a_task_is_not_written_off() {
        let mut pool = eager(1, 1).opened();
        let config = RosterConfig { written_off_max: 9, ..pool.roster.config() };
        pool.roster.reconfigure(config);
        assert!(!pool.roster.written_off(pool.worker('a')));
    }

    #[test]
    fn spans_without_end_mean_never() {
        let mut pool = story(RosterConfig {
            wait_budget: Duration::MAX,
            idle_time: Duration::MAX,
            ..RosterConfig::new(Staffing::between(0, 4))
        });
        assert_eq!(pool.submit(0), "hire a");
        assert_eq!(pool.start('a', 0), "take");
        assert_eq!(pool.submit(0), "wait for ever");
        assert_eq!(pool.finish('a', 1), "take");
        assert_eq!(pool.finish('a', 2), "park for ever");
    }

    #[test]
    fn the_snapshot_tells_what_the_roster_knows() {
        let mut pool = patient(2, 2).opened();
        assert_eq!(pool.submit(0), "wake b");
        let snapshot = pool.roster.snapshot(at(50), &pool.queue);
        assert_eq!((snapshot.floor, snapshot.ceiling), (2, 2));
        assert_eq!((snapshot.live, snapshot.busy, snapshot.parked), (2, 1, 1));
        assert_eq!(snapshot.longest_idle, Some(Duration::from_millis(50)));
        assert_eq!((snapshot.queued, snapshot.oldest_wait), (0, None));
        assert_eq!(pool.submit(10), "wake a");
        assert_eq!(pool.submit(10), "wait for ever");
        let snapshot = pool.roster.snapshot(at(50), &pool.queue);
        assert_eq!((snapshot.queued, snapshot.longest_idle), (1, None));
        assert_eq!(snapshot.oldest_wait, Some(Duration::from_millis(40)));
    }
}
