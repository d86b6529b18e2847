//! The share that takes too long in all, waiting and being served.

use super::erlang::erlang_c;
use super::normal;
use super::service::{Service, Shape};
use super::traffic::Traffic;
use super::wait::Line;

/// The sum over the service times begins so many deviations below their middle, where nothing is.
const DEVIATIONS_MAX: f64 = 9.0;
/// What the sum may be off by, and how often a piece may be halved to get there.
const ERROR_MAX: f64 = 1e-9;
const HALVINGS_MAX: u32 = 24;

/// The share of jobs whose wait and service together take longer than `seconds` at `servers`.
/// `None`: the servers do not keep up, or it is no span of time.
///
/// The wait is that of [`wait_beyond`](super::wait_beyond), service times are lognormal, and
/// neither knows of the other, which holds where jobs are served in the order they come in.
///
/// ```
/// use headcount_sim::maths::{Service, Traffic, latency_beyond};
///
/// let traffic = Traffic::poisson(1000.0, Service::lognormal(0.050, 0.200)?)?;
/// let late = latency_beyond(&traffic, 1000, 0.200).expect("they keep up");
/// assert!((late - 0.01).abs() < 1e-9, "nobody waits, and 1 % take longer all the same");
/// assert!(latency_beyond(&traffic, 64, 0.200).expect("they keep up") > 0.0114);
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[must_use]
pub fn latency_beyond(traffic: &Traffic, servers: u32, seconds: f64) -> Option<f64> {
    let delayed = erlang_c(traffic.load(), servers)?;
    let line = Line::at(traffic, servers, delayed);
    (0.0 <= seconds).then(|| beyond(&line, &traffic.service(), seconds))
}

/// Jobs that are late by themselves, and those whose wait used up what their service left.
pub(super) fn beyond(line: &Line, service: &Service, seconds: f64) -> f64 {
    let by_itself = service.beyond(seconds);
    let by_wait = match service.shape() {
        Some(shape) => spoilt(line, shape, seconds),
        None if service.mean() <= seconds => line.beyond(seconds - service.mean()),
        None => 0.0,
    };
    (by_itself + by_wait).min(1.0)
}

/// The share that would have been in time without its wait.
fn spoilt(line: &Line, shape: Shape, seconds: f64) -> f64 {
    if seconds <= 0.0 {
        return 0.0;
    }
    let late = |deviations: f64| {
        let served = (shape.middle + shape.spread * deviations).exp();
        normal::density(deviations) * line.beyond(seconds - served)
    };
    let most = ((seconds.ln() - shape.middle) / shape.spread).min(DEVIATIONS_MAX);
    match -DEVIATIONS_MAX < most {
        true => Piece::of(&late, -DEVIATIONS_MAX, most).area(&late, ERROR_MAX, HALVINGS_MAX),
        false => 0.0,
    }
}

/// A piece of a curve: its two ends, its middle, and the parabola through them (Simpson's rule).
#[derive(Clone, Copy, Debug)]
struct Piece {
    ends: [f64; 2],
    heights: [f64; 3],
}

impl Piece {
    fn of(curve: &impl Fn(f64) -> f64, from: f64, to: f64) -> Self {
        let heights = [from, f64::midpoint(from, to), to].map(curve);
        Self { ends: [from, to], heights }
    }

    fn parabola(&self) -> f64 {
        let [left, middle, right] = self.heights;
        (self.ends[1] - self.ends[0]) / 6.0 * (left + 4.0 * middle + right)
    }

    /// Halves itself until halving makes no difference.
    fn area(&self, curve: &impl Fn(f64) -> f64, error: f64, halvings: u32) -> f64 {
        let [from, to] = self.ends;
        let middle = f64::midpoint(from, to);
        let halves = [Self::of(curve, from, middle), Self::of(curve, middle, to)];
        let sum = halves[0].parabola() + halves[1].parabola();
        let change = sum - self.parabola();
        // The first halvings always happen: a curve may be flat at three points and not between.
        let is_young = HALVINGS_MAX - 4 < halvings;
        if halvings == 0 || (!is_young && change.abs() <= 15.0 * error) {
            return sum + change / 15.0;
        }
        halves.iter().map(|half| half.area(curve, error / 2.0, halvings - 1)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::wait_beyond;
    use super::*;
    use proptest::prelude::*;

    fn traffic(rate: f64, service: Service) -> Traffic {
        Traffic::poisson(rate, service).unwrap()
    }

    #[test]
    fn equal_jobs_are_late_when_their_wait_is() {
        let even = traffic(2.0, Service::fixed(1.0).unwrap());
        let late = latency_beyond(&even, 3, 1.5).unwrap();
        assert!((late - wait_beyond(&even, 3, 0.5).unwrap()).abs() < 1e-15);
        assert_eq!(latency_beyond(&even, 3, 0.9), Some(1.0));
    }

    #[test]
    fn nearly_equal_jobs_are_nearly_as_late() {
        let late = |scv| {
            let service = Service::new(1.0, scv).unwrap();
            latency_beyond(&traffic(2.0, service), 3, 1.5).unwrap()
        };
        assert!((late(1e-8) - late(0.0)).abs() < 1e-4);
    }

    /// A thousand slices of equal chance, each with its own service time.
    fn summed(traffic: &Traffic, servers: u32, seconds: f64) -> f64 {
        let shape = traffic.service().shape().expect("times differ");
        let slices = 200_000;
        let width = 16.0 / f64::from(slices);
        let slice = |k| {
            let deviations = -8.0 + (f64::from(k) + 0.5) * width;
            let left = seconds - (shape.middle + shape.spread * deviations).exp();
            let late = if left < 0.0 { Some(1.0) } else { wait_beyond(traffic, servers, left) };
            late.expect("they keep up") * normal::density(deviations) * width
        };
        (0..slices).map(slice).sum()
    }

    #[test]
    fn it_is_the_sum_over_all_service_times() {
        for (rate, scv, servers, seconds) in
            [(0.5, 1.0, 1, 3.0), (8.0, 4.0, 10, 2.0), (90.0, 0.3, 92, 1.5), (90.0, 0.3, 150, 1.5)]
        {
            let traffic = traffic(rate, Service::new(1.0, scv).unwrap());
            let (found, expected) = (
                latency_beyond(&traffic, servers, seconds).unwrap(),
                summed(&traffic, servers, seconds),
            );
            assert!((found - expected).abs() < 2e-5, "{found}, not {expected}");
        }
    }

    #[test]
    fn there_is_no_answer_to_nonsense() {
        let traffic = traffic(2.0, Service::exponential(1.0).unwrap());
        assert_eq!(latency_beyond(&traffic, 2, 1.0), None);
        assert_eq!(latency_beyond(&traffic, 3, f64::NAN), None);
        assert_eq!(latency_beyond(&traffic, 3, 0.0), Some(1.0));
    }

    proptest! {
        #[test]
        fn it_lies_between_the_service_and_one(
            erlangs in 0.1..99.0, more in 1_u32..9, scv in 0.0..5.0, seconds in 0.0..9.0,
        ) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            let servers = erlangs as u32 + more;
            let traffic = traffic(erlangs, Service::new(1.0, scv).unwrap());
            let late = latency_beyond(&traffic, servers, seconds).expect("they keep up");
            let fewer = latency_beyond(&traffic, servers + 1, seconds).expect("they keep up");
            prop_assert!(traffic.service().beyond(seconds) <= late && late <= 1.0);
            prop_assert!(fewer <= late + 1e-8);
        }
    }
}
