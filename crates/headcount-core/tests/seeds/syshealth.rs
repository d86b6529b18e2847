//! syshealth: as many workers as the machine's health allows.

use std::time::Duration;

use headcount_core::decide::DeciderConfig;
use headcount_core::guard::HealthBrake;
use headcount_core::health::{
    Basis, Health, HealthRules, Resource, Standing, Thresholds, Vitals, Weights, Zone,
};
use headcount_core::{
    GuardsConfig, Mode, Observation, Policy, PolicyConfig, Preset, Reason, Timestamp,
};

use crate::world::{World, faults, healthy};

fn syshealth(size: u32) -> World {
    World::under(&Preset::syshealth(), 64, size)
}

/// A machine measured once, at `secs`.
fn measured(score: f64, secs: u64) -> impl Fn(&mut Observation) {
    let measured_at = Timestamp::from_secs(secs);
    move |o| o.health = Some(Health { measured_at, score, worst: None })
}

#[test]
fn each_zone_has_its_size_to_the_edge() {
    let settles = |size: u32, score: f64| {
        let mut world = syshealth(size);
        world.run_with(3600, healthy(score));
        world.size
    };
    for (score, size) in [(0.0, 1), (33.0, 1), (34.0, 5), (66.0, 5), (67.0, 10), (100.0, 10)] {
        assert_eq!((settles(10, score), settles(1, score)), (size, size), "score {score}");
    }
}

#[test]
fn a_fraction_belongs_to_the_zone_of_its_whole_score() {
    let settles = |score: f64| syshealth(10).run_with(30, healthy(score));
    assert_eq!((settles(33.9), settles(66.9)), ("0s:1".to_owned(), "0s:5".to_owned()));
}

#[test]
fn the_workload_has_no_say() {
    let mut world = syshealth(10);
    (world.demand, world.queued) = (0, 0);
    assert_eq!(world.run_with(3600, healthy(90.0)), "", "idle for an hour");
    let mut world = syshealth(5);
    (world.demand, world.queued) = (99, 1_000_000);
    assert_eq!(world.run_with(3600, healthy(50.0)), "", "a queue without end");
    assert_eq!(world.step_with(healthy(50.0)).reason(), Reason::Health);
}

#[test]
fn the_first_step_down_is_taken_at_once() {
    assert_eq!(syshealth(10).run_with(60, healthy(50.0)), "0s:5");
    let mut grown = syshealth(8);
    assert_eq!(grown.run_with(30, healthy(90.0)), "0s:10");
    assert_eq!(grown.run_with(30, healthy(50.0)), "30s:5", "a growth is no reason to wait");
}

#[test]
fn steps_down_are_a_minute_apart() {
    let mut world = syshealth(10);
    world.ask_for(Some(8));
    assert_eq!(world.run_with(30, healthy(90.0)), "0s:8");
    world.ask_for(None);
    assert_eq!(world.run_with(90, healthy(50.0)), "60s:5", "the operator's step counts");
}

#[test]
fn critical_waits_for_no_cooldown() {
    let mut world = syshealth(10);
    assert_eq!(world.run_with(30, healthy(50.0)), "0s:5");
    assert_eq!(world.run_with(30, healthy(20.0)), "30s:1");
}

#[test]
fn recovery_takes_half_as_many_again_every_five_minutes() {
    let mut world = syshealth(10);
    assert_eq!(world.run_with(30, healthy(10.0)), "0s:1");
    assert_eq!(world.run_with(3600, healthy(90.0)), "300s:2 600s:3 900s:5 1200s:8 1500s:10");
}

#[test]
fn growth_into_the_warning_zone_waits_five_minutes_too() {
    let mut world = syshealth(10);
    assert_eq!(world.run_with(30, healthy(10.0)), "0s:1");
    assert_eq!(world.run_with(3600, healthy(50.0)), "300s:2 600s:3 900s:5");
}

#[test]
fn health_that_flickers_keeps_the_pool_down() {
    let mut world = syshealth(10);
    let flicker = |o: &mut Observation| {
        let odd = o.at.since(Timestamp::ORIGIN).as_secs() / 30 % 2 == 1;
        healthy(if odd { 90.0 } else { 10.0 })(o);
    };
    for _ in 0..240 {
        world.step_with(flicker);
        assert!(world.size <= 2, "{} workers on a machine that keeps failing", world.size);
    }
}

