//! Does not shrink a pool that is being drained.
//!
//! A pool that takes no new tasks looks idle. Shrinking it would only make the drain longer, and
//! a size saved at that moment would start the next process too small.

use super::{Because, Guard, Ruling};
use crate::{Situation, Staffing};

/// Does not shrink a pool that is being drained.
///
/// ```
/// use headcount_core::guard::{Because, DrainHold, Guard, Ruling};
/// use headcount_core::{History, Observation, PoolSnapshot, Situation, Staffing};
///
/// let pool = PoolSnapshot { draining: true, ..PoolSnapshot::of(Staffing::exactly(4)) };
/// let observation = Observation { pool, ..Observation::default() };
/// let history = History::default();
/// let situation = Situation { observation: &observation, readings: &[], history: &history };
/// let ruling = DrainHold {}.review(&situation, Staffing::exactly(2));
/// assert_eq!(ruling, Ruling::Hold(Because::Draining), "it only looks idle");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct DrainHold {}

impl Guard for DrainHold {
    fn name(&self) -> &'static str {
        "drain_hold"
    }

    fn review(&self, situation: &Situation<'_>, wanted: Staffing) -> Ruling {
        if !situation.pool().draining {
            return Ruling::Allow;
        }
        let from = situation.from();
        Ruling::of(from, wanted, wanted.no_less_than(from), Because::Draining)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::guard::harness::{Scene, check};

    #[test]
    fn a_draining_pool_keeps_its_workers() {
        let draining = Scene::at(0).with(|o| o.pool.draining = true);
        draining.check(&DrainHold {}, 8, 1, "drain_hold 8");
        draining.check(&DrainHold {}, 8, 9, "yes 9");
        check(&DrainHold {}, 8, 1, "yes 1");
    }
}
