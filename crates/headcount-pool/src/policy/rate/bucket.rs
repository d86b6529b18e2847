//! A bucket of tokens. Pure: it is told the time.
//!
//! It reckons in whole numbers, of which none is ever rounded: where `tokens` come in every `per`,
//! a token is made of as many *drops* as `per` has nanoseconds, and each nanosecond brings `tokens`
//! drops. So a million small steps fill it exactly as far as one long one.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use headcount_core::{Fault, Timestamp};

/// How much may be taken: so many tokens in a while, and so many at once.
///
/// ```
/// use headcount_pool::policy::{Rate, RateLimit};
/// use std::time::Duration;
///
/// let rate = Rate { tokens: 100, per: Duration::from_secs(60), burst: 10 };
/// let limit = RateLimit::new(rate).expect("no fault");
/// assert!(limit.try_take(10).is_ok());
/// assert!(limit.try_take(1).is_err(), "the next one comes in 0.6 s");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// So many come in,
    pub tokens: u32,
    /// evenly over this while.
    pub per: Duration,
    /// So many are kept for later. It is also the most that can be taken at once.
    pub burst: u32,
}

impl Rate {
    /// The longest while over which tokens may come in.
    pub const PER_MAX: Duration = Duration::from_secs(30 * 24 * 3600);

    /// So many a second, and as many kept.
    #[must_use]
    pub const fn per_second(tokens: u32) -> Self {
        Self { tokens, per: Duration::from_secs(1), burst: tokens }
    }

    /// Reports everything that is wrong with it.
    pub(super) fn check(self) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        let mut fault = |field: &str, value: String, allowed: &str| {
            faults.push(Fault { field: field.to_owned(), value, allowed: allowed.to_owned() });
        };
        if self.tokens == 0 {
            fault("tokens", self.tokens.to_string(), "at least 1 is needed");
        }
        if self.per.is_zero() || Self::PER_MAX < self.per {
            fault("per", format!("{:?}", self.per), "a span above 0 and up to 30 days is needed");
        }
        if self.burst == 0 {
            fault(
                "burst",
                self.burst.to_string(),
                "at least 1 is needed, or nothing is ever taken",
            );
        }
        if faults.is_empty() { Ok(self) } else { Err(faults) }
    }

    /// How many drops make a token.
    fn token(self) -> u128 {
        self.per.as_nanos()
    }

    /// How many drops the bucket holds.
    fn full(self) -> u128 {
        u128::from(self.burst) * self.token()
    }
}

/// Why nothing was taken.
///
/// ```
/// use headcount_pool::policy::{Rate, RateLimit, TakeError};
///
/// let limit = RateLimit::new(Rate::per_second(5)).expect("no fault");
/// assert_eq!(limit.try_take(6), Err(TakeError::TooMany { asked: 6, burst: 5 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TakeError {
    /// There are not enough tokens yet. After this long there will be, if nobody else takes them.
    Later(Duration),
    /// There will never be so many at once.
    #[allow(missing_docs)] // The fields are the values that the message shows.
    TooMany { asked: u32, burst: u32 },
}

impl TakeError {
    /// After how long another attempt may succeed. `None`: never.
    #[must_use]
    pub const fn retry_after(self) -> Option<Duration> {
        match self {
            Self::Later(span) => Some(span),
            Self::TooMany { .. } => None,
        }
    }
}

impl fmt::Display for TakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Later(span) => write!(f, "the rate limit is reached; try again in {span:.1?}"),
            Self::TooMany { asked, burst } => {
                write!(f, "{asked} tokens at once are more than the burst, which is {burst}")
            }
        }
    }
}

impl Error for TakeError {}

/// A bucket that fills at a rate, up to its brim.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    rate: Rate,
    /// In drops. A month of nanoseconds times any burst is far within it.
    level: u128,
    at: Timestamp,
}

impl Bucket {
    /// A full one. The rate was checked.
    pub(super) fn new(rate: Rate, now: Timestamp) -> Self {
        Self { rate, level: rate.full(), at: now }
    }

    pub(super) fn rate(&self) -> Rate {
        self.rate
    }

