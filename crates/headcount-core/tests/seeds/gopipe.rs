//! gopipe: all busy grows, idle time shrinks.

use std::time::Duration;

use headcount_core::decide::{AllBusy, DeciderConfig};
use headcount_core::guard::Cooldown;
use headcount_core::{GuardsConfig, Mode, PolicyConfig, Preset, Reason};

use crate::world::{World, faults};

fn gopipe(size: u32, demand: u32) -> World {
    let mut world = World::under(&Preset::gopipe(), 4, size);
    world.demand = demand;
    world
}

#[test]
fn grows_one_at_a_time_every_five_seconds_up_to_the_cores() {
    assert_eq!(gopipe(1, 99).run(120), "0s:2 5s:3 10s:4");
}

#[test]
fn one_worker_without_a_task_is_enough_to_stay() {
    assert_eq!(gopipe(3, 2).run(29), "");
    assert_eq!(gopipe(3, 3).run(29), "0s:4");
}

#[test]
fn shrinks_one_at_a_time_every_ten_seconds_to_the_minimum() {
    assert_eq!(gopipe(4, 0).run(120), "30s:3 40s:2 50s:1");
}

#[test]
fn the_check_is_of_one_instant() {
    let mut world = gopipe(3, 0);
    world.run(10);
    world.demand = 3;
    let decision = world.step();
    assert_eq!((decision.reason(), world.size), (Reason::AllBusy, 4), "busy for a single tick");
}

#[test]
fn a_worker_in_a_long_task_is_not_idle() {
    let mut world = gopipe(3, 3);
    world.run(3600);
    assert_eq!(world.size, 4, "nobody is counted out, and the maximum holds");
    world.demand = 2;
    let story = world.run(3600);
    assert!(!story.contains(":1"), "the two that work stay: {story}");
}

#[test]
fn idle_time_starts_when_a_worker_parks() {
    let mut world = gopipe(2, 2);
    world.autoscaler.set_mode(Mode::Off);
    world.run(600);
    world.autoscaler.set_mode(Mode::Automatic);
    world.demand = 0;
    assert_eq!(world.run(60), "630s:1", "thirty seconds after the last task, however long it was");
}

#[test]
fn a_worker_that_never_had_a_task_gets_its_thirty_seconds() {
    let mut world = gopipe(1, 1);
    assert_eq!(world.run(5), "0s:2");
    assert_eq!(world.run(26), "30s:1", "hired at 0 s, parked since");
}

#[test]
fn growing_and_shrinking_do_not_wait_for_each_other() {
    let mut world = gopipe(4, 0);
    assert_eq!(world.run(31), "30s:3");
    world.demand = 99;
    assert_eq!(world.run(1), "31s:4");
}

#[test]
fn a_steady_load_breathes_by_one_worker() {
    // The rule itself does this: with every worker busy it wants one more, which then idles.
    assert_eq!(gopipe(2, 2).run(90), "0s:3 30s:2 31s:3 61s:2 62s:3");
}

#[test]
fn a_burst_takes_the_pool_up_to_its_own_maximum_and_back() {
    let own =
        PolicyConfig { workers_min: Some(2), workers_max: Some(16), ..PolicyConfig::default() };
    let mut world = World::with(&own.or(Preset::gopipe().config()), 4, 2);
    world.demand = 99;
    let up = world.run(300);
    assert!(up.starts_with("0s:3 5s:4") && up.ends_with("65s:16"), "{up}");
    world.demand = 0;
    let down = world.run(600);
    assert!(down.starts_with("330s:15 340s:14") && down.ends_with("460s:2"), "{down}");
}

#[test]
fn every_number_can_be_set() {
    let own = PolicyConfig {
        tick: Some(Duration::from_secs(2)),
        decider: Some(DeciderConfig::AllBusy(AllBusy { idle_max: Duration::from_secs(8) })),
        ..PolicyConfig::default()
    };
    let mut world = World::with(&own.or(Preset::gopipe().config()), 3, 1);
    world.demand = 9;
    assert_eq!(world.run(20), "0s:2 6s:3", "looks every two seconds");
    world.demand = 0;
    assert_eq!(world.run(40), "28s:2 38s:1");
}

#[test]
fn what_is_left_out_is_the_default_and_zero_is_refused() {
    let zero = PolicyConfig {
        workers_min: Some(0),
        workers_max: Some(0),
        tick: Some(Duration::ZERO),
        decider: Some(DeciderConfig::AllBusy(AllBusy { idle_max: Duration::ZERO })),
        ..PolicyConfig::default()
    };
    faults(
        &zero.or(Preset::gopipe().config()),
        &[
            "workers_min is 0; at least 1 is needed: all_busy cannot come back from 0",
            "workers_max is 0; at least 1 is needed",
            "tick is 0 s; a span above 0 is needed",
            "decider.idle_max is 0 s; a span above 0 is needed",
        ],
    );
}

#[test]
fn a_cooldown_of_zero_is_none() {
    let guards = GuardsConfig { cooldown: Some(Cooldown::default()), ..GuardsConfig::default() };
    let mut world = World::with(&PolicyConfig { guards, ..Preset::gopipe().config() }, 4, 1);
    world.demand = 99;
    assert_eq!(world.run(10), "0s:2 1s:3 2s:4");
}

#[test]
fn without_autoscaling_the_pool_stays_as_it_was_made() {
    let mut world = gopipe(3, 99);
    world.autoscaler.set_mode(Mode::Off);
    assert_eq!(world.run(600), "");
}
