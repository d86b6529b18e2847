//! Several pools of one process share a maximum.
//!
//! Every pool has a *seat*, and a seat *holds* what its pool may have right now: its ceiling, or
//! its live workers where there are more of them. What all of them hold together is never more than
//! the budget. At its turn a seat says what it could use; the budget is divided anew, fairly, what
//! nobody needs is spread over all, and the seat gets its part, or what the others leave where they
//! still hold more than theirs. Those are called to their own turn, and give it back as soon as
//! their workers have finished what they are at; until then nobody else counts on it. Not even a
//! minimum goes before that: a pool that joins late may have to wait for its own. Only the workers
//! that it brings along are there whatever the budget says.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use headcount_core::share::{Demand, Remainders, Weight, divide};
use headcount_core::{Bounds, Fault, Observation, Poke, PoolSnapshot, Resizable};

use crate::sync::lock;

/// How a pool takes part in a budget.
///
/// ```
/// use headcount::Share;
/// use headcount_core::share::Weight;
///
/// // Twice as much as the others, once everybody has its minimum.
/// let share = Share { weight: Weight::new(2.0).expect("a weight"), ..Share::default() };
/// assert_eq!(share.priority, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Higher goes first. 0 by default.
    pub priority: u8,
    /// How much it counts beside others of its priority. 1 by default.
    pub weight: Weight,
}

/// So many workers for all pools that share it.
///
/// Minimums come first, the rest goes to those who need it, by fair shares. What others still hold
/// is waited for. A pool is out of it when its last scaler handle is dropped, or when it was closed
/// and is empty.
///
/// ```
/// use headcount::{Budget, Preset, Scaler, Share, ThreadPool};
///
/// let budget = Budget::new(10);
/// let pools = [(); 2].map(|()| ThreadPool::builder().workers(1..=8).build());
/// let mut scalers = Vec::new();
/// for pool in &pools {
///     let pool = pool.as_ref().expect("no fault").handle();
///     let scaler = Scaler::of(pool).policy(Preset::gopipe()).budget(&budget, Share::default());
///     scalers.push(scaler.start()?);
/// }
/// scalers[0].scale_to(8);
/// scalers[1].scale_to(8);
/// assert!(budget.held() <= 10, "whatever is asked for");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Budget {
    table: Arc<Mutex<Table>>,
}

struct Table {
    workers_max: u32,
    seats: Vec<Option<Place>>,
}

/// What is known of one seat.
struct Place {
    demand: Demand,
    held: u32,
    /// Calls its pool to its turn.
    poke: Option<Poke>,
}

impl Budget {
    /// How many pools may share one.
    pub const SEATS_MAX: usize = 4096;

    /// A budget of so many workers.
    #[must_use]
    pub fn new(workers_max: u32) -> Self {
        Self { table: Arc::new(Mutex::new(Table { workers_max, seats: Vec::new() })) }
    }

    /// How many workers there may be in all.
    #[must_use]
    pub fn workers_max(&self) -> u32 {
        lock(&self.table).workers_max
    }

    /// Sets how many workers there may be in all. Where there are more now, the pools give back at
    /// their next turns.
    pub fn set_workers_max(&self, workers_max: u32) {
        lock(&self.table).workers_max = workers_max;
    }

    /// How many workers the pools may have right now, all together.
    #[must_use]
    pub fn held(&self) -> u32 {
        lock(&self.table).held_but(usize::MAX)
    }

    /// Takes a seat for a pool with these bounds.
    pub(super) fn join(
        &self,
        share: Share,
        bounds: Bounds,
        resizable: &dyn Resizable,
    ) -> Result<Seat, Fault> {
        let mut table = lock(&self.table);
        table.check_min(bounds.min, usize::MAX)?;
        let taken = table.seats.iter().flatten().count();
        if taken == Self::SEATS_MAX {
            let allowed = format!("a budget has {} seats and all are taken", Self::SEATS_MAX);
            return Err(fault("budget", taken, allowed));
        }
        let Share { priority, weight } = share;
        let Bounds { min, max } = bounds;
        let demand = Demand { priority, weight, min, max, wanted: min };
        // It brings its workers along; where there are too many, the next turn takes them back.
        let held = holds(&resizable.snapshot());
        let index = table.sit(Place { demand, held, poke: None });
        let (granted, has_left) = (AtomicU32::new(bounds.min), AtomicBool::new(false));
        Ok(Seat { budget: self.clone(), index, granted, has_left })
    }
}

impl Table {
    fn sit(&mut self, place: Place) -> usize {
        let free = self.seats.iter().position(Option::is_none);
        let index = free.unwrap_or(self.seats.len());
        match free {
            Some(index) => self.seats[index] = Some(place),
            None => self.seats.push(Some(place)),
        }
        index
    }

