//! G/G/1: one server, arrivals and jobs of any kind.

use super::traffic::Traffic;

/// The mean wait at one server, whatever comes (G/G/1, Kingman's approximation): exact for M/G/1,
/// good at high load, too high for even arrivals at low load. `None`: it does not keep up.
///
/// ```
/// use headcount_sim::maths::{Service, Traffic, kingman};
///
/// let traffic = Traffic::poisson(0.9, Service::exponential(1.0)?)?;
/// let bursty = traffic.with_arrivals_scv(3.0)?;
/// assert!((kingman(&bursty).expect("it keeps up") - 18.0).abs() < 1e-9);
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[must_use]
pub fn kingman(traffic: &Traffic) -> Option<f64> {
    let utilization = traffic.load().utilization(1)?;
    let crowd = utilization / (1.0 - utilization);
    Some(crowd * traffic.variability() * traffic.service().mean())
}
