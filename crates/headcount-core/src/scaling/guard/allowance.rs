//! Keeps the pool within its part of a shared budget.

use super::{Because, Guard, Ruling};
use crate::{Situation, Staffing};

/// Limits the pool to its allowance.
///
/// Without an allowance there is nobody to share with, and no limit.
///
/// ```
/// use headcount_core::guard::{AllowanceLimit, Because, Guard, Ruling};
/// use headcount_core::{History, Observation, PoolSnapshot, Situation, Staffing};
///
/// let pool = PoolSnapshot::of(Staffing::exactly(4));
/// let observation = Observation { pool, allowance: Some(6), ..Observation::default() };
/// let history = History::default();
/// let situation = Situation { observation: &observation, readings: &[], history: &history };
/// let ruling = AllowanceLimit {}.review(&situation, Staffing::exactly(9));
/// assert_eq!(ruling, Ruling::Amend(Staffing::exactly(6), Because::Allowance(6)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct AllowanceLimit {}

impl Guard for AllowanceLimit {
    fn name(&self) -> &'static str {
        "allowance"
    }

    fn is_limit(&self) -> bool {
        true
    }

    fn review(&self, situation: &Situation<'_>, wanted: Staffing) -> Ruling {
        let Some(most) = situation.observation.allowance else {
            return Ruling::Allow;
        };
        let from = situation.from();
        Ruling::of(from, wanted, wanted.at_most(most), Because::Allowance(most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::guard::harness::{Scene, check};

    #[test]
    fn the_allowance_is_a_limit_and_its_absence_is_none() {
        let granted = |n| Scene::at(0).with(move |o| o.allowance = Some(n));
        granted(20).check(&AllowanceLimit {}, 16, 24, "allowance 20");
        granted(20).check(&AllowanceLimit {}, 24, 24, "allowance 20");
        granted(0).check(&AllowanceLimit {}, 4, 4, "allowance 0");
        check(&AllowanceLimit {}, 4, 400, "yes 400");
    }
}
