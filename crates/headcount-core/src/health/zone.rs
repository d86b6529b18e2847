//! Three zones of health, and how many workers each allows.

use std::fmt;

/// How well the machine is, in three words. The worst is the least.
///
/// ```
/// use headcount_core::health::Zone;
///
/// assert_eq!(Zone::of(50.0), Zone::Warning);
/// assert_eq!(Zone::Warning.workers_for(1, 10), 5);
/// assert!(Zone::Critical < Zone::Safe);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Zone {
    /// The fewest workers, at once.
    Critical,
    /// Half of the most workers.
    Warning,
    /// As many workers as wanted.
    Safe,
}

impl Zone {
    /// The highest whole score that is critical.
    pub(super) const CRITICAL_MAX: f64 = 33.0;

    /// Warning begins here: the table says 0-33, 34-66, 67-100 of a score without its fraction,
    /// so a score of 33.9 is a 33 and critical.
    const WARNING_FROM: f64 = 34.0;
    const SAFE_FROM: f64 = 67.0;

    /// The zone of `score`: critical below 34, warning below 67, else safe. What is not a number
    /// is critical.
    #[must_use]
    pub fn of(score: f64) -> Self {
        match score {
            _ if Self::SAFE_FROM <= score => Self::Safe,
            _ if Self::WARNING_FROM <= score => Self::Warning,
            _ => Self::Critical,
        }
    }

    /// How many workers to have in this zone: `min` when critical, half of `max` (half a worker
    /// counts as one, and never fewer than `min`) when warned, `max` when safe.
    ///
    /// Where the bounds cross, `max` wins.
    #[must_use]
    pub fn workers_for(self, min: u32, max: u32) -> u32 {
        let wanted = match self {
            Self::Critical => min,
            Self::Warning => max.div_ceil(2).max(min),
            Self::Safe => max,
        };
        wanted.min(max)
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Critical => "critical",
            Self::Warning => "warning",
            Self::Safe => "safe",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_does_not_lift_a_score_into_the_next_zone() {
        let zones = [0.0, 33.0, 33.9, 34.0, 66.9, 67.0, 100.0].map(Zone::of);
        let told = zones.map(|zone| zone.to_string()).join(" ");
        assert_eq!(told, "critical critical critical warning warning safe safe");
        assert_eq!(Zone::of(f64::NAN), Zone::Critical);
    }

    #[test]
    fn each_zone_has_its_number_of_workers() {
        let check = |min, max, workers| {
            let found =
                [Zone::Critical, Zone::Warning, Zone::Safe].map(|z| z.workers_for(min, max));
            assert_eq!(found, workers, "from {min} to {max}");
        };
        check(1, 10, [1, 5, 10]);
        check(1, 5, [1, 3, 5]);
        check(8, 10, [8, 8, 10]);
        check(1, 1, [1, 1, 1]);
        check(0, u32::MAX, [0, 1 << 31, u32::MAX]);
        check(9, 4, [4, 4, 4]);
    }
}
