//! Signals of every source, under every smoothing.

use headcount_core::signal::{Aggregate, Smoothing, Source};
use headcount_core::{Name, SignalConfig};
use proptest::prelude::*;

use super::Taste;
use crate::numbers::{name, positive, some_span, span, wild};

/// What policies declare: `own.0`, `own.1` and `own.2` always, and utilization as they like it.
pub(super) fn list(taste: Taste) -> BoxedStrategy<Vec<SignalConfig>> {
    let own = |index| signal(Just(name(&format!("own.{index}"))).boxed(), taste);
    let shadow = signal(Just(name("utilization")).boxed(), taste);
    let declared = (own(0), own(1), own(2), prop::option::of(shadow)).prop_map(|(a, b, c, d)| {
        let mut signals = vec![a, b, c];
        signals.extend(d);
        signals
    });
    let any = prop::collection::vec(signal(called(taste), taste), 0..20);
    match taste {
        Taste::Any => prop_oneof![1 => declared, 1 => any].boxed(),
        Taste::Sound => declared.boxed(),
    }
}

/// A name by which a decider or guard may call a signal.
pub(super) fn called(taste: Taste) -> BoxedStrategy<Name> {
    let fixed = prop::sample::select(Source::FIXED.to_vec());
    let fixed = fixed.prop_map(|source| name(&source.to_string()));
    let own = (0_u32..3).prop_map(|index| name(&format!("own.{index}")));
    let outside = prop::sample::select(vec![name("external.lag"), name("external.price")]);
    let known = prop_oneof![4 => fixed, 2 => own, 2 => outside];
    match taste {
        Taste::Any => prop_oneof![3 => known, 1 => any_name()].boxed(),
        Taste::Sound => known.boxed(),
    }
}

fn any_name() -> impl Strategy<Value = Name> {
    "[a-z0-9_.-]{1,31}".prop_map(|text| name(&text))
}

fn signal(name: BoxedStrategy<Name>, taste: Taste) -> impl Strategy<Value = SignalConfig> {
    let most = if taste == Taste::Any { 12 } else { 4 };
    let smoothing = prop::collection::vec(smoothing(taste), 0..most);
    (name, source(), smoothing).prop_map(|(name, source, smoothing)| SignalConfig {
        name,
        source,
        smoothing,
    })
}

fn source() -> impl Strategy<Value = Source> {
    let outside = prop_oneof![Just("lag"), Just("price")];
    prop_oneof![
        6 => prop::sample::select(Source::FIXED.to_vec()),
        3 => outside.prop_map(|text| Source::External(name(text))),
    ]
}

fn smoothing(taste: Taste) -> BoxedStrategy<Smoothing> {
    match taste {
        Taste::Any => prop_oneof![any_smoothing(), sound_smoothing()].boxed(),
        Taste::Sound => sound_smoothing().boxed(),
    }
}

fn any_smoothing() -> impl Strategy<Value = Smoothing> {
    let samples = || prop_oneof![Just(0_u32), Just(u32::MAX), 0_u32..2000];
    let aggregate = any::<u8>().prop_map(Aggregate::Percentile);
    prop_oneof![
        span().prop_map(|tau| Smoothing::Ewma { tau }),
        samples().prop_map(|samples| Smoothing::Mean { samples }),
        samples().prop_map(|samples| Smoothing::After { samples }),
        (span(), aggregate).prop_map(|(span, aggregate)| Smoothing::Over { span, aggregate }),
        (wild(), wild()).prop_map(|(low, high)| Smoothing::Clamp { low, high }),
        (samples(), wild())
            .prop_map(|(samples, spreads)| Smoothing::NearMedian { samples, spreads }),
    ]
}

fn sound_smoothing() -> impl Strategy<Value = Smoothing> {
    let lasting = || prop_oneof![9 => some_span(), 1 => Just(std::time::Duration::MAX)];
    let aggregate = prop_oneof![
        Just(Aggregate::Mean),
        Just(Aggregate::Max),
        Just(Aggregate::Min),
        (1_u8..=100).prop_map(Aggregate::Percentile),
    ];
    let near = (3_u32..9, positive());
    prop_oneof![
        3 => lasting().prop_map(|tau| Smoothing::Ewma { tau }),
        2 => (1_u32..6).prop_map(|samples| Smoothing::Mean { samples }),
        2 => (lasting(), aggregate)
            .prop_map(|(span, aggregate)| Smoothing::Over { span, aggregate }),
        1 => Just(Smoothing::RateOfChange),
        1 => (-1.0..0.5, 0.6..100.0_f64).prop_map(|(low, high)| Smoothing::Clamp { low, high }),
        1 => near.prop_map(|(samples, spreads)| Smoothing::NearMedian { samples, spreads }),
        1 => (1_u32..5).prop_map(|samples| Smoothing::After { samples }),
    ]
}
