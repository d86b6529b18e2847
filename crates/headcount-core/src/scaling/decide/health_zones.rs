//! Sizes the pool by the machine's health alone: syshealth's rule.
//!
//! *Gain*: none. The zone names the size, so nothing feeds back through the pool's own readings.

use super::Decider;
use crate::health::Standing;
use crate::scaling::signal::Unit;
use crate::{Proposal, Reason, Situation, Staffing};

/// Sizes the pool by the machine's health alone.
///
/// The minimum in the critical zone, half of the maximum in the warning zone, the maximum in the
/// safe zone.
///
/// ```
/// use headcount_core::decide::{DeciderConfig, HealthZones};
/// use headcount_core::health::Health;
/// use headcount_core::{Observation, Policy, PolicyConfig, PoolSnapshot, Staffing, Timestamp};
///
/// let decider = Some(DeciderConfig::HealthZones(HealthZones::default()));
/// let config = PolicyConfig { decider, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 10).expect("no fault").build();
/// let health = Some(Health { measured_at: Timestamp::ORIGIN, score: 50.0, worst: None });
/// let pool = PoolSnapshot::of(Staffing::exactly(10));
/// let decision = autoscaler.tick(&Observation { pool, health, ..Observation::default() });
/// assert_eq!(decision.explain().to_string(), "shrink 10 to 5: wants 5 (health) -> bounds 5");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct HealthZones {
    /// The workers in the critical zone. A policy sets it to its minimum.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub workers_min: u32,
    /// The workers in the safe zone. A policy sets it to its maximum.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub workers_max: u32,
}

impl Default for HealthZones {
    fn default() -> Self {
        Self { workers_min: 1, workers_max: 10 }
    }
}

impl Decider for HealthZones {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        let standing = Standing::of(situation.observation.health.as_ref(), situation.now());
        let size = standing.zone.workers_for(self.workers_min, self.workers_max);
        let mut proposal = Proposal::want(Staffing::exactly(size), Reason::Health);
        proposal.estimate("health_score", Unit::Score, standing.score);
        proposal
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::decide::harness::check_observed;
    use crate::scaling::guard::harness::health;

    #[test]
    fn each_zone_has_its_size() {
        let zones = HealthZones::default();
        check_observed(zones, 10, health(0.0, 0), "1 health");
        check_observed(zones, 10, health(33.0, 0), "1 health");
        check_observed(zones, 10, health(34.0, 0), "5 health");
        check_observed(zones, 10, health(66.0, 0), "5 health");
        check_observed(zones, 1, health(67.0, 0), "10 health");
        check_observed(zones, 1, health(100.0, 0), "10 health");
    }

    #[test]
    fn unknown_health_is_half() {
        check_observed(HealthZones::default(), 10, |_| {}, "5 health");
    }
}
