//! Lets a new pool come to itself before it is shrunk.
//!
//! The first readings of a pool say little: caches are cold, tasks that were begun first finish
//! last. Growing is allowed from the first tick on.

use std::time::Duration;

use super::{Because, Guard, Ruling};
use crate::{Situation, Staffing};

/// Holds every shrink for a while after the first tick.
///
/// ```
/// use headcount_core::guard::{Because, Guard, Ruling, WarmUp};
/// use headcount_core::{History, Observation, PoolSnapshot, Situation, Staffing};
/// use std::time::Duration;
///
/// let warm_up = WarmUp { span: Duration::from_secs(30) };
/// let pool = PoolSnapshot::of(Staffing::exactly(4));
/// let observation = Observation { pool, ..Observation::default() };
/// let history = History::default();
/// let situation = Situation { observation: &observation, readings: &[], history: &history };
/// let ruling = warm_up.review(&situation, Staffing::exactly(3));
/// assert_eq!(ruling, Ruling::Hold(Because::WarmingUp(warm_up.span)));
/// assert_eq!(warm_up.review(&situation, Staffing::exactly(5)), Ruling::Allow, "growth is free");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct WarmUp {
    /// For how long. Default: 30 s.
    pub span: Duration,
}

impl Default for WarmUp {
    fn default() -> Self {
        Self { span: Duration::from_secs(30) }
    }
}

impl Guard for WarmUp {
    fn name(&self) -> &'static str {
        "warm_up"
    }

    fn review(&self, situation: &Situation<'_>, wanted: Staffing) -> Ruling {
        let from = situation.from();
        let began = situation.history.began().unwrap_or(situation.now());
        let left = self.span.saturating_sub(situation.now().since(began));
        if left.is_zero() {
            return Ruling::Allow;
        }
        Ruling::of(from, wanted, wanted.no_less_than(from), Because::WarmingUp(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::guard::harness::Scene;

    #[test]
    fn a_young_pool_grows_and_does_not_shrink() {
        let warm_up = WarmUp { span: Duration::from_secs(30) };
        let young = Scene::at(10).wanted(&[(0, 4)]);
        young.check(&warm_up, 4, 2, "warm_up (20 s left) 4");
        young.check(&warm_up, 4, 6, "yes 6");
        Scene::at(30).wanted(&[(0, 4)]).check(&warm_up, 4, 2, "yes 2");
    }
}
