//! Grows on a long queue, shrinks on idle workers: spool's rule.
//!
//! *Gain*: one worker per cooldown; within one worker for any delay.

use std::time::Duration;

use super::all_busy::idle_evidence;
use super::{Decider, Step};
use crate::policy::Inspection;
use crate::scaling::signal::Unit;
use crate::{Comparison, Evidence, Name, Proposal, Reason, Situation, Staffing};

/// Grows while more tasks wait than allowed; shrinks when a worker has been parked for long.
///
/// ```
/// use headcount_core::decide::{DeciderConfig, QueueDepth, Step};
/// use headcount_core::{Observation, Policy, PolicyConfig, PoolSnapshot, Staffing};
///
/// let queue_depth = QueueDepth { grow_step: Step::Multiply(1.5), ..QueueDepth::default() };
/// let decider = Some(DeciderConfig::QueueDepth(queue_depth));
/// let config = PolicyConfig { decider, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 8).expect("no fault").build();
/// let pool = PoolSnapshot { queued: 150, ..PoolSnapshot::of(Staffing::exactly(4)) };
/// let decision = autoscaler.tick(&Observation { pool, ..Observation::default() });
/// let line = "grow 4 to 6: wants 6 (queue depth 150 > 100) -> bounds 6";
/// assert_eq!(decision.explain().to_string(), line);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct QueueDepth {
    /// How many tasks may wait. Default: 100.
    pub depth_max: u64,
    /// How long a worker is parked before it is one too many. Default: 2 min.
    pub idle_max: Duration,
    /// How far to grow. Default: 1 worker.
    pub grow_step: Step,
    /// How far to shrink. Default: 1 worker.
    pub shrink_step: Step,
}

impl Default for QueueDepth {
    fn default() -> Self {
        Self {
            depth_max: 100,
            idle_max: Duration::from_mins(2),
            grow_step: Step::Add(1),
            shrink_step: Step::Add(1),
        }
    }
}

impl QueueDepth {
    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        inspection.some_time("idle_max", self.idle_max);
        self.grow_step.inspect("grow_step", inspection);
        self.shrink_step.inspect("shrink_step", inspection);
    }
}

impl Decider for QueueDepth {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        let pool = situation.pool();
        if self.depth_max < pool.queued {
            let size = self.grow_step.up(pool);
            return Proposal::want(Staffing::exactly(size), Reason::QueueDepth).because(Evidence {
                name: Name::cut("queue_depth"),
                unit: Unit::Count,
                value: pool.queued as f64,
                comparison: Comparison::Above,
                limit: self.depth_max as f64,
            });
        }
        match idle_evidence(situation, self.idle_max) {
            Some(evidence) => {
                let size = self.shrink_step.down(pool);
                Proposal::want(Staffing::exactly(size), Reason::Idle).because(evidence)
            }
            None => Proposal::want(situation.from(), Reason::Steady),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::decide::harness::check_pool;

    #[test]
    fn more_than_the_allowed_depth_grows() {
        check_pool(QueueDepth::default(), 4, |pool| pool.queued = 101, "5 queue depth");
        check_pool(QueueDepth::default(), 4, |pool| pool.queued = 100, "4 steady");
    }

    #[test]
    fn two_idle_minutes_shrink() {
        let idle = |secs| {
            move |pool: &mut crate::PoolSnapshot| {
                pool.longest_idle = Some(Duration::from_secs(secs));
            }
        };
        check_pool(QueueDepth::default(), 4, idle(120), "3 idle");
        check_pool(QueueDepth::default(), 4, idle(119), "4 steady");
    }

    #[test]
    fn a_long_queue_counts_more_than_an_idle_worker() {
        check_pool(
            QueueDepth::default(),
            4,
            |pool| {
                pool.queued = 500;
                pool.longest_idle = Some(Duration::from_secs(500));
            },
            "5 queue depth",
        );
    }
}
