//! The rules: what to do about each event.
//!
//! The protocol, its terms and the races it closes are in this module's README.

use super::backoff::Backoff;
use super::crew::{Crew, State};
use super::{
    Counts, Duty, Expiry, Next, Order, Placement, RosterConfig, Setback, Waiting, WorkerId,
};
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
    ///
    /// Then look, where the line may be crowded by it: those before it do not wait any longer.
    pub fn submitted(&mut self, now: Timestamp, queued: u64) -> Placement {
        if let Some(worker) = self.crew.last_parked() {
            // Last parked, first woken: the surplus stays idle long enough to expire. It is busy
            // from here on, so an expiry that comes later finds nobody to send home.
            self.crew.shift(worker, State::Busy);
            return Placement::Wake(worker);
        }
        let covered = queued < u64::from(self.crew.starting);
        let needed_at = (!covered).then(|| self.deadline(now, queued.saturating_add(1)));
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

    /// What `worker` is at. `None` when it is gone.
    #[must_use]
    pub fn duty(&self, worker: WorkerId) -> Option<Duty> {
        self.crew.state(worker).map(|state| match state {
            State::Starting => Duty::Starting,
            State::Busy => Duty::Busy,
            State::Parked { since } => Duty::Parked { since },
            State::Leaving | State::WrittenOffLeaving => Duty::Leaving,
            State::WrittenOff => Duty::WrittenOff,
        })
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

    /// When a worker is hired for a task submitted then, one of `queued`, if it still waits.
    fn deadline(&self, submitted: Timestamp, queued: u64) -> Timestamp {
        // Where nobody stays nobody will ever take it, so there is nothing to wait for.
        match self.staying() == 0 || self.is_crowded(queued) {
            true => submitted,
            false => submitted + self.config.patience(),
        }
    }

    /// Whether others pay for it if these wait for their deadlines: those who find no place in the
    /// line, or no worker, as fewer may be hired than wait already.
    fn is_crowded(&self, queued: u64) -> bool {
        let room = self.config.staffing.ceiling.saturating_sub(self.crew.live());
        let uncovered = queued.saturating_sub(u64::from(self.crew.starting));
        u64::from(room) < uncovered || self.config.may_turn_away(queued)
    }

    /// When another worker is needed. `None`: the floor is met and every waiting task is covered.
    fn needed_at(&self, waiting: &dyn Waiting) -> Option<Timestamp> {
        if self.staying() < self.config.staffing.floor {
            return Some(Timestamp::ORIGIN);
        }
        let covered = u64::from(self.crew.starting);
        let uncovered = waiting.submitted(covered);
        uncovered.map(|submitted| self.deadline(submitted, waiting.queued()))
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
#[path = "rules_tests.rs"]
mod tests;
