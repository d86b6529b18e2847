//! The autoscaler as a shell uses it: modes, manual targets, asking, saving and restoring.

use std::sync::Arc;
use std::time::Duration;

use headcount_core::decide::{Decider, DeciderConfig, Rule, Threshold};
use headcount_core::guard::{Cooldown, Guard, HealthBrake};
use headcount_core::health::Health;
use headcount_core::{
    Autoscaler, Bounds, Decision, Extras, GuardsConfig, ManualTarget, Mode, Name, Observation,
    Policy, PolicyConfig, PoolSnapshot, Preset, Proposal, Reason, RestoreError, Situation,
    Staffing, Timestamp,
};

fn autoscaler(preset: &Preset) -> Autoscaler {
    let config = PolicyConfig { workers_max: Some(8), ..PolicyConfig::default() };
    Policy::check(&config.or(preset.config()), 8).expect("the policy is right").build()
}

fn seen(second: u64, live: u32, busy: u32) -> Observation {
    let pool = PoolSnapshot { busy, ..PoolSnapshot::of(Staffing::exactly(live)) };
    Observation::new(Timestamp::from_secs(second), pool)
}

fn tick(autoscaler: &mut Autoscaler, second: u64, live: u32, busy: u32) -> Decision {
    let decision = autoscaler.tick(&seen(second, live, busy));
    if decision.resize().is_some() {
        autoscaler.applied(&decision);
    }
    decision
}

#[test]
fn off_decides_nothing_whatever_it_was_told() {
    let mut autoscaler = autoscaler(&Preset::gopipe());
    autoscaler.set_mode(Mode::Off);
    autoscaler.set_manual(Some(ManualTarget { workers: 5, until: None }));
    let decision = tick(&mut autoscaler, 0, 40, 40);
    assert_eq!((decision.to, decision.resize()), (Staffing::exactly(40), None));
    assert_eq!(decision.reason(), Reason::Off);
}

#[test]
fn manual_does_what_it_is_told_and_nothing_else() {
    let mut autoscaler = autoscaler(&Preset::gopipe());
    autoscaler.set_mode(Mode::Manual);
    assert_eq!(tick(&mut autoscaler, 0, 2, 2).resize(), None);
    autoscaler.set_manual(Some(ManualTarget { workers: 5, until: None }));
    assert_eq!(tick(&mut autoscaler, 1, 2, 2).resize(), Some(Staffing::exactly(5)));
}

#[test]
fn a_manual_target_goes_past_the_cooldown_and_not_past_the_limits() {
    let mut autoscaler = autoscaler(&Preset::gopipe());
    assert_eq!(tick(&mut autoscaler, 0, 2, 2).to, Staffing::exactly(3));
    autoscaler.set_manual(Some(ManualTarget { workers: 7, until: None }));
    assert_eq!(tick(&mut autoscaler, 1, 3, 3).to, Staffing::exactly(7), "no cooldown");
    let mut observation = seen(2, 7, 7);
    observation.allowance = Some(4);
    assert_eq!(autoscaler.tick(&observation).to, Staffing::exactly(4), "the allowance holds");
    autoscaler.set_manual(Some(ManualTarget { workers: 0, until: None }));
    assert_eq!(tick(&mut autoscaler, 3, 4, 0).to, Staffing::exactly(1), "and so do the bounds");
}

#[test]
fn a_manual_target_ends_when_it_said_it_would() {
    let mut autoscaler = autoscaler(&Preset::gopipe());
    let until = Some(Timestamp::from_secs(60));
    autoscaler.set_manual(Some(ManualTarget { workers: 6, until }));
    assert_eq!(tick(&mut autoscaler, 0, 2, 0).to, Staffing::exactly(6));
    assert_eq!(tick(&mut autoscaler, 59, 6, 0).reason(), Reason::Manual);
    assert_eq!(tick(&mut autoscaler, 60, 6, 0).reason(), Reason::Steady);
    assert_eq!(autoscaler.manual(), None);
}

#[test]
fn advice_is_the_same_decision_and_is_not_applied() {
    let mut advising = autoscaler(&Preset::gopipe());
    advising.set_mode(Mode::Advise);
    let advice = tick(&mut advising, 0, 2, 2);
    assert_eq!((advice.to, advice.resize()), (Staffing::exactly(3), None));
    assert!(advice.is_suppressed());
    assert_eq!(advising.stats().grows, 0);
}

#[test]
fn asking_changes_nothing() {
    let mut asked = autoscaler(&Preset::thread_system());
    let mut left_alone = autoscaler(&Preset::thread_system());
    for second in 0..40 {
        for _ in 0..3 {
            let _answer = asked.evaluate(&seen(second, 4, 4));
        }
        let (one, other) = (tick(&mut asked, second, 4, 4), tick(&mut left_alone, second, 4, 4));
        assert_eq!(one, other);
    }
    assert_eq!(asked.stats(), left_alone.stats());
}

