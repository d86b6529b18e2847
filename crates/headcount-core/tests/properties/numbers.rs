//! Numbers as the world sends them, and as it should not.

use std::time::Duration;

use headcount_core::{Name, Timestamp};
use proptest::prelude::*;

/// Any number, and more often than by chance those that break things.
pub(crate) fn wild() -> BoxedStrategy<f64> {
    let odd = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        f64::EPSILON,
        5e-324,
        0.0,
        -0.0,
        1.0,
        -1.0,
    ];
    prop_oneof![
        2 => prop::sample::select(odd.to_vec()),
        3 => 0.0..2.0,
        2 => 0.0..1000.0,
        1 => any::<f64>(),
    ]
    .boxed()
}

/// A number that a policy accepts wherever it must be finite and above nothing.
pub(crate) fn positive() -> BoxedStrategy<f64> {
    let odd = prop::sample::select(vec![5e-324, 1e-9, 1e9, f64::MAX]);
    prop_oneof![6 => 0.01..2.0, 2 => 1.0..100.0, 1 => odd].boxed()
}

/// A share above nothing and below all.
pub(crate) fn share() -> BoxedStrategy<f64> {
    prop_oneof![9 => 0.01..0.99, 1 => Just(5e-324)].boxed()
}

/// A factor above one.
pub(crate) fn factor() -> BoxedStrategy<f64> {
    prop_oneof![9 => 1.01..3.0, 1 => Just(f64::MAX), 1 => Just(1.0 + f64::EPSILON)].boxed()
}

/// A count of workers.
pub(crate) fn workers() -> BoxedStrategy<u32> {
    prop_oneof![6 => 0_u32..40, 1 => 0_u32..200_000, 1 => Just(u32::MAX), 1 => Just(0)].boxed()
}

/// A count of tasks or bytes.
pub(crate) fn many() -> BoxedStrategy<u64> {
    prop_oneof![6 => 0_u64..2000, 1 => Just(u64::MAX), 1 => any::<u64>()].boxed()
}

/// A span, nothing and everything among them.
pub(crate) fn span() -> BoxedStrategy<Duration> {
    prop_oneof![
        1 => Just(Duration::ZERO),
        1 => Just(Duration::from_nanos(1)),
        1 => Just(Duration::MAX),
        4 => some_span(),
    ]
    .boxed()
}

/// A span as people write it down, and never nothing.
pub(crate) fn some_span() -> BoxedStrategy<Duration> {
    prop_oneof![
        3 => (1_u64..120).prop_map(Duration::from_secs),
        2 => (1_u64..5000).prop_map(Duration::from_millis),
    ]
    .boxed()
}

/// Any point in time, the ends among them.
pub(crate) fn moment() -> BoxedStrategy<Timestamp> {
    prop_oneof![
        4 => (0_u64..600).prop_map(Timestamp::from_secs),
        1 => Just(Timestamp::MAX),
        1 => Just(Timestamp::ORIGIN),
        1 => any::<u64>().prop_map(Timestamp::from_nanos),
    ]
    .boxed()
}

/// A name that is known to be one.
pub(crate) fn name(text: &str) -> Name {
    Name::new(text).expect("a name of lower case letters")
}
