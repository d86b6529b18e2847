//! Every worker's state, and the stack of the parked ones.
//!
//! A slab with the stack threaded through it: each step takes constant time, and nothing is
//! allocated once the pool has been at its largest. States change in one place, [`Crew::shift`],
//! which also counts them, so that counts and states cannot drift apart.

use std::fmt;

use crate::Timestamp;

/// One worker, from its hire until it is gone.
///
/// Workers that exist together differ in their slot; workers that hold the same slot one after the
/// other differ in their generation, so that a late message cannot reach the wrong one.
///
/// ```
/// use headcount_core::roster::{Placement, Roster, RosterConfig};
/// use headcount_core::{Staffing, Timestamp};
///
/// let mut roster = Roster::new(RosterConfig::new(Staffing::between(0, 1)));
/// let Placement::Hire(worker) = roster.submitted(Timestamp::ORIGIN, 0) else { unreachable!() };
/// assert_eq!(worker.slot(), 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WorkerId {
    slot: u32,
    generation: u32,
}

impl WorkerId {
    /// The index of its slot. Slots are reused, so the indices stay as small as the pool.
    #[must_use]
    pub const fn slot(self) -> usize {
        self.slot as usize
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.slot, self.generation)
    }
}

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Starting,
    Busy,
    Parked {
        since: Timestamp,
    },
    Leaving,
    WrittenOff,
    /// Came back and found no room. It never got its place back, so it has none to give up.
    WrittenOffLeaving,
}

/// A place in the slab. The links are those of the stack and mean something only while parked.
#[derive(Clone, Copy, Debug)]
struct Slot {
    generation: u32,
    state: Option<State>,
    above: Option<u32>,
    below: Option<u32>,
}

/// All workers that exist.
#[derive(Clone, Debug, Default)]
pub(super) struct Crew {
    slots: Vec<Slot>,
    vacant: Vec<u32>,
    /// The last parked.
    top: Option<u32>,
    /// The longest parked.
    bottom: Option<u32>,
    pub(super) starting: u32,
    pub(super) busy: u32,
    pub(super) parked: u32,
    pub(super) leaving: u32,
    pub(super) written_off: u32,
}

impl Crew {
    /// Takes a place for a worker that is to be started.
    pub(super) fn hire(&mut self) -> WorkerId {
        let slot = self.vacant.pop().unwrap_or_else(|| self.extend());
        self.slots[slot as usize].state = Some(State::Starting);
        self.starting += 1;
        self.id(slot)
    }

    /// What `worker` does. `None` when it is gone.
    pub(super) fn state(&self, worker: WorkerId) -> Option<State> {
        let slot = self.slots.get(worker.slot())?;
        if slot.generation == worker.generation { slot.state } else { None }
    }

    /// Lets `worker` do something else.
    pub(super) fn shift(&mut self, worker: WorkerId, to: State) {
        self.depart(worker);
        self.slots[worker.slot()].state = Some(to);
        *self.count(to) += 1;
        if matches!(to, State::Parked { .. }) {
            self.push(worker.slot);
        }
    }

    /// Gives up the place of `worker`, which is gone.
    pub(super) fn remove(&mut self, worker: WorkerId) {
        self.depart(worker);
        let slot = &mut self.slots[worker.slot()];
        slot.generation = slot.generation.wrapping_add(1);
        self.vacant.push(worker.slot);
    }

    /// The worker that parked last.
    pub(super) fn last_parked(&self) -> Option<WorkerId> {
        self.top.map(|slot| self.id(slot))
    }

    /// The worker that has been parked for longest, and since when.
    pub(super) fn longest_parked(&self) -> Option<(WorkerId, Timestamp)> {
        let slot = self.bottom?;
        match self.slots[slot as usize].state {
            Some(State::Parked { since }) => Some((self.id(slot), since)),
            _ => None,
        }
    }

    /// Workers that hold a place under the ceiling.
    pub(super) fn live(&self) -> u32 {
        self.starting + self.busy + self.parked + self.leaving
    }

    fn id(&self, slot: u32) -> WorkerId {
        WorkerId { slot, generation: self.slots[slot as usize].generation }
    }

    fn extend(&mut self) -> u32 {
        let slot = u32::try_from(self.slots.len()).expect("fewer workers than 2^32 exist");
        self.slots.push(Slot { generation: 0, state: None, above: None, below: None });
        slot
    }

    /// Takes `worker` out of its present state, and off the stack if it was on it.
    fn depart(&mut self, worker: WorkerId) {
        let from = self.state(worker).expect("only a worker that exists changes its state");
        *self.count(from) -= 1;
        if matches!(from, State::Parked { .. }) {
            self.unlink(worker.slot);
        }
        self.slots[worker.slot()].state = None;
    }

    fn count(&mut self, state: State) -> &mut u32 {
        match state {
            State::Starting => &mut self.starting,
            State::Busy => &mut self.busy,
            State::Parked { .. } => &mut self.parked,
            State::Leaving => &mut self.leaving,
            State::WrittenOff | State::WrittenOffLeaving => &mut self.written_off,
        }
    }

    fn push(&mut self, slot: u32) {
        let below = self.top.replace(slot);
        match below {
            Some(below) => self.slots[below as usize].above = Some(slot),
            None => self.bottom = Some(slot),
        }
        self.slots[slot as usize].above = None;
        self.slots[slot as usize].below = below;
    }

    fn unlink(&mut self, slot: u32) {
        let Slot { above, below, .. } = self.slots[slot as usize];
        match above {
            Some(above) => self.slots[above as usize].below = below,
            None => self.top = below,
        }
        match below {
            Some(below) => self.slots[below as usize].above = above,
            None => self.bottom = above,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hires three workers and parks them in turn.
    fn three_parked() -> (Crew, [WorkerId; 3]) {
        let mut crew = Crew::default();
        let workers = [crew.hire(), crew.hire(), crew.hire()];
        for (second, worker) in (0..).zip(workers) {
            crew.shift(worker, State::Parked { since: Timestamp::from_secs(second) });
        }
        (crew, workers)
    }

    #[test]
    fn the_stack_keeps_its_order_when_the_middle_leaves() {
        let (mut crew, [first, middle, last]) = three_parked();
        crew.shift(middle, State::Busy);
        assert_eq!(crew.last_parked(), Some(last));
        assert_eq!(crew.longest_parked(), Some((first, Timestamp::ORIGIN)));
        crew.shift(last, State::Leaving);
        assert_eq!(crew.last_parked(), Some(first));
        crew.shift(first, State::Busy);
        assert_eq!(crew.last_parked(), None);
        assert_eq!(crew.longest_parked(), None);
    }

    #[test]
    fn whoever_parks_again_is_on_top() {
        let (mut crew, [first, middle, _]) = three_parked();
        crew.shift(first, State::Parked { since: Timestamp::from_secs(9) });
        assert_eq!(crew.last_parked(), Some(first));
        assert_eq!(crew.longest_parked(), Some((middle, Timestamp::from_secs(1))));
        assert_eq!(crew.parked, 3);
    }

    #[test]
    fn a_slot_is_reused_under_another_name() {
        let (mut crew, [first, ..]) = three_parked();
        crew.remove(first);
        let next = crew.hire();
        assert_eq!(next.slot(), first.slot());
        assert_ne!(next, first);
        assert_eq!(crew.state(first), None, "the old name means nobody");
        assert_eq!(crew.state(next), Some(State::Starting));
        assert_eq!(crew.live(), 3);
    }
}
