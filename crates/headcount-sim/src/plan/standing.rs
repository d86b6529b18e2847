//! How a number of workers stands up to a load.

use crate::maths::{Slo, Traffic, rate_max, wait_beyond, wait_mean};

/// How a number of workers stands up to a load.
///
/// ```
/// use headcount_sim::maths::{Service, Slo, Traffic};
/// use headcount_sim::plan::Standing;
///
/// let traffic = Traffic::poisson(2.0, Service::exponential(1.0)?)?;
/// let slo = Slo::wait(0.0, 0.5)?;
/// let standing = Standing::of(&traffic, &slo, 3).expect("three keep up with two");
/// assert!((standing.late - 4.0 / 9.0).abs() < 1e-12);
/// assert!((standing.waiting - 8.0 / 9.0).abs() < 1e-12, "jobs in the line, by Little's law");
/// assert_eq!(Standing::of(&traffic, &slo, 2), None);
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// How many workers.
    pub workers: u32,
    /// The share of their time that they are busy.
    pub utilization: f64,
    /// By how many roots of the load they are more than the load.
    pub spare_roots: f64,
    /// The share of jobs that wait at all.
    pub delayed: f64,
    /// The share of jobs that are late.
    pub late: f64,
    /// The mean wait of all jobs, in seconds.
    pub wait_mean: f64,
    /// How many jobs wait on average.
    pub waiting: f64,
    /// The highest rate at which the promise is kept. `None`: at none.
    pub rate_max: Option<f64>,
}

impl Standing {
    /// How `workers` stand up to `traffic`. `None`: they do not keep up.
    #[must_use]
    pub fn of(traffic: &Traffic, slo: &Slo, workers: u32) -> Option<Self> {
        let load = traffic.load();
        let spare = f64::from(workers) - load.erlangs();
        let wait_mean = wait_mean(traffic, workers)?;
        Some(Self {
            workers,
            utilization: load.utilization(workers)?,
            spare_roots: spare / load.erlangs().sqrt(),
            delayed: wait_beyond(traffic, workers, 0.0)?,
            late: slo.late(traffic, workers)?,
            wait_mean,
            waiting: traffic.rate() * wait_mean,
            rate_max: rate_max(traffic, workers, slo),
        })
    }
}
