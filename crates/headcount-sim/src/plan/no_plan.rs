//! Why there is no plan.

use std::fmt;

use crate::maths::{BadNumber, WORKERS_MAX};

/// Why there is no plan.
///
/// ```
/// use headcount_sim::maths::{Service, Slo, Traffic};
/// use headcount_sim::plan::{NoPlan, Plan, Question};
///
/// let traffic = Traffic::poisson(1000.0, Service::lognormal(0.050, 0.200)?)?;
/// let question = Question::new(traffic, Slo::latency(0.100, 0.01)?);
/// let Err(NoPlan::ServiceAlone { late, limit_least, .. }) = Plan::of(&question) else {
///     panic!("no number of workers makes the work itself faster");
/// };
/// assert!(0.10 < late && (limit_least - 0.200).abs() < 1e-6);
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum NoPlan {
    /// A number makes no sense.
    Number(BadNumber),
    /// The work itself takes too long; nobody would have to wait, and it would be late.
    ServiceAlone {
        /// The share that is late without any wait.
        late: f64,
        /// The share that may be.
        share: f64,
        /// The limit that was asked for, in seconds.
        limit: f64,
        /// No limit up to this can be kept, in seconds.
        limit_least: f64,
    },
    /// More workers would be needed than are looked for.
    TooMany {
        /// The workers that would be busy, on average.
        erlangs: f64,
    },
}

impl From<BadNumber> for NoPlan {
    fn from(bad: BadNumber) -> Self {
        Self::Number(bad)
    }
}

impl fmt::Display for NoPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(bad) => bad.fmt(f),
            Self::ServiceAlone { late, share, limit, limit_least } => write!(
                f,
                "no number of workers can keep this: the service alone takes longer than {limit} s \
                 for {late} of the jobs, and {share} may; ask for more than {limit_least} s, or \
                 make the work itself faster"
            ),
            Self::TooMany { erlangs } => write!(
                f,
                "{erlangs} workers would be busy on average, and at most {WORKERS_MAX} are looked \
                 for; check the rate and the service time, or split the work"
            ),
        }
    }
}

impl std::error::Error for NoPlan {}
