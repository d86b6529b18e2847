//! G/G/c: many servers, arrivals and jobs of any kind.

use super::mmc::mmc;
use super::traffic::Traffic;

/// The mean wait at `servers`, whatever comes (G/G/c, the approximation of Allen and Cunneen):
/// the wait of the memoryless line, scaled by how much arrivals and jobs vary. `None`: they do
/// not keep up.
///
/// Exact for M/M/c and for M/G/1; within some percent for M/G/c of moderate variation.
///
/// ```
/// use headcount_sim::maths::{Service, Traffic, allen_cunneen, mmc};
///
/// let traffic = Traffic::poisson(2.0, Service::new(1.0, 5.0)?)?;
/// let thrice = mmc(&traffic, 3).map(|wait| 3.0 * wait);
/// assert_eq!(allen_cunneen(&traffic, 3), thrice, "(1 + 5) / 2");
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[must_use]
pub fn allen_cunneen(traffic: &Traffic, servers: u32) -> Option<f64> {
    Some(mmc(traffic, servers)? * traffic.variability())
}

#[cfg(test)]
mod tests {
    use super::super::{Service, kingman, pollaczek_khinchine};
    use super::*;
    use proptest::prelude::*;

    fn near(one: Option<f64>, other: Option<f64>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) => (one - other).abs() <= 1e-9 * one.abs(),
            (one, other) => one == other,
        }
    }

    proptest! {
        #[test]
        fn with_one_server_it_is_what_is_known_of_one(
            rate in 0.0..2.0, mean in 0.001..2.0, service_scv in 0.0..9.0, arrivals_scv in 0.0..9.0,
        ) {
            let service = Service::new(mean, service_scv).unwrap();
            let traffic = Traffic::poisson(rate, service).unwrap();
            prop_assert!(near(allen_cunneen(&traffic, 1), pollaczek_khinchine(&traffic)));
            let bursty = traffic.with_arrivals_scv(arrivals_scv).unwrap();
            prop_assert!(near(allen_cunneen(&bursty, 1), kingman(&bursty)));
        }

        #[test]
        fn another_server_never_makes_it_longer(erlangs in 0.0..200.0, servers in 1_u32..250) {
            let service = Service::new(1.0, 2.0).unwrap();
            let traffic = Traffic::poisson(erlangs, service).unwrap();
            let more = allen_cunneen(&traffic, servers + 1);
            match allen_cunneen(&traffic, servers) {
                Some(wait) => prop_assert!(more.expect("one more") <= wait),
                None => prop_assert!(f64::from(servers) <= erlangs),
            }
        }
    }
}
