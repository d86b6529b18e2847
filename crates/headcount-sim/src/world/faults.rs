//! What goes wrong by chance.

use std::time::Duration;

/// What goes wrong by chance, each as a share of the cases.
///
/// ```
/// use headcount_sim::world::Faults;
///
/// let shaky = Faults { spawn_fails: 0.1, ..Faults::default() };
/// assert_eq!(shaky.job_fails, 0.0, "nothing goes wrong unless it is said");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Faults {
    /// Hires that come to nothing.
    pub spawn_fails: f64,
    /// Jobs that fail at the end.
    pub job_fails: f64,
    /// Jobs in which the worker dies; the job is taken up again by another.
    pub worker_dies: f64,
    /// How often a failed job is tried again.
    pub retries: u8,
    /// How long after the failure; twice as long each further time.
    pub retry_after: Duration,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            spawn_fails: 0.0,
            job_fails: 0.0,
            worker_dies: 0.0,
            retries: 0,
            retry_after: Duration::from_secs(1),
        }
    }
}
