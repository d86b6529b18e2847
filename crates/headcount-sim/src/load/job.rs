//! One unit of work, as the world sends it.

use std::time::Duration;

use headcount_core::Timestamp;

/// One unit of work: when it arrives, and how long it takes where nobody stands in its way.
///
/// ```
/// use headcount_core::Timestamp;
/// use headcount_sim::load::Job;
/// use std::time::Duration;
///
/// let job = Job { at: Timestamp::from_secs(3), size: Duration::from_millis(20), class: 0 };
/// assert!(job.at < Timestamp::from_secs(4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// When it arrives.
    pub at: Timestamp,
    /// How long a worker needs for it at full speed.
    pub size: Duration,
    /// Which kind it is, where there are several.
    pub class: u8,
}
