//! Those who left the line and were not taken.
//!
//! The line is a ring in which a task's number is its place, so it can only be taken from the
//! front. Whoever wants another than the first, or shells gone from between the others, first moves
//! everything that is in the line over here, in order.
//!
//! While those who wait are late (the flag `LATE`), whoever takes a task does so and takes the last
//! one. Those who came before it are passed over: they stay here, and are served whenever nobody
//! newer waits. Where shells are cleared out, the others stay here and are served in order, before
//! those in the line, which is held until nobody is left here.
//!
//! **Nobody is forgotten here.** The flag is lowered and the line released only under the lock and
//! only while nobody is here, and whoever leaves somebody here has seen the flag up or held the
//! line, under the lock. So as long as anybody is here, whoever takes the next task comes here.
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

/// Those who left the line and were not taken.
pub(crate) struct Aside<W> {
    /// The oldest first. All of them came before those in the line.
    entries: Mutex<VecDeque<Entry<W>>>,
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
        let entries = Mutex::new(VecDeque::new());
        Self { entries, counts: CachePadded::new(Counts::default()) }
    }
}

impl<W: Send> Aside<W> {
    /// Takes the one whose turn it is into `hand`, of those here and of the `waiting` in the line,
    /// and says whether there was one: the newest where they are late, and else the oldest.
    pub(crate) fn pop(
        &self,
        line: &Line<Entry<W>>,
        waiting: u64,
        notice: &Notice,
        hand: &mut Option<Entry<W>>,
    ) -> bool {
        let mut entries = lock(&self.entries);
        // Under the lock: whoever lowered it meanwhile left nobody here.
        if notice.read() & LATE == 0 {
            return self.pop_front(&mut entries, line, notice, hand) || line.pop(hand);
        }
        let was_empty = entries.is_empty();
        self.move_over(&mut entries, line, waiting);
        *hand = entries.pop_back();
        self.settle(&entries, u64::from(hand.is_some()), line, notice);
        if was_empty {
            self.note_oldest(&entries);
        }
        hand.is_some()
    }

    /// Takes the oldest of those here into `hand`, and says whether there was one.
    pub(crate) fn pop_oldest(
        &self,
        line: &Line<Entry<W>>,
        notice: &Notice,
        hand: &mut Option<Entry<W>>,
    ) -> bool {
        0 < self.len() && self.pop_front(&mut lock(&self.entries), line, notice, hand)
    }

    fn pop_front(
        &self,
        entries: &mut VecDeque<Entry<W>>,
        line: &Line<Entry<W>>,
        notice: &Notice,
        hand: &mut Option<Entry<W>>,
    ) -> bool {
        *hand = entries.pop_front();
        if hand.is_some() {
            self.settle(entries, 1, line, notice);
            self.note_oldest(entries);
        }
        hand.is_some()
    }

    /// Leaves out those who are shells, of those here and of the `waiting` in the line, and returns
    /// what is left of them, to be dropped without the lock. The others are here after that, unless
    /// the line cannot be held, or `waiting` says, while nobody moves, that it is not worth it.
    pub(crate) fn clear(
        &self,
        line: &Line<Entry<W>>,
        waiting: impl FnOnce() -> Option<u64>,
        notice: &Notice,
        mut is_shell: impl FnMut(&W) -> bool,
    ) -> Vec<Entry<W>> {
        let mut entries = lock(&self.entries);
        let Some(waiting) = waiting().filter(|_| line.hold()) else { return Vec::new() };
        self.move_over(&mut entries, line, waiting);
        let (shells, others): (Vec<_>, Vec<_>) =
            entries.drain(..).partition(|entry| is_shell(&entry.work));
        entries.extend(others);
        self.settle(&entries, shells.len() as u64, line, notice);
        self.note_oldest(&entries);
        shells
    }

    /// Moves those over who are in the line, as many as there were: others may bring more without
    /// end.
    fn move_over(&self, entries: &mut VecDeque<Entry<W>>, line: &Line<Entry<W>>, waiting: u64) {
        let mut hand = None;
        for _ in 0..waiting {
            self.counts.len.fetch_add(1, Ordering::AcqRel);
            // Pairs with the count of the line: who sees it gone from there sees it here.
            fence(Ordering::Release);
            if !line.pop_held(&mut hand) {
                self.counts.len.fetch_sub(1, Ordering::AcqRel);
                break;
            }
            entries.extend(hand.take());
        }
    }

    /// So many have left, and where nobody is here any more nobody need come.
    fn settle(
        &self,
        entries: &VecDeque<Entry<W>>,
        left: u64,
        line: &Line<Entry<W>>,
        notice: &Notice,
    ) {
        self.counts.len.fetch_sub(left, Ordering::AcqRel);
        if entries.is_empty() {
            line.release();
            notice.lower(LATE);
        }
    }

    /// Not everybody has a time, but one of so many in a row has.
    fn note_oldest(&self, entries: &VecDeque<Entry<W>>) {
        let few = entries.iter().zip(0..SAMPLE);
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

    /// Clears those with odd numbers out.
    fn clear(floor: &Floor<u64>) -> u64 {
        floor.clear_shells(|task| !task.is_multiple_of(2))
    }

    #[test]
    fn shells_are_left_out_and_the_others_are_served_in_order_before_those_who_come_later() {
        let floor = floor(6);
        assert_eq!((clear(&floor), floor.queued(), floor.taken_by_others()), (3, 3, 3));
        bring(&floor, 7..=8);
        assert_eq!((next(&floor), floor.queued()), (Some(2), 4));
        assert_eq!((clear(&floor), floor.queued()), (1, 3));
        bring(&floor, 9..=9);
        let rest: Vec<_> = std::iter::from_fn(|| next(&floor)).collect();
        assert_eq!(rest, [4, 6, 8, 9]);
        assert!(!floor.line.is_held(), "nobody is aside");
        assert_eq!((clear(&floor), floor.line.is_held()), (0, false), "nobody waits");
    }

    #[test]
    fn while_they_are_late_the_newest_go_first_wherever_shells_were() {
        let floor = floor(4);
        clear(&floor);
        floor.notice.raise(LATE);
        bring(&floor, 6..=6);
        let newest_first: Vec<_> = std::iter::from_fn(|| next(&floor)).collect();
        assert_eq!(newest_first, [6, 4, 2]);
        assert_eq!((floor.line.is_held(), floor.notice.read() & LATE), (false, 0), "it is over");
    }

    #[test]
    fn whoever_empties_the_line_after_shells_were_cleared_gets_the_oldest_first() {
        let floor = floor(4);
        clear(&floor);
        bring(&floor, 6..=6);
        let out: Vec<_> = std::iter::from_fn(|| floor.take_out()).map(|entry| entry.work).collect();
        assert_eq!((out.as_slice(), floor.queued()), ([2, 4, 6].as_slice(), 0));
    }

    #[test]
    fn a_list_cannot_be_held_and_is_not_cleared() {
        let len_max = 1 << 17;
        let floor = Floor::new(Line::new(len_max, None), len_max);
        bring(&floor, 1..=2);
        assert_eq!((clear(&floor), floor.queued()), (0, 2));
        assert_eq!([next(&floor), next(&floor)], [Some(1), Some(2)]);
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
