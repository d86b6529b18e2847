//! `thread_system`, its rules: any sign of overload grows, every sign of idleness shrinks.

use std::time::Duration;

use headcount_core::decide::{DeciderConfig, Rule, Step, Threshold};
use headcount_core::guard::Cooldown;
use headcount_core::signal::{Smoothing, Source};
use headcount_core::{
    GuardsConfig, Name, Observation, PolicyConfig, PoolSnapshot, Preset, SignalConfig, Timestamp,
};

use crate::world::{World, busy, faults, hints, waits};

fn preset() -> PolicyConfig {
    Preset::thread_system().config()
}

/// The rules of the preset, changed.
fn ruled(change: impl FnOnce(&mut Threshold)) -> PolicyConfig {
    let mut config = preset();
    let Some(DeciderConfig::Threshold(threshold)) = &mut config.decider else {
        panic!("the preset compares with thresholds");
    };
    change(threshold);
    config
}

/// A pool of `size` that looks like this for twenty seconds.
fn looks(size: u32, look: impl Fn(&mut PoolSnapshot)) -> String {
    World::under(&Preset::thread_system(), 64, size).run_with(20, |o| look(&mut o.pool))
}

/// Half busy, nothing waits: no sign of anything.
fn at_ease(pool: &mut PoolSnapshot) {
    busy(pool, pool.live / 2);
}

/// All three signs of idleness.
fn idle(pool: &mut PoolSnapshot) {
    busy(pool, 0);
    pool.longest_idle = Some(Duration::from_secs(60));
}

#[test]
fn five_samples_make_a_decision() {
    let mut world = World::under(&Preset::thread_system(), 8, 2);
    world.demand = 99;
    assert_eq!(world.run(4), "");
    assert_eq!(world.run(1), "4s:3", "with the fifth sample");
}

#[test]
fn the_mean_of_the_last_five_counts_and_not_the_last_one() {
    let spike = |at: u64| {
        move |o: &mut Observation| {
            let is_spike = o.at == Timestamp::from_secs(at);
            busy(&mut o.pool, if is_spike { 10 } else { 7 });
        }
    };
    let world = || World::under(&Preset::thread_system(), 64, 10);
    assert_eq!(world().run_with(20, spike(8)), "", "four times 70 % and once 100 % make 76 %");
    let late = |o: &mut Observation| {
        let from = Timestamp::from_secs(8);
        busy(&mut o.pool, if o.at < from { 5 } else { 10 });
    };
    assert_eq!(world().run_with(12, late), "11s:11", "four of the last five: 90 %");
}

#[test]
fn each_sign_of_overload_alone_is_enough() {
    assert_eq!(looks(10, at_ease), "");
    assert_eq!(looks(10, |p| busy(p, 9)), "4s:11", "utilization");
    let deep = |p: &mut PoolSnapshot| {
        at_ease(p);
        p.queued = 201;
    };
    assert_eq!(looks(2, deep), "4s:3", "a hundred and more for each worker");
    let late = |p: &mut PoolSnapshot| {
        at_ease(p);
        waits(p, 51);
    };
    assert_eq!(looks(10, late), "4s:11", "p95 of the waits");
    let many = |p: &mut PoolSnapshot| {
        at_ease(p);
        p.queued = 1001;
    };
    assert_eq!(looks(20, many), "4s:21", "a thousand and more in all");
}

#[test]
fn thresholds_to_grow_are_strict() {
    let edge = |p: &mut PoolSnapshot| {
        busy(p, 8);
        p.queued = 1000;
        waits(p, 50);
    };
    assert_eq!(looks(10, edge), "", "80 %, 100 for each worker, 50 ms, 1000 in all");
}

#[test]
fn all_signs_of_idleness_together_shrink() {
    assert_eq!(looks(10, idle), "4s:9");
    let nearly = |p: &mut PoolSnapshot| {
        idle(p);
        busy(p, 2);
        p.queued = 99;
    };
    assert_eq!(looks(10, nearly), "4s:9", "20 %, 9.9 for each worker, 60 s");
}

#[test]
fn each_sign_of_idleness_that_is_missing_keeps_the_workers() {
    let utilized = |p: &mut PoolSnapshot| {
        idle(p);
        busy(p, 3);
    };
    assert_eq!(looks(10, utilized), "", "30 % is not below 30 %");
    let deep = |p: &mut PoolSnapshot| {
        idle(p);
        p.queued = 100;
    };
    assert_eq!(looks(10, deep), "", "10 for each worker is not below 10");
    let young = |p: &mut PoolSnapshot| {
        idle(p);
        p.longest_idle = Some(Duration::from_millis(59_999));
    };
    assert_eq!(looks(10, young), "", "not quite 60 s");
}

#[test]
fn overload_counts_more_than_idleness() {
    let both = |p: &mut PoolSnapshot| {
        idle(p);
        waits(p, 80);
    };
    assert_eq!(looks(10, both), "4s:11");
}

