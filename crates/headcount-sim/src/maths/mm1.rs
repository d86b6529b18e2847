//! M/M/1: the plainest of lines.

use super::traffic::Traffic;

/// The mean wait at one server, with exponential times and arrivals by chance (M/M/1): exact.
/// `None`: it does not keep up.
///
/// Only the rate and the mean of the service time count; of how much either varies it knows
/// nothing.
///
/// ```
/// use headcount_sim::maths::{Service, Traffic, mm1};
///
/// let traffic = Traffic::poisson(0.8, Service::exponential(1.0)?)?;
/// assert!((mm1(&traffic).expect("it keeps up") - 4.0).abs() < 1e-12);
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[must_use]
pub fn mm1(traffic: &Traffic) -> Option<f64> {
    let utilization = traffic.load().utilization(1)?;
    Some(utilization / (1.0 - utilization) * traffic.service().mean())
}
