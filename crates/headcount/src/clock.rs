//! The clock that everything live in this crate goes by.

use std::sync::LazyLock;
use std::time::Instant;

use headcount_core::{Clock, Timestamp};

static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The time since this process first asked for it, by a clock that is never set.
///
/// All of them agree, so that what one part has noted another can compare.
///
/// ```
/// use headcount::SystemClock;
/// use headcount_core::Clock;
///
/// let earlier = SystemClock.now();
/// assert!(earlier <= SystemClock.now());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::ORIGIN + ORIGIN.elapsed()
    }
}
