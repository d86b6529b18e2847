//! M/G/1: one server, jobs of any kind.

use super::traffic::Traffic;

/// The mean wait at one server, with arrivals by chance and jobs of any kind (M/G/1, the formula
/// of Pollaczek and Khinchine): exact. `None`: it does not keep up.
///
/// How much the arrivals vary is not asked: they come by chance.
///
/// ```
/// use headcount_sim::maths::{Service, Traffic, mm1, pollaczek_khinchine};
///
/// let even = Traffic::poisson(0.5, Service::fixed(1.0)?)?;
/// let half = mm1(&even).map(|wait| wait / 2.0);
/// assert_eq!(pollaczek_khinchine(&even), half, "equal jobs wait half as long");
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[must_use]
pub fn pollaczek_khinchine(traffic: &Traffic) -> Option<f64> {
    let utilization = traffic.load().utilization(1)?;
    let service = traffic.service();
    // Whoever comes meets what is left of the job at the server, E[S²]/2E[S], and those before
    // them in the line.
    let left = service.mean() * (1.0 + service.scv()) / 2.0;
    Some(utilization / (1.0 - utilization) * left)
}

#[cfg(test)]
mod tests {
    use super::super::{Service, mm1};
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(rate: f64, service: Service, expected: f64) {
        let found = pollaczek_khinchine(&Traffic::poisson(rate, service).unwrap()).unwrap();
        assert!((found / expected - 1.0).abs() < 1e-12, "{found}, not {expected}");
    }

    #[test]
    fn it_is_exact() {
        // λE[S²]/(2(1-ρ)): 0.5 a second, half of the jobs 0.5 s and half 1.5 s.
        check(0.5, Service::new(1.0, 0.25).unwrap(), 0.625);
        check(8.0, Service::fixed(0.1).unwrap(), 0.2);
        check(8.0, Service::new(0.1, 9.0).unwrap(), 2.0);
    }

    proptest! {
        #[test]
        fn with_exponential_jobs_it_is_the_plainest_line(rate in 0.0..2.0, mean in 0.001..2.0) {
            let traffic = Traffic::poisson(rate, Service::exponential(mean).unwrap()).unwrap();
            match (mm1(&traffic), pollaczek_khinchine(&traffic)) {
                (Some(one), Some(any)) => prop_assert!((one - any).abs() <= 1e-9 * one),
                (one, any) => prop_assert_eq!(one, any),
            }
        }
    }
}
