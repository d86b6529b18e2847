//! The fewest workers that keep a promise.

use super::erlang::Blocking;
use super::slo::Slo;
use super::traffic::Traffic;

/// More workers than this are not looked for.
pub const WORKERS_MAX: u32 = 10_000_000;

/// The fewest workers with which `slo` is kept. `None`: no number does, or none up to
/// [`WORKERS_MAX`].
///
/// ```
/// use headcount_sim::maths::{Service, Slo, Traffic, workers_needed};
///
/// let traffic = Traffic::poisson(1000.0, Service::lognormal(0.050, 0.200)?)?;
/// assert_eq!(workers_needed(&traffic, &Slo::wait(0.010, 0.01)?), Some(71));
/// let faster_than_the_work = Slo::latency(0.100, 0.01)?;
/// assert_eq!(workers_needed(&traffic, &faster_than_the_work), None);
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[must_use]
pub fn workers_needed(traffic: &Traffic, slo: &Slo) -> Option<u32> {
    if slo.share() < slo.late_at_best(traffic) {
        return None;
    }
    if f64::from(WORKERS_MAX) <= traffic.load().erlangs() {
        return None;
    }
    // Nobody below the load keeps up.
    let mut blocking = Blocking::below(traffic.load());
    while blocking.servers() < WORKERS_MAX {
        blocking.add_server();
        let late =
            blocking.delayed().map(|delayed| slo.late_at(traffic, blocking.servers(), delayed));
        if late.is_some_and(|late| late <= slo.share()) {
            return Some(blocking.servers());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::Service;
    use super::*;
    use proptest::prelude::*;

    /// Jobs of one second, so that the rate is the load.
    fn traffic(erlangs: f64) -> Traffic {
        Traffic::poisson(erlangs, Service::exponential(1.0).unwrap()).unwrap()
    }

    #[test]
    fn a_service_of_50_and_200_ms_needs_what_is_known_of_it() {
        let service = Service::new(0.0597, 0.43).unwrap();
        let traffic = Traffic::poisson(1000.0, service).unwrap();
        let needed = |wait| workers_needed(&traffic, &Slo::wait(wait, 0.01).unwrap());
        assert_eq!([0.050, 0.010, 0.0].map(needed), [Some(64), Some(71), Some(80)]);
    }

    /// No utilization is right at every size: "at most 1 % waits longer than a service time".
    #[test]
    fn the_larger_the_load_the_busier_workers_may_be() {
        let slo = Slo::wait(1.0, 0.01).unwrap();
        let utilization = |erlangs| {
            let needed = workers_needed(&traffic(erlangs), &slo).expect("it can be kept");
            format!("{:.2}", erlangs / f64::from(needed))
        };
        assert_eq!(
            [1.0, 4.0, 10.0, 16.0, 50.0, 100.0, 400.0].map(utilization),
            ["0.25", "0.57", "0.71", "0.80", "0.93", "0.95", "0.99"]
        );
    }

    #[test]
    fn there_is_an_end_to_looking() {
        let slo = Slo::wait(1.0, 0.01).unwrap();
        assert_eq!(workers_needed(&traffic(1e7), &slo), None);
        assert!(workers_needed(&traffic(1e6), &slo).is_some_and(|needed| needed < 1_000_100));
        assert_eq!(workers_needed(&traffic(0.0), &slo), Some(1));
    }

    proptest! {
        #[test]
        fn it_is_enough_and_one_less_is_not(
            erlangs in 0.0..300.0, limit in 0.0..2.0, share in 0.0001..0.5,
        ) {
            let (traffic, slo) = (traffic(erlangs), Slo::wait(limit, share).unwrap());
            let needed = workers_needed(&traffic, &slo).expect("it can be kept");
            prop_assert!(slo.late(&traffic, needed).expect("they keep up") <= share);
            let fewer = slo.late(&traffic, needed - 1);
            prop_assert!(fewer.is_none_or(|late| share < late), "{:?}", fewer);
        }
    }
}