    /// Whether there is room for this minimum beside those of all other seats.
    fn check_min(&self, min: u32, index: usize) -> Result<(), Fault> {
        let others = self.seats.iter().enumerate().filter(|(other, _)| *other != index);
        let places = others.filter_map(|(_, place)| place.as_ref());
        let minimums = places.map(|place| place.demand.min).fold(0, u32::saturating_add);
        if minimums.saturating_add(min) <= self.workers_max {
            return Ok(());
        }
        let allowed = format!(
            "the budget has {} workers and the minimums of the other pools take {minimums}; raise \
             the budget or lower a minimum",
            self.workers_max
        );
        Err(fault("workers_min", min, allowed))
    }

    /// What all seats but this one hold.
    fn held_but(&self, index: usize) -> u32 {
        let others = self.seats.iter().enumerate().filter(|(other, _)| *other != index);
        let held = others.filter_map(|(_, place)| place.as_ref()).map(|place| place.held);
        held.fold(0, u32::saturating_add)
    }

    /// Says what the pool at this seat could use, and what everybody's part is then.
    fn ask(&mut self, index: usize, pool: &PoolSnapshot) -> Vec<u32> {
        if let Some(place) = &mut self.seats[index] {
            place.demand.wanted = wants(pool).max(place.demand.min);
        }
        self.parts()
    }

    /// What would be left for the pool at this seat of its part.
    fn left_of(&self, part: u32, index: usize) -> u32 {
        part.min(self.workers_max.saturating_sub(self.held_but(index)))
    }

    /// What the pool at this seat may have, after it said what it could use.
    fn turn(&mut self, index: usize, pool: &PoolSnapshot) -> u32 {
        if let Some(place) = &mut self.seats[index] {
            place.held = holds(pool);
        }
        let parts = self.ask(index, pool);
        let granted = self.left_of(parts[index], index);
        if granted < parts[index] {
            self.call_in(&parts);
        }
        if let Some(place) = &mut self.seats[index] {
            // Nobody else counts on it until it is told what was made of it.
            place.held = place.held.max(granted);
        }
        granted
    }

    /// Everybody's part: of what is wanted, and of what nobody wants, to have something to grow
    /// into. What is owed is not carried over: a worker more now and one fewer then is no gain.
    fn parts(&self) -> Vec<u32> {
        let nothing = Demand::of(0);
        let demand = |place: &Option<Place>| place.as_ref().map_or(nothing, |place| place.demand);
        let demands: Vec<Demand> = self.seats.iter().map(demand).collect();
        let parts = divide(self.workers_max, &demands, &mut Remainders::default());
        let spare = self.workers_max.saturating_sub(parts.iter().sum());
        let hopes = demands.iter().zip(&parts).map(|(demand, part)| Demand {
            weight: demand.weight,
            ..Demand::of(demand.max.saturating_sub(*part))
        });
        let hopes: Vec<Demand> = hopes
            .zip(&demands)
            .map(|(hope, of)| if 0 < of.wanted { hope } else { nothing })
            .collect();
        let more = divide(spare, &hopes, &mut Remainders::default());
        parts.into_iter().zip(more).map(|(part, more)| part + more).collect()
    }

    /// Calls those who hold more than their part.
    fn call_in(&self, parts: &[u32]) {
        let places = self.seats.iter().zip(parts);
        let over = places.filter_map(|(place, part)| {
            place.as_ref().filter(|place| *part < place.held)?.poke.as_ref()
        });
        over.for_each(|poke| poke());
    }
}

/// What a pool has taken up.
fn holds(pool: &PoolSnapshot) -> u32 {
    pool.ceiling.max(pool.live)
}

/// What a pool could use: a worker for every task that waits or runs, and one to spare; by powers
/// of two, so that it does not change with every task.
fn wants(pool: &PoolSnapshot) -> u32 {
    let wanted = u32::try_from(pool.pending()).unwrap_or(u32::MAX).saturating_add(1);
    wanted.checked_next_power_of_two().unwrap_or(u32::MAX)
}

fn fault(field: &str, value: impl fmt::Display, allowed: String) -> Fault {
    Fault { field: field.to_owned(), value: value.to_string(), allowed }
}

/// A pool's seat at the budget, given back by dropping it.
pub(super) struct Seat {
    budget: Budget,
    index: usize,
    /// What it was granted at its last turn.
    granted: AtomicU32,
    /// Whether the seat was given back, and may be somebody else's.
    has_left: AtomicBool,
}

impl Seat {
    /// Its pool has other bounds from now on.
    pub(super) fn set_bounds(&self, bounds: Bounds) -> Result<(), Fault> {
        let mut table = lock(&self.budget.table);
        if self.has_left.load(Ordering::Relaxed) {
            return Ok(());
        }
        table.check_min(bounds.min, self.index)?;
        if let Some(place) = &mut table.seats[self.index] {
            (place.demand.min, place.demand.max) = (bounds.min, bounds.max);
        }
        Ok(())
    }