    /// Whole tokens that could be taken.
    pub(super) fn tokens(&mut self, now: Timestamp) -> u32 {
        self.fill(now);
        u32::try_from(self.level / self.rate.token()).expect("no more than the burst")
    }

    /// Takes all of them, or none.
    pub(super) fn take(&mut self, tokens: u32, now: Timestamp) -> Result<(), TakeError> {
        self.fill(now);
        if self.rate.burst < tokens {
            return Err(TakeError::TooMany { asked: tokens, burst: self.rate.burst });
        }
        let asked = u128::from(tokens) * self.rate.token();
        if self.level < asked {
            let nanos = (asked - self.level).div_ceil(u128::from(self.rate.tokens));
            let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
            return Err(TakeError::Later(Duration::from_nanos(nanos)));
        }
        self.level -= asked;
        Ok(())
    }

    /// Puts back what was taken for nothing, as far as there is room: meanwhile it has filled.
    pub(super) fn give_back(&mut self, tokens: u32, now: Timestamp) {
        self.fill(now);
        let given = u128::from(tokens) * self.rate.token();
        self.level = (self.level + given).min(self.rate.full());
    }

    /// Fills at another rate from now on. What is in it stays in it, up to the new brim.
    pub(super) fn change(&mut self, rate: Rate, now: Timestamp) {
        self.fill(now);
        // At most 2^32 tokens of 2^52 drops, times 2^52 drops once more, would not fit.
        let (whole, part) = (self.level / self.rate.token(), self.level % self.rate.token());
        let level = whole * rate.token() + part * rate.token() / self.rate.token();
        self.level = level.min(rate.full());
        self.rate = rate;
    }