#[test]
fn thirty_seconds_between_growths_and_sixty_between_shrinks() {
    let mut world = World::under(&Preset::thread_system(), 4, 1);
    world.demand = 99;
    assert_eq!(world.run(120), "4s:2 34s:3 64s:4", "and no further than the cores");
    world.demand = 0;
    assert_eq!(world.run(400), "180s:3 240s:2 300s:1", "idle for a minute first");
}

#[test]
fn growing_does_not_wait_for_a_shrink() {
    let mut world = World::under(&Preset::thread_system(), 64, 10);
    assert_eq!(world.run(61), "60s:9");
    world.demand = 99;
    assert_eq!(world.run(6), "65s:10", "five samples later");
}

#[test]
fn a_steady_load_settles() {
    let mut world = World::under(&Preset::thread_system(), 64, 2);
    world.demand = 2;
    assert_eq!(world.run(3600), "4s:3", "two of three are between the thresholds");
}

#[test]
fn workers_are_added_and_removed_by_increments_within_the_bounds() {
    let config = PolicyConfig {
        workers_min: Some(2),
        workers_max: Some(9),
        ..ruled(|rules| {
            rules.grow_step = Step::Add(3);
            rules.shrink_step = Step::Add(4);
        })
    };
    let mut world = World::with(&config, 64, 4);
    world.demand = 99;
    assert_eq!(world.run(100), "4s:7 34s:9");
    world.demand = 0;
    assert_eq!(world.run(300), "160s:5 220s:2");
}

#[test]
fn a_factor_multiplies_upward_and_only_upward() {
    let config = ruled(|rules| rules.grow_step = Step::Multiply(1.5));
    let mut world = World::with(&config, 64, 4);
    world.demand = 99;
    assert_eq!(world.run(70), "4s:6 34s:9 64s:14", "13.5 is rounded up");
    world.demand = 0;
    assert_eq!(world.run(130), "130s:13 190s:12", "down by the increment");
}

#[test]
fn the_burst_configuration_doubles_every_ten_seconds() {
    let mean = |source: Source| SignalConfig {
        name: Name::new(&source.to_string()).expect("sources have names"),
        source,
        smoothing: vec![Smoothing::Mean { samples: 3 }],
    };
    let sources =
        [Source::Utilization, Source::DepthPerWorker, Source::WaitP95, Source::QueueDepth];
    let cooldown = Cooldown::new(Duration::from_secs(10), Duration::from_secs(120));
    let own = PolicyConfig {
        workers_min: Some(2),
        workers_max: Some(32),
        tick: Some(Duration::from_millis(500)),
        signals: Some(sources.map(mean).to_vec()),
        guards: GuardsConfig { cooldown: Some(cooldown), ..GuardsConfig::default() },
        ..ruled(|rules| {
            for (rule, limit) in rules.grow_when_any.iter_mut().zip([0.6, 20.0, 0.03, 1000.0]) {
                rule.limit = limit;
            }
            for (rule, limit) in rules.shrink_when_all.iter_mut().zip([0.1, 2.0, 120.0]) {
                rule.limit = limit;
            }
            rules.grow_step = Step::Multiply(2.0);
        })
    };
    let mut world = World::with(&own, 4, 2);
    world.demand = 99;
    assert_eq!(world.run(60), "1s:4 11s:8 21s:16 31s:32");
    world.demand = 0;
    assert_eq!(world.run(300), "180s:31 300s:30");
}

#[test]
fn without_a_worker_or_a_wait_nothing_is_made_up() {
    let none = |p: &mut PoolSnapshot| {
        p.live = 0;
        p.parked = 0;
    };
    assert_eq!(looks(4, none), "", "no utilization of nobody");
    assert_eq!(looks(10, idle), "4s:9", "and no wait of no task");
}

/// The bounds, and the first rule each way, both on utilization.
fn utilization(up: f64, down: f64) -> PolicyConfig {
    ruled(|rules| {
        rules.grow_when_any[0].limit = up;
        rules.shrink_when_all[0].limit = down;
    })
}

#[test]
fn the_bounds_are_checked() {
    let bounds =
        |min, max| PolicyConfig { workers_min: Some(min), workers_max: Some(max), ..preset() };
    faults(&bounds(1, 1), &[]);
    faults(
        &bounds(0, 4),
        &["workers_min is 0; at least 1 is needed: threshold cannot come back from 0"],
    );
    faults(&bounds(10, 5), &["workers_max is 5; it must be at least workers_min, which is 10"]);
}

#[test]
fn thresholds_of_utilization_are_checked_at_both_ends() {
    let grow = "a share above 0 and up to 1 is needed to grow";
    let shrink = "a share from 0 to below 1 is needed to shrink";
    faults(&utilization(1.0, 0.0), &[]);
    faults(&utilization(1.1, 0.3), &[&format!("decider.grow_when_any[0].limit is 1.1; {grow}")]);
    faults(
        &utilization(0.8, -0.1),
        &[&format!("decider.shrink_when_all[0].limit is -0.1; {shrink}")],
    );
    let crossed = "decider.shrink_when_all limit of utilization is";
    faults(
        &utilization(0.0, 0.0),
        &[
            &format!("decider.grow_when_any[0].limit is 0; {grow}"),
            &format!("{crossed} 0; it must be below the limit to grow, which is 0"),
        ],
    );
    faults(
        &utilization(0.8, 1.0),
        &[
            &format!("decider.shrink_when_all[0].limit is 1; {shrink}"),
            &format!("{crossed} 1; it must be below the limit to grow, which is 0.8"),
        ],
    );
}

