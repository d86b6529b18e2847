//! The plain line: a ring of places, one for each task that may wait, first in first out.
//!
//! The door gives every task a number, and the number is its place: nobody looks for one, and the
//! count of those let in is the end of the line. Each place has a *turn*, which says what is in it.
//! In the first lap around the ring it goes from 0, free, to 1, taken up, to 2, free for the second
//! lap, and so on.
//!
//! One of two places in this crate with unsafe code, and why it is sound:
//!
//! 1. A place is written only by whoever was given its number, once, and only while its turn says
//!    free in this lap. The door gives each number once; `put` waits for the turn.
//! 2. A place is read only by whoever moved the head past it, once, and only while its turn says
//!    taken up in this lap. Of those who see that, one moves the head: it only ever goes up. A ring
//!    that is held has a mark in its head, so that whoever has read it without cannot move it.
//! 3. Each hands the place to the other by writing the turn last, with release, and the other reads
//!    it first, with acquire. So writing and reading never overlap, and the one sees what the other
//!    did.
//!
//! A task is written into memory that whoever took one out of it a lap ago has in its cache, or
//! that nobody has any more. To write it is to wait for it, as the door is one atomic step and the
//! fence behind the line another, and neither is done before what was written is. So each submitter
//! asks for a place some tasks before it is written (decision 0028).
//!
//! A ring can be *held*: with the mark its head is a number that no task ever has, so whoever takes
//! in the usual way finds nothing. Whoever holds it takes in another.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use crossbeam_utils::CachePadded;

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::cell::UnsafeCell;
use crate::sync::yield_now;

/// So many tasks before its turn a place is asked for. Fewer come too late for one producer, many
/// more are taken away again by others.
const AHEAD: u64 = 6;
/// The mark in the head of a ring that is held. Twice of it is a turn, and fits into a word.
const HELD: u64 = 1 << 62;

/// Tasks that wait, by number.
pub(crate) struct Ring<T> {
    /// The number of the next task to be taken.
    head: CachePadded<AtomicU64>,
    /// As many as a power of two.
    places: Box<[Place<T>]>,
}

struct Place<T> {
    turn: AtomicU64,
    task: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: by the rules above a place is passed from one thread to another and never shared.
unsafe impl<T: Send> Sync for Place<T> {}

impl<T> Ring<T> {
    /// A ring for at least `len_max` tasks.
    pub(crate) fn new(len_max: u64) -> Self {
        let len = usize::try_from(len_max).ok().and_then(usize::checked_next_power_of_two);
        let places = places(len.expect("a ring fits into memory"));
        Self { head: CachePadded::new(AtomicU64::new(0)), places }
    }

    /// Puts the task in that the door gave this number.
    pub(crate) fn put(&self, number: u64, task: T) {
        ask_for(self.place(number.wrapping_add(AHEAD)).0);
        let (place, free) = self.place(number);
        while place.turn.load(Ordering::Acquire) != free {
            // Counted as taken, but whoever took the one before was held up on the way out.
            yield_now();
        }
        // SAFETY: the number is ours, and the turn says free (1).
        place.task.with_mut(|inside| unsafe { (*inside).write(task) });
        place.turn.store(free + 1, Ordering::Release);
    }

    /// Takes the task whose turn it is into `hand`, and says whether there was one. If not, one may
    /// have been let in that is not here yet.
    pub(crate) fn pop(&self, hand: &mut Option<T>) -> bool {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            let (place, free) = self.place(head);
            if place.turn.load(Ordering::Acquire) == free + 1 {
                let moved = self.head.compare_exchange_weak(
                    head,
                    head + 1,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
                match moved {
                    Ok(_) => {
                        *hand = Some(take(place, free));
                        return true;
                    }
                    Err(now) => head = now,
                }
                continue;
            }
            let now = self.head.load(Ordering::Relaxed);
            if now == head {
                return false;
            }
            head = now;
        }
    }

    /// The same, whether the ring is held or not. For one at a time.
    pub(crate) fn pop_held(&self, hand: &mut Option<T>) -> bool {
        loop {
            let head = self.head.load(Ordering::Relaxed);
            let (place, free) = self.place(head & !HELD);
            if place.turn.load(Ordering::Acquire) == free + 1 {
                let order = Ordering::Relaxed;
                if self.head.compare_exchange(head, head + 1, order, order).is_ok() {
                    *hand = Some(take(place, free));
                    return true;
                }
            } else if self.head.load(Ordering::Relaxed) == head {
                return false;
            }
        }
    }

    /// From here on nobody takes anything in the usual way.
    pub(crate) fn hold(&self) {
        self.head.fetch_or(HELD, Ordering::AcqRel);
    }

    /// From here on everybody does again.
    pub(crate) fn release(&self) {
        self.head.fetch_and(!HELD, Ordering::AcqRel);
    }

