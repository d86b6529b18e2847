//! What is left to chance: ids, holders, jitter.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use headcount_core::jobs::{Holder, JobId};

/// An id that nobody else makes.
pub(crate) fn fresh_id() -> JobId {
    let millis = u64::try_from(since_1970().as_millis()).unwrap_or(u64::MAX);
    JobId::new(millis, fastrand::u128(..))
}

/// Another life of this process.
pub(crate) fn fresh_holder() -> Holder {
    Holder::new(fastrand::u128(..))
}

/// A number between 0 and 1.
pub(crate) fn chance() -> f64 {
    fastrand::f64()
}

/// The span, a quarter shorter or longer, so that processes which began together drift apart.
pub(crate) fn jittered(span: Duration) -> Duration {
    span.mul_f64(0.75 + chance() / 2.0)
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
