//! Adds a little while a reading is above its set-point, gives a share back well below it.
//!
//! It gives back only what it can spare: not if the reading, spread over the fewer workers, would
//! stand above the set-point again. That closes the band in which plain additive increase and
//! multiplicative decrease saws up and down.
//!
//! *Gain*: `grow_step` 1 or 2 and `shrink_share` up to 0.25 stay within one worker of where they
//! settle for any delay of the pool's size.

use super::steps::{EPSILON, staying};
use super::threshold::evidence;
use super::{Decider, Step};
use crate::policy::Inspection;
use crate::{Comparison, Name, Proposal, Reason, Situation, Staffing};

/// Adds a few workers while a reading is above its set-point, gives a share back well below it.
///
/// That is additive increase and multiplicative decrease.
///
/// ```
/// use headcount_core::decide::{Aimd, DeciderConfig};
/// use headcount_core::{Observation, Policy, PolicyConfig, PoolSnapshot, Staffing};
///
/// let decider = Some(DeciderConfig::Aimd(Aimd { grow_step: 2, ..Aimd::default() }));
/// let config = PolicyConfig { decider, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 8).expect("no fault").build();
/// let pool = PoolSnapshot { busy: 3, ..PoolSnapshot::of(Staffing::exactly(4)) };
/// let decision = autoscaler.tick(&Observation { pool, ..Observation::default() });
/// let line = "grow 4 to 6: wants 6 (utilization 75 % > 70 %) -> bounds 6";
/// assert_eq!(decision.explain().to_string(), line);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Aimd {
    /// The signal. Default: `utilization`.
    pub signal: Name,
    /// What it should read at most. Default: 0.7.
    pub setpoint: f64,
    /// Workers added while it reads more. Default: 1.
    pub grow_step: u32,
    /// The share of the workers given back when it reads so much less. Default: 0.25.
    pub shrink_share: f64,
}

impl Default for Aimd {
    fn default() -> Self {
        Self { signal: Name::cut("utilization"), setpoint: 0.7, grow_step: 1, shrink_share: 0.25 }
    }
}

impl Aimd {
    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        inspection.signal("signal", &self.signal);
        inspection.positive("setpoint", self.setpoint);
        inspection.at_least_one("grow_step", self.grow_step);
        inspection.inner_share("shrink_share", self.shrink_share);
    }

    /// The smaller size that the reading leaves room for.
    fn spare(&self, situation: &Situation<'_>, value: f64) -> Option<u32> {
        let pool = situation.pool();
        let size = staying(pool);
        let fewer = Step::Multiply(1.0 / (1.0 - self.shrink_share)).down(pool);
        if fewer == 0 || size <= fewer {
            return None;
        }
        let spread = value * f64::from(size) / f64::from(fewer);
        (spread <= self.setpoint + EPSILON).then_some(fewer)
    }
}

impl Decider for Aimd {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        let Some(known) = situation.reading(self.signal.as_str()) else {
            return Proposal::abstain(Reason::NoData);
        };
        if self.setpoint + EPSILON < known.value {
            let size = Step::Add(self.grow_step).up(situation.pool());
            return Proposal::want(Staffing::exactly(size), Reason::SetPoint).because(evidence(
                known,
                Comparison::Above,
                self.setpoint,
            ));
        }
        match self.spare(situation, known.value) {
            Some(size) => Proposal::want(Staffing::exactly(size), Reason::SetPoint)
                .because(evidence(known, Comparison::Below, self.setpoint)),
            None => Proposal::want(situation.from(), Reason::Steady),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::decide::harness::check;

    #[test]
    fn adds_above_the_set_point() {
        check(Aimd::default(), 4, &[("utilization", 0.71)], "5 set-point");
        check(Aimd::default(), 4, &[("utilization", 0.7)], "4 steady");
        check(Aimd::default(), 4, &[], "abstains no data");
    }

    #[test]
    fn gives_back_only_what_it_can_spare() {
        check(Aimd::default(), 8, &[("utilization", 0.5)], "6 set-point");
        check(Aimd::default(), 8, &[("utilization", 0.55)], "8 steady");
        check(Aimd::default(), 1, &[("utilization", 0.0)], "1 steady");
    }
}
