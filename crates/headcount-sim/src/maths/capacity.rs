//! The most that a number of workers can carry.

use super::slo::Slo;
use super::traffic::Traffic;

/// How often the span in which the answer lies is halved: then it is known to 12 digits.
const HALVINGS: u32 = 40;

/// The highest rate at which `servers` keep `slo`, for jobs like those of `traffic`. `None`: they
/// keep it at no rate.
///
/// ```
/// use headcount_sim::maths::{Service, Slo, Traffic, rate_max};
///
/// let traffic = Traffic::poisson(1000.0, Service::lognormal(0.050, 0.200)?)?;
/// let most = rate_max(&traffic, 64, &Slo::wait(0.050, 0.01)?).expect("64 can do it");
/// assert!((most - 1014.26).abs() < 0.01);
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[must_use]
pub fn rate_max(traffic: &Traffic, servers: u32, slo: &Slo) -> Option<f64> {
    let is_kept = |rate: f64| {
        let busier = traffic.with_rate(rate).ok()?;
        Some(slo.late(&busier, servers)? <= slo.share())
    };
    // With nobody else in the way it is the service alone that counts.
    if servers == 0 || slo.share() < slo.late_at_best(traffic) {
        return None;
    }
    let (mut kept, mut broken) = (0.0, f64::from(servers) / traffic.service().mean());
    for _ in 0..HALVINGS {
        let rate = f64::midpoint(kept, broken);
        match is_kept(rate) {
            Some(true) => kept = rate,
            _ => broken = rate,
        }
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::super::{Service, workers_needed};
    use super::*;
    use proptest::prelude::*;

    fn traffic(rate: f64) -> Traffic {
        Traffic::poisson(rate, Service::exponential(1.0).unwrap()).unwrap()
    }

    #[test]
    fn one_server_carries_what_the_formula_says() {
        // At one server half of the jobs wait when it is half busy.
        let most = rate_max(&traffic(0.1), 1, &Slo::wait(0.0, 0.5).unwrap()).unwrap();
        assert!((most - 0.5).abs() < 1e-9, "{most}");
    }

    #[test]
    fn what_the_service_breaks_is_kept_at_no_rate() {
        assert_eq!(rate_max(&traffic(0.1), 9, &Slo::latency(0.5, 0.01).unwrap()), None);
        assert_eq!(rate_max(&traffic(0.1), 0, &Slo::wait(0.5, 0.01).unwrap()), None);
    }

    proptest! {
        #[test]
        fn it_is_the_inverse_of_the_workers_needed(servers in 1_u32..200, limit in 0.0..2.0) {
            let slo = Slo::wait(limit, 0.05).unwrap();
            let most = rate_max(&traffic(1.0), servers, &slo).expect("it can be kept");
            prop_assert_eq!(workers_needed(&traffic(most), &slo), Some(servers));
            prop_assert_eq!(workers_needed(&traffic(most * 1.000_001), &slo), Some(servers + 1));
        }
    }
}
