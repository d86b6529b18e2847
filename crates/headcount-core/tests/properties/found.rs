//! What chance found once, pinned down so that it is looked for every time.
//!
//! Each story is the smallest that broke a law; the comment says what came of it.

use std::time::Duration;

use headcount_core::decide::{DeciderConfig, PidConfig, SloConfig, Target};
use headcount_core::guard::ErrorVeto;
use headcount_core::signal::{Smoothing, Source};
use headcount_core::{
    GuardsConfig, LogSums, Observation, Policy, PolicyConfig, PoolSnapshot, SignalConfig, Staffing,
    Statistics, Timestamp,
};

use crate::deciding;
use crate::numbers::name;

/// Ticks through `told`, a pool and a number from outside a second, with a restart at every tick.
#[track_caller]
fn check(config: &PolicyConfig, told: &[(PoolSnapshot, f64)]) {
    let policy = Policy::check(config, 4).expect("a sound policy");
    let mut autoscaler = policy.build();
    for (second, (pool, number)) in (1..).zip(told) {
        let mut observation = Observation::new(Timestamp::from_secs(second), *pool);
        observation.externals.set(name("lag"), *number).expect("a finite number");
        deciding::check(&policy, &observation, &autoscaler.tick(&observation));
        let mut successor = policy.build();
        assert_eq!(successor.restore(&autoscaler.save()), Ok(()), "after {second} s");
    }
}

fn decided_by(decider: DeciderConfig) -> PolicyConfig {
    PolicyConfig { decider: Some(decider), ..PolicyConfig::default() }
}

fn pool() -> PoolSnapshot {
    PoolSnapshot::of(Staffing::exactly(2))
}

#[test]
fn tasks_longer_than_time_do_not_overflow() {
    // Twice the mean was more than a span can say: a panic.
    let endless = Statistics { count: 1, mean: Duration::MAX, ..Statistics::default() };
    let logs = Some(LogSums::default());
    let pool = PoolSnapshot { service: Some(endless), service_logs: logs, ..pool() };
    check(&decided_by(DeciderConfig::Slo(SloConfig::default())), &[(pool, 0.0)]);
}

#[test]
fn sums_that_are_no_numbers_are_not_remembered() {
    // The window opened on NaN: it never closed again, and its notes were refused.
    let logs = Some(LogSums { count: 1, sum: f64::NAN, sum_of_squares: 0.0 });
    let pool = PoolSnapshot { service_logs: logs, ..pool() };
    check(&decided_by(DeciderConfig::Slo(SloConfig::default())), &[(pool, 0.0)]);
}

#[test]
fn a_set_point_far_below_its_reading_is_survived() {
    // The reading was infinitely many set-points: no number to remember, nor to go on from.
    let signal = name("external.lag");
    for setpoint in [5e-324, 0.7] {
        let pid = PidConfig { signal, setpoint, kp: f64::MAX, kd: 1.0, ..PidConfig::default() };
        let told = [0.0, f64::MAX, f64::MIN, 0.0].map(|number| (pool(), number));
        check(&decided_by(DeciderConfig::Pid(pid)), &told);
    }
}

#[test]
fn an_average_of_the_largest_numbers_is_one() {
    // The parts added up to infinity by a rounding, and the average stayed there for good.
    let source = Source::External(name("lag"));
    for millis in [400, 403, 509, 584] {
        let smoothing = vec![Smoothing::Ewma { tau: Duration::from_millis(millis) }];
        let signals = Some(vec![SignalConfig { name: name("own"), source, smoothing }]);
        let target = Target { signal: name("own"), ..Target::default() };
        let config = PolicyConfig { signals, ..decided_by(DeciderConfig::Target(target)) };
        check(&config, &[(pool(), f64::MAX); 2]);
    }
}

#[test]
fn a_share_beyond_all_shares_has_a_text() {
    // A hundred times the reading was "inf %".
    let veto = ErrorVeto { signal: name("blocked_share"), rate_max: 0.1 };
    let guards = GuardsConfig { error_veto: Some(veto), ..GuardsConfig::default() };
    let pool = PoolSnapshot { blocked_share: Some(f64::MAX), ..pool() };
    check(&PolicyConfig { guards, ..PolicyConfig::default() }, &[(pool, 0.0)]);
}
