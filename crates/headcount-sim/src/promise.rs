//! What those who send jobs were promised.

use std::time::Duration;

/// What jobs were promised.
///
/// ```
/// use headcount_sim::Promise;
/// use std::time::Duration;
///
/// let ms = Duration::from_millis;
/// assert!(Promise::Wait(ms(100)).is_kept(ms(90), ms(5_000)));
/// assert!(!Promise::Latency(ms(100)).is_kept(ms(90), ms(110)));
/// assert_eq!(Promise::Wait(ms(100)).within(ms(30)), ms(130));
/// // A job that takes longer than was promised is late, whatever one does.
/// assert_eq!(Promise::Latency(ms(100)).within(ms(300)), ms(300));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// To wait no longer than this before it begins.
    Wait(Duration),
    /// To be done no later than this after it came.
    Latency(Duration),
}

impl Promise {
    /// Whether a job that waited for `wait` and was done after `latency` in all was served so.
    #[must_use]
    pub fn is_kept(&self, wait: Duration, latency: Duration) -> bool {
        match self {
            Self::Wait(most) => wait <= *most,
            Self::Latency(most) => latency <= *most,
        }
    }

    /// Whether it can still be kept for a job of that size that came so long ago, and waits.
    pub(crate) fn can_be_kept(&self, waited: Duration, size: Duration) -> bool {
        match self {
            // It begins later than now, if ever.
            Self::Wait(most) => waited < *most,
            Self::Latency(most) => waited.saturating_add(size) <= *most,
        }
    }

    /// The time that was promised.
    #[must_use]
    pub fn span(&self) -> Duration {
        match self {
            Self::Wait(span) | Self::Latency(span) => *span,
        }
    }

    /// How long after its arrival a job of that size is due, if it can be done by then at all.
    #[must_use]
    pub fn within(self, size: Duration) -> Duration {
        match self {
            Self::Wait(wait) => wait.saturating_add(size),
            Self::Latency(latency) => latency.max(size),
        }
    }
}
