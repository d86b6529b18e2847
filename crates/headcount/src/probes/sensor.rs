//! The port behind which machines are measured, and sensors for tests.

use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;

use headcount_core::Timestamp;

use super::sample::HostSample;

/// Something that measures a machine.
///
/// It is asked by one thread at a time, every few seconds. It may take its time and may even panic:
/// a [`Sampler`](super::Sampler) counts that, and goes by what was measured before. What is a rate
/// it reckons from one call to the next, by the times it is told; calls may follow at once upon
/// each other.
///
/// A closure is a sensor.
///
/// ```
/// use headcount::Timestamp;
/// use headcount::probes::{HostSample, Sensor};
///
/// let mut meter = |_at: Timestamp| Ok(HostSample { io_wait: Some(0.1), ..Default::default() });
/// assert_eq!(meter.sample(Timestamp::ORIGIN).map(|sample| sample.io_wait), Ok(Some(0.1)));
/// ```
pub trait Sensor: Send {
    /// Measures now, which is `at`.
    ///
    /// # Errors
    ///
    /// When nothing at all could be measured. What is missing beside other things is `None`.
    fn sample(&mut self, at: Timestamp) -> Result<HostSample, SensorError>;
}

impl<F> Sensor for F
where
    F: FnMut(Timestamp) -> Result<HostSample, SensorError> + Send,
{
    fn sample(&mut self, at: Timestamp) -> Result<HostSample, SensorError> {
        self(at)
    }
}

/// Why nothing was measured.
///
/// ```
/// use headcount::probes::SensorError;
///
/// let error = SensorError::Other("the agent does not answer".to_owned());
/// assert_eq!(error.to_string(), "the agent does not answer");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SensorError {
    /// None of the files that tell about a machine can be read below this directory.
    Unreadable(PathBuf),
    /// The system does not say anything about itself.
    Unsupported,
    /// What a sensor from elsewhere says.
    Other(String),
}

impl fmt::Display for SensorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(root) => {
                let root = root.display();
                write!(f, "nothing can be read in proc and sys below {root}; are they mounted?")
            }
            Self::Unsupported => write!(f, "this system does not say how it is"),
            Self::Other(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for SensorError {}

/// A sensor for tests, which says what it was told to.
///
/// ```
/// use headcount::Timestamp;
/// use headcount::probes::{HostSample, Scripted, Sensor, SensorError};
///
/// let idle = HostSample { cpu: Some(0.1), ..Default::default() };
/// let busy = HostSample { cpu: Some(0.9), ..Default::default() };
/// let mut sensor = Scripted::new([Ok(idle), Err(SensorError::Unsupported), Ok(busy)]);
/// let told = [1, 2, 3, 4].map(|second| sensor.sample(Timestamp::from_secs(second)));
/// assert_eq!(told, [Ok(idle), Err(SensorError::Unsupported), Ok(busy), Ok(busy)]);
/// ```
#[derive(Clone, Debug)]
pub struct Scripted {
    to_come: VecDeque<Result<HostSample, SensorError>>,
    last: Result<HostSample, SensorError>,
}

impl Scripted {
    /// Says one of these at each call, and the last one again and again.
    ///
    /// Of an empty script it says that the system is not supported.
    pub fn new(script: impl IntoIterator<Item = Result<HostSample, SensorError>>) -> Self {
        Self { to_come: script.into_iter().collect(), last: Err(SensorError::Unsupported) }
    }

    /// Says the same at each call.
    #[must_use]
    pub fn always(sample: HostSample) -> Self {
        Self::new([Ok(sample)])
    }
}

impl Sensor for Scripted {
    fn sample(&mut self, _at: Timestamp) -> Result<HostSample, SensorError> {
        if let Some(next) = self.to_come.pop_front() {
            self.last = next;
        }
        self.last.clone()
    }
}
