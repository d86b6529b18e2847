//! Lets tasks in: so many at a time, and none after it was closed.
//!
//! How many were let in and whether the door is closed are one word, so that the closer learns in
//! one step how many tasks there will ever be.

use crossbeam_utils::CachePadded;

use crate::sync::atomic::{AtomicU64, Ordering};

/// The mark in the word of those let in.
const CLOSED: u64 = 1 << 63;

/// Why the door stays shut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shut {
    /// As many wait as may.
    Full,
    /// Nobody is let in any more.
    Closed,
}

/// Counts tasks in. Whoever is let in pushes a task, without fail.
#[derive(Debug)]
pub(crate) struct Door {
    words: CachePadded<Words>,
    len_max: u64,
}

/// Both belong to the submitters, who read them together.
#[derive(Debug)]
struct Words {
    admitted: AtomicU64,
    /// So many may have been let in before somebody has to count what was taken.
    room_until: AtomicU64,
}

impl Door {
    /// An open door to a line of at most `len_max` tasks.
    pub(crate) fn new(len_max: u64) -> Self {
        let words = Words { admitted: AtomicU64::new(0), room_until: AtomicU64::new(len_max) };
        Self { words: CachePadded::new(words), len_max }
    }

    /// How many may wait.
    pub(crate) fn len_max(&self) -> u64 {
        self.len_max
    }

    /// Lets one in and returns its number, counted from 0.
    pub(crate) fn enter(&self) -> Result<u64, Shut> {
        self.enter_some(1).map(|(first, _)| first)
    }

    /// Lets in as many as there is room for, up to `wanted`: the number of the first, and how many.
    pub(crate) fn enter_some(&self, wanted: u64) -> Result<(u64, u64), Shut> {
        let mut admitted = self.words.admitted.load(Ordering::Relaxed);
        loop {
            if admitted & CLOSED != 0 {
                return Err(Shut::Closed);
            }
            let room = self.words.room_until.load(Ordering::Relaxed).saturating_sub(admitted);
            if room == 0 {
                return Err(Shut::Full);
            }
            let entering = room.min(wanted);
            match self.words.admitted.compare_exchange_weak(
                admitted,
                admitted + entering,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok((admitted, entering)),
                Err(now) => admitted = now,
            }
        }
    }

    /// Makes room for as many as were `taken` since the beginning.
    pub(crate) fn make_room(&self, taken: u64) {
        self.words.room_until.fetch_max(taken.saturating_add(self.len_max), Ordering::Relaxed);
    }

    /// Whether another could be let in right now, as far as what was taken has been counted.
    pub(crate) fn has_room(&self) -> bool {
        let room_until = self.words.room_until.load(Ordering::Relaxed);
        self.admitted() < room_until
    }

    /// Closes the door for good.
    pub(crate) fn close(&self) {
        // Acquire and release: what the submitters did before they were let in is behind us.
        self.words.admitted.fetch_or(CLOSED, Ordering::AcqRel);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.words.admitted.load(Ordering::Acquire) & CLOSED != 0
    }

    /// How many were ever let in.
    pub(crate) fn admitted(&self) -> u64 {
        self.words.admitted.load(Ordering::Acquire) & !CLOSED
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn lets_in_as_many_as_may_wait() {
        let door = Door::new(2);
        assert_eq!([door.enter(), door.enter(), door.enter()], [Ok(0), Ok(1), Err(Shut::Full)]);
        door.make_room(1);
        assert_eq!([door.enter(), door.enter()], [Ok(2), Err(Shut::Full)]);
        // Counted late, and less than before: it changes nothing.
        door.make_room(0);
        assert_eq!(door.enter(), Err(Shut::Full));
    }

    #[test]
    fn a_batch_gets_what_room_there_is() {
        let door = Door::new(5);
        assert_eq!(door.enter_some(3), Ok((0, 3)));
        assert_eq!(door.enter_some(3), Ok((3, 2)));
        assert_eq!(door.enter_some(3), Err(Shut::Full));
    }

    #[test]
    fn nobody_enters_a_closed_door_and_the_count_stands() {
        let door = Door::new(2);
        assert_eq!(door.enter(), Ok(0));
        door.close();
        assert_eq!([door.enter(), door.enter()], [Err(Shut::Closed); 2]);
        assert_eq!((door.admitted(), door.is_closed()), (1, true));
    }
}
