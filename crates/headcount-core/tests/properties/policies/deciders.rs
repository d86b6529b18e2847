//! Every decider, and composites of them in one another.

use headcount_core::decide::{
    Aimd, AllBusy, Backlog, Combine, CompositeConfig, DeciderConfig, ForecastConfig, HealthZones,
    PartConfig, PidConfig, QueueDepth, Rule, ScheduleConfig, ShiftConfig, SloConfig, Step, Target,
    Threshold, ThroughputConfig,
};
use headcount_core::{Comparison, Name, Weekday};
use proptest::prelude::*;

use super::{Taste, peers, signals};
use crate::numbers::{factor, many, positive, share, some_span, span, wild, workers};

/// Any decider.
pub(super) fn any_of(taste: Taste) -> BoxedStrategy<DeciderConfig> {
    let (deep, wide) = if taste == Taste::Any { (6, 10) } else { (3, 4) };
    let nested = leaf(taste).prop_recursive(deep, 12, 3, move |inner| {
        let weight = number(taste, positive());
        let part = (weight, inner);
        let parts = prop::collection::vec(part, usize::from(taste == Taste::Sound)..wide);
        (combine(), parts).prop_map(|(combine, parts)| {
            let part = |(weight, decider)| PartConfig { weight, decider };
            let parts = parts.into_iter().map(part).collect();
            DeciderConfig::Composite(CompositeConfig { combine, parts })
        })
    });
    nested.boxed()
}

fn leaf(taste: Taste) -> BoxedStrategy<DeciderConfig> {
    let signal = move || signals::called(taste);
    prop_oneof![
        2 => slo(taste).prop_map(DeciderConfig::Slo),
        2 => throughput(taste).prop_map(DeciderConfig::Throughput),
        2 => threshold(taste).prop_map(DeciderConfig::Threshold),
        1 => lasting(taste).prop_map(|idle_max| DeciderConfig::AllBusy(AllBusy { idle_max })),
        1 => queue_depth(taste).prop_map(DeciderConfig::QueueDepth),
        1 => zones(taste).prop_map(DeciderConfig::HealthZones),
        1 => aimd(signal(), taste).prop_map(DeciderConfig::Aimd),
        2 => pid(signal(), taste).prop_map(DeciderConfig::Pid),
        2 => target(signal(), taste).prop_map(DeciderConfig::Target),
        1 => (lasting(taste), signal(), signal()).prop_map(|(wait_max, arrivals, service)| {
            DeciderConfig::Backlog(Backlog { wait_max, arrivals, service })
        }),
        1 => schedule(taste).prop_map(DeciderConfig::Schedule),
        1 => forecast(taste).prop_map(DeciderConfig::Forecast),
        12 => peers::any_of(taste),
    ]
    .boxed()
}

pub(super) fn number(
    taste: Taste,
    sound: impl Strategy<Value = f64> + 'static,
) -> BoxedStrategy<f64> {
    match taste {
        Taste::Any => wild().boxed(),
        Taste::Sound => sound.boxed(),
    }
}

pub(super) fn lasting(taste: Taste) -> BoxedStrategy<std::time::Duration> {
    match taste {
        Taste::Any => span().boxed(),
        Taste::Sound => some_span().boxed(),
    }
}

fn combine() -> impl Strategy<Value = Combine> {
    use Combine::{First, Max, Min, Veto, Weighted};
    prop::sample::select(vec![Max, Min, First, Weighted, Veto])
}

fn slo(taste: Taste) -> impl Strategy<Value = SloConfig> {
    let trusted = prop_oneof![8 => 1_u32..40, 1 => Just(u32::MAX), 1 => Just(64)];
    let latency = prop::option::weighted(0.3, lasting(taste));
    let promise = (span(), latency, any::<bool>());
    (promise, trusted, number(taste, factor()), number(taste, factor())).prop_map(
        |((wait_budget, latency, newest_first), trust_start, trust_factor, inflation_max)| {
            SloConfig {
                wait_budget,
                latency,
                newest_first,
                trust_start,
                trust_factor,
                inflation_max,
            }
        },
    )
}

fn throughput(taste: Taste) -> impl Strategy<Value = ThroughputConfig> {
    let start = prop_oneof![8 => 1_u32..40, 1 => Just(u32::MAX)];
    (start, number(taste, 0.1..0.9), lasting(taste), workers()).prop_map(
        |(start, gain_min, blind_span, blind_max)| ThroughputConfig {
            start,
            gain_min,
            blind_span,
            blind_max,
        },
    )
}

fn forecast(taste: Taste) -> impl Strategy<Value = ForecastConfig> {
    let season = match taste {
        Taste::Any => workers().boxed(),
        Taste::Sound => (0_u32..12).boxed(),
    };
    let shares = (number(taste, 0.01..0.99), number(taste, 0.0..0.9), number(taste, 0.01..0.99));
    (lasting(taste), season, 0_u32..4, shares, span()).prop_map(
        |(bucket, season, horizon, (quantile, margin, late_max), wait_budget)| ForecastConfig {
            bucket,
            season: bucket.saturating_mul(season),
            horizon: bucket.saturating_mul(horizon),
            quantile,
            margin,
            wait_budget,
            late_max,
        },
    )
}