    /// Calls its pool by `poke` from now on.
    pub(super) fn set_poke(&self, poke: Poke) {
        self.with(|place| place.poke = Some(poke));
    }

    /// Its pool has taken up so much.
    pub(super) fn holds(&self, held: u32) {
        self.with(|place| place.held = held);
    }

    /// What it may have, as of its last turn.
    pub(super) fn granted(&self) -> u32 {
        match self.has_left.load(Ordering::Relaxed) {
            true => u32::MAX,
            false => self.granted.load(Ordering::Relaxed),
        }
    }

    /// Gives the seat back. What its pool does from then on is nobody's concern here.
    pub(super) fn leave(&self) {
        let mut table = lock(&self.budget.table);
        if !self.has_left.swap(true, Ordering::Relaxed) {
            table.seats[self.index] = None;
        }
    }

    /// It is its turn: asks, and takes what it is granted.
    pub(super) fn look(&self, observation: &mut Observation) {
        let mut table = lock(&self.budget.table);
        if !self.has_left.load(Ordering::Relaxed) {
            let granted = table.turn(self.index, &observation.pool);
            self.granted.store(granted, Ordering::Relaxed);
            allow(observation, granted);
        }
    }

    /// Says what it would be granted, and takes nothing.
    pub(super) fn peek(&self, observation: &mut Observation) {
        let mut table = lock(&self.budget.table);
        if !self.has_left.load(Ordering::Relaxed) {
            let wanted = table.seats[self.index].as_ref().map(|place| place.demand.wanted);
            let parts = table.ask(self.index, &observation.pool);
            allow(observation, table.left_of(parts[self.index], self.index));
            if let (Some(place), Some(wanted)) = (&mut table.seats[self.index], wanted) {
                place.demand.wanted = wanted;
            }
        }
    }

    fn with(&self, change: impl FnOnce(&mut Place)) {
        let mut table = lock(&self.budget.table);
        if !self.has_left.load(Ordering::Relaxed)
            && let Some(place) = &mut table.seats[self.index]
        {
            change(place);
        }
    }
}

fn allow(observation: &mut Observation, granted: u32) {
    let before = observation.allowance.unwrap_or(u32::MAX);
    observation.allowance = Some(before.min(granted));
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.leave();
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget").field("workers_max", &self.workers_max()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use headcount_core::Staffing;

    use super::*;

    fn table(workers_max: u32, mins: &[u32]) -> Table {
        let place = |min: &u32| {
            let demand = Demand { min: *min, max: 8, ..Demand::of(*min) };
            Some(Place { demand, held: *min, poke: None })
        };
        Table { workers_max, seats: mins.iter().map(place).collect() }
    }

    fn pool(ceiling: u32, live: u32, queued: u64) -> PoolSnapshot {
        let busy = live;
        PoolSnapshot { live, busy, queued, ..PoolSnapshot::of(Staffing::between(1, ceiling)) }
    }

    #[test]
    fn who_needs_it_gets_what_nobody_else_does() {
        let mut table = table(10, &[1, 1]);
        assert_eq!(table.turn(0, &pool(1, 1, 100)), 8);
        assert_eq!(table.turn(1, &pool(1, 1, 0)), 2, "the other one holds eight");
    }

    #[test]
    fn what_nobody_needs_is_spread_over_all() {
        let mut table = table(10, &[1, 1]);
        assert_eq!(table.turn(0, &PoolSnapshot::of(Staffing::between(1, 1))), 5);
        assert_eq!(table.turn(1, &PoolSnapshot::of(Staffing::between(1, 1))), 5);
    }

    #[test]
    fn what_is_still_held_is_not_given_twice() {
        let mut table = table(10, &[1, 1]);
        let called = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&called);
        let poke: Poke = Arc::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        table.seats[0].as_mut().expect("it sits").poke = Some(poke);
        table.turn(0, &pool(1, 1, 100));
        // The second has as much to do now: five each would be fair, but eight are taken.
        assert_eq!(table.turn(1, &pool(1, 1, 100)), 2);
        assert_eq!(called.load(Ordering::Relaxed), 1, "the first is called in");
        assert_eq!(table.turn(0, &pool(8, 8, 100)), 5, "and is told to give back");
        assert_eq!(table.turn(1, &pool(2, 2, 100)), 2, "its workers are still busy");
        assert_eq!(table.turn(0, &pool(5, 5, 100)), 5, "they are gone");
        assert_eq!(table.turn(1, &pool(2, 2, 100)), 5);
        assert_eq!(table.held_but(usize::MAX), 10);
    }

    #[test]
    fn a_smaller_budget_is_reached_by_giving_back() {
        let mut table = table(10, &[1, 1]);
        table.turn(0, &pool(1, 1, 100));
        table.workers_max = 4;
        assert_eq!(table.turn(0, &pool(8, 8, 100)), 3);
        assert_eq!(table.turn(1, &pool(1, 1, 0)), 0, "nothing is left before they have gone");
    }
}
