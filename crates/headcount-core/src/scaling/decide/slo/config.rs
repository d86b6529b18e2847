//! What may be set of `slo`: what was promised, and four things that hardly ever.

use std::time::Duration;

use super::decider::Slo;
use crate::policy::Inspection;

/// The written form of [`Slo`].
///
/// ```
/// use headcount_core::decide::SloConfig;
/// use std::time::Duration;
///
/// let slo = SloConfig { wait_budget: Duration::from_millis(50), ..SloConfig::default() };
/// assert_eq!(slo.trust_start, 64);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct SloConfig {
    /// How long a task may wait. Default: 100 ms.
    pub wait_budget: Duration,
    /// How long a task may take from its submission to its end, where that is what was promised.
    /// What the task itself takes is not known beforehand, so nothing of it should be spent
    /// waiting: the wait budget is 0 then. Default: nothing was promised.
    pub latency: Option<Duration>,
    /// Whether the newest tasks go first while the oldest cannot be in time any more: when it has
    /// waited for longer than the budget, or for half of the promised latency. Default: yes.
    pub newest_first: bool,
    /// The workers that are trusted before anything was measured. Default: 64.
    pub trust_start: u32,
    /// How far beyond what worked the pool may go, as a factor. Default: 2.
    pub trust_factor: f64,
    /// How much longer tasks may take than at rest before it looks like a knee, as a factor.
    /// Default: 1.3.
    pub inflation_max: f64,
}

impl Default for SloConfig {
    fn default() -> Self {
        Self {
            wait_budget: Duration::from_millis(100),
            latency: None,
            newest_first: true,
            trust_start: 64,
            trust_factor: 2.0,
            inflation_max: 1.3,
        }
    }
}

impl SloConfig {
    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        inspection.at_least_one("trust_start", self.trust_start);
        for (field, factor) in
            [("trust_factor", self.trust_factor), ("inflation_max", self.inflation_max)]
        {
            if !(factor.is_finite() && 1.0 < factor) {
                inspection.fault(field, factor, "a finite factor above 1 is needed");
            }
        }
        if self.latency.is_some_and(|latency| latency.is_zero()) {
            inspection.fault("latency", 0, "no task is done in no time; write a span above 0");
        }
        if self.wait_budget.is_zero() && self.latency.is_none() {
            inspection.hint("wait_budget", "0 hires for every task that finds nobody free");
        }
    }

    /// How long the oldest may wait before the newest go first. `None`: for ever.
    #[must_use]
    pub fn newest_first_after(&self) -> Option<Duration> {
        let after = match self.latency {
            // The other half is for the task itself.
            Some(latency) => latency / 2,
            None => self.wait_budget,
        };
        // Without a promise nobody is late.
        Some(after).filter(|after| self.newest_first && !after.is_zero())
    }

    /// How long a start may take before workers are kept for it: half of the wait budget, or a
    /// tenth of the promised latency, of which nobody knows how much the task leaves.
    pub(super) fn start_max(&self) -> Duration {
        self.latency.map_or(self.wait_budget / 2, |latency| latency / 10)
    }

    /// Builds the decider.
    #[must_use]
    pub fn build(&self) -> Slo {
        Slo::new(*self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_may_take_a_part_of_what_was_promised_before_workers_are_kept_for_it() {
        let config = SloConfig::default();
        assert_eq!(config.start_max(), Duration::from_millis(50));
        // Nothing of a latency is spent waiting, and yet a start of a millisecond is no reason.
        let latency = Some(Duration::from_millis(500));
        let config = SloConfig { latency, wait_budget: Duration::ZERO, ..config };
        assert_eq!(config.start_max(), Duration::from_millis(50));
    }
}