#[test]
fn news_older_than_two_minutes_mean_half() {
    let mut world = syshealth(10);
    assert_eq!(world.run_with(150, measured(90.0, 0)), "", "believed up to 120 s, and at 120 s");
    assert_eq!(world.run_with(30, measured(90.0, 0)), "150s:5");
    let mut small = syshealth(1);
    small.run_with(121, measured(10.0, 0));
    assert_eq!(small.run_with(1200, measured(10.0, 0)), "150s:2 450s:3 750s:5", "and upward");
}

#[test]
fn a_monitor_that_missed_a_round_is_believed_still() {
    let mut world = syshealth(10);
    assert_eq!(world.run_with(120, measured(20.0, 0)), "0s:1", "critical as last heard");
}

#[test]
fn what_was_never_measured_means_half() {
    assert_eq!(syshealth(10).run(60), "0s:5");
    let standing = Standing::of(None, Timestamp::ORIGIN);
    assert_eq!((standing.score, standing.basis), (50.0, Basis::Unmeasured));
}

#[test]
fn stale_news_are_marked_as_such() {
    let health = Health { measured_at: Timestamp::ORIGIN, score: 90.0, worst: None };
    let at = |secs| Standing::of(Some(&health), Timestamp::from_secs(secs));
    assert_eq!((at(120).score, at(120).basis), (90.0, Basis::Measured));
    assert_eq!((at(121).score, at(121).basis), (50.0, Basis::Stale));
}

#[test]
fn the_minimum_keeps_working_however_long_the_machine_is_unwell() {
    let mut world = syshealth(10);
    world.run_with(86_400, healthy(0.0));
    assert_eq!(world.size, 1);
}

#[test]
fn reading_the_advice_has_no_side_effect() {
    let mut asked = syshealth(10);
    let mut left_alone = syshealth(10);
    for round in 0..60 {
        let score = if round < 4 { 10.0 } else { 90.0 };
        let mut observation = asked.observe();
        healthy(score)(&mut observation);
        for _ in 0..round {
            let _ = asked.autoscaler.evaluate(&observation);
        }
        assert_eq!(asked.step_with(healthy(score)), left_alone.step_with(healthy(score)));
    }
    assert_eq!(asked.autoscaler.stats(), left_alone.autoscaler.stats());
}

#[test]
fn switched_off_it_leaves_the_pool_alone_and_a_static_size_can_be_set() {
    let mut world = syshealth(10);
    assert_eq!(world.run_with(30, healthy(10.0)), "0s:1");
    world.autoscaler.set_mode(Mode::Off);
    assert_eq!(world.run_with(600, healthy(90.0)), "", "off keeps what there is");
    world.autoscaler.set_mode(Mode::Manual);
    world.ask_for(Some(10));
    assert_eq!(world.run_with(30, healthy(10.0)), "630s:10", "at once, whatever the health");
}

#[test]
fn each_pool_has_its_own_switch() {
    let (mut on, mut off) = (syshealth(10), syshealth(10));
    off.autoscaler.set_mode(Mode::Off);
    assert_eq!(on.run_with(30, healthy(10.0)), "0s:1");
    assert_eq!(off.run_with(30, healthy(10.0)), "");
}

#[test]
fn a_decision_tells_the_score() {
    let decision = syshealth(10).step_with(healthy(50.0));
    assert_eq!(decision.explain().to_string(), "shrink 10 to 5: wants 5 (health) -> bounds 5");
    assert!(decision.explain_fully().to_string().contains("believes health score 50"));
}

fn bounds(min: u32, max: u32) -> PolicyConfig {
    let own =
        PolicyConfig { workers_min: Some(min), workers_max: Some(max), ..PolicyConfig::default() };
    own.or(Preset::syshealth().config())
}

