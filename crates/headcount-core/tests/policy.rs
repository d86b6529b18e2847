//! What a written policy gets for an answer: every fault at once, and hints.

use std::time::Duration;

use headcount_core::decide::{
    Aimd, CompositeConfig, DeciderConfig, HealthZones, PartConfig, PidConfig, Rule, ScheduleConfig,
    ShiftConfig, SloConfig, Step, Target, Threshold,
};
use headcount_core::guard::{Cooldown, ErrorVeto, FlapDamper, HealthBrake, MemoryLimit, StepLimit};
use headcount_core::health::Health;
use headcount_core::signal::{Signal, Smoothing, Source};
use headcount_core::{
    Extras, GuardsConfig, Name, Observation, Policy, PolicyConfig, PoolSnapshot, Preset,
    SignalConfig, Staffing, Timestamp,
};

fn faults(config: &PolicyConfig) -> String {
    let faults = Policy::check(config, 8).expect_err("something is wrong");
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn hints(config: &PolicyConfig) -> String {
    let policy = Policy::check(config, 8).expect("nothing is wrong");
    policy.hints().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn deciding(decider: DeciderConfig) -> PolicyConfig {
    PolicyConfig { decider: Some(decider), ..PolicyConfig::default() }
}

fn name(text: &str) -> Name {
    Name::new(text).expect("a name")
}

fn utilization(up: f64, down: f64) -> PolicyConfig {
    deciding(DeciderConfig::Threshold(Threshold {
        grow_when_any: vec![Rule::above(name("utilization"), up)],
        shrink_when_all: vec![Rule::below(name("utilization"), down)],
        ..Threshold::default()
    }))
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let config = PolicyConfig {
        workers_min: Some(0),
        workers_max: Some(200_000),
        tick: Some(Duration::ZERO),
        samples_kept: Some(u32::MAX),
        signals: Some(vec![
            SignalConfig {
                name: name("util"),
                source: Source::Utilization,
                smoothing: vec![Smoothing::Mean { samples: 0 }],
            },
            SignalConfig { name: name("util"), source: Source::Pending, smoothing: vec![] },
        ]),
        decider: Some(DeciderConfig::Aimd(Aimd {
            signal: name("utilisation"),
            setpoint: f64::NAN,
            grow_step: 0,
            shrink_share: 1.0,
        })),
        guards: GuardsConfig {
            step: Some(StepLimit { grow_max: Some(0), ..StepLimit::default() }),
            error_veto: Some(ErrorVeto { rate_max: 1.5, ..ErrorVeto::default() }),
            memory: Some(MemoryLimit { bytes_per_worker: 0, use_max: 0.0 }),
            ..GuardsConfig::default()
        },
        ..PolicyConfig::default()
    };
    let expected = "\
workers_min is 0; at least 1 is needed: aimd cannot come back from 0
workers_max is 200000; at most 100000 are allowed
tick is 0 s; a span above 0 is needed
samples_kept is 4294967295; at most 100000 are kept
signals[0].smoothing[0].samples is 0; at least 1 is needed
signals[1].name is util; another signal has this name already
decider.signal is utilisation; no such signal; declare it under signals, or use external.NAME
decider.setpoint is NaN; a finite number above 0 is needed
decider.grow_step is 0; at least 1 is needed
decider.shrink_share is 1; a share above 0 and below 1 is needed
guards.step.grow_max is 0; at least 1 is needed
guards.error_veto.rate_max is 1.5; a share above 0 and up to 1 is needed
guards.memory.bytes_per_worker is 0; at least 1 is needed
guards.memory.use_max is 0; a share above 0 and up to 1 is needed";
    assert_eq!(faults(&config), expected);
}

#[test]
fn thresholds_must_not_meet() {
    assert_eq!(
        faults(&utilization(0.5, 0.5)),
        "decider.shrink_when_all limit of utilization is 0.5; it must be below the limit to grow, \
         which is 0.5"
    );
    assert!(faults(&utilization(1.2, 0.3)).contains("a share above 0 and up to 1"));
    assert!(faults(&utilization(0.0, -0.1)).contains("decider.grow_when_any[0].limit is 0;"));
    assert!(faults(&utilization(0.9, -0.1)).contains("a share from 0 to below 1"));
    assert!(Policy::check(&utilization(1.0, 0.0), 8).is_ok());
}

#[test]
fn what_is_legal_and_unwise_gets_a_hint() {
    assert_eq!(
        hints(&utilization(0.8, 0.6)),
        "decider.shrink_when_all limit of utilization: 0.6 is within 0.3 of the limit to grow, \
         0.8; the pool may oscillate\n\
         signals.utilization: one or two samples make a decision; smooth it, over 3 samples or more"
    );
    let seconds = Duration::from_secs;
    let hasty = PolicyConfig {
        guards: GuardsConfig {
            cooldown: Some(Cooldown::new(seconds(30), seconds(10))),
            ..GuardsConfig::default()
        },
        ..PolicyConfig::default()
    };
    assert_eq!(
        hints(&hasty),
        "guards.cooldown.shrink: 10s is shorter than grow, 30s; shrinking should be slower"
    );
    let narrow = Target { tolerance: 0.01, ..Target::default() };
    assert!(hints(&deciding(DeciderConfig::Target(narrow))).contains("narrow band"));
    let eager = SloConfig { wait_budget: Duration::ZERO, ..SloConfig::default() };
    assert!(hints(&deciding(DeciderConfig::Slo(eager))).contains("hires for every task"));
}

#[test]
fn presets_have_neither_faults_nor_hints() {
    for preset in Preset::all() {
        assert_eq!(hints(&preset.config()), "", "{}", preset.name());
    }
}

#[test]
fn parts_of_parts_are_named_by_their_path() {
    let broken = PartConfig {
        weight: 0.0,
        decider: DeciderConfig::Pid(PidConfig { ki: -1.0, ..PidConfig::default() }),
    };
    let inner = CompositeConfig { parts: vec![broken], ..CompositeConfig::default() };
    let outer = CompositeConfig {
        parts: vec![PartConfig::of(DeciderConfig::Composite(inner))],
        ..CompositeConfig::default()
    };
    assert_eq!(
        faults(&deciding(DeciderConfig::Composite(outer))),
        "decider.parts[0].parts[0].weight is 0; a finite number above 0 is needed\n\
         decider.parts[0].parts[0].ki is -1; a finite number of 0 or more is needed"
    );
}

#[test]
fn every_decider_and_guard_says_what_it_needs() {
    let shift = ShiftConfig { days: vec![], from_second: 90_000, to_second: 0, workers: 0 };
    let schedule = ScheduleConfig { shifts: vec![shift] };
    let text = faults(&deciding(DeciderConfig::Schedule(schedule)));
    assert!(text.contains("decider.shifts[0].from_second is 90000; a day ends at second 86399"));
    assert!(text.contains("decider.shifts[0].workers is 0; at least 1 is needed"));

    let steps = Threshold { grow_step: Step::Multiply(1.0), ..Threshold::default() };
    let text = faults(&deciding(DeciderConfig::Threshold(steps)));
    assert_eq!(
        text,
        "decider.grow_step is 1; a finite factor above 1 is needed, by which a shrink divides"
    );

    let slo = SloConfig { trust_factor: 0.5, ..SloConfig::default() };
    let text = faults(&deciding(DeciderConfig::Slo(slo)));
    assert_eq!(text, "decider.trust_factor is 0.5; a finite factor above 1 is needed");

    let guards = GuardsConfig {
        health: Some(HealthBrake {
            recovery_rest: Duration::from_millis(5),
            ..HealthBrake::default()
        }),
        flap_damper: Some(FlapDamper { hold_max: Duration::ZERO, ..FlapDamper::default() }),
        ..GuardsConfig::default()
    };
    let text = faults(&PolicyConfig { guards, ..PolicyConfig::default() });
    assert!(text.contains("guards.health.recovery_rest is 5ms; 0, or 1 s and more is allowed"));
    assert!(text.contains("guards.flap_damper.hold_max is 0ns; it must be at least hold"));
}

#[test]
fn too_many_signals_are_refused() {
    let signal = |index| SignalConfig {
        name: name(&format!("s{index}")),
        source: Source::Utilization,
        smoothing: vec![],
    };
    let config =
        PolicyConfig { signals: Some((0..17).map(signal).collect()), ..PolicyConfig::default() };
    let expected = "signals is 17 signals; at most 16 are read, with those that parts ask for";
    assert_eq!(faults(&config), expected);
}

#[test]
fn the_bounds_of_a_policy_are_the_bounds_of_its_zones() {
    let config = PolicyConfig {
        workers_min: Some(2),
        workers_max: Some(20),
        ..deciding(DeciderConfig::HealthZones(HealthZones::default()))
    };
    let mut autoscaler = Policy::check(&config, 8).expect("nothing is wrong").build();
    let mut size_at = |score| {
        let pool = PoolSnapshot::of(Staffing::exactly(5));
        let mut observation = Observation::new(Timestamp::ORIGIN, pool);
        observation.health = Some(Health { measured_at: Timestamp::ORIGIN, score, worst: None });
        autoscaler.tick(&observation).to.ceiling
    };
    assert_eq!([size_at(10.0), size_at(50.0), size_at(90.0)], [2, 10, 20]);
}

/// Reads a constant.
#[derive(Clone, Debug)]
struct Constant(&'static str, f64);

impl Signal for Constant {
    fn name(&self) -> &str {
        self.0
    }

    fn read(&mut self, _: &Observation) -> Option<f64> {
        Some(self.1)
    }
}

#[test]
fn a_signal_of_ones_own_takes_the_place_of_a_declared_source() {
    let signals = Some(vec![SignalConfig {
        name: name("lag"),
        source: Source::External(name("lag")),
        smoothing: vec![Smoothing::Mean { samples: 2 }],
    }]);
    let target = Target { signal: name("lag"), setpoint: 2.0, ..Target::default() };
    let config = PolicyConfig { signals, ..deciding(DeciderConfig::Target(target)) };
    let policy = Policy::check(&config, 8).expect("no fault");
    let own = || -> Vec<Box<dyn Signal>> { vec![Box::new(Constant("lag", 4.0))] };
    let mut autoscaler = policy.build_with(Extras { signals: own(), ..Extras::default() });
    let mut size_at = |second| {
        let pool = PoolSnapshot::at_work(Staffing::exactly(2), 2);
        autoscaler.tick(&Observation::new(Timestamp::from_secs(second), pool)).to.ceiling
    };
    assert_eq!([size_at(0), size_at(1)], [2, 4], "smoothed as it was declared");
}
