//! Deadlines that the keeper watches.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::fmt;
use std::sync::Weak;
use std::task::Waker;

use headcount_core::Timestamp;

/// Something whose time comes.
pub(crate) trait Deadline: Send + Sync {
    /// The time has come. Called without a lock held.
    fn passed(&self, now: Timestamp);
}

/// What to do when the time comes.
pub(crate) enum Alarm {
    /// Tell this one, if it still exists.
    Tell(Weak<dyn Deadline>),
    /// Wake this one.
    Wake(Waker),
}

/// What waits for its time.
///
/// Without a limit of its own: each belongs to a task or to somebody who waits, and those have one.
#[derive(Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Timer>,
}

struct Timer {
    at: Timestamp,
    alarm: Alarm,
}

impl Timers {
    pub(crate) fn set(&mut self, at: Timestamp, alarm: Alarm) {
        if at < Timestamp::MAX {
            self.heap.push(Timer { at, alarm });
        }
    }

    /// When the next one rings.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.heap.peek().map(|timer| timer.at)
    }

    /// Takes out what is due.
    pub(crate) fn due(&mut self, now: Timestamp) -> Vec<Alarm> {
        let mut due = Vec::new();
        while self.next().is_some_and(|at| at <= now) {
            due.extend(self.heap.pop().map(|timer| timer.alarm));
        }
        due
    }
}

impl fmt::Debug for Timers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timers").field("len", &self.heap.len()).finish_non_exhaustive()
    }
}

// The heap gives its greatest first; the earliest is to be the greatest.
impl Ord for Timer {
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.cmp(&self.at)
    }
}

impl PartialOrd for Timer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Timer {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Timer {}
