//! Those who are passed over while the newest go first.
//!
//! The line is a ring in which a task's number is its place, so it can only be taken from the
//! front. While those who wait are late (the flag `LATE`), whoever takes a task first moves
//! everything that is in the line over here, in order, and takes the last one. Those who came
//! before it stay here, and are served whenever nobody newer waits. The flag goes down when nobody
//! is left.
//!
//! **Nobody is forgotten here.** The flag is lowered only under the lock and only while nobody is
//! here, and whoever leaves somebody here raises it before the lock is released. So as long as
//! anybody is here, whoever takes the next task comes here.
//!
//! **Nobody is counted too few times.** One that moves over is counted here before it leaves the
//! line, and the line is counted before this place is. So whoever counts in between counts it
//! twice, and never not at all: a worker that sees nothing waiting may park.

use std::collections::VecDeque;
use std::fmt;

use crossbeam_utils::CachePadded;
use headcount_core::Timestamp;

use super::floor::Entry;
use super::line::Line;
use super::notice::{LATE, Notice};
use super::stamps::SAMPLE;
use crate::sync::atomic::{AtomicU64, Ordering, fence};
use crate::sync::{Mutex, lock};

/// Those who are passed over.
pub(crate) struct Aside<W> {
    /// The oldest first.
    passed_over: Mutex<VecDeque<Entry<W>>>,
    counts: CachePadded<Counts>,
}

/// What is known of them without the lock.
#[derive(Debug, Default)]
struct Counts {
    len: AtomicU64,
    /// About when the first of them was submitted, in nanoseconds. 0: not known.
    oldest: AtomicU64,
}

impl<W> Default for Aside<W> {
    fn default() -> Self {
        let passed_over = Mutex::new(VecDeque::new());
        Self { passed_over, counts: CachePadded::new(Counts::default()) }
    }
}

impl<W: Send> Aside<W> {
    /// Takes the newest into `hand`, of those here and of the `waiting` in the line, and says
    /// whether there was one.
    pub(crate) fn pop_newest(
        &self,
        line: &Line<Entry<W>>,
        waiting: u64,
        notice: &Notice,
        hand: &mut Option<Entry<W>>,
    ) -> bool {
        let mut passed_over = lock(&self.passed_over);
        let was_empty = passed_over.is_empty();
        // As many as there were: others may bring more without end.
        for _ in 0..waiting {
            self.counts.len.fetch_add(1, Ordering::AcqRel);
            // Pairs with the count of the line: who sees it gone from there sees it here.
            fence(Ordering::Release);
            if !line.pop(hand) {
                self.counts.len.fetch_sub(1, Ordering::AcqRel);
                break;
            }
            passed_over.extend(hand.take());
        }
        *hand = passed_over.pop_back();
        self.settle(&passed_over, hand.is_some(), notice);
        if was_empty {
            self.note_oldest(&passed_over);
        }
        hand.is_some()
    }

    /// Takes the oldest of those here into `hand`, and says whether there was one.
    pub(crate) fn pop_oldest(&self, notice: &Notice, hand: &mut Option<Entry<W>>) -> bool {
        if self.len() == 0 {
            return false;
        }
        let mut passed_over = lock(&self.passed_over);
        *hand = passed_over.pop_front();
        self.settle(&passed_over, hand.is_some(), notice);
        self.note_oldest(&passed_over);
        hand.is_some()
    }

    fn settle(&self, passed_over: &VecDeque<Entry<W>>, took_one: bool, notice: &Notice) {
        if took_one {
            self.counts.len.fetch_sub(1, Ordering::AcqRel);
        }
        notice.set(LATE, !passed_over.is_empty());
    }

    /// Not everybody has a time, but one of so many in a row has.
    fn note_oldest(&self, passed_over: &VecDeque<Entry<W>>) {
        let few = passed_over.iter().zip(0..SAMPLE);
        let oldest = few.map(|(entry, _)| entry).find_map(|entry| entry.stamp.read());
        let nanos = oldest.map_or(0, |(submitted, _)| submitted.as_nanos());
        self.counts.oldest.store(nanos, Ordering::Relaxed);
    }

    /// How many are here. To be asked after the line was.
    pub(crate) fn len(&self) -> u64 {
        self.counts.len.load(Ordering::Acquire)
    }

    /// About when the first of those here was submitted.
    pub(crate) fn oldest(&self) -> Option<Timestamp> {
        let nanos = self.counts.oldest.load(Ordering::Relaxed);
        (0 < self.len() && 0 < nanos).then(|| Timestamp::from_nanos(nanos))
    }
}

impl<W> fmt::Debug for Aside<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aside").field("counts", &*self.counts).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::engine::floor::Floor;

    /// A floor on which tasks 1 to `count` wait.
    fn floor(count: u64) -> Floor<u64> {
        let floor = Floor::new(Line::new(64, None), 64);
        bring(&floor, 1..=count);
        floor
    }

    fn bring(floor: &Floor<u64>, tasks: impl Iterator<Item = u64>) {
        for task in tasks {
            let number = floor.door.enter().expect("there is room");
            let _ = floor.put(number, task);
        }
    }

    fn next(floor: &Floor<u64>) -> Option<u64> {
        let mut hand = None;
        floor.next(&mut hand);
        hand.map(|entry| entry.work)
    }

    #[test]
    fn while_they_are_late_the_newest_go_first_and_nobody_is_lost() {
        let floor = floor(3);
        floor.notice.raise(LATE);
        assert_eq!((next(&floor), floor.queued()), (Some(3), 2));
        bring(&floor, 4..=5);
        assert_eq!(floor.queued(), 4);
        let rest: Vec<_> = std::iter::from_fn(|| next(&floor)).collect();
        assert_eq!(rest, [5, 4, 2, 1]);
        assert_eq!((floor.queued(), floor.notice.read() & LATE), (0, 0), "it is over");
        bring(&floor, 6..=7);
        assert_eq!((next(&floor), next(&floor)), (Some(6), Some(7)), "the oldest first again");
    }

    #[test]
    fn whoever_empties_the_line_gets_the_oldest_first() {
        let floor = floor(3);
        floor.notice.raise(LATE);
        assert_eq!(next(&floor), Some(3));
        bring(&floor, 4..=4);
        let out: Vec<_> = std::iter::from_fn(|| floor.take_out()).map(|entry| entry.work).collect();
        assert_eq!(out, [1, 2, 4]);
        assert_eq!(floor.notice.read() & LATE, 0);
    }

    #[test]
    fn whoever_is_passed_over_has_waited_since_it_came() {
        let floor = floor(2);
        let first = floor.newest(2, Timestamp::MAX).oldest;
        floor.notice.raise(LATE);
        assert_eq!(next(&floor), Some(2));
        bring(&floor, 3..=40);
        assert_eq!(next(&floor), Some(40));
        let oldest = floor.newest(floor.queued(), Timestamp::MAX).oldest;
        // A stamp is even.
        assert!(oldest <= first && first.since(oldest).as_nanos() <= 1, "{oldest:?} and {first:?}");
    }
}

#[cfg(all(test, loom))]
#[path = "aside_loom_tests.rs"]
mod loom;
