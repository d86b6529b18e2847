//! A worker for every task that finds none idle, as ants, pond and tokio's blocking pool do.
//!
//! There is nothing to decide: the pool may have as many as its bounds allow, hires without
//! waiting, and a worker that was idle for `idle_time` goes. The last two are the roster's; a
//! shell reads them from the policy's `wait_budget` and `idle_time`.

use std::time::Duration;

use crate::decide::Decider;
use crate::{Proposal, Reason, Situation, Staffing};

/// Leaves it all to the pool: a worker for every task that finds none idle.
///
/// ```
/// use headcount_core::decide::{DeciderConfig, OnDemand};
/// use headcount_core::{Policy, PolicyConfig, Staffing};
/// use std::time::Duration;
///
/// let idle_time = Duration::from_millis(100);
/// let decider = Some(DeciderConfig::OnDemand(OnDemand { idle_time }));
/// let config = PolicyConfig { workers_min: Some(0), decider, ..PolicyConfig::default() };
/// let roster = Policy::check(&config, 8).expect("no fault").roster();
/// assert_eq!(roster.staffing, Staffing::between(0, 8));
/// assert_eq!((roster.wait_budget, roster.idle_time), (Duration::ZERO, idle_time));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct OnDemand {
    /// How long a worker above the minimum stays idle before it goes; 0 is at once. Default: 1 s.
    pub idle_time: Duration,
}

impl Default for OnDemand {
    fn default() -> Self {
        Self { idle_time: Duration::from_secs(1) }
    }
}

impl Decider for OnDemand {
    fn decide(&mut self, _situation: &Situation<'_>) -> Proposal {
        Proposal::want(Staffing::between(0, u32::MAX), Reason::WaitBudget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::decide::harness::check_pool;

    #[test]
    fn the_bounds_alone_limit_it() {
        check_pool(OnDemand::default(), 4, |pool| pool.queued = 9, "0..4294967295 wait budget");
        check_pool(OnDemand::default(), 4, |_| {}, "0..4294967295 wait budget");
    }
}
