//! Grows when every worker has a task, shrinks when one has had none for long: gopipe's rule.
//!
//! Idle time starts when a worker parks. In the rule as it was first written it started when the
//! last task *ended*, so that a worker in one long task looked idle, was counted out while it ran,
//! and a maximum of 3 became 32.
//!
//! *Gain*: one worker per cooldown; within one worker for any delay, as a step under way is not
//! taken twice.

use std::time::Duration;

use super::{Decider, Step};
use crate::policy::Inspection;
use crate::scaling::signal::Unit;
use crate::{Comparison, Evidence, Name, Proposal, Reason, Situation, Staffing};

/// Adds a worker when all have a task, lets one go that has been parked for long enough.
///
/// ```
/// use headcount_core::decide::{AllBusy, Decider};
/// use headcount_core::{History, Observation, PoolSnapshot, Situation, Staffing};
/// use std::time::Duration;
///
/// let size = |busy, longest_idle| {
///     let pool = PoolSnapshot { busy, longest_idle, ..PoolSnapshot::of(Staffing::exactly(4)) };
///     let observation = &Observation { pool, ..Observation::default() };
///     let situation = Situation { observation, readings: &[], history: &History::default() };
///     AllBusy::default().decide(&situation).wanted.map(|wanted| wanted.ceiling)
/// };
/// assert_eq!(size(4, None), Some(5));
/// assert_eq!(size(3, Some(Duration::from_secs(30))), Some(3));
/// assert_eq!(size(3, Some(Duration::from_secs(29))), Some(4), "not parked for long enough");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct AllBusy {
    /// How long a worker is parked before it is one too many. Default: 30 s.
    pub idle_max: Duration,
}

impl Default for AllBusy {
    fn default() -> Self {
        Self { idle_max: Duration::from_secs(30) }
    }
}

impl AllBusy {
    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        inspection.some_time("idle_max", self.idle_max);
    }
}

impl Decider for AllBusy {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        let pool = situation.pool();
        if 0 < pool.live && pool.live <= pool.busy {
            return Proposal::want(Staffing::exactly(Step::Add(1).up(pool)), Reason::AllBusy);
        }
        match idle_evidence(situation, self.idle_max) {
            Some(evidence) => {
                let size = Step::Add(1).down(pool);
                Proposal::want(Staffing::exactly(size), Reason::Idle).because(evidence)
            }
            None => Proposal::want(situation.from(), Reason::Steady),
        }
    }
}

/// The evidence that a worker was parked for `limit` or longer.
pub(crate) fn idle_evidence(situation: &Situation<'_>, limit: Duration) -> Option<Evidence> {
    let idle = situation.pool().longest_idle?;
    (limit <= idle).then(|| Evidence {
        name: Name::cut("idle_time"),
        unit: Unit::Seconds,
        value: idle.as_secs_f64(),
        comparison: Comparison::AtLeast,
        limit: limit.as_secs_f64(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::decide::harness::check_pool;

    #[test]
    fn all_busy_grows_by_one() {
        check_pool(AllBusy::default(), 4, |pool| pool.busy = 4, "5 all busy");
        check_pool(AllBusy::default(), 4, |pool| pool.busy = 3, "4 steady");
    }

    #[test]
    fn a_worker_parked_for_long_enough_goes() {
        let parked = |secs| {
            move |pool: &mut crate::PoolSnapshot| {
                pool.busy = 2;
                pool.longest_idle = Some(Duration::from_secs(secs));
            }
        };
        check_pool(AllBusy::default(), 4, parked(30), "3 idle");
        check_pool(AllBusy::default(), 4, parked(29), "4 steady");
    }

    #[test]
    fn one_long_task_does_not_look_idle() {
        check_pool(AllBusy::default(), 3, |pool| pool.busy = 3, "4 all busy");
        check_pool(AllBusy::default(), 3, |pool| pool.busy = 1, "3 steady");
    }

    #[test]
    fn a_pool_without_workers_is_not_all_busy() {
        check_pool(AllBusy::default(), 4, |pool| pool.live = 0, "4 steady");
    }
}
