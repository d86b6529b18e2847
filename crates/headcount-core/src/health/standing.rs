//! What to believe of the machine's health when it was not measured just now.
//!
//! A monitor that died says nothing, which is neither good news nor bad. Old news and no news
//! alike count as a middling score: half of the workers, until somebody measures again.

use std::time::Duration;

use super::score::Health;
use super::zone::Zone;
use crate::Timestamp;

/// How old a measurement may be; an older one is not believed.
pub const STALE_AFTER: Duration = Duration::from_mins(2);

/// The score of a machine that nobody has measured lately.
pub const ASSUMED_SCORE: f64 = 50.0;

/// The health to act on now, measured or assumed.
///
/// ```
/// use headcount_core::Timestamp;
/// use headcount_core::health::{Basis, Health, Standing, Zone};
///
/// let health = Health { measured_at: Timestamp::ORIGIN, score: 90.0, worst: None };
/// let fresh = Standing::of(Some(&health), Timestamp::from_secs(120));
/// assert_eq!((fresh.zone, fresh.basis), (Zone::Safe, Basis::Measured));
///
/// let old = Standing::of(Some(&health), Timestamp::from_secs(121));
/// assert_eq!((old.zone, old.basis), (Zone::Warning, Basis::Stale));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Standing {
    /// From 0, the worst, to 100.
    pub score: f64,
    /// The zone of that score.
    pub zone: Zone,
    /// Why it is this score.
    pub basis: Basis,
}

/// Why a [`Standing`] is what it is.
///
/// ```
/// use headcount_core::Timestamp;
/// use headcount_core::health::{ASSUMED_SCORE, Basis, Standing};
///
/// let unknown = Standing::of(None, Timestamp::ORIGIN);
/// assert_eq!(unknown.basis, Basis::Unmeasured);
/// assert!(unknown.basis.is_assumed() && unknown.score == ASSUMED_SCORE);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Basis {
    /// It was measured, and not long ago.
    Measured,
    /// It was measured longer ago than [`STALE_AFTER`], so the score is assumed.
    Stale,
    /// It was never measured, or not as a number, so the score is assumed.
    Unmeasured,
}

impl Basis {
    /// Whether the score is an assumption rather than a measurement.
    #[must_use]
    pub fn is_assumed(self) -> bool {
        self != Self::Measured
    }
}

impl Standing {
    /// What to believe at `now`, given the last measurement.
    #[must_use]
    pub fn of(health: Option<&Health>, now: Timestamp) -> Self {
        match health.filter(|health| health.score.is_finite()) {
            None => Self::assumed(Basis::Unmeasured),
            Some(health) if STALE_AFTER < now.since(health.measured_at) => {
                Self::assumed(Basis::Stale)
            }
            Some(health) => Self::at(health.score.clamp(0.0, 100.0), Basis::Measured),
        }
    }

    fn assumed(basis: Basis) -> Self {
        Self::at(ASSUMED_SCORE, basis)
    }

    fn at(score: f64, basis: Basis) -> Self {
        Self { score, zone: Zone::of(score), basis }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(score: f64, now: Timestamp, told: &str) {
        let measured_at = Timestamp::from_secs(1000);
        let health = Health { measured_at, score, worst: None };
        let Standing { score, zone, basis } = Standing::of(Some(&health), now);
        assert_eq!(format!("{score} {zone} {basis:?}"), told);
    }

    #[test]
    fn a_measurement_is_believed_for_two_minutes_to_the_nanosecond() {
        let last = Timestamp::from_secs(1120);
        check(10.0, Timestamp::from_secs(1000), "10 critical Measured");
        check(10.0, last, "10 critical Measured");
        check(10.0, last + Duration::from_nanos(1), "50 warning Stale");
        check(100.0, Timestamp::MAX, "50 warning Stale");
    }

    #[test]
    fn a_clock_that_stepped_back_makes_nothing_stale() {
        check(90.0, Timestamp::ORIGIN, "90 safe Measured");
    }

    #[test]
    fn what_is_not_a_score_is_not_believed() {
        let now = Timestamp::from_secs(1000);
        check(f64::NAN, now, "50 warning Unmeasured");
        check(f64::INFINITY, now, "50 warning Unmeasured");
        check(140.0, now, "100 safe Measured");
        check(-3.0, now, "0 critical Measured");
    }
}
