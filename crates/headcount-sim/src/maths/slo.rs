//! What was promised: how long, and for how many.

use super::bad_number::BadNumber;
use super::erlang::erlang_c;
use super::latency;
use super::traffic::Traffic;
use super::wait::Line;

/// What a promise is about.
///
/// ```
/// use headcount_sim::maths::{Measured, Slo};
///
/// assert_eq!(Slo::latency(0.2, 0.01)?.measured(), Measured::Latency);
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// The time before a worker begins.
    Wait,
    /// The wait and the service together.
    Latency,
}

/// A promise: no more than a share of jobs takes longer than a limit.
///
/// ```
/// use headcount_sim::maths::{Service, Slo, Traffic};
///
/// let slo = Slo::wait(0.050, 0.01)?;
/// let traffic = Traffic::poisson(1000.0, Service::lognormal(0.050, 0.200)?)?;
/// assert!(slo.late(&traffic, 64).expect("64 keep up") <= slo.share());
/// assert!(slo.late(&traffic, 63).expect("63 keep up") > slo.share());
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slo {
    measured: Measured,
    limit: f64,
    share: f64,
}

impl Slo {
    /// At most `share` of the jobs wait longer than `limit` seconds.
    ///
    /// # Errors
    ///
    /// When the limit is below 0, or the share not between 0 and 1.
    pub fn wait(limit: f64, share: f64) -> Result<Self, BadNumber> {
        Self::on(Measured::Wait, BadNumber::zero_or_above("the limit of the wait", limit)?, share)
    }

    /// At most `share` of the jobs take longer than `limit` seconds, wait and service together.
    ///
    /// # Errors
    ///
    /// When the limit is not above 0, or the share not between 0 and 1.
    pub fn latency(limit: f64, share: f64) -> Result<Self, BadNumber> {
        Self::on(
            Measured::Latency,
            BadNumber::above_zero("the limit of the latency", limit)?,
            share,
        )
    }

    fn on(measured: Measured, limit: f64, share: f64) -> Result<Self, BadNumber> {
        let share = BadNumber::share("the share of late jobs", share)?;
        Ok(Self { measured, limit, share })
    }

    /// What it is about.
    #[must_use]
    pub fn measured(&self) -> Measured {
        self.measured
    }

    /// How long a job may take, in seconds.
    #[must_use]
    pub fn limit(&self) -> f64 {
        self.limit
    }

    /// The share of jobs that may take longer.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.share
    }

    /// The share of jobs that are late at `servers`. `None`: they do not keep up.
    #[must_use]
    pub fn late(&self, traffic: &Traffic, servers: u32) -> Option<f64> {
        let delayed = erlang_c(traffic.load(), servers)?;
        Some(self.late_at(traffic, servers, delayed))
    }

    /// The share of jobs that are late however many servers there are.
    #[must_use]
    pub fn late_at_best(&self, traffic: &Traffic) -> f64 {
        match self.measured {
            Measured::Wait => 0.0,
            Measured::Latency => traffic.service().beyond(self.limit),
        }
    }

    /// The same where Erlang's C is already known.
    pub(super) fn late_at(&self, traffic: &Traffic, servers: u32, erlang_c: f64) -> f64 {
        let line = Line::at(traffic, servers, erlang_c);
        match self.measured {
            Measured::Wait => line.beyond(self.limit),
            Measured::Latency => latency::beyond(&line, &traffic.service(), self.limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_refused() {
        let told = |slo: Result<Slo, BadNumber>| slo.unwrap_err().to_string();
        assert_eq!(
            told(Slo::wait(-1.0, 0.1)),
            "the limit of the wait is -1; it must be 0 or above"
        );
        assert_eq!(
            told(Slo::latency(0.0, 0.1)),
            "the limit of the latency is 0; it must be above 0"
        );
        assert_eq!(
            told(Slo::wait(1.0, 1.0)),
            "the share of late jobs is 1; it must be between 0 and 1"
        );
    }
}