#[test]
fn the_threshold_to_shrink_is_below_the_one_to_grow() {
    let crossed = "decider.shrink_when_all limit of utilization is";
    faults(
        &utilization(0.5, 0.5),
        &[&format!("{crossed} 0.5; it must be below the limit to grow, which is 0.5")],
    );
    faults(
        &utilization(0.4, 0.6),
        &[&format!("{crossed} 0.6; it must be below the limit to grow, which is 0.4")],
    );
    faults(&utilization(0.5, 0.49), &[]);
}

#[test]
fn increments_and_factors_are_checked() {
    faults(
        &ruled(|rules| {
            rules.grow_step = Step::Add(0);
            rules.shrink_step = Step::Add(0);
        }),
        &[
            "decider.grow_step is 0; at least 1 is needed",
            "decider.shrink_step is 0; at least 1 is needed",
        ],
    );
    faults(
        &ruled(|rules| rules.grow_step = Step::Multiply(1.0)),
        &["decider.grow_step is 1; a finite factor above 1 is needed, by which a shrink divides"],
    );
}

/// The preset with the means of so many samples.
fn samples(samples: u32) -> PolicyConfig {
    let mut config = preset();
    for signal in config.signals.iter_mut().flatten() {
        signal.smoothing = vec![Smoothing::Mean { samples }];
    }
    config
}

#[test]
fn at_least_one_sample_is_needed() {
    let allowed = "samples is 0; at least 1 is needed";
    let each: Vec<_> = (0..4).map(|at| format!("signals[{at}].smoothing[0].{allowed}")).collect();
    faults(&samples(0), &each.iter().map(String::as_str).collect::<Vec<_>>());
    faults(&samples(1), &[]);
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let config = PolicyConfig { workers_min: Some(0), ..utilization(2.0, 0.3) };
    faults(
        &config,
        &[
            "workers_min is 0; at least 1 is needed: threshold cannot come back from 0",
            "decider.grow_when_any[0].limit is 2; a share above 0 and up to 1 is needed to grow",
        ],
    );
}

#[test]
fn a_narrow_gap_is_legal_and_hinted_at() {
    hints(&preset(), &[]);
    hints(&utilization(0.8, 0.5), &[]);
    hints(
        &utilization(0.8, 0.6),
        &["decider.shrink_when_all limit of utilization: 0.6 is within 0.3 of the limit to grow, \
           0.8; the pool may oscillate"],
    );
}

#[test]
fn a_decision_on_one_sample_is_legal_and_hinted_at() {
    let hint = |name| {
        format!(
            "signals.{name}: one or two samples make a decision; smooth it, over 3 samples or more"
        )
    };
    let expected = ["utilization", "depth_per_worker", "queue_depth"].map(hint);
    hints(&samples(1), &expected.each_ref().map(String::as_str));
    hints(&samples(3), &[]);
}

#[test]
fn a_shrink_that_is_faster_than_growth_is_hinted_at() {
    let cooldown = Cooldown::new(Duration::from_secs(30), Duration::from_secs(10));
    let guards = GuardsConfig { cooldown: Some(cooldown), ..GuardsConfig::default() };
    hints(
        &PolicyConfig { guards, ..preset() },
        &["guards.cooldown.shrink: 10s is shorter than grow, 30s; shrinking should be slower"],
    );
}

#[test]
fn the_four_kinds_of_workload_have_thresholds_that_pass() {
    let depth = Name::new("depth_per_worker").expect("a name");
    for (up, down, deep) in
        [(0.6, 0.2, 20.0), (0.85, 0.3, 100.0), (0.8, 0.3, 100.0), (0.5, 0.1, 5.0)]
    {
        let mut config = utilization(up, down);
        if let Some(DeciderConfig::Threshold(rules)) = &mut config.decider {
            rules.grow_when_any[1] = Rule::above(depth, deep);
            rules.shrink_when_all[1] = Rule::below(depth, deep / 2.0);
        }
        faults(&config, &[]);
        hints(&config, &[]);
    }
}

#[test]
fn a_pool_that_went_idle_forgets_its_old_waits() {
    let mut world = World::under(&Preset::thread_system(), 16, 4);
    assert_eq!(world.run_with(10, |o| waits(&mut o.pool, 200)), "4s:5");
    // No task begins any more, so there is no wait to measure.
    let idle = world.run(400);
    assert!(!idle.contains(":6"), "an idle pool grew: {idle}");
    assert!(world.size < 5, "and it should shrink: {idle}");
}
