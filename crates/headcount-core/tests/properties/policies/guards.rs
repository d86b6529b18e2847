//! Every combination of guards.

use headcount_core::GuardsConfig;
use headcount_core::guard::{
    Cooldown, ErrorVeto, FlapDamper, HealthBrake, HoldPeak, MemoryLimit, StepLimit, WarmUp,
};
use proptest::option::weighted;
use proptest::prelude::*;

use super::{Taste, signals};
use crate::numbers::{many, positive, share, some_span, span, wild, workers};

/// Some guards, each about as often there as not.
pub(super) fn some_of(taste: Taste) -> impl Strategy<Value = GuardsConfig> {
    let soft = (
        weighted(0.4, step(taste)),
        weighted(0.6, cooldown()),
        weighted(0.4, window(taste).prop_map(|window| HoldPeak { window })),
        weighted(0.8, warm_up(taste)),
        weighted(0.3, error_veto(taste)),
        weighted(0.3, flap_damper(taste)),
    );
    let hard = (weighted(0.3, health(taste)), weighted(0.3, memory(taste)));
    (soft, hard).prop_map(
        |((step, cooldown, hold_peak, warm_up, error_veto, flap_damper), (health, memory))| {
            let rest = GuardsConfig { health, memory, ..GuardsConfig::default() };
            let kept = GuardsConfig { step, cooldown, hold_peak, ..rest };
            GuardsConfig { warm_up, error_veto, flap_damper, ..kept }
        },
    )
}

fn window(taste: Taste) -> BoxedStrategy<std::time::Duration> {
    match taste {
        Taste::Any => span().boxed(),
        Taste::Sound => prop_oneof![9 => some_span(), 1 => span()].boxed(),
    }
}

/// Often none, so that pools of short lives shrink as well.
fn warm_up(taste: Taste) -> impl Strategy<Value = WarmUp> {
    let none = Just(std::time::Duration::ZERO);
    prop_oneof![2 => none, 1 => window(taste)].prop_map(|span| WarmUp { span })
}

fn number(taste: Taste, sound: impl Strategy<Value = f64> + 'static) -> BoxedStrategy<f64> {
    match taste {
        Taste::Any => wild().boxed(),
        Taste::Sound => sound.boxed(),
    }
}

fn step(taste: Taste) -> impl Strategy<Value = StepLimit> {
    let count = |taste| match taste {
        Taste::Any => workers().boxed(),
        Taste::Sound => prop_oneof![9 => 1_u32..6, 1 => Just(u32::MAX)].boxed(),
    };
    let counts = (weighted(0.5, count(taste)), weighted(0.5, count(taste)));
    let shares =
        (weighted(0.4, number(taste, positive())), weighted(0.4, number(taste, positive())));
    (counts, shares).prop_map(|((grow_max, shrink_max), (grow_share_max, shrink_share_max))| {
        StepLimit { grow_max, grow_share_max, shrink_max, shrink_share_max }
    })
}

fn cooldown() -> impl Strategy<Value = Cooldown> {
    (span(), span(), span(), span(), any::<bool>()).prop_map(
        |(grow, shrink, grow_after_shrink, shrink_after_grow, skip_when_critical)| Cooldown {
            grow,
            shrink,
            grow_after_shrink,
            shrink_after_grow,
            skip_when_critical,
        },
    )
}

fn error_veto(taste: Taste) -> impl Strategy<Value = ErrorVeto> {
    let rate = number(taste, share());
    (signals::called(taste), rate).prop_map(|(signal, rate_max)| ErrorVeto { signal, rate_max })
}

fn flap_damper(taste: Taste) -> impl Strategy<Value = FlapDamper> {
    let spans = match taste {
        Taste::Any => (span(), span()).boxed(),
        Taste::Sound => (some_span(), some_span()).boxed(),
    };
    let most = prop_oneof![Just(u32::MAX), 0_u32..4];
    (window(taste), most, spans).prop_map(|(window, reversals_max, (hold, more))| FlapDamper {
        window,
        reversals_max,
        hold,
        hold_max: hold.saturating_add(more),
    })
}

/// Its bounds are the policy's, whatever is written there.
fn health(taste: Taste) -> impl Strategy<Value = HealthBrake> {
    let rest = prop_oneof![9 => some_span(), 1 => span()];
    let share = number(taste, positive());
    let sizes = match taste {
        Taste::Any => (workers(), workers()).boxed(),
        Taste::Sound => Just((1, u32::MAX)).boxed(),
    };
    (share, rest, sizes).prop_map(|(recovery_share, recovery_rest, sizes)| HealthBrake {
        workers_min: sizes.0,
        workers_max: sizes.1,
        recovery_share,
        recovery_rest,
    })
}

fn memory(taste: Taste) -> impl Strategy<Value = MemoryLimit> {
    (many(), number(taste, share()))
        .prop_map(|(bytes_per_worker, use_max)| MemoryLimit { bytes_per_worker, use_max })
}
