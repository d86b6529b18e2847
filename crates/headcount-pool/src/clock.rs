//! The clock that this crate lives by.

use std::time::Instant;

use headcount_core::{Clock, Timestamp};

/// The time since it was made, by a clock that is never set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Monotonic {
    origin: Instant,
}

impl Monotonic {
    /// A clock whose origin is the present.
    pub(crate) fn new() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Clock for Monotonic {
    /// In the models it stands still, for they must be the same each time they are run.
    fn now(&self) -> Timestamp {
        match cfg!(loom) {
            true => Timestamp::from_secs(1),
            false => Timestamp::ORIGIN + self.origin.elapsed(),
        }
    }
}
