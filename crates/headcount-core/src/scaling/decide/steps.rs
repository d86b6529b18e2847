//! How far a step goes, and what it counts from.
//!
//! A step counts from the workers that are there, and never takes back a step that is still under
//! way. So a decider that sees the effect of its last step late does not take it twice: while
//! four of five workers have come, "one more" is still the fifth.

use crate::policy::Inspection;
use crate::scaling::observation::PoolSnapshot;

/// How far a step goes.
///
/// ```
/// use headcount_core::decide::Step;
/// use headcount_core::{PoolSnapshot, Staffing};
///
/// let four = PoolSnapshot::of(Staffing::exactly(4));
/// assert_eq!(Step::Add(2).up(&four), 6);
/// assert_eq!(Step::Multiply(1.5).up(&four), 6);
/// assert_eq!(Step::Multiply(1.5).down(&four), 2);
/// assert_eq!(Step::Add(9).down(&four), 0, "and never below nothing");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Step {
    /// So many workers more or fewer.
    Add(u32),
    /// So many times as many; a shrink divides by it.
    Multiply(f64),
}

impl Step {
    /// The size one step up.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
    pub fn up(self, pool: &PoolSnapshot) -> u32 {
        let staying = staying(pool);
        let stepped = match self {
            Self::Add(n) => staying.saturating_add(n),
            Self::Multiply(factor) => {
                let multiplied = (f64::from(staying) * factor - EPSILON).ceil() as u32;
                multiplied.max(staying.saturating_add(1))
            }
        };
        stepped.max(pool.ceiling)
    }

    /// The size one step down.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
    pub fn down(self, pool: &PoolSnapshot) -> u32 {
        let staying = staying(pool);
        let stepped = match self {
            Self::Add(n) => staying.saturating_sub(n),
            Self::Multiply(factor) => {
                let divided = (f64::from(staying) / factor + EPSILON).floor() as u32;
                divided.min(staying.saturating_sub(1))
            }
        };
        stepped.min(pool.ceiling)
    }

    pub(crate) fn inspect(self, field: &str, inspection: &mut Inspection) {
        match self {
            Self::Add(n) => inspection.at_least_one(field, n),
            Self::Multiply(factor) if factor.is_finite() && 1.0 < factor => {}
            Self::Multiply(factor) => {
                inspection.fault(
                    field,
                    factor,
                    "a finite factor above 1 is needed, by which a shrink divides",
                );
            }
        }
    }
}

/// The workers that are there and not about to leave.
pub(crate) fn staying(pool: &PoolSnapshot) -> u32 {
    pool.live.saturating_sub(pool.retiring)
}

/// Keeps 4 x 1.5 from becoming 7 for the last bit of a float.
pub(crate) const EPSILON: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Staffing;

    #[test]
    fn a_step_under_way_is_not_taken_twice() {
        let hiring = PoolSnapshot { live: 4, ..PoolSnapshot::of(Staffing::exactly(5)) };
        assert_eq!(Step::Add(1).up(&hiring), 5);
        let shrinking =
            PoolSnapshot { live: 4, retiring: 1, ..PoolSnapshot::of(Staffing::exactly(3)) };
        assert_eq!(Step::Add(1).down(&shrinking), 2);
        let leaving = PoolSnapshot { live: 4, ..PoolSnapshot::of(Staffing::exactly(3)) };
        assert_eq!(Step::Add(1).down(&leaving), 3);
    }

    #[test]
    fn a_pool_that_has_not_begun_is_not_shrunk_by_a_step_up() {
        let empty = PoolSnapshot { live: 0, ..PoolSnapshot::of(Staffing::exactly(4)) };
        assert_eq!(Step::Add(1).up(&empty), 4);
    }

    #[test]
    fn a_factor_always_moves() {
        let one = PoolSnapshot::of(Staffing::exactly(1));
        assert_eq!(Step::Multiply(1.1).up(&one), 2);
        assert_eq!(Step::Multiply(1.1).down(&one), 0);
    }
}
