//! Models of the ring: who puts and who takes meet in every order.

use loom::sync::Arc;
use loom::thread;

use super::Ring;
use crate::sync::yield_now;

type Tasks = Ring<Box<u64>>;

/// Looks so many times, and says what it took.
fn look(ring: &Tasks, times: u32) -> Vec<u64> {
    let mut taken = Vec::new();
    for _ in 0..times {
        let mut hand = None;
        assert_eq!(ring.pop(&mut hand), hand.is_some());
        taken.extend(hand.map(|task| *task));
    }
    taken
}

/// Puts tasks of these numbers into a ring of so many places, from a thread for each list. Another
/// looks for one `looks` times and so does this one, which takes what is left in the end.
fn check(len_max: u64, lists: &'static [&'static [u64]], looks: u32) {
    let total = lists.iter().map(|list| list.len()).sum::<usize>();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(2));
    builder.check(move || {
        let ring = Arc::new(Tasks::new(len_max));
        let putters = lists.iter().map(|list| {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                list.iter().for_each(|number| ring.put(*number, (*number).into()))
            })
        });
        let putters: Vec<_> = putters.collect();
        let other = Arc::clone(&ring);
        let taker = (0 < looks).then(|| thread::spawn(move || look(&other, looks)));
        let mut here = look(&ring, looks);
        let there = taker.map_or_else(Vec::new, |taker| taker.join().expect("no panic"));
        while here.len() + there.len() < total {
            here.extend(look(&ring, 1));
            yield_now();
        }
        putters.into_iter().for_each(|putter| putter.join().expect("no panic"));
        assert!(here.is_sorted() && there.is_sorted(), "first in, first out");
        let mut all = [here, there].concat();
        all.sort_unstable();
        assert!(all.iter().copied().eq(0..total as u64), "each once: {all:?}");
    });
}

#[test]
fn what_two_put_comes_out_once_and_in_order() {
    check(2, &[&[0], &[1]], 0);
}

#[test]
fn two_who_take_share_what_one_puts() {
    check(2, &[&[0, 1]], 1);
}

#[test]
fn a_place_is_used_again_only_when_it_is_free() {
    check(1, &[&[0, 1, 2]], 0);
}

#[test]
fn a_place_is_not_used_again_while_another_takes_what_is_in_it() {
    check(1, &[&[0, 1]], 1);
}

/// Whoever holds the ring takes two, or what another has left of them. As long as it is held the
/// other takes none of those behind.
#[test]
fn nobody_else_takes_from_a_ring_that_is_held() {
    loom::model(|| {
        let ring = Arc::new(Tasks::new(4));
        (0..3).for_each(|number| ring.put(number, number.into()));
        let other = thread::spawn({
            let ring = Arc::clone(&ring);
            move || (look(&ring, 1), ring.taken())
        });
        ring.hold();
        let mut held = Vec::new();
        let mut hand = None;
        while held.len() < 2 && ring.pop_held(&mut hand) {
            held.extend(hand.take().map(|task| *task));
        }
        let (there, taken) = other.join().expect("no panic");
        assert!(taken <= 3, "the mark is not counted: {taken}");
        assert!(there.is_empty() || there == [0], "in between: {there:?} and {held:?}");
        ring.release();
        let mut all = [there, held, look(&ring, 3)].concat();
        assert!(all.is_sorted(), "first in, first out: {all:?}");
        all.dedup();
        assert_eq!(all, [0, 1, 2]);
    });
}

#[test]
fn what_is_left_is_dropped_with_the_ring() {
    loom::model(|| {
        // Loom tells of what leaks.
        let held = Arc::new(());
        let ring = Ring::new(2);
        ring.put(0, Arc::clone(&held));
        ring.put(1, Arc::clone(&held));
        assert!(ring.pop(&mut None));
        drop(ring);
        assert_eq!(Arc::strong_count(&held), 1);
    });
}