fn threshold(taste: Taste) -> impl Strategy<Value = Threshold> {
    use Comparison::{Above, AtLeast, AtMost, Below};
    let most = if taste == Taste::Any { 20 } else { 3 };
    let high = rules(taste, vec![Above, AtLeast], number(taste, 0.5..1.0), most);
    let low = rules(taste, vec![Below, AtMost], number(taste, 0.0..0.49), most);
    (high, low, step(taste), step(taste)).prop_map(
        |(grow_when_any, shrink_when_all, grow_step, shrink_step)| Threshold {
            grow_when_any,
            shrink_when_all,
            grow_step,
            shrink_step,
        },
    )
}

fn rules(
    taste: Taste,
    sound: Vec<Comparison>,
    limit: BoxedStrategy<f64>,
    most: usize,
) -> impl Strategy<Value = Vec<Rule>> {
    use Comparison::{Above, AtLeast, AtMost, Below};
    let comparisons = match taste {
        Taste::Any => vec![Above, AtLeast, Below, AtMost],
        Taste::Sound => sound,
    };
    let comparison = prop::sample::select(comparisons);
    let rule = (signals::called(taste), comparison, limit)
        .prop_map(|(signal, comparison, limit)| Rule { signal, comparison, limit });
    prop::collection::vec(rule, usize::from(taste == Taste::Sound)..most)
}

fn step(taste: Taste) -> impl Strategy<Value = Step> {
    let add = match taste {
        Taste::Any => workers().boxed(),
        Taste::Sound => prop_oneof![9 => 1_u32..5, 1 => Just(u32::MAX)].boxed(),
    };
    prop_oneof![add.prop_map(Step::Add), number(taste, factor()).prop_map(Step::Multiply)]
}

fn queue_depth(taste: Taste) -> impl Strategy<Value = QueueDepth> {
    (many(), lasting(taste), step(taste), step(taste)).prop_map(
        |(depth_max, idle_max, grow_step, shrink_step)| QueueDepth {
            depth_max,
            idle_max,
            grow_step,
            shrink_step,
        },
    )
}

/// Its sizes are the policy's bounds, whatever is written there.
fn zones(taste: Taste) -> BoxedStrategy<HealthZones> {
    let crossed = (workers(), workers());
    let crossed =
        crossed.prop_map(|(workers_min, workers_max)| HealthZones { workers_min, workers_max });
    match taste {
        Taste::Any => crossed.boxed(),
        Taste::Sound => Just(HealthZones::default()).boxed(),
    }
}

fn aimd(signal: BoxedStrategy<Name>, taste: Taste) -> impl Strategy<Value = Aimd> {
    let step = prop_oneof![9 => 1_u32..4, 1 => Just(u32::MAX)];
    (signal, number(taste, positive()), step, number(taste, share())).prop_map(
        |(signal, setpoint, grow_step, shrink_share)| Aimd {
            signal,
            setpoint,
            grow_step,
            shrink_share,
        },
    )
}

fn pid(signal: BoxedStrategy<Name>, taste: Taste) -> impl Strategy<Value = PidConfig> {
    let gain = || number(taste, prop_oneof![Just(0.0), positive()]);
    (signal, number(taste, positive()), gain(), gain(), gain())
        .prop_map(|(signal, setpoint, kp, ki, kd)| PidConfig { signal, setpoint, kp, ki, kd })
}

fn target(signal: BoxedStrategy<Name>, taste: Taste) -> impl Strategy<Value = Target> {
    let tolerance = number(taste, prop_oneof![Just(0.0), 0.0..0.5, Just(f64::MAX)]);
    (signal, number(taste, positive()), tolerance)
        .prop_map(|(signal, setpoint, tolerance)| Target { signal, setpoint, tolerance })
}

fn schedule(taste: Taste) -> impl Strategy<Value = ScheduleConfig> {
    let second = || match taste {
        Taste::Any => prop_oneof![0_u32..90_000, Just(u32::MAX)].boxed(),
        Taste::Sound => (0_u32..86_400).boxed(),
    };
    let days = prop::collection::vec(prop::sample::select(Weekday::ALL.to_vec()), 0..8);
    let workers = prop_oneof![9 => 1_u32..40, 1 => workers()];
    let shift =
        (days, second(), second(), workers).prop_map(|(days, from_second, to_second, workers)| {
            ShiftConfig { days, from_second, to_second, workers }
        });
    let shifts = prop::collection::vec(shift, usize::from(taste == Taste::Sound)..4);
    shifts.prop_map(|shifts| ScheduleConfig { shifts })
}
