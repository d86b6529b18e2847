//! A clock that is told the time, and a pool that is told its state.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use headcount::{Clock, Driver, PoolSnapshot, Resizable, Staffing, Timestamp};

/// The time is what was last said.
#[derive(Clone, Default)]
pub(crate) struct Told(Arc<Mutex<Timestamp>>);

impl Told {
    pub(crate) fn pass(&self, span: Duration) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now = *now + span;
    }
}

impl Clock for Told {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A driver that is run by hand, and its clock.
pub(crate) fn by_hand() -> (Driver, Told) {
    let clock = Told::default();
    (Driver::by_hand(Arc::new(clock.clone())), clock)
}

/// Lets so much time pass, in steps, and runs whoever is due.
pub(crate) fn run_for(driver: &Driver, clock: &Told, span: Duration) {
    let step = Duration::from_millis(50);
    let mut left = span;
    while !left.is_zero() {
        driver.run_due();
        clock.pass(step.min(left));
        left = left.saturating_sub(step);
    }
    driver.run_due();
}

/// A pool without workers: its state is what the test says, its size what it was last told.
#[derive(Clone, Default)]
pub(crate) struct Paper(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    snapshot: PoolSnapshot,
    resized: Vec<Staffing>,
}

impl Paper {
    pub(crate) fn of(snapshot: PoolSnapshot) -> Self {
        Self(Arc::new(Mutex::new(State { snapshot, resized: Vec::new() })))
    }

    fn with<R>(&self, act: impl FnOnce(&mut State) -> R) -> R {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes its state.
    pub(crate) fn set(&self, change: impl FnOnce(&mut PoolSnapshot)) {
        self.with(|state| change(&mut state.snapshot));
    }

    /// Every size it was told, but the one that it began with.
    pub(crate) fn resized(&self) -> Vec<Staffing> {
        self.with(|state| state.resized.iter().skip(1).copied().collect())
    }
}

impl Resizable for Paper {
    fn snapshot(&self) -> PoolSnapshot {
        self.with(|state| state.snapshot)
    }

    /// Workers come and go at once.
    fn resize(&self, staffing: Staffing) {
        self.with(|state| {
            state.resized.push(staffing);
            let pool = &mut state.snapshot;
            (pool.floor, pool.ceiling) = (staffing.floor, staffing.ceiling);
            pool.live = pool.live.clamp(staffing.floor, staffing.ceiling.max(staffing.floor));
            pool.busy = pool.busy.min(pool.live);
            pool.parked = pool.live - pool.busy;
        });
    }
}

/// Two workers, both busy, of eight.
pub(crate) fn busy() -> Paper {
    let pool = PoolSnapshot { busy: 2, live: 2, ..PoolSnapshot::of(Staffing::between(1, 8)) };
    Paper::of(pool)
}
