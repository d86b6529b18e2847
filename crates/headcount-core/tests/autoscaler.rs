//! The autoscaler as a shell uses it: modes, manual targets, asking, saving and restoring.

use headcount_core::{
    Autoscaler, Decision, ManualTarget, Mode, Observation, Policy, PolicyConfig, PoolSnapshot,
    Preset, Reason, RestoreError, Staffing, Timestamp,
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
fn notes_of_another_policy_are_refused_and_change_nothing() {
    let mut autoscaler = autoscaler(&Preset::gopipe());
    tick(&mut autoscaler, 0, 2, 2);
    let before = autoscaler.save();
    let mut other = self::autoscaler(&Preset::thread_system());
    tick(&mut other, 0, 2, 2);
    assert_eq!(autoscaler.restore(&other.save()), Err(RestoreError));
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
