//! Nobody waits for a deadline at the cost of others: a line that turns tasks away when it is full
//! has workers hired before it is, and where more wait than may be hired all of those are.

use std::time::Duration;

use headcount_core::Staffing;
use headcount_pool::{Overflow, Refusal, TaskOptions};

use super::{Pool, at, builder};
use crate::support::Gate;

/// A pool whose tasks may wait for longer than any test, four of them at a time; and a gate at
/// which one holds its only worker. The gate is last, so that it is dropped, and opened, first.
fn narrow(name: &str, overflow: Overflow) -> (Pool, Gate) {
    let pool = builder(name).workers(1..=8).wait_budget(Duration::from_secs(3600));
    let pool = pool.queue_len_max(4).overflow(overflow).build().expect("no fault");
    let gate = Gate::new();
    pool.spawn(at(&gate)).expect("open");
    gate.wait_for(1);
    (pool, gate)
}

#[test]
fn workers_are_hired_before_a_short_line_turns_tasks_away() {
    let (pool, gate) = narrow("short", Overflow::Reject);
    for spawned in 2..=8 {
        pool.spawn(at(&gate)).expect("there is room");
        // One may wait. With the second half of the line is taken, and nobody else comes by.
        gate.wait_for(spawned - 1);
    }
    assert_eq!(pool.snapshot().counters.rejected, 0);
    gate.open();
}

#[test]
fn where_one_was_turned_away_the_next_ones_are_not() {
    let (pool, gate) = narrow("taught", Overflow::Wait);
    for _ in 0..4 {
        pool.spawn(at(&gate)).expect("there is room");
    }
    assert_eq!(pool.snapshot().live, 1, "nobody was turned away, and they may wait");
    let refused = pool.try_spawn(at(&gate)).expect_err("the line is full");
    assert_eq!(refused.reason, Refusal::Full { queue_len_max: 4 });
    gate.wait_for(4);
    pool.try_spawn(at(&gate)).expect("there is room again");
    gate.open();
}

#[test]
fn a_full_line_is_no_reason_to_hire_where_submitters_wait() {
    let (pool, gate) = narrow("held back", Overflow::Wait);
    for _ in 0..4 {
        pool.spawn(at(&gate)).expect("there is room");
    }
    let waits = TaskOptions::new().overflow(Overflow::WaitFor(Duration::from_millis(50)));
    assert!(pool.spawn_with(waits, at(&gate)).is_err(), "it waited, and nobody came");
    assert_eq!((pool.snapshot().live, gate.arrived()), (1, 1));
    gate.open();
}

/// A pool whose tasks may wait for longer than any test; one holds its only worker, three wait.
fn patient(name: &str, workers_max: u32) -> (Pool, Gate) {
    let pool = builder(name).workers(1..=workers_max).wait_budget(Duration::from_secs(3600));
    let pool = pool.build().expect("no fault");
    let gate = Gate::new();
    pool.spawn(at(&gate)).expect("open");
    gate.wait_for(1);
    for _ in 0..3 {
        pool.spawn(at(&gate)).expect("open");
    }
    (pool, gate)
}

#[test]
fn nobody_waits_for_a_deadline_where_more_wait_than_may_be_hired() {
    let (pool, gate) = patient("scarce", 4);
    assert_eq!(pool.snapshot().live, 1, "there would be a worker for each, so they may wait");
    pool.spawn(at(&gate)).expect("open");
    gate.wait_for(4);
    assert_eq!(pool.snapshot().live, 4);
    gate.open();
}

#[test]
fn a_ceiling_that_comes_down_to_those_who_wait_lets_nobody_wait() {
    let (pool, gate) = patient("lowered", 8);
    pool.resize(Staffing::between(1, 3)).wait();
    gate.wait_for(3);
    gate.open();
}
