//! Keeps the pool between its minimum and its maximum.
//!
//! Last, so that nothing can overrule it. A minimum is no claim on what others hold, though: where
//! the allowance is less, the pool is not raised above it.

use super::{Because, Guard, Ruling};
use crate::{Situation, Staffing};

/// Keeps the pool between its minimum and its maximum.
///
/// ```
/// use headcount_core::guard::Bounds;
///
/// assert_eq!(Bounds { min: 2, max: 8 }.clamp(40), 8);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Bounds {
    /// The fewest workers.
    pub min: u32,
    /// The most workers.
    pub max: u32,
}

impl Bounds {
    /// The number in the bounds that is nearest to `workers`.
    #[must_use]
    pub fn clamp(self, workers: u32) -> u32 {
        workers.max(self.min).min(self.max)
    }
}

impl Guard for Bounds {
    fn name(&self) -> &'static str {
        "bounds"
    }

    fn is_limit(&self) -> bool {
        true
    }

    fn review(&self, situation: &Situation<'_>, wanted: Staffing) -> Ruling {
        let because = Because::Bounds { min: self.min, max: self.max };
        let granted = situation.observation.allowance.unwrap_or(u32::MAX);
        let kept = wanted.within(self.min.min(granted), self.max);
        // Never a hold: a pool outside of its bounds must not be left there.
        match kept == wanted {
            true => Ruling::Allow,
            false => Ruling::Amend(kept, because),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::guard::harness::{Scene, check, check_staffing};

    #[test]
    fn both_ends_are_kept_within() {
        let bounds = Bounds { min: 2, max: 8 };
        check(&bounds, 4, 41, "bounds 8");
        check(&bounds, 4, 0, "bounds 2");
        check(&bounds, 4, 5, "yes 5");
        check_staffing(&bounds, Staffing::exactly(4), Staffing::between(0, 41), "bounds 2..8");
    }

    #[test]
    fn a_pool_outside_of_its_bounds_is_brought_back() {
        check(&Bounds { min: 2, max: 8 }, 20, 20, "bounds 8");
        check(&Bounds { min: 2, max: 8 }, 0, 0, "bounds 2");
    }

    #[test]
    fn a_minimum_that_is_not_granted_is_not_taken() {
        let granted = |n| Scene::at(0).with(move |o| o.allowance = Some(n));
        granted(3).check(&Bounds { min: 5, max: 8 }, 3, 3, "yes 3");
        granted(3).check(&Bounds { min: 5, max: 8 }, 2, 2, "bounds 3");
        granted(6).check(&Bounds { min: 5, max: 8 }, 2, 2, "bounds 5");
        granted(9).check(&Bounds { min: 5, max: 8 }, 2, 9, "bounds 8");
    }
}
