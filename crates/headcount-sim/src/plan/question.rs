//! What a plan is asked for.

use crate::maths::{Measured, Slo, Traffic};

/// How long a thread takes from being asked for to its first task, generously.
const SPAWN: f64 = 0.001;

/// What a plan is asked for: what comes, what was promised, and what is known of the workers.
///
/// ```
/// use headcount_sim::maths::{Service, Slo, Traffic};
/// use headcount_sim::plan::{Plan, Question};
///
/// let traffic = Traffic::poisson(1000.0, Service::lognormal(0.050, 0.200)?)?;
/// let question = Question::new(traffic, Slo::wait(0.050, 0.01)?);
/// assert_eq!(Plan::of(&question)?.bounds.floor, 1, "threads are hired in time");
/// let slow = Question { spawn: 10.0, ..question };
/// assert_eq!(Plan::of(&slow)?.bounds.floor, 64, "machines are not");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// What comes when it is busiest.
    pub traffic: Traffic,
    /// What was promised.
    pub slo: Slo,
    /// Arrivals in a second when it is quietest. `None`: not known.
    pub quiet_rate: Option<f64>,
    /// Seconds from hiring a worker to its first task.
    pub spawn: f64,
    /// What a worker takes of memory. `None`: not known.
    pub bytes_per_worker: Option<u64>,
    /// How many workers there are today. `None`: not known.
    pub present: Option<u32>,
}

impl Question {
    /// The least that must be known. Workers are threads, which start within a millisecond.
    #[must_use]
    pub fn new(traffic: Traffic, slo: Slo) -> Self {
        Self { traffic, slo, quiet_rate: None, spawn: SPAWN, bytes_per_worker: None, present: None }
    }

    /// How long a usual job may wait, in seconds.
    #[must_use]
    pub fn patience(&self) -> f64 {
        match self.slo.measured() {
            Measured::Wait => self.slo.limit(),
            Measured::Latency => (self.slo.limit() - self.traffic.service().mean()).max(0.0),
        }
    }
}