    pub(crate) fn is_held(&self) -> bool {
        self.head.load(Ordering::Acquire) & HELD != 0
    }

    /// How many were ever taken.
    pub(crate) fn taken(&self) -> u64 {
        self.head.load(Ordering::Acquire) & !HELD
    }

    /// The place of a number, and its turn while it is free for it.
    #[expect(clippy::cast_possible_truncation, reason = "the remainder is less than a length")]
    fn place(&self, number: u64) -> (&Place<T>, u64) {
        let len = self.places.len();
        let place = &self.places[number as usize & (len - 1)];
        (place, (number >> len.trailing_zeros()) * 2)
    }
}

/// Has the memory of a place brought here to be written, and does not wait for it.
#[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
fn ask_for<T>(place: &Place<T>) {
    let first = std::ptr::from_ref(place).cast::<u8>();
    for line in [first, first.wrapping_add(size_of::<Place<T>>() - 1)] {
        // SAFETY: a hint. It changes nothing but what is in which cache, and fails nowhere.
        unsafe {
            std::arch::asm!(
                "prefetchw [{}]",
                in(reg) line,
                options(readonly, nostack, preserves_flags),
            );
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", not(any(loom, miri)))))]
fn ask_for<T>(_: &Place<T>) {}

/// Takes out what is in a place. Only for whoever moved the head past it.
fn take<T>(place: &Place<T>, free: u64) -> T {
    // SAFETY: we moved the head past it, and the turn says taken up (2).
    let task = place.task.with_mut(|inside| unsafe { (*inside).assume_init_read() });
    place.turn.store(free + 2, Ordering::Release);
    task
}

/// Memory that is not touched before it is used: a ring costs what it once held.
#[cfg(not(loom))]
fn places<T>(len: usize) -> Box<[Place<T>]> {
    // SAFETY: all zeroes are a place: its turn is 0, and what is in it is not initialized.
    unsafe { Box::<[Place<T>]>::new_zeroed_slice(len).assume_init() }
}

#[cfg(loom)]
fn places<T>(len: usize) -> Box<[Place<T>]> {
    let place = || Place { turn: AtomicU64::new(0), task: UnsafeCell::new(MaybeUninit::uninit()) };
    std::iter::repeat_with(place).take(len).collect()
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        while self.pop_held(&mut None) {}
    }
}

#[cfg(all(test, loom))]
#[path = "ring_loom_tests.rs"]
mod loom;

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::*;

    fn taken<T>(ring: &Ring<T>) -> Option<T> {
        let mut hand = None;
        assert_eq!(ring.pop(&mut hand), hand.is_some());
        hand
    }

    #[test]
    fn tasks_leave_by_number_over_many_laps() {
        let ring = Ring::new(3);
        for number in 0..100 {
            ring.put(2 * number, 2 * number);
            ring.put(2 * number + 1, 2 * number + 1);
            assert_eq!([taken(&ring), taken(&ring)], [2 * number, 2 * number + 1].map(Some));
            assert_eq!((taken(&ring), ring.taken()), (None, 2 * number + 2));
        }
    }

    #[test]
    fn what_came_later_waits_for_what_was_let_in_before() {
        let ring = Ring::new(2);
        ring.put(1, 'b');
        assert_eq!(taken(&ring), None);
        ring.put(0, 'a');
        assert_eq!([taken(&ring), taken(&ring)], [Some('a'), Some('b')]);
    }

    #[test]
    fn what_is_left_is_dropped_with_the_ring() {
        let held = Arc::new(());
        let ring = Ring::new(4);
        (0..3).for_each(|number| ring.put(number, Arc::clone(&held)));
        drop(taken(&ring));
        assert_eq!(Arc::strong_count(&held), 3);
        drop(ring);
        assert_eq!(Arc::strong_count(&held), 1);
    }

    #[test]
    fn many_threads_take_each_task_once() {
        const EACH: u64 = 2_000;
        let (ring, next) = (Ring::new(8), AtomicU64::new(0));
        let put = || {
            for _ in 0..EACH {
                // What the door does, without its bound: here a ring that is full is waited for.
                let number = next.fetch_add(1, Ordering::Relaxed);
                ring.put(number, Box::new(number));
            }
            Vec::new()
        };
        let take = || {
            let mut out = Vec::new();
            while ring.taken() < 3 * EACH {
                match taken(&ring) {
                    Some(task) => out.push(*task),
                    None => yield_now(),
                }
            }
            assert!(out.is_sorted(), "first in, first out");
            out
        };
        let mut all: Vec<u64> = thread::scope(|scope| {
            let putters = [(); 3].map(|()| scope.spawn(put));
            let takers = [(); 2].map(|()| scope.spawn(take));
            putters.into_iter().chain(takers).flat_map(|t| t.join().expect("no panic")).collect()
        });
        all.sort_unstable();
        assert!(all.into_iter().eq(0..3 * EACH));
    }
}
