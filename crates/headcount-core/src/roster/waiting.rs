//! What the roster needs to know of the tasks that wait.
//!
//! The queue belongs to the pool. The roster asks it for two things instead of keeping a second
//! queue that could disagree with the first.

use std::collections::VecDeque;

use crate::Timestamp;

/// The tasks that wait, as the roster sees them.
///
/// Implement it for the pool's queue. The roster relies on this: while it is asked, nothing
/// changes, and a task handed to a woken worker is not among those that wait. It does not rely on
/// tasks being served in the order of their age.
///
/// ```
/// use headcount_core::Timestamp;
/// use headcount_core::roster::Waiting;
/// use std::collections::VecDeque;
///
/// struct Queue(VecDeque<(Timestamp, Box<dyn FnOnce()>)>);
///
/// impl Waiting for Queue {
///     fn queued(&self) -> u64 {
///         self.0.len() as u64
///     }
///     fn submitted(&self, rank: u64) -> Option<Timestamp> {
///         self.0.get(usize::try_from(rank).ok()?).map(|(submitted, _)| *submitted)
///     }
/// }
/// ```
pub trait Waiting {
    /// How many tasks wait.
    fn queued(&self) -> u64;

    /// When the task was submitted that has `rank` older ones before it. `None` past the last one.
    fn submitted(&self, rank: u64) -> Option<Timestamp>;
}

/// A queue of the times at which its tasks were submitted, oldest first.
impl Waiting for VecDeque<Timestamp> {
    fn queued(&self) -> u64 {
        self.len() as u64
    }

    fn submitted(&self, rank: u64) -> Option<Timestamp> {
        self.get(usize::try_from(rank).ok()?).copied()
    }
}

/// A queue of which only the length and the ends are known.
///
/// The tasks between are taken to have come evenly. For queues that cannot be looked into, such as
/// lock-free ones.
///
/// ```
/// use headcount_core::Timestamp;
/// use headcount_core::roster::{Spread, Waiting};
///
/// let queue = Spread {
///     queued: 3,
///     oldest: Timestamp::from_secs(10),
///     newest: Timestamp::from_secs(20),
/// };
/// assert_eq!(queue.submitted(1), Some(Timestamp::from_secs(15)));
/// assert_eq!(queue.submitted(3), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// How many tasks wait.
    pub queued: u64,
    /// When the oldest of them was submitted. Without meaning where none waits.
    pub oldest: Timestamp,
    /// When the newest of them was submitted; the present will do.
    pub newest: Timestamp,
}

impl Waiting for Spread {
    fn queued(&self) -> u64 {
        self.queued
    }

    fn submitted(&self, rank: u64) -> Option<Timestamp> {
        if self.queued <= rank {
            return None;
        }
        let oldest = self.oldest.as_nanos();
        let span = u128::from(self.newest.as_nanos().saturating_sub(oldest));
        let gaps = u128::from(self.queued - 1).max(1);
        let later = u64::try_from(span * u128::from(rank) / gaps).unwrap_or(u64::MAX);
        Some(Timestamp::from_nanos(oldest.saturating_add(later)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(queue: &dyn Waiting, expected: &[u64]) {
        let seen: Vec<u64> =
            (0..).map_while(|rank| queue.submitted(rank)).map(Timestamp::as_nanos).collect();
        assert_eq!(seen, expected);
        assert_eq!(queue.queued(), expected.len() as u64);
    }

    #[test]
    fn tasks_are_told_oldest_first() {
        check(&VecDeque::from([3, 5, 8].map(Timestamp::from_nanos)), &[3, 5, 8]);
    }

    #[test]
    fn unknown_tasks_are_spread_between_the_ends() {
        let at = Timestamp::from_nanos;
        check(&Spread { queued: 0, oldest: at(5), newest: at(9) }, &[]);
        check(&Spread { queued: 1, oldest: at(5), newest: at(9) }, &[5]);
        check(&Spread { queued: 3, oldest: at(5), newest: at(9) }, &[5, 7, 9]);
        // A clock that stepped back makes them all as old as the oldest.
        check(&Spread { queued: 2, oldest: at(5), newest: at(1) }, &[5, 5]);
    }

    #[test]
    fn the_longest_queue_does_not_overflow() {
        let queue = Spread { queued: u64::MAX, oldest: Timestamp::ORIGIN, newest: Timestamp::MAX };
        assert_eq!(queue.submitted(u64::MAX - 1), Some(Timestamp::MAX));
        assert_eq!(queue.submitted(u64::MAX), None);
    }
}
