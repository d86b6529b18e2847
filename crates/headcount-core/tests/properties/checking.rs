//! A written policy is either refused with reasons or right for good.

use std::time::Duration;

use headcount_core::decide::{CompositeConfig, DeciderConfig, PartConfig, SloConfig};
use headcount_core::guard::{ErrorVeto, FlapDamper, HealthBrake, MemoryLimit, StepLimit};
use headcount_core::signal::{Smoothing, Source};
use headcount_core::{Fault, Policy, PolicyConfig, SignalConfig};
use proptest::prelude::*;

use crate::always;
use crate::numbers::name;
use crate::policies::{Known, sound, written};

#[track_caller]
fn check(config: &PolicyConfig, cores: u32) {
    match Policy::check(config, cores) {
        Ok(policy) => check_known(&policy),
        Err(faults) => {
            assert!(!faults.is_empty(), "a refusal has a reason");
            faults.iter().for_each(check_fault);
        }
    }
}

#[track_caller]
fn check_fault(fault: &Fault) {
    let text = fault.to_string();
    for part in [&fault.field, &fault.value, &fault.allowed] {
        assert!(!part.trim().is_empty(), "field, value and what is allowed: {fault:?}");
    }
    assert!(!text.contains("failed to") && !text.contains('\n'), "{text}");
}

#[track_caller]
fn check_known(policy: &Policy) {
    let bounds = policy.bounds();
    assert!(bounds.min <= bounds.max && 0 < bounds.max && bounds.max <= Policy::WORKERS_MAX);
    assert!(!policy.tick().is_zero());
    for hint in policy.hints() {
        assert!(!hint.field.is_empty() && !hint.advice.is_empty(), "{hint:?}");
    }
    assert_eq!(policy.build().mode(), policy.mode());
}

#[test]
fn every_policy_is_refused_with_reasons_or_builds() {
    always(&written(), |(config, cores)| check(&config, cores));
}

#[test]
fn what_was_checked_once_is_right_again() {
    always(&written(), |(config, cores)| {
        let twice = [(); 2].map(|()| format!("{:?}", Policy::check(&config, cores)));
        assert_eq!(twice[0], twice[1]);
    });
}

/// Makes one number of a policy wrong.
type Spoil = fn(&mut PolicyConfig);

/// Ways to spoil a policy, each of them enough, and the field that is then wrong.
const SPOILT: [(&str, Spoil); 12] = [
    ("tick", |config| config.tick = Some(Duration::ZERO)),
    ("workers_max", |config| config.workers_max = Some(0)),
    ("workers_max", |config| config.workers_max = Some(Policy::WORKERS_MAX + 1)),
    ("workers_max", |config| config.workers_max_allowed = Some(0)),
    ("samples_kept", |config| config.samples_kept = Some(Policy::SAMPLES_KEPT_MAX + 1)),
    ("guards.step.grow_share_max", |config| {
        config.guards.step = Some(StepLimit { grow_share_max: Some(f64::NAN), ..<_>::default() });
    }),
    ("guards.error_veto.rate_max", |config| {
        let signal = name("error_rate");
        config.guards.error_veto = Some(ErrorVeto { signal, rate_max: f64::INFINITY });
    }),
    ("guards.error_veto.signal", |config| {
        config.guards.error_veto = Some(ErrorVeto { signal: name("weather"), rate_max: 0.5 });
    }),
    ("guards.memory.use_max", |config| {
        config.guards.memory = Some(MemoryLimit { use_max: -0.0, ..<_>::default() });
    }),
    ("guards.health.recovery_share", |config| {
        let brake = HealthBrake { recovery_share: f64::NAN, ..<_>::default() };
        config.guards.health = Some(brake);
    }),
    ("guards.flap_damper.window", |config| {
        config.guards.flap_damper = Some(FlapDamper { window: Duration::ZERO, ..<_>::default() });
    }),
    ("decider.parts", |config| {
        config.decider = Some(DeciderConfig::Composite(CompositeConfig::default()));
    }),
];

#[test]
fn one_wrong_number_is_enough_and_is_named() {
    let spoil = prop::sample::select(SPOILT.to_vec());
    always(&(sound(), spoil), |(Known { mut config, cores, .. }, (field, spoil))| {
        spoil(&mut config);
        let faults = Policy::check(&config, cores).expect_err("it is spoilt");
        faults.iter().for_each(check_fault);
        assert!(faults.iter().any(|fault| fault.field == field), "{field}: {faults:?}");
    });
}

#[test]
fn nesting_however_deep_is_refused_and_survived() {
    always(&(0_usize..300), |depth| {
        let leaf = DeciderConfig::Slo(SloConfig::default());
        let nest = |inner, _| {
            let parts = vec![PartConfig::of(inner)];
            DeciderConfig::Composite(CompositeConfig { parts, ..CompositeConfig::default() })
        };
        let decider = Some((0..depth).fold(leaf, nest));
        let config = PolicyConfig { decider, ..PolicyConfig::default() };
        check(&config, 4);
        let fits = depth <= CompositeConfig::DEPTH_MAX;
        assert_eq!(Policy::check(&config, 4).is_ok(), fits, "{depth} deep");
    });
}

#[test]
fn a_range_that_crosses_says_what_is_allowed() {
    let smoothing = vec![Smoothing::Clamp { low: 2.0, high: 1.0 }];
    let source = Source::Utilization;
    let signal = SignalConfig { name: name("own"), source, smoothing };
    check(&PolicyConfig { signals: Some(vec![signal]), ..PolicyConfig::default() }, 4);
}