    fn fill(&mut self, now: Timestamp) {
        let gained = now.since(self.at).as_nanos() * u128::from(self.rate.tokens);
        self.level = (self.level + gained).min(self.rate.full());
        self.at = self.at.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn rate(tokens: u32, per: Duration, burst: u32) -> Rate {
        Rate { tokens, per, burst }.check().expect("no fault")
    }

    /// At each millisecond, take so many: `yes`, or in how many milliseconds.
    fn check(rate: Rate, takes: &[(u64, u32)], expected: &str) {
        let mut bucket = Bucket::new(rate, Timestamp::ORIGIN);
        let told = takes.iter().map(|(at, tokens)| {
            match bucket.take(*tokens, Timestamp::from_millis(*at)) {
                Ok(()) => "yes".to_owned(),
                Err(TakeError::Later(span)) => span.as_millis().to_string(),
                Err(TakeError::TooMany { .. }) => "never".to_owned(),
            }
        });
        assert_eq!(told.collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn a_burst_passes_and_then_the_rate_holds() {
        let ten = rate(10, SECOND, 3);
        check(ten, &[(0, 1), (0, 1), (0, 1), (0, 1), (99, 1)], "yes yes yes 100 1");
        check(ten, &[(0, 3), (100, 1), (200, 2), (300, 2)], "yes yes 100 yes");
        check(ten, &[(60_000, 4), (60_000, 3), (60_000, 1)], "never yes 100");
    }

    #[test]
    fn what_is_refused_takes_nothing() {
        check(rate(10, SECOND, 3), &[(0, 2), (0, 2), (0, 2), (0, 1)], "yes 100 100 yes");
    }

    #[test]
    fn time_that_steps_back_gives_nothing() {
        check(rate(1, SECOND, 1), &[(5000, 1), (0, 1), (5000, 1), (6000, 1)], "yes 1000 1000 yes");
    }

    /// Seven in a second: no nanosecond brings a whole part of a token. Over eleven hours of odd
    /// steps, whoever takes all there is gets exactly what the rate says.
    #[test]
    fn small_steps_lose_nothing() {
        let mut bucket = Bucket::new(rate(7, SECOND, 5), Timestamp::ORIGIN);
        let (mut now, mut taken) = (0, 0_u128);
        for step in 0..400_000_u64 {
            now += 1 + step * 7_919 % 199_999_999;
            let tokens = bucket.tokens(Timestamp::from_nanos(now));
            bucket.take(tokens, Timestamp::from_nanos(now)).expect("it said so");
            taken += u128::from(tokens);
        }
        assert_eq!(taken, 5 + u128::from(now) * 7 / 1_000_000_000);
    }

    /// Told to come back in so long, it gets it then and not a nanosecond before.
    #[test]
    fn the_time_to_come_back_is_exact() {
        let mut bucket = Bucket::new(rate(7, SECOND, 1), Timestamp::ORIGIN);
        bucket.take(1, Timestamp::ORIGIN).expect("it is full");
        let Err(TakeError::Later(span)) = bucket.take(1, Timestamp::ORIGIN) else {
            panic!("it is empty")
        };
        assert!(bucket.clone().take(1, Timestamp::ORIGIN + span).is_ok());
        let just_before = (Timestamp::ORIGIN + span).before(Duration::from_nanos(1));
        assert!(bucket.take(1, just_before).is_err());
    }

    #[test]
    fn what_is_given_back_goes_up_to_the_brim_and_no_further() {
        let mut bucket = Bucket::new(rate(1, SECOND, 3), Timestamp::ORIGIN);
        bucket.take(3, Timestamp::ORIGIN).expect("it is full");
        bucket.give_back(1, Timestamp::ORIGIN);
        assert_eq!(bucket.tokens(Timestamp::ORIGIN), 1);
        bucket.give_back(1, Timestamp::from_secs(2));
        assert_eq!(bucket.tokens(Timestamp::from_secs(2)), 3, "two came in, and one was lost");
        bucket.take(3, Timestamp::from_secs(2)).expect("it is full");
        bucket.change(rate(1, SECOND, 1), Timestamp::from_secs(2));
        bucket.give_back(3, Timestamp::from_secs(2));
        assert_eq!(bucket.tokens(Timestamp::from_secs(2)), 1, "the brim is lower by now");
    }

    #[test]
    fn a_new_rate_keeps_what_is_there() {
        let mut bucket = Bucket::new(rate(10, SECOND, 10), Timestamp::ORIGIN);
        bucket.take(4, Timestamp::ORIGIN).expect("it is full");
        bucket.change(rate(1, SECOND * 60, 20), Timestamp::ORIGIN);
        assert_eq!(bucket.tokens(Timestamp::ORIGIN), 6, "a minute for each of the next");
        assert_eq!(bucket.tokens(Timestamp::from_secs(60)), 7);
        bucket.change(rate(1, SECOND, 2), Timestamp::from_secs(60));
        assert_eq!(bucket.tokens(Timestamp::from_secs(60)), 2, "the brim is lower");
    }

    #[test]
    fn the_largest_numbers_fit() {
        let most = rate(u32::MAX, Rate::PER_MAX, u32::MAX);
        let mut bucket = Bucket::new(most, Timestamp::ORIGIN);
        bucket.take(u32::MAX, Timestamp::MAX).expect("it is full");
        bucket.change(rate(1, Duration::from_nanos(1), 1), Timestamp::MAX);
        bucket.change(most, Timestamp::MAX);
        assert_eq!(bucket.tokens(Timestamp::MAX), 0);
        let rate = rate(1, Rate::PER_MAX, u32::MAX);
        let mut slow = Bucket { rate, level: 0, at: Timestamp::ORIGIN };
        let error = slow.take(u32::MAX, Timestamp::ORIGIN).expect_err("it is empty");
        assert!(error.retry_after().is_some(), "in some million years");
    }

    #[test]
    fn every_fault_is_reported_at_once() {
        let faults = Rate { tokens: 0, per: Duration::ZERO, burst: 0 }.check().expect_err("faults");
        assert_eq!(
            faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                "tokens is 0; at least 1 is needed",
                "per is 0ns; a span above 0 and up to 30 days is needed",
                "burst is 0; at least 1 is needed, or nothing is ever taken",
            ]
        );
        let long = Rate { per: Rate::PER_MAX + SECOND, ..Rate::per_second(1) };
        assert_eq!(long.check().map_err(|faults| faults.len()), Err(1));
    }
}
