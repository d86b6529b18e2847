//! spool: a long queue grows, idle time shrinks.

use std::time::Duration;

use headcount_core::decide::{DeciderConfig, QueueDepth, Step};
use headcount_core::{PolicyConfig, Preset, Reason, Timestamp};

use crate::world::World;

fn spool(size: u32, demand: u32, queued: u64) -> World {
    let mut world = World::under(&Preset::spool(), 4, size);
    world.demand = demand;
    world.queued = queued;
    world
}

#[test]
fn grows_while_more_than_a_hundred_wait_every_thirty_seconds_up_to_the_maximum() {
    assert_eq!(spool(1, 99, 101).run(600), "0s:2 30s:3 60s:4");
    assert_eq!(spool(1, 99, 100).run(600), "", "a hundred are allowed");
}

#[test]
fn shrinks_after_two_idle_minutes_every_two_minutes_down_to_the_minimum() {
    assert_eq!(spool(3, 0, 0).run(1200), "120s:2 240s:1");
}

#[test]
fn less_than_two_idle_minutes_are_not_enough() {
    let mut world = spool(2, 0, 0);
    assert_eq!(world.run(120), "");
    world.demand = 2;
    assert_eq!(world.run(1), "", "both have a task again");
    world.demand = 0;
    assert_eq!(world.run(122), "241s:1");
}

#[test]
fn growing_and_shrinking_do_not_wait_for_each_other() {
    let mut world = spool(2, 0, 0);
    assert_eq!(world.run(121), "120s:1");
    world.queued = 101;
    assert_eq!(world.run(1), "121s:2");
}

#[test]
fn a_long_queue_counts_more_than_an_idle_worker() {
    assert_eq!(spool(2, 0, 101).run(180), "0s:3 30s:4", "idle for three minutes, and it stays");
}

#[test]
fn only_the_documents_rule_grows() {
    // Its code also grows when nobody is idle, or when more than ten wait for each worker.
    assert_eq!(spool(1, 1, 60).run(600), "");
}

#[test]
fn a_decision_tells_its_reason_the_depth_and_the_time() {
    let mut world = spool(1, 9, 250);
    let decision = world.step();
    assert_eq!((decision.at, decision.reason()), (Timestamp::ORIGIN, Reason::QueueDepth));
    assert_eq!(
        decision.explain().to_string(),
        "grow 1 to 2: wants 2 (queue depth 250 > 100) -> bounds 2"
    );
    let held = world.step();
    assert_eq!(
        held.explain().to_string(),
        "hold 2: wants 3 (queue depth 250 > 100) -> cooldown (29 s left) 2 -> bounds 2"
    );
    let sample = world.autoscaler.samples().last().copied();
    assert_eq!(sample.map(|sample| (sample.at, sample.queued)), Some((held.at, 250)));
}

#[test]
fn threshold_bounds_and_steps_can_be_set() {
    let decider = QueueDepth {
        depth_max: 10,
        idle_max: Duration::from_secs(20),
        grow_step: Step::Add(3),
        shrink_step: Step::Add(2),
    };
    let own = PolicyConfig {
        workers_min: Some(2),
        workers_max: Some(7),
        decider: Some(DeciderConfig::QueueDepth(decider)),
        ..PolicyConfig::default()
    };
    let mut world = World::with(&own.or(Preset::spool().config()), 4, 2);
    world.queued = 11;
    assert_eq!(world.run(100), "0s:5 30s:7");
    world.queued = 0;
    assert_eq!(world.run(600), "100s:5 220s:3 340s:2");
}