#[test]
fn the_bounds_are_checked_and_fifty_is_the_most() {
    faults(&bounds(1, 50), &[]);
    faults(&bounds(7, 7), &[]);
    faults(
        &bounds(0, 10),
        &["workers_min is 0; at least 1 is needed: health_zones cannot come back from 0"],
    );
    faults(&bounds(6, 5), &["workers_max is 5; it must be at least workers_min, which is 6"]);
    faults(
        &bounds(1, 51),
        &["workers_max is 51; at most 50 are allowed, which is workers_max_allowed of this policy"],
    );
}

#[test]
fn the_zones_follow_the_bounds_that_were_set() {
    let settles = |score: f64| {
        let mut world = World::with(&bounds(3, 25), 64, 25);
        world.run_with(60, healthy(score));
        world.size
    };
    assert_eq!([20.0, 50.0, 90.0].map(settles), [3, 13, 25], "half of 25 is 13");
    let policy = Policy::check(&bounds(8, 10), 64).expect("a policy without faults");
    assert_eq!(policy.bounds().min, 8);
    let mut high = World::with(&bounds(8, 10), 64, 10);
    high.run_with(60, healthy(50.0));
    assert_eq!(high.size, 8, "never fewer than the minimum");
}

#[test]
fn it_looks_every_thirty_seconds() {
    let policy = Policy::check(&Preset::syshealth().config(), 64).expect("the preset is right");
    assert_eq!(policy.tick(), Duration::from_secs(30));
    assert_eq!((policy.bounds().min, policy.bounds().max), (1, 10), "whatever the cores");
}

#[test]
fn another_decider_can_be_held_down_by_health() {
    let guards =
        GuardsConfig { health: Some(HealthBrake::default()), ..Preset::gopipe().config().guards };
    let config = PolicyConfig { guards, workers_max: Some(10), ..Preset::gopipe().config() };
    assert!(matches!(config.decider, Some(DeciderConfig::AllBusy(_))));
    let mut world = World::with(&config, 64, 8);
    world.demand = 99;
    assert_eq!(world.run_with(2, healthy(10.0)), "0s:1");
    assert_eq!(world.run_with(310, healthy(90.0)), "301s:2", "half as many again after a rest");
}

/// A machine of which everything is measured and at ease.
fn at_ease() -> Vitals {
    Vitals {
        io_wait: Some(0.0),
        load_per_core: Some(0.0),
        db_pool: Some(0.0),
        memory: Some(0.0),
        pressure: None,
    }
}

fn assess(rules: &HealthRules, vitals: &Vitals) -> Health {
    Health::assess(rules, vitals, Timestamp::ORIGIN).expect("something was measured")
}

/// The score by the document's own table, and by ours.
#[track_caller]
fn scores(vitals: &Vitals, table: f64, ours: f64) {
    for (rules, score) in [(HealthRules::syshealth(), table), (HealthRules::default(), ours)] {
        let found = assess(&rules, vitals).score;
        assert!((found - score).abs() < 1e-9, "{found} instead of {score} by {:?}", rules.scoring);
    }
}

#[test]
fn io_wait_costs_up_to_forty_points() {
    let io = |io_wait| Vitals { io_wait: Some(io_wait), ..at_ease() };
    scores(&io(0.19), 100.0, 100.0);
    scores(&io(0.20), 80.0, 100.0);
    scores(&io(0.30), 80.0, 80.0);
    scores(&io(0.40), 80.0, 60.0);
    scores(&io(0.41), 60.0, 60.0);
}

#[test]
fn load_costs_up_to_thirty_points() {
    let load = |load_per_core| Vitals { load_per_core: Some(load_per_core), ..at_ease() };
    scores(&load(1.99), 100.0, 100.0);
    scores(&load(2.0), 85.0, 100.0);
    scores(&load(2.5), 85.0, 85.0);
    scores(&load(3.0), 85.0, 70.0);
    scores(&load(3.1), 70.0, 70.0);
}

#[test]
fn database_connections_cost_up_to_twenty_points() {
    let db = |db_pool| Vitals { db_pool: Some(db_pool), ..at_ease() };
    scores(&db(0.74), 100.0, 100.0);
    scores(&db(0.75), 90.0, 100.0);
    scores(&db(0.825), 90.0, 90.0);
    scores(&db(0.90), 90.0, 80.0);
    scores(&db(0.91), 80.0, 80.0);
}

