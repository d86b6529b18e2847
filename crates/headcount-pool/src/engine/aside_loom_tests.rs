//! Models of those who are passed over: each tries every order in which its threads can meet.

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