#[test]
fn a_restart_goes_on_where_it_stopped() {
    let preset = Preset::thread_system();
    let mut lived = autoscaler(&preset);
    for second in 0..7 {
        tick(&mut lived, second, 4, 4);
    }
    let mut restarted = autoscaler(&preset);
    restarted.restore(&lived.save()).expect("the same policy wrote it");
    for second in 7..100 {
        assert_eq!(tick(&mut lived, second, 5, 5), tick(&mut restarted, second, 5, 5));
    }
}

#[test]
fn the_cooldown_spans_a_restart_and_a_lost_history_does_not_shrink() {
    let mut before = autoscaler(&Preset::gopipe());
    assert!(tick(&mut before, 100, 2, 2).resize().is_some());
    let mut after = autoscaler(&Preset::gopipe());
    after.restore(&before.save()).expect("the same policy wrote it");
    assert_eq!(tick(&mut after, 101, 3, 3).resize(), None, "five seconds are not over");

    let mut lost = autoscaler(&Preset::target());
    for second in 0..60 {
        let to = tick(&mut lost, second, 8, 0).to;
        assert_eq!(to, Staffing::exactly(8), "it begins by holding, at {second} s");
    }
    assert_eq!(tick(&mut lost, 60, 8, 0).to, Staffing::exactly(1));
}

#[test]
fn no_preset_shrinks_in_its_first_ten_ticks_except_where_health_alone_decides() {
    for preset in Preset::all().iter().filter(|preset| preset.name() != "syshealth") {
        let config = PolicyConfig { workers_max: Some(8), ..PolicyConfig::default() };
        let policy = Policy::check(&config.or(preset.config()), 8).expect("the policy is right");
        let mut autoscaler = policy.build();
        let mut observation = seen(0, 8, 0);
        observation.pool.longest_idle = Some(Duration::from_hours(1));
        for tick in 0..10 {
            observation.at = Timestamp::ORIGIN + policy.tick() * tick;
            let to = autoscaler.tick(&observation).to;
            let is_kept = Staffing::exactly(8) == to.no_more_than(Staffing::exactly(8));
            assert!(is_kept, "{} at tick {tick}: {to}", preset.name());
        }
    }
}

#[test]
fn a_retuned_policy_keeps_its_history() {
    let utilization = |limit| {
        let rule = Rule::above(Name::new("utilization").expect("a name"), limit);
        let threshold = Threshold { grow_when_any: vec![rule], ..Threshold::default() };
        let config = PolicyConfig {
            decider: Some(DeciderConfig::Threshold(threshold)),
            ..Preset::gopipe().config()
        };
        Policy::check(&config, 8).expect("the policy is right").build()
    };
    let mut before = utilization(0.8);
    assert!(tick(&mut before, 0, 2, 2).resize().is_some());
    let mut after = utilization(0.7);
    after.restore(&before.save()).expect("of the same kind");
    assert_eq!(tick(&mut after, 1, 3, 3).resize(), None, "five seconds are not over");
}

#[test]
fn a_clock_with_a_new_origin_freezes_nothing() {
    let mut before = autoscaler(&Preset::gopipe());
    assert!(tick(&mut before, 864_000, 2, 2).resize().is_some());
    before
        .set_manual(Some(ManualTarget { workers: 7, until: Some(Timestamp::from_secs(864_060)) }));
    let mut after = autoscaler(&Preset::gopipe());
    after.restore(&before.save()).expect("the same policy wrote it");
    assert_eq!(tick(&mut after, 0, 3, 3).reason(), Reason::Manual);
    assert_eq!(tick(&mut after, 59, 7, 7).reason(), Reason::Manual);
    assert_eq!(tick(&mut after, 60, 7, 7).to, Staffing::exactly(8), "the minute is over");
}

#[test]
fn no_decider_can_switch_a_guard_off() {
    #[derive(Clone, Debug)]
    struct Sly(Reason);
    impl Decider for Sly {
        fn decide(&mut self, _situation: &Situation<'_>) -> Proposal {
            Proposal::want(Staffing::exactly(1_000_000), self.0)
        }
    }
    let policy = Policy::check(&Preset::gopipe().config(), 8).expect("the preset is right");
    for reason in [Reason::Off, Reason::Manual, Reason::Steady] {
        let mut autoscaler = policy.build_with(Extras::decider(Sly(reason)));
        assert_eq!(tick(&mut autoscaler, 0, 4, 4).to, Staffing::exactly(8), "{reason}");
        assert_eq!(tick(&mut autoscaler, 1, 4, 4).to, Staffing::exactly(4), "it cools down");
    }
}