#[test]
fn memory_costs_up_to_ten_points() {
    let memory = |memory| Vitals { memory: Some(memory), ..at_ease() };
    scores(&memory(0.84), 100.0, 100.0);
    scores(&memory(0.85), 95.0, 100.0);
    scores(&memory(0.90), 95.0, 95.0);
    scores(&memory(0.95), 95.0, 90.0);
    scores(&memory(0.951), 90.0, 90.0);
}

#[test]
fn everything_at_its_worst_scores_nothing() {
    let worst = Vitals {
        io_wait: Some(0.9),
        load_per_core: Some(9.0),
        db_pool: Some(1.0),
        memory: Some(1.0),
        pressure: None,
    };
    scores(&worst, 0.0, 0.0);
    scores(&at_ease(), 100.0, 100.0);
}

#[test]
fn weights_alone_do_not_see_one_exhausted_resource() {
    let alone = [
        (Vitals { memory: Some(0.99), ..at_ease() }, 90.0, Resource::Memory),
        (Vitals { db_pool: Some(1.0), ..at_ease() }, 80.0, Resource::DbPool),
        (Vitals { load_per_core: Some(10.0), ..at_ease() }, 70.0, Resource::Cpu),
        (Vitals { io_wait: Some(1.0), ..at_ease() }, 60.0, Resource::Io),
    ];
    for (vitals, table, resource) in alone {
        let by_table = assess(&HealthRules::syshealth(), &vitals);
        assert!((by_table.score - table).abs() < 1e-9, "{resource}: {by_table:?}");
        let ours = assess(&HealthRules::default(), &vitals);
        assert_eq!((Zone::of(ours.score), ours.worst), (Zone::Critical, Some(resource)));
    }
}

#[test]
fn a_brief_spike_of_one_vital_does_not_throttle_everybody() {
    let backup = Vitals { io_wait: Some(0.38), ..at_ease() };
    for rules in [HealthRules::syshealth(), HealthRules::default()] {
        assert_ne!(Zone::of(assess(&rules, &backup).score), Zone::Critical);
    }
}

#[test]
fn the_machine_that_started_it_all_is_critical() {
    let production =
        |io_wait| Vitals { io_wait: Some(io_wait), load_per_core: Some(30.0 / 8.0), ..at_ease() };
    for io_wait in [0.42, 0.54] {
        for rules in [HealthRules::syshealth(), HealthRules::default()] {
            let health = assess(&rules, &production(io_wait));
            assert_eq!(Zone::of(health.score), Zone::Critical, "{health:?}");
            let mut world = syshealth(10);
            world.step_with(|o| o.health = Some(health));
            assert_eq!(world.size, 1);
        }
    }
}

#[test]
fn what_cannot_be_measured_leaves_its_weight_to_the_rest() {
    let vitals = Vitals { io_wait: Some(0.5), db_pool: None, ..at_ease() };
    let score = assess(&HealthRules::syshealth(), &vitals).score;
    assert!((score - 50.0).abs() < 1e-9, "40 of the 80 points that are left: {score}");
    let nothing = Health::assess(&HealthRules::default(), &Vitals::default(), Timestamp::ORIGIN);
    assert_eq!(nothing, None);
}

#[test]
fn thresholds_and_weights_can_be_set_and_are_checked() {
    let tolerant =
        HealthRules { io_wait: Thresholds { low: 0.5, high: 0.7 }, ..HealthRules::syshealth() };
    let vitals = Vitals { io_wait: Some(0.45), ..at_ease() };
    let health = assess(&tolerant, &vitals);
    assert_eq!(health.worst, None, "{health:?}");
    let wrong = HealthRules {
        memory: Thresholds { low: 85.0, high: 95.0 },
        io_wait: Thresholds { low: 0.4, high: 0.2 },
        weights: Weights { cpu: -0.3, ..Weights::default() },
        ..HealthRules::syshealth()
    };
    let told: Vec<_> =
        wrong.check().expect_err("four faults").iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "weights.cpu is -0.3; a finite number of at least 0 is allowed",
            "io_wait.low (0.4) is not below io_wait.high (0.2)",
            "memory.low is 85; a number from 0 to 1 is allowed",
            "memory.high is 95; a number from 0 to 1 is allowed",
        ]
    );
}
