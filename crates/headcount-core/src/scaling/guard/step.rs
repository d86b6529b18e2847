//! Limits how far one decision may go.
//!
//! An absolute and a relative limit stand side by side, and the wider one counts: a relative
//! limit alone would never let one worker become two.

use super::{Because, Guard, Ruling};
use crate::{Situation, Staffing};

/// Limits how far one decision may go.
///
/// As a number of workers or as a share of the ceiling in force, whichever is wider, up and down
/// apart.
///
/// ```
/// use headcount_core::guard::{Because, Guard, Ruling, StepLimit};
/// use headcount_core::{History, Observation, PoolSnapshot, Situation, Staffing};
///
/// let pool = PoolSnapshot::of(Staffing::exactly(8));
/// let observation = Observation { pool, ..Observation::default() };
/// let history = History::default();
/// let situation = Situation { observation: &observation, readings: &[], history: &history };
/// // Half as many again at most; nothing said about shrinking.
/// let step = StepLimit { grow_share_max: Some(0.5), ..StepLimit::default() };
/// let ruling = step.review(&situation, Staffing::exactly(40));
/// assert_eq!(ruling, Ruling::Amend(Staffing::exactly(12), Because::Step(4)));
/// assert_eq!(step.review(&situation, Staffing::exactly(1)), Ruling::Allow);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct StepLimit {
    /// Workers added at once. Default: no limit.
    pub grow_max: Option<u32>,
    /// Workers added at once, as a share of the ceiling in force. Default: no limit.
    pub grow_share_max: Option<f64>,
    /// Workers given up at once. Default: no limit.
    pub shrink_max: Option<u32>,
    /// Workers given up at once, as a share of the ceiling in force. Default: no limit.
    pub shrink_share_max: Option<f64>,
}

impl Guard for StepLimit {
    fn name(&self) -> &'static str {
        "step"
    }

    fn review(&self, situation: &Situation<'_>, wanted: Staffing) -> Ruling {
        let from = situation.from();
        let grow = widest(from.ceiling, self.grow_max, self.grow_share_max);
        let shrink = widest(from.ceiling, self.shrink_max, self.shrink_share_max);
        let limit = |from: u32, wanted: u32| {
            wanted.clamp(from.saturating_sub(shrink), from.saturating_add(grow))
        };
        let left =
            Staffing::between(limit(from.floor, wanted.floor), limit(from.ceiling, wanted.ceiling));
        let is_growth = left.floor < wanted.floor || left.ceiling < wanted.ceiling;
        let most = if is_growth { grow } else { shrink };
        Ruling::of(from, wanted, left, Because::Step(most))
    }
}

/// The wider of the two limits, and one worker at least; no limit where there is none.
fn widest(size: u32, workers: Option<u32>, share: Option<f64>) -> u32 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
    let by_share = share.map(|share| (f64::from(size) * share).ceil() as u32);
    match (workers, by_share) {
        (None, None) => u32::MAX,
        (workers, by_share) => workers.max(by_share).unwrap_or(1).max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::guard::harness::check;

    #[test]
    fn the_wider_limit_counts() {
        let step =
            StepLimit { grow_max: Some(4), grow_share_max: Some(1.0), ..StepLimit::default() };
        check(&step, 2, 50, "step 6");
        check(&step, 20, 50, "step 40");
        check(&step, 20, 21, "yes 21");
    }

    #[test]
    fn one_worker_can_always_become_two() {
        let half = StepLimit { grow_share_max: Some(0.5), ..StepLimit::default() };
        check(&half, 1, 10, "step 2");
        check(&half, 2, 10, "step 3");
        check(&half, 3, 10, "step 5");
    }

    #[test]
    fn up_and_down_are_apart() {
        let step = StepLimit { shrink_share_max: Some(0.25), ..StepLimit::default() };
        check(&step, 100, 0, "step 75");
        check(&step, 100, 900, "yes 900");
        check(&StepLimit::default(), 100, 0, "yes 0");
    }
}
