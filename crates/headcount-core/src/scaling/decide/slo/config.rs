//! What may be set of `slo`: one number, and three that hardly ever.

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
        if self.wait_budget.is_zero() {
            inspection.hint("wait_budget", "0 hires for every task that finds nobody free");
        }
    }

    /// Builds the decider.
    #[must_use]
    pub fn build(&self) -> Slo {
        Slo::new(*self)
    }
}
