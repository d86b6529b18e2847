//! What a sampler is started with, and why it may not be.

use std::fmt;
use std::io;
use std::time::Duration;

use headcount_core::health::{HealthFault, HealthRules};

/// How a [`Sampler`](super::Sampler) works.
///
/// ```
/// use headcount::SystemClock;
/// use headcount::probes::{HostSample, Sampler, SamplerConfig, Scripted};
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// let config = SamplerConfig { interval: Duration::ZERO, ..SamplerConfig::default() };
/// let sensor = Scripted::always(HostSample::default());
/// let refused = Sampler::start(sensor, config, Arc::new(SystemClock)).expect_err("no pause");
/// assert_eq!(refused.to_string(), "interval is 0ns; at least 100ms is allowed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplerConfig {
    /// From the end of one measurement to the beginning of the next. Default: 5 s.
    pub interval: Duration,
    /// A measurement that takes longer is counted as late, and nobody waits for it any longer.
    /// Default: 5 s.
    pub time_limit: Duration,
    /// How samples become a health score.
    pub rules: HealthRules,
}

impl Default for SamplerConfig {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(5),
            time_limit: Duration::from_secs(5),
            rules: HealthRules::default(),
        }
    }
}

/// Measuring more often says nothing: the kernel counts in hundredths of a second.
const INTERVAL_MIN: Duration = Duration::from_millis(100);

impl SamplerConfig {
    pub(super) fn check(&self) -> Result<(), StartError> {
        if self.interval < INTERVAL_MIN {
            return Err(StartError::Interval(self.interval));
        }
        self.rules.check().map_err(StartError::Rules)
    }
}

/// Why a sampler was not started.
///
/// ```
/// use headcount::probes::StartError;
/// use std::time::Duration;
///
/// let error = StartError::Interval(Duration::from_millis(3));
/// assert_eq!(error.to_string(), "interval is 3ms; at least 100ms is allowed");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The pause between two measurements is too short.
    Interval(Duration),
    /// The rules of health are wrong, in all of these ways.
    Rules(Vec<HealthFault>),
    /// The system has no thread for it.
    Thread(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interval(interval) => {
                write!(f, "interval is {interval:?}; at least {INTERVAL_MIN:?} is allowed")
            }
            Self::Rules(faults) => {
                let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
                write!(f, "rules of health: {}", faults.join("; "))
            }
            Self::Thread(error) => write!(f, "no thread to measure with: {error}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Thread(error) => Some(error),
            Self::Interval(_) | Self::Rules(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headcount_core::health::Thresholds;

    #[test]
    fn wrong_rules_are_named() {
        let memory = Thresholds { low: 0.9, high: 0.8 };
        let rules = HealthRules { memory, ..HealthRules::default() };
        let config = SamplerConfig { rules, ..SamplerConfig::default() };
        let told = config.check().map_err(|error| error.to_string());
        let expected = "rules of health: memory.low (0.9) is not below memory.high (0.8)";
        assert_eq!(told, Err(expected.to_owned()));
    }
}
