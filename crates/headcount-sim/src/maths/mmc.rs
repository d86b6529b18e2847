//! M/M/c: one line, many servers.

use super::erlang::erlang_c;
use super::traffic::Traffic;

/// The mean wait at `servers`, with exponential times and arrivals by chance (M/M/c): exact.
/// `None`: they do not keep up.
///
/// Only the rate and the mean of the service time count; of how much either varies it knows
/// nothing.
///
/// ```
/// use headcount_sim::maths::{Service, Traffic, mmc};
///
/// let traffic = Traffic::poisson(2.0, Service::exponential(1.0)?)?;
/// assert!((mmc(&traffic, 3).expect("three keep up") - 4.0 / 9.0).abs() < 1e-15);
/// assert_eq!(mmc(&traffic, 2), None);
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[must_use]
pub fn mmc(traffic: &Traffic, servers: u32) -> Option<f64> {
    let delayed = erlang_c(traffic.load(), servers)?;
    let spare = f64::from(servers) - traffic.load().erlangs();
    Some(delayed * traffic.service().mean() / spare)
}

#[cfg(test)]
mod tests {
    use super::super::{Service, mm1};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn with_one_server_it_is_the_plainest_line(rate in 0.0..2.0, mean in 0.001..2.0) {
            let traffic = Traffic::poisson(rate, Service::exponential(mean).unwrap()).unwrap();
            match (mm1(&traffic), mmc(&traffic, 1)) {
                (Some(one), Some(many)) => prop_assert!((one - many).abs() <= 1e-9 * one),
                (one, many) => prop_assert_eq!(one, many),
            }
        }
    }
}
