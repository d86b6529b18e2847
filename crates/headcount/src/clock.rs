//! The clocks that everything in one process lives by.
//!
//! A timestamp says nothing without its origin. Whoever measures, decides or records in the same
//! process must therefore ask the same clock: the real one, or in tests one that is set by hand.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use headcount_core::{Clock, Timestamp};

/// The time since this process first asked for it, by a clock that is never set.
///
/// All values of this type tell the same time, so they need not be handed around.
///
/// ```
/// use headcount::{Clock, SystemClock};
///
/// let earlier = SystemClock.now();
/// let elsewhere = std::thread::spawn(|| SystemClock.now()).join().expect("it only looks");
/// assert!(earlier <= elsewhere && elsewhere <= SystemClock.now());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        static ORIGIN: OnceLock<Instant> = OnceLock::new();
        Timestamp::ORIGIN + ORIGIN.get_or_init(Instant::now).elapsed()
    }
}

/// A clock that stands still until somebody moves it, for tests.
///
/// Clones are the same clock.
///
/// ```
/// use headcount::{Clock, ManualClock, Timestamp};
/// use std::time::Duration;
///
/// let clock = ManualClock::default();
/// let same = clock.clone();
/// clock.advance(Duration::from_mins(2));
/// assert_eq!(same.now(), Timestamp::from_secs(120));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ManualClock {
    nanos: Arc<AtomicU64>,
}

impl ManualClock {
    /// Moves the time on by `span`.
    pub fn advance(&self, span: Duration) {
        let moved = |nanos| (Timestamp::from_nanos(nanos) + span).as_nanos();
        self.nanos.update(Ordering::AcqRel, Ordering::Acquire, moved);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(self.nanos.load(Ordering::Acquire))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hand_cannot_move_past_the_end_of_time() {
        let clock = ManualClock::default();
        clock.advance(Duration::MAX);
        clock.advance(Duration::from_secs(1));
        assert_eq!(clock.now(), Timestamp::MAX);
    }
}
