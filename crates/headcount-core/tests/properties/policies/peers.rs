//! The deciders of other systems.

use headcount_core::decide::{
    ArcConfig, DeciderConfig, Ds2Config, EnvoyConfig, ErlangConfig, Gradient2Config,
    HillClimbConfig, HorizonConfig, KnativeConfig, Load, OnDemand, TrackingConfig, VegasConfig,
};
use proptest::prelude::*;

use super::Taste;
use super::deciders::{lasting, number};
use crate::numbers::{factor, positive, share, span, workers};

/// Any of them.
pub(super) fn any_of(taste: Taste) -> BoxedStrategy<DeciderConfig> {
    prop_oneof![
        span().prop_map(|idle_time| DeciderConfig::OnDemand(OnDemand { idle_time })),
        tracking(taste).prop_map(DeciderConfig::Tracking),
        horizon(taste).prop_map(DeciderConfig::Horizon),
        knative(taste).prop_map(DeciderConfig::Knative),
        ds2(taste).prop_map(DeciderConfig::Ds2),
        erlang(taste).prop_map(DeciderConfig::Erlang),
        gradient2(taste).prop_map(DeciderConfig::Gradient2),
        vegas(taste).prop_map(DeciderConfig::Vegas),
        arc(taste).prop_map(DeciderConfig::Arc),
        envoy(taste).prop_map(DeciderConfig::Envoy),
        hill_climb(taste).prop_map(DeciderConfig::HillClimb),
    ]
    .boxed()
}

/// How many of something: at least one, where it is to be right.
fn count(taste: Taste) -> BoxedStrategy<u32> {
    match taste {
        Taste::Any => workers().boxed(),
        Taste::Sound => prop_oneof![9 => 1_u32..40, 1 => Just(u32::MAX)].boxed(),
    }
}

fn tracking(taste: Taste) -> impl Strategy<Value = TrackingConfig> {
    let load = prop::sample::select(vec![Load::Utilization, Load::Pending]);
    (load, number(taste, positive()), number(taste, 0.0..0.5), lasting(taste)).prop_map(
        |(load, setpoint, tolerance, period)| TrackingConfig { load, setpoint, tolerance, period },
    )
}

fn horizon(taste: Taste) -> impl Strategy<Value = HorizonConfig> {
    (count(taste), lasting(taste)).prop_map(|(shift, period)| HorizonConfig { shift, period })
}

fn knative(taste: Taste) -> impl Strategy<Value = KnativeConfig> {
    let factors = [number(taste, factor()), number(taste, factor()), number(taste, factor())];
    let spans = [lasting(taste), lasting(taste), lasting(taste)];
    (number(taste, positive()), factors, spans).prop_map(|(setpoint, factors, spans)| {
        let [panic_factor, grow_factor_max, shrink_factor_max] = factors;
        let [stable_window, panic_window, period] = spans;
        KnativeConfig {
            setpoint,
            stable_window,
            panic_window,
            panic_factor,
            grow_factor_max,
            shrink_factor_max,
            period,
        }
    })
}

fn ds2(taste: Taste) -> impl Strategy<Value = Ds2Config> {
    let shares = (number(taste, 0.5..1.0), number(taste, 0.0..0.4), number(taste, 0.0..1.0));
    let spans = [lasting(taste), lasting(taste), lasting(taste), span().boxed(), span().boxed()];
    (shares, spans).prop_map(|((utilization, band, gain_min), spans)| {
        let [catch_up, window, period, restart, settling] = spans;
        Ds2Config { utilization, band, catch_up, restart, window, settling, period, gain_min }
    })
}

fn erlang(taste: Taste) -> impl Strategy<Value = ErlangConfig> {
    (span(), number(taste, 0.001..0.5), lasting(taste))
        .prop_map(|(wait_budget, late_max, window)| ErlangConfig { wait_budget, late_max, window })
}

fn gradient2(taste: Taste) -> impl Strategy<Value = Gradient2Config> {
    let limits = [count(taste), count(taste), count(taste), workers().boxed()];
    let numbers = (number(taste, share()), number(taste, 1.0..3.0));
    let windows = (lasting(taste), count(taste), count(taste));
    (limits, numbers, windows).prop_map(|(limits, (smoothing, tolerance), windows)| {
        let [start, limit_min, limit_max, queue_size] = limits;
        let (window, long_windows, samples_min) = windows;
        Gradient2Config {
            start,
            limit_min,
            limit_max,
            queue_size,
            smoothing,
            tolerance,
            long_windows,
            window,
            samples_min,
        }
    })
}

fn vegas(taste: Taste) -> impl Strategy<Value = VegasConfig> {
    let counts = [count(taste), count(taste), count(taste), count(taste), count(taste)];
    (counts, count(taste), lasting(taste)).prop_map(|(counts, samples_min, window)| {
        let [start, limit_max, alpha, more, probe_windows] = counts;
        let beta = alpha.saturating_add(more);
        VegasConfig { start, limit_max, alpha, beta, probe_windows, window, samples_min }
    })
}

fn arc(taste: Taste) -> impl Strategy<Value = ArcConfig> {
    let shares = (number(taste, 0.1..0.9), number(taste, 0.1..0.9), number(taste, 0.0..4.0));
    (count(taste), count(taste), shares).prop_map(|(start, limit_max, shares)| {
        let (decrease_ratio, ewma_alpha, deviations_max) = shares;
        ArcConfig { start, limit_max, decrease_ratio, ewma_alpha, deviations_max }
    })
}

fn envoy(taste: Taste) -> impl Strategy<Value = EnvoyConfig> {
    let counts = [count(taste), count(taste), count(taste)];
    (counts, number(taste, 0.0..1.0), lasting(taste), lasting(taste)).prop_map(
        |([limit_min, limit_max, probe_samples], buffer, period, probe_period)| EnvoyConfig {
            limit_min,
            limit_max,
            buffer,
            period,
            probe_period,
            probe_samples,
        },
    )
}

fn hill_climb(taste: Taste) -> impl Strategy<Value = HillClimbConfig> {
    (number(taste, positive()), lasting(taste), lasting(taste)).prop_map(
        |(change_max, change_span, starved_after)| HillClimbConfig {
            change_max,
            change_span,
            starved_after,
        },
    )
}
