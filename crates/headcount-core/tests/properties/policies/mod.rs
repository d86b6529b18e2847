//! Policies: any that could be written, and those that are right.

mod deciders;
mod guards;
mod peers;
mod signals;

use headcount_core::{Mode, Policy, PolicyConfig, Preset};
use proptest::prelude::*;

use crate::numbers::{some_span, span, workers};

/// Whether numbers are to be such as a policy accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taste {
    /// Right, wrong, absurd.
    Any,
    /// Mostly right.
    Sound,
}

/// Any policy that could be written, on a machine with any number of cores.
pub(crate) fn written() -> BoxedStrategy<(PolicyConfig, u32)> {
    let made = config(Taste::Any);
    let preset = prop::sample::select(Preset::all()).prop_map(|preset| preset.config());
    let over = (config(Taste::Any), preset).prop_map(|(ours, preset)| ours.or(preset));
    (prop_oneof![3 => made, 1 => over], workers()).boxed()
}

/// A policy with nothing wrong in it, as it was written and as it is known.
pub(crate) fn sound() -> BoxedStrategy<Known> {
    let preset = prop::sample::select(Preset::all()).prop_map(|preset| preset.config());
    let over = (config(Taste::Sound), preset.clone()).prop_map(|(ours, base)| ours.or(base));
    let plain = prop_oneof![4 => config(Taste::Sound), 1 => preset, 2 => over];
    (plain, 1_u32..64)
        .prop_filter_map("a fault", |(config, cores)| {
            let policy = Policy::check(&config, cores).ok()?;
            Some(Known { config, cores, policy })
        })
        .boxed()
}

/// A policy that was checked.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) config: PolicyConfig,
    pub(crate) cores: u32,
    pub(crate) policy: Policy,
}

fn config(taste: Taste) -> impl Strategy<Value = PolicyConfig> {
    let sizes = (some(bound(taste)), some(bound(taste)), prop::option::weighted(0.1, workers()));
    let kept = prop_oneof![9 => 0_u32..20, u32::from(taste == Taste::Any) => any::<u32>()];
    let times = (prop::option::of(tick(taste)), prop::option::of(kept));
    let signals = prop::option::of(signals::list(taste));
    let decider = prop::option::weighted(0.9, deciders::any_of(taste));
    let parts = (signals, decider, guards::some_of(taste));
    (sizes, prop::option::weighted(0.3, mode()), times, parts).prop_map(
        |((workers_min, workers_max, workers_max_allowed), mode, times, parts)| {
            let ((tick, samples_kept), (signals, decider, guards)) = (times, parts);
            let sizes = PolicyConfig { workers_min, workers_max, ..PolicyConfig::default() };
            let rest = PolicyConfig { workers_max_allowed, mode, tick, samples_kept, ..sizes };
            PolicyConfig { signals, decider, guards, ..rest }
        },
    )
}

fn bound(taste: Taste) -> BoxedStrategy<u32> {
    match taste {
        Taste::Any => workers().boxed(),
        Taste::Sound => prop_oneof![8 => 1_u32..30, 1 => Just(100_000), 1 => Just(0)].boxed(),
    }
}

fn tick(taste: Taste) -> BoxedStrategy<std::time::Duration> {
    match taste {
        Taste::Any => span().boxed(),
        Taste::Sound => some_span().boxed(),
    }
}

fn some<T: std::fmt::Debug>(of: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    prop::option::weighted(0.8, of)
}

/// Any mode, the automatic one more often.
pub(crate) fn mode() -> impl Strategy<Value = Mode> {
    let others = prop::sample::select(vec![Mode::Off, Mode::Manual, Mode::Advise]);
    prop_oneof![1 => others, 1 => Just(Mode::Automatic)]
}
