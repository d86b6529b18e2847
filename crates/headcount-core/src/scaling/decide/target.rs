//! Keeps a reading at its set-point by proportion: twice the reading, twice the workers.
//!
//! The reading is scaled by the workers it was measured with, not by the workers asked for, so
//! that a size that takes a while to come about is not asked for again and again.
//!
//! *Gain*: one; it arrives in one step whatever the delay of the pool's size. A reading smoothed
//! over `k` ticks needs a cooldown of `k` ticks.

use super::Decider;
use super::steps::EPSILON;
use super::threshold::evidence;
use crate::policy::Inspection;
use crate::{Comparison, Name, Proposal, Reason, Situation, Staffing};

/// Keeps a reading at its set-point by proportion.
///
/// ```
/// use headcount_core::decide::{DeciderConfig, Target};
/// use headcount_core::{Observation, Policy, PolicyConfig, PoolSnapshot, Staffing};
///
/// let decider = Some(DeciderConfig::Target(Target::default()));
/// let config = PolicyConfig { decider, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 16).expect("no fault").build();
/// let mut line = |busy| {
///     let pool = PoolSnapshot { busy, ..PoolSnapshot::of(Staffing::exactly(10)) };
///     autoscaler.tick(&Observation { pool, ..Observation::default() }).explain().to_string()
/// };
/// assert_eq!(line(7), "hold 10: wants 10 (steady) -> bounds 10");
/// assert_eq!(line(10), "grow 10 to 15: wants 15 (utilization 100 % > 70 %) -> bounds 15");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Target {
    /// The signal. Default: `utilization`.
    pub signal: Name,
    /// What it should read. Default: 0.7.
    pub setpoint: f64,
    /// How far from the set-point is near enough, as a share of it. Default: 0.1.
    pub tolerance: f64,
}

impl Default for Target {
    fn default() -> Self {
        Self { signal: Name::cut("utilization"), setpoint: 0.7, tolerance: 0.1 }
    }
}

impl Target {
    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        inspection.signal("signal", &self.signal);
        inspection.positive("setpoint", self.setpoint);
        inspection.not_negative("tolerance", self.tolerance);
        if self.tolerance < 0.05 {
            let advice =
                format!("{} is a narrow band; below 0.05 noise moves the pool", self.tolerance);
            inspection.hint("tolerance", advice);
        }
    }
}

impl Decider for Target {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        let Some(known) = situation.reading(self.signal.as_str()) else {
            return Proposal::abstain(Reason::NoData);
        };
        let ratio = known.value.max(0.0) / self.setpoint;
        if (ratio - 1.0).abs() <= self.tolerance + EPSILON {
            return Proposal::want(situation.from(), Reason::Steady);
        }
        let measured_with = f64::from(situation.pool().live.max(1));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
        let size = (measured_with * ratio - EPSILON).ceil() as u32;
        let comparison = if ratio < 1.0 { Comparison::Below } else { Comparison::Above };
        Proposal::want(Staffing::exactly(size), known.reading.reason).because(evidence(
            known,
            comparison,
            self.setpoint,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::decide::harness::check;

    #[test]
    fn twice_the_reading_twice_the_workers() {
        check(Target::default(), 10, &[("utilization", 1.4)], "20 worker utilization");
        check(Target::default(), 10, &[("utilization", 0.35)], "5 worker utilization");
        check(Target::default(), 10, &[("utilization", 0.0)], "0 worker utilization");
    }

    #[test]
    fn near_enough_is_left_alone() {
        check(Target::default(), 10, &[("utilization", 0.77)], "10 steady");
        check(Target::default(), 10, &[("utilization", 0.63)], "10 steady");
        check(Target::default(), 10, &[("utilization", 0.78)], "12 worker utilization");
        check(Target::default(), 10, &[], "abstains no data");
    }
}
