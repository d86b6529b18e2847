//! When a job that failed is tried again, and when that is enough.

use std::time::Duration;

/// How a job is tried again: how often, how far apart, for how long in all.
///
/// ```
/// use headcount_core::jobs::{Backoff, Retry, Verdict};
/// use std::time::Duration;
///
/// let retry = Retry { attempts_max: 3, ..Retry::default() };
/// let young = Duration::ZERO;
/// assert!(matches!(retry.after(1, young, 0.5), Verdict::Again(_)));
/// assert_eq!(retry.after(3, young, 0.5), Verdict::Enough);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct Retry {
    /// How often its handler may fail in all. The default is 20.
    pub attempts_max: u32,
    /// How long it waits before the next try.
    pub backoff: Backoff,
    /// No try begins later than this after it was submitted. The default is never to give up.
    pub budget: Option<Duration>,
}

/// How long a job waits before it is tried again.
///
/// ```
/// use headcount_core::jobs::Backoff;
/// use std::time::Duration;
///
/// let backoff = Backoff::Exponential {
///     base: Duration::from_secs(1),
///     max: Duration::from_secs(60),
/// };
/// // With a chance of one half: half of what it could be, and never more than that.
/// assert_eq!(backoff.wait(1, 0.5), Duration::from_millis(750));
/// assert_eq!(backoff.wait(30, 1.0), Duration::from_secs(60));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Backoff {
    /// Always the same.
    Fixed(Duration),
    /// Doubled with every failure, up to a limit; the upper half of it is left to chance, so that
    /// jobs which failed together do not come back together.
    Exponential {
        /// After the first failure.
        base: Duration,
        /// Never longer than this.
        max: Duration,
    },
}

/// What follows from a failure.
///
/// ```
/// use headcount_core::jobs::{Retry, Verdict};
/// use std::time::Duration;
///
/// let once = Retry { attempts_max: 1, ..Retry::default() };
/// assert_eq!(once.after(1, Duration::ZERO, 0.0), Verdict::Enough);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Tried again after this long.
    Again(Duration),
    /// There were tries enough.
    Enough,
}

impl Default for Retry {
    fn default() -> Self {
        Self { attempts_max: 20, backoff: Backoff::default(), budget: None }
    }
}

impl Default for Backoff {
    /// From one second to an hour.
    fn default() -> Self {
        Self::Exponential { base: Duration::from_secs(1), max: Duration::from_secs(3600) }
    }
}

impl Retry {
    /// What follows when the handler has failed for the `attempts`th time, at this age of the job.
    /// `chance` lies between 0 and 1.
    #[must_use]
    pub fn after(&self, attempts: u32, age: Duration, chance: f64) -> Verdict {
        self.after_waiting(attempts, age, self.backoff.wait(attempts, chance))
    }

    /// The same, when the error itself said how long to wait.
    #[must_use]
    pub fn after_waiting(&self, attempts: u32, age: Duration, wait: Duration) -> Verdict {
        if self.attempts_max <= attempts {
            return Verdict::Enough;
        }
        match self.budget {
            Some(budget) if budget < age.saturating_add(wait) => Verdict::Enough,
            _ => Verdict::Again(wait),
        }
    }
}

impl Backoff {
    /// How long to wait after the `attempts`th failure. `chance` lies between 0 and 1.
    #[must_use]
    pub fn wait(&self, attempts: u32, chance: f64) -> Duration {
        match *self {
            Self::Fixed(wait) => wait,
            Self::Exponential { base, max } => {
                let doubled = attempts.saturating_sub(1).min(31);
                let most = base.saturating_mul(1 << doubled).min(max);
                let chance = if chance.is_finite() { chance.clamp(0.0, 1.0) } else { 1.0 };
                most / 2 + (most / 2).mul_f64(chance)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[track_caller]
    fn check(retry: Retry, attempts: u32, age: u64, expected: Verdict) {
        assert_eq!(retry.after(attempts, Duration::from_secs(age), 1.0), expected);
    }

    #[test]
    fn waits_double_up_to_their_limit() {
        let waits: Vec<u64> = (1..=14).map(|n| Backoff::default().wait(n, 1.0).as_secs()).collect();
        let expected = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600];
        assert_eq!(waits, expected);
        assert_eq!(Backoff::default().wait(u32::MAX, 1.0).as_secs(), 3600);
    }

    #[test]
    fn chance_spreads_the_upper_half() {
        assert_eq!(Backoff::default().wait(3, 0.0), SECOND * 2);
        assert_eq!(Backoff::default().wait(3, f64::NAN), SECOND * 4);
        assert_eq!(Backoff::default().wait(3, 7.0), SECOND * 4);
    }

    #[test]
    fn the_last_try_is_the_last() {
        let retry = Retry { attempts_max: 2, ..Retry::default() };
        check(retry, 1, 0, Verdict::Again(SECOND));
        check(retry, 2, 0, Verdict::Enough);
    }

    #[test]
    fn no_try_begins_beyond_the_budget() {
        let retry = Retry { budget: Some(SECOND * 10), ..Retry::default() };
        check(retry, 1, 9, Verdict::Again(SECOND));
        check(retry, 1, 10, Verdict::Enough);
    }
}
