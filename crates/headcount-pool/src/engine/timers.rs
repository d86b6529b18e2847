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
    /// Wake whoever watches under this number.
    Wake(u64, Waker),
}

impl Alarm {
    /// Whether somebody is there to hear it.
    fn is_wanted(&self) -> bool {
        match self {
            Self::Tell(deadline) => 0 < deadline.strong_count(),
            Self::Wake(..) => true,
        }
    }
}

/// What waits for its time.
///
/// Without a limit of its own: each belongs to a task or to somebody who waits, and those have one.
/// Tasks that are gone leave theirs behind; those are thrown out when they may be half of all.
#[derive(Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Timer>,
    sweep_at: usize,
}

struct Timer {
    at: Timestamp,
    alarm: Alarm,
}

impl Timers {
    const SWEEP_MIN: usize = 64;

    pub(crate) fn set(&mut self, at: Timestamp, alarm: Alarm) {
        if at < Timestamp::MAX {
            if self.sweep_at.max(Self::SWEEP_MIN) <= self.heap.len() {
                self.heap.retain(|timer| timer.alarm.is_wanted());
                self.sweep_at = self.heap.len() * 2;
            }
            self.heap.push(Timer { at, alarm });
        }
    }

    /// Does not wake whoever watches under this number. What is left is to be dropped away from the
    /// desk.
    pub(crate) fn forget(&mut self, number: u64) -> Vec<Alarm> {
        let is_its = |timer: &Timer| matches!(timer.alarm, Alarm::Wake(of, _) if of == number);
        if !self.heap.iter().any(is_its) {
            return Vec::new();
        }
        let (its, others) = self.heap.drain().partition::<Vec<_>, _>(is_its);
        self.heap = others.into();
        its.into_iter().map(|timer| timer.alarm).collect()
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

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use super::*;

    struct Late;

    impl Deadline for Late {
        fn passed(&self, _now: Timestamp) {}
    }

    #[test]
    fn whoever_does_not_watch_any_more_is_forgotten() {
        let mut timers = Timers::default();
        for number in 1..=3 {
            timers.set(Timestamp::from_secs(number), Alarm::Wake(number, Waker::noop().clone()));
        }
        assert_eq!(timers.forget(1).len(), 1);
        assert_eq!(timers.forget(1).len(), 0);
        assert_eq!(timers.next(), Some(Timestamp::from_secs(2)));
        assert_eq!(timers.due(Timestamp::from_secs(3)).len(), 2);
    }

    #[test]
    fn timers_of_tasks_that_are_gone_do_not_pile_up() {
        let mut timers = Timers::default();
        let stays: Arc<dyn Deadline> = Arc::new(Late);
        for second in 1..=10_000 {
            let gone: Arc<dyn Deadline> = Arc::new(Late);
            let of = if second % 1_000 == 0 { &stays } else { &gone };
            timers.set(Timestamp::from_secs(second), Alarm::Tell(Arc::downgrade(of)));
        }
        assert!(timers.heap.len() <= 2 * Timers::SWEEP_MIN, "{}", timers.heap.len());
        let due = timers.due(Timestamp::from_secs(10_000));
        assert_eq!(due.iter().filter(|alarm| alarm.is_wanted()).count(), 10);
    }
}
