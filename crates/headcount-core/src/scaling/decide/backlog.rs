//! As many workers as the load keeps busy, and as many more as it takes to clear what waits.
//!
//! One worker clears `wait / service time` waiting tasks within the acceptable wait; more than
//! that for each worker is too much. The load itself is arrivals times service time: the number
//! of busy workers would do as well, but it reads "all of them" while anything waits, and the
//! pool would feed on itself.
//!
//! *Gain*: none. Neither arrivals nor service time depend on the size, and the backlog only adds.

use std::time::Duration;

use super::Decider;
use super::steps::EPSILON;
use crate::policy::Inspection;
use crate::scaling::signal::Unit;
use crate::{Name, Proposal, Reason, Situation, Staffing};

/// Proposes enough workers for the load, and to clear what waits within an acceptable time.
///
/// ```
/// use headcount_core::decide::{Backlog, DeciderConfig};
/// use headcount_core::{Observation, Policy, PolicyConfig, PoolSnapshot, Statistics, Timestamp};
/// use std::time::Duration;
///
/// let decider = Some(DeciderConfig::Backlog(Backlog::default()));
/// let config = PolicyConfig { decider, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 8).expect("no fault").build();
/// let service = Statistics::of(&[Duration::from_millis(50)]);
/// let mut pool = PoolSnapshot { queued: 40, service, ..PoolSnapshot::default() };
/// autoscaler.tick(&Observation::new(Timestamp::ORIGIN, pool));
/// pool.counters.submitted = 100;
/// // A hundred tasks a second keep 5 workers busy; 2 more clear the 40 within a second.
/// let decision = autoscaler.tick(&Observation::new(Timestamp::from_secs(1), pool));
/// assert_eq!(decision.to.ceiling, 7);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Backlog {
    /// How long a task may wait. Default: 1 s.
    pub wait_max: Duration,
    /// The signal that reads arrivals a second. Default: `arrival_rate`.
    pub arrivals: Name,
    /// The signal that reads seconds a task. Default: `service_time`.
    pub service: Name,
}

impl Default for Backlog {
    fn default() -> Self {
        Self {
            wait_max: Duration::from_secs(1),
            arrivals: Name::cut("arrival_rate"),
            service: Name::cut("service_time"),
        }
    }
}

impl Backlog {
    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        inspection.some_time("wait_max", self.wait_max);
        inspection.signal("arrivals", &self.arrivals);
        inspection.signal("service", &self.service);
    }
}

impl Decider for Backlog {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        let arrivals = situation.reading(self.arrivals.as_str());
        let service = situation.reading(self.service.as_str());
        let pool = situation.pool();
        let (Some(arrivals), Some(service)) = (arrivals, service) else {
            // Nothing comes and nothing waits: however long tasks take, who is busy is enough.
            let is_quiet = arrivals.is_some_and(|known| known.value == 0.0) && pool.queued == 0;
            return match is_quiet {
                true => Proposal::want(Staffing::exactly(pool.busy), Reason::Backlog),
                false => Proposal::abstain(Reason::NoData),
            };
        };
        let load = arrivals.value * service.value;
        let per_worker = self.wait_max.as_secs_f64() / service.value.max(1e-9);
        let clearing = pool.queued as f64 / per_worker;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
        let size = (load + clearing - EPSILON).ceil() as u32;
        let mut proposal = Proposal::want(Staffing::exactly(size), Reason::Backlog);
        proposal.estimate("load", Unit::Count, load);
        proposal.estimate("backlog_per_worker_max", Unit::Count, per_worker);
        proposal.estimate("clearing", Unit::Count, clearing);
        proposal
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::decide::harness::check_with;

    fn check(queued: u64, arrivals: f64, service: f64, expected: &str) {
        let readings = [("arrival_rate", arrivals), ("service_time", service)];
        check_with(Backlog::default(), 4, &readings, |o| o.pool.queued = queued, expected);
    }

    #[test]
    fn the_load_and_what_waits_add_up() {
        check(0, 100.0, 0.05, "5 backlog");
        check(40, 100.0, 0.05, "7 backlog");
        check(0, 0.0, 0.05, "0 backlog");
    }

    #[test]
    fn without_arrivals_or_service_it_abstains() {
        check_with(Backlog::default(), 4, &[("arrival_rate", 5.0)], |_| {}, "abstains no data");
    }

    #[test]
    fn where_nothing_comes_and_nothing_waits_the_busy_are_enough() {
        let quiet = [("arrival_rate", 0.0)];
        check_with(Backlog::default(), 9, &quiet, |o| o.pool.busy = 2, "2 backlog");
        check_with(Backlog::default(), 9, &quiet, |o| o.pool.queued = 2, "abstains no data");
    }
}
