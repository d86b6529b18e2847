//! Models of those who left the line and were not taken: each tries every order in which its
//! threads can meet.

use std::sync::Arc;

use ::loom::thread;

use super::*;
use crate::engine::floor::Floor;

/// A floor on which so many tasks wait, all of them late.
fn late(count: u64) -> Arc<Floor<u64>> {
    let floor = Arc::new(Floor::new(Line::new(4, None), 4));
    for task in 0..count {
        bring(&floor, task);
    }
    floor.notice.raise(LATE);
    floor
}

fn bring(floor: &Floor<u64>, task: u64) {
    let number = floor.door.enter().expect("there is room");
    let _ = floor.put(number, task);
}

/// Takes one, if one is here.
fn take(floor: &Floor<u64>) -> Option<u64> {
    let mut hand = None;
    floor.next(&mut hand);
    hand.map(|entry| entry.work)
}

/// Takes what is left, as workers do.
fn take_all(floor: &Floor<u64>) -> Vec<u64> {
    let taken = std::iter::from_fn(|| take(floor)).collect();
    assert_eq!(floor.queued(), 0, "somebody is forgotten");
    taken
}

#[test]
fn whoever_moves_over_is_counted_all_the_time() {
    ::loom::model(|| {
        let floor = late(2);
        let other = thread::spawn({
            let floor = Arc::clone(&floor);
            move || take(&floor)
        });
        // One of two is taken, so one waits, whatever it is just about.
        assert_ne!(floor.queued(), 0, "a worker would park");
        let mut taken = Vec::from_iter(other.join().expect("no panic"));
        taken.extend(take_all(&floor));
        taken.sort_unstable();
        assert_eq!(taken, [0, 1]);
    });
}

#[test]
fn of_two_who_take_nobody_forgets_whom_the_other_passed_over() {
    ::loom::model(|| {
        let floor = late(3);
        let other = thread::spawn({
            let floor = Arc::clone(&floor);
            move || take(&floor)
        });
        let mut taken = Vec::from_iter(take(&floor));
        taken.extend(other.join().expect("no panic"));
        taken.extend(take_all(&floor));
        taken.sort_unstable();
        assert_eq!(taken, [0, 1, 2]);
    });
}

#[test]
fn whoever_empties_the_line_and_a_worker_share_them() {
    ::loom::model(|| {
        let floor = late(2);
        let other = thread::spawn({
            let floor = Arc::clone(&floor);
            move || take(&floor)
        });
        let mut taken = Vec::from_iter(floor.take_out().map(|entry| entry.work));
        taken.extend(other.join().expect("no panic"));
        taken.extend(take_all(&floor));
        taken.sort_unstable();
        assert_eq!(taken, [0, 1]);
    });
}

#[test]
fn one_who_comes_meanwhile_is_taken_too() {
    ::loom::model(|| {
        let floor = late(1);
        let other = thread::spawn({
            let floor = Arc::clone(&floor);
            move || take(&floor)
        });
        bring(&floor, 1);
        let mut taken = Vec::from_iter(other.join().expect("no panic"));
        taken.extend(take_all(&floor));
        taken.sort_unstable();
        assert_eq!(taken, [0, 1]);
    });
}

/// Those with odd numbers are shells.
fn is_shell(task: &u64) -> bool {
    !task.is_multiple_of(2)
}

/// A floor on which so many tasks wait, and nobody is late.
fn full(count: u64) -> Arc<Floor<u64>> {
    let floor = late(count);
    floor.notice.lower(LATE);
    floor
}

/// Whoever takes one while shells are cleared out takes the first of those that live, or a shell
/// before it was cleared, and everybody else comes after that, in order.
#[test]
fn whoever_takes_while_shells_are_cleared_takes_in_order() {
    let mut builder = ::loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(|| {
        let floor = full(4);
        let other = thread::spawn({
            let floor = Arc::clone(&floor);
            move || (take(&floor), take(&floor))
        });
        let cleared = floor.clear_shells(is_shell);
        assert_ne!(floor.queued(), 4, "there is room");
        let (first, second) = other.join().expect("no panic");
        let mut taken: Vec<_> = first.into_iter().chain(second).collect();
        taken.extend(take_all(&floor));
        assert!(taken.is_sorted(), "first in, first out: {taken:?}");
        assert_eq!((taken.len() as u64, floor.taken_by_others()), (4 - cleared, cleared));
        taken.retain(|task| !is_shell(task));
        assert_eq!(taken, [0, 2], "nobody else is lost");
    });
}

/// One that comes while shells are cleared out is behind all that were here before.
#[test]
fn one_who_comes_while_shells_are_cleared_is_taken_last() {
    ::loom::model(|| {
        let floor = full(3);
        let other = thread::spawn({
            let floor = Arc::clone(&floor);
            move || bring(&floor, 4)
        });
        assert_eq!(floor.clear_shells(is_shell), 1);
        let first = take(&floor);
        other.join().expect("no panic");
        let mut taken = Vec::from_iter(first);
        taken.extend(take_all(&floor));
        assert_eq!(taken, [0, 2, 4]);
        assert!(!floor.line.is_held(), "nobody is here, so nobody need come");
    });
}

/// A worker that sees nothing waiting parks, so whoever moves is counted all the time.
#[test]
fn whoever_moves_as_shells_are_cleared_is_counted_all_the_time() {
    ::loom::model(|| {
        let floor = full(1);
        let other = thread::spawn({
            let floor = Arc::clone(&floor);
            move || floor.clear_shells(is_shell)
        });
        assert_ne!(floor.queued(), 0, "a worker would park");
        assert_eq!(other.join().expect("no panic"), 0, "the only one lives");
        assert_eq!(take_all(&floor), [0]);
    });
}

/// Each shell is taken out by one of them, and nobody forgets whom the other moved.
#[test]
fn two_who_clear_share_the_shells() {
    ::loom::model(|| {
        let floor = full(4);
        let other = thread::spawn({
            let floor = Arc::clone(&floor);
            move || floor.clear_shells(is_shell)
        });
        let cleared = floor.clear_shells(is_shell) + other.join().expect("no panic");
        assert_eq!((cleared, floor.taken_by_others()), (2, 2));
        assert_eq!(take_all(&floor), [0, 2]);
    });
}

/// While they are late the newest go first, whoever has moved them.
#[test]
fn whoever_takes_the_newest_while_shells_are_cleared_forgets_nobody() {
    ::loom::model(|| {
        let floor = late(3);
        let other = thread::spawn({
            let floor = Arc::clone(&floor);
            move || take(&floor)
        });
        floor.clear_shells(is_shell);
        let first = other.join().expect("no panic");
        assert_eq!(first, Some(2));
        let mut rest = take_all(&floor);
        rest.retain(|task| !is_shell(task));
        assert_eq!(rest, [0]);
        assert!(!floor.line.is_held(), "nobody is here, so nobody need come");
    });
}
