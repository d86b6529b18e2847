//! What people read: one line, and the whole chain.

use std::time::Duration;

use headcount_core::decide::{DeciderConfig, Rule, Step, Threshold};
use headcount_core::guard::{HealthBrake, StepLimit, WarmUp};
use headcount_core::health::Health;
use headcount_core::{
    Autoscaler, GuardsConfig, ManualTarget, Mode, Name, Observation, Policy, PolicyConfig,
    PoolSnapshot, Staffing, Statistics, Timestamp,
};

/// Wants 41 of 16 when the wait is too long; a step is 8; the machine allows half of 32.
fn autoscaler() -> Autoscaler {
    let wait = Name::new("wait_p99").expect("a name");
    let threshold = Threshold {
        grow_when_any: vec![Rule::above(wait, 0.5)],
        shrink_when_all: vec![Rule::below(wait, 0.01)],
        grow_step: Step::Add(25),
        shrink_step: Step::Add(1),
    };
    let config = PolicyConfig {
        workers_max: Some(32),
        decider: Some(DeciderConfig::Threshold(threshold)),
        guards: GuardsConfig {
            step: Some(StepLimit { grow_max: Some(8), ..StepLimit::default() }),
            health: Some(HealthBrake::default()),
            warm_up: Some(WarmUp { span: Duration::ZERO }),
            ..GuardsConfig::default()
        },
        ..PolicyConfig::default()
    };
    Policy::check(&config, 8).expect("the policy is right").build()
}

fn busy_day(wait: Duration) -> Observation {
    let mut pool = PoolSnapshot::of(Staffing::exactly(16));
    pool.wait = Statistics::of(&[wait]);
    let mut observation = Observation::new(Timestamp::from_secs(7), pool);
    let measured_at = observation.at;
    observation.health = Some(Health { measured_at, score: 50.0, worst: None });
    observation
}

fn check(observation: &Observation, expected: &str) {
    assert_eq!(autoscaler().tick(observation).explain().to_string(), expected);
}

#[test]
fn one_line_names_every_guard_that_changed_something() {
    let mut observation = busy_day(Duration::from_millis(900));
    check(
        &observation,
        "hold 16: wants 41 (wait p99 0.9 s > 0.5 s) -> step 24 -> health warning 16 -> bounds 16",
    );
    observation.allowance = Some(14);
    check(
        &observation,
        "shrink 16 to 14: wants 41 (wait p99 0.9 s > 0.5 s) -> step 24 -> health warning 16 \
         -> allowance 14 -> bounds 14",
    );
    observation.health = None;
    observation.allowance = Some(20);
    check(
        &observation,
        "hold 16: wants 41 (wait p99 0.9 s > 0.5 s) -> step 24 -> health warning 16 -> bounds 16",
    );
}

#[test]
fn a_wish_of_nothing_says_why() {
    check(&busy_day(Duration::from_millis(100)), "hold 16: wants 16 (steady) -> bounds 16");
    let mut blind = busy_day(Duration::ZERO);
    blind.pool.wait = None;
    check(&blind, "hold 16: no wish (no data) -> bounds 16");
}

#[test]
fn modes_show() {
    let observation = busy_day(Duration::from_millis(1));
    let mut advising = autoscaler();
    advising.set_mode(Mode::Advise);
    let line = advising.tick(&observation).explain().to_string();
    assert_eq!(line, "would shrink 16 to 15: wants 15 (wait p99 1 ms < 10 ms) -> bounds 15");

    let mut off = autoscaler();
    off.set_mode(Mode::Off);
    assert_eq!(off.tick(&observation).explain().to_string(), "hold 16: the autoscaler is off");

    let mut told = autoscaler();
    told.set_manual(Some(ManualTarget { workers: 99, until: None }));
    let line = told.tick(&observation).explain().to_string();
    assert_eq!(line, "grow 16 to 32: wants 99 (manual) -> bounds 32");
}

#[test]
fn the_whole_chain_has_readings_wish_and_every_ruling() {
    let decision = autoscaler().tick(&busy_day(Duration::from_millis(900)));
    let expected = "\
hold 16, at 7.000 s, mode automatic
  reads wait p99 0.9 s
  wants 41 (wait p99 0.9 s > 0.5 s), reason latency
  step: amended to 24, a step is at most 8
  warm up: 24 allowed
  breaker veto: 24 allowed
  drain hold: 24 allowed
  health: held at 16, health is warning
  allowance: 16 allowed
  bounds: 16 allowed
";
    assert_eq!(decision.explain_fully().to_string(), expected);
}
