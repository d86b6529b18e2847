//! Brings the pool down while the machine is unwell, and lets it back up slowly.
//!
//! Down at once, whatever the cooldowns before it said; up by half as many again, one step a
//! rest. The recovery is reckoned from when the machine was last unwell and how many workers there
//! were then, so it needs no state of its own and cannot be sped up by ticking faster.

use std::time::Duration;

use super::{Because, Guard, Ruling};
use crate::health::{Standing, Zone};
use crate::{Situation, Staffing};

/// Limits the pool by the zone of the machine's health.
///
/// The critical zone allows the minimum, the warning zone half of the maximum, the safe zone the
/// maximum.
///
/// Health that is unknown or older than two minutes counts as a warning, so switch this on only
/// where health is measured.
///
/// ```
/// use headcount_core::guard::{Guard, HealthBrake};
/// use headcount_core::health::Health;
/// use headcount_core::{History, Observation, PoolSnapshot, Situation, Staffing};
///
/// let pool = PoolSnapshot::of(Staffing::exactly(8));
/// let mut observation = Observation { pool, ..Observation::default() };
/// observation.health = Some(Health { measured_at: observation.at, score: 20.0, worst: None });
/// let history = History::default();
/// let situation = Situation { observation: &observation, readings: &[], history: &history };
/// let brake = HealthBrake { workers_min: 2, workers_max: 10, ..HealthBrake::default() };
/// let wanted = Staffing::exactly(9);
/// let left = brake.review(&situation, wanted).applied_to(situation.from(), wanted);
/// assert_eq!(left, Staffing::exactly(2), "critical: down at once");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct HealthBrake {
    /// The workers left in the critical zone. The policy sets it to its minimum.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub workers_min: u32,
    /// The workers allowed in the safe zone. The policy sets it to its maximum.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub workers_max: u32,
    /// How much the pool may grow after each rest, as a share. Default: 0.5.
    pub recovery_share: f64,
    /// How long the pool rests after the brake, and between steps up. Default: 5 min.
    pub recovery_rest: Duration,
}

impl Default for HealthBrake {
    fn default() -> Self {
        Self {
            workers_min: 1,
            workers_max: u32::MAX,
            recovery_share: 0.5,
            recovery_rest: Duration::from_mins(5),
        }
    }
}

impl HealthBrake {
    /// How many workers are allowed again, so long after the brake left `ceiling`.
    fn recovered(&self, ceiling: u32, since: Duration) -> u32 {
        if self.recovery_rest.is_zero() {
            return self.workers_max;
        }
        let rests = since.as_nanos() / self.recovery_rest.as_nanos();
        let mut allowed = ceiling;
        for _ in 0..rests {
            if self.workers_max <= allowed {
                return self.workers_max;
            }
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
            let more = (f64::from(allowed) * self.recovery_share).ceil() as u32;
            allowed = allowed.saturating_add(more.max(1));
        }
        allowed.min(self.workers_max)
    }
}

impl Guard for HealthBrake {
    fn name(&self) -> &'static str {
        "health"
    }

    fn watches_health(&self) -> bool {
        true
    }

    fn review(&self, situation: &Situation<'_>, wanted: Staffing) -> Ruling {
        let from = situation.from();
        let standing = Standing::of(situation.observation.health.as_ref(), situation.now());
        let zone = standing.zone;
        if zone != Zone::Safe {
            let most = zone.workers_for(self.workers_min, self.workers_max);
            let because = Because::Health { zone, assumed: standing.basis.is_assumed() };
            return Ruling::of(from, wanted, wanted.at_most(most), because);
        }
        let Some(brake) = situation.history.brake() else {
            return Ruling::Allow;
        };
        let most = self.recovered(brake.ceiling, situation.now().since(brake.at));
        // Recovery limits growth; it takes nothing away from what there is.
        let left = wanted.at_most(most).no_less_than(wanted.no_more_than(from));
        Ruling::of(from, wanted, left, Because::Recovering(most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::guard::harness::{Scene, check, health};

    fn brake() -> HealthBrake {
        HealthBrake { workers_min: 1, workers_max: 10, ..HealthBrake::default() }
    }

    #[test]
    fn each_zone_has_its_limit() {
        Scene::at(0).with(health(33.0, 0)).check(&brake(), 10, 10, "health critical 1");
        Scene::at(0).with(health(34.0, 0)).check(&brake(), 10, 10, "health warning 5");
        Scene::at(0).with(health(67.0, 0)).check(&brake(), 10, 10, "yes 10");
        Scene::at(0).with(health(20.0, 0)).check(&brake(), 1, 1, "yes 1");
    }

    #[test]
    fn unknown_and_stale_health_mean_half() {
        check(&brake(), 10, 10, "health warning 5");
        Scene::at(121).with(health(90.0, 0)).check(&brake(), 10, 10, "health warning 5");
        Scene::at(120).with(health(90.0, 0)).check(&brake(), 10, 10, "yes 10");
    }

    #[test]
    fn recovery_goes_by_halves_and_rests() {
        let safe = |now| Scene::at(now).braked(0, 1).with(health(100.0, now));
        safe(299).check(&brake(), 1, 10, "health recovering 1");
        safe(300).check(&brake(), 1, 10, "health recovering 2");
        safe(600).check(&brake(), 2, 10, "health recovering 3");
        safe(900).check(&brake(), 3, 10, "health recovering 5");
        safe(1200).check(&brake(), 5, 10, "health recovering 8");
        safe(1500).check(&brake(), 8, 10, "yes 10");
    }

    #[test]
    fn recovery_takes_nothing_away() {
        let scene = Scene::at(10).braked(0, 1).with(health(100.0, 10));
        scene.check(&brake(), 6, 8, "health recovering 6");
        scene.check(&brake(), 6, 5, "yes 5");
    }
}
