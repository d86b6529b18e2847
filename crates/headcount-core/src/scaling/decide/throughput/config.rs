//! What may be set of `throughput`.

use std::time::Duration;

use super::decider::Throughput;
use crate::policy::Inspection;

/// The written form of [`Throughput`].
///
/// ```
/// use headcount_core::decide::ThroughputConfig;
///
/// let eager = ThroughputConfig { gain_min: 0.2, ..ThroughputConfig::default() };
/// assert_eq!(eager.start, 4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct ThroughputConfig {
    /// The workers it begins with. Default: 4.
    pub start: u32,
    /// How much of its growth must be seen in throughput, on the logarithm: of a doubling, 0.4
    /// asks for a third more. Default: 0.4.
    pub gain_min: f64,
    /// How long nothing may end, on idle processors, before it grows all the same. Default: 1 s.
    pub blind_span: Duration,
    /// How far it grows while nothing has ended. Default: 64.
    pub blind_max: u32,
}

impl Default for ThroughputConfig {
    fn default() -> Self {
        Self { start: 4, gain_min: 0.4, blind_span: Duration::from_secs(1), blind_max: 64 }
    }
}

impl ThroughputConfig {
    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        inspection.at_least_one("start", self.start);
        inspection.some_time("blind_span", self.blind_span);
        if !(0.0 < self.gain_min && self.gain_min < 1.0) {
            inspection.fault("gain_min", self.gain_min, "a share between 0 and 1 is needed");
        }
    }

    /// Builds the decider.
    #[must_use]
    pub fn build(&self) -> Throughput {
        Throughput::new(*self)
    }
}
