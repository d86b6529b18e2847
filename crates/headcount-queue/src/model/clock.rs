//! A clock that is moved by hand.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use headcount_core::{Clock, Timestamp};

/// A clock that is moved by hand, for tests in which an hour passes at once.
///
/// ```
/// use headcount_core::{Clock, Timestamp};
/// use headcount_queue::model::HandClock;
/// use std::time::Duration;
///
/// let clock = HandClock::at(Timestamp::from_secs(60));
/// clock.advance(Duration::from_secs(1));
/// assert_eq!(clock.now(), Timestamp::from_secs(61));
/// ```
#[derive(Debug, Default)]
pub struct HandClock {
    nanos: AtomicU64,
}

impl HandClock {
    /// A clock that shows this time.
    #[must_use]
    pub fn at(now: Timestamp) -> Self {
        Self { nanos: AtomicU64::new(now.as_nanos()) }
    }

    /// It shows so much more from now on.
    pub fn advance(&self, span: Duration) {
        self.set(self.now() + span);
    }

    /// It shows this time from now on, be it earlier: clocks of stores do step back.
    pub fn set(&self, now: Timestamp) {
        self.nanos.store(now.as_nanos(), Ordering::Relaxed);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(self.nanos.load(Ordering::Relaxed))
    }
}