#[test]
fn a_floor_that_falls_is_a_shrink() {
    #[derive(Clone, Debug)]
    struct Sinking;
    impl Decider for Sinking {
        fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
            let Staffing { floor, ceiling } = situation.from();
            let sunk = Staffing { floor: floor.saturating_sub(1), ceiling: ceiling + 1 };
            Proposal::want(sunk, Reason::External)
        }
    }
    let minute = Cooldown::new(Duration::ZERO, Duration::from_secs(60));
    let guards: Vec<Arc<dyn Guard>> = vec![Arc::new(minute)];
    let bounds = Bounds { min: 0, max: 100 };
    let mut autoscaler = Autoscaler::new(vec![], Box::new(Sinking), guards, bounds);
    let mut pool = PoolSnapshot::of(Staffing::between(10, 20));
    for second in 0..=60 {
        let observation = Observation::new(Timestamp::from_secs(second), pool);
        let decision = autoscaler.tick(&observation);
        autoscaler.applied(&decision);
        (pool.floor, pool.ceiling) = (decision.to.floor, decision.to.ceiling);
        assert_eq!(pool.floor, if second < 60 { 9 } else { 8 }, "at {second} s");
    }
}

#[test]
fn illness_is_over_when_the_machine_is_well_not_when_the_brake_last_pulled() {
    let config = PolicyConfig {
        workers_max: Some(10),
        guards: GuardsConfig { health: Some(HealthBrake::default()), ..GuardsConfig::default() },
        ..Preset::target().config()
    };
    let mut autoscaler = Policy::check(&config, 8).expect("the policy is right").build();
    let mut size_at = |second, size, score| {
        let mut observation = seen(second, size, size);
        let measured_at = observation.at;
        observation.health = Some(Health { measured_at, score, worst: None });
        let decision = autoscaler.tick(&observation);
        autoscaler.applied(&decision);
        decision.to.ceiling
    };
    for second in 0..600 {
        assert_eq!(size_at(second, 1, 10.0), 1);
    }
    assert_eq!(size_at(600, 1, 90.0), 1, "well for the first time");
    assert_eq!(size_at(898, 1, 90.0), 1, "five minutes are not over");
    assert_eq!(size_at(899, 1, 90.0), 2);
}

#[test]
fn a_change_that_the_bounds_forbid_is_not_held_back_by_anybody() {
    let mut autoscaler = autoscaler(&Preset::gopipe());
    assert_eq!(tick(&mut autoscaler, 0, 7, 7).to, Staffing::exactly(8));
    let at_the_maximum = tick(&mut autoscaler, 1, 8, 8);
    assert!(!at_the_maximum.is_suppressed(), "{}", at_the_maximum.explain());
}

#[test]
fn notes_of_another_policy_are_refused_and_change_nothing() {
    let mut autoscaler = autoscaler(&Preset::gopipe());
    tick(&mut autoscaler, 0, 2, 2);
    let before = autoscaler.save();
    let mut other = self::autoscaler(&Preset::thread_system());
    tick(&mut other, 0, 2, 2);
    assert_eq!(autoscaler.restore(&other.save()), Err(RestoreError::OtherPolicy));
    let spool = self::autoscaler(&Preset::spool());
    assert_eq!(
        autoscaler.restore(&spool.save()),
        Err(RestoreError::OtherPolicy),
        "of the same shape"
    );
    assert_eq!(autoscaler.save(), before);
}

#[test]
fn statistics_count_and_reset() {
    let mut autoscaler = autoscaler(&Preset::gopipe());
    tick(&mut autoscaler, 0, 2, 2);
    tick(&mut autoscaler, 1, 3, 3);
    tick(&mut autoscaler, 6, 3, 3);
    let stats = autoscaler.stats();
    assert_eq!((stats.grows, stats.shrinks, stats.evaluations, stats.suppressed), (2, 0, 3, 1));
    assert_eq!((stats.live_least, stats.live_peak), (Some(2), Some(3)));
    assert_eq!(stats.last_grow, Some(Timestamp::from_secs(6)));
    autoscaler.reset_stats();
    assert_eq!(autoscaler.stats().evaluations, 0);
    assert_eq!(tick(&mut autoscaler, 7, 4, 4).resize(), None, "the cooldown was not forgotten");
}

#[test]
fn the_last_samples_are_kept_and_no_more() {
    let mut autoscaler = autoscaler(&Preset::gopipe());
    for second in 0..100 {
        tick(&mut autoscaler, second, 4, 2);
    }
    let samples: Vec<_> = autoscaler.samples().collect();
    assert_eq!(samples.len(), 60);
    assert_eq!(samples.last().map(|sample| sample.at), Some(Timestamp::from_secs(99)));
}
