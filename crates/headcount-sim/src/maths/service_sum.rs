//! How long several services take one after the other.
//!
//! A sum of lognormal times is not lognormal, and a lognormal of its mean and variance has too thin
//! a tail where one of them makes most of the slow jobs. So the chances are summed up, cell by cell
//! of a grid; what takes equally long each time is added as it is, and one time alone is exact.

use super::bad_number::BadNumber;
use super::normal;
use super::service::{Service, Shape};

/// Cells of the grid; a time is told to one of them, and the longer one.
const CELLS: usize = 4096;
/// Of the share that is asked about, this part lies beyond the grid at most.
const BEYOND_GRID: f64 = 0.25;
/// Chances below this are counted as beyond the grid.
const CHANCE_MIN: f64 = 1e-18;

/// The service of all visits of a job, none of which knows of another.
#[derive(Clone, Debug)]
pub(crate) struct ServiceSum {
    fixed: f64,
    varying: Varying,
}

#[derive(Clone, Debug)]
enum Varying {
    Nothing,
    One(Service),
    Many(Grid),
}

/// The chance that it takes so many cells or more, for each number of them from 0.
#[derive(Clone, Debug)]
struct Grid {
    cell: f64,
    at_least: Vec<f64>,
}

impl ServiceSum {
    /// So many visits of each service on average: 1.5 are one or two, with equal chance. Of slow
    /// jobs, shares from a quarter of `share` up are told apart.
    pub(crate) fn of(visits: &[(Service, f64)], share: f64) -> Result<Self, BadNumber> {
        let is_fixed =
            |(service, calls): &(Service, f64)| service.shape().is_none() && calls.fract() <= 0.0;
        let (fixed, varying): (Vec<_>, Vec<_>) = visits.iter().partition(|visit| is_fixed(visit));
        let fixed = fixed.iter().map(|(service, calls)| calls * service.mean()).sum();
        let varying = match &varying[..] {
            [] => Varying::Nothing,
            [(service, calls)] if calls.to_bits() == 1.0_f64.to_bits() => Varying::One(*service),
            several => Varying::Many(Grid::of(several, share)?),
        };
        Ok(Self { fixed, varying })
    }

    /// The share of jobs that take longer than `seconds`, or a little more.
    pub(crate) fn beyond(&self, seconds: f64) -> f64 {
        let left = seconds - self.fixed;
        match &self.varying {
            _ if left < 0.0 => 1.0,
            Varying::Nothing => 0.0,
            Varying::One(service) => service.beyond(left),
            Varying::Many(grid) => grid.beyond(left),
        }
    }

    /// The span that all but `share` of the jobs stay within, or a little more.
    pub(crate) fn all_but(&self, share: f64) -> Result<f64, BadNumber> {
        Ok(self.fixed
            + match &self.varying {
                Varying::Nothing => 0.0,
                Varying::One(service) => service.all_but(share)?,
                Varying::Many(grid) => grid.all_but(share),
            })
    }
}

impl Grid {
    fn of(visits: &[(Service, f64)], share: f64) -> Result<Self, BadNumber> {
        let cell = end(visits, BEYOND_GRID * share)? / CELLS as f64;
        let sum = visits.iter().fold(nothing(), |sum, (service, calls)| {
            convolved(&sum, &visited(&masses(service, cell), *calls))
        });
        let mut below = 0.0;
        let at_least = |mass: &f64| {
            let at_least = (1.0_f64 - below).max(0.0);
            below += mass;
            at_least
        };
        Ok(Self { cell, at_least: sum.iter().map(at_least).collect() })
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    fn beyond(&self, seconds: f64) -> f64 {
        self.at_least[((seconds / self.cell) as usize).min(CELLS)]
    }

    fn all_but(&self, share: f64) -> f64 {
        let cells = self.at_least.iter().position(|at_least| *at_least <= share);
        cells.unwrap_or(CELLS) as f64 * self.cell
    }
}

/// A span that no more than `share` of the jobs exceed: either no visit is one of the slowest, or
/// by Chebyshev's inequality.
fn end(visits: &[(Service, f64)], share: f64) -> Result<f64, BadNumber> {
    let count: f64 = visits.iter().map(|(_, calls)| calls.ceil()).sum();
    let (mut slowest, mut mean, mut variance) = (0.0, 0.0, 0.0);
    for (service, calls) in visits {
        let (once, part) = (service.mean(), calls.fract());
        slowest += calls.ceil() * service.all_but(share / count)?;
        mean += calls * once;
        variance += once * once * (calls * service.scv() + part * (1.0 - part));
    }
    let by_variance = mean + (variance / share).sqrt();
    BadNumber::above_zero("the service time of all visits", f64::min(slowest, by_variance))
}

/// All chance in the first cell.
fn nothing() -> Vec<f64> {
    let mut nothing = vec![0.0; CELLS + 1];
    nothing[0] = 1.0;
    nothing
}

/// The chances of one visit. Those within a cell are divided between its two ends, so that the
/// mean stays as it is and the tail becomes no thinner.
fn masses(service: &Service, cell: f64) -> Vec<f64> {
    let mut masses = vec![0.0; CELLS + 1];
    let mut from = (0.0, 0.0);
    for k in 0..CELLS {
        let begin = k as f64 * cell;
        let to = until(service, begin + cell);
        let (chance, seconds) = (to.0 - from.0, to.1 - from.1);
        let at_end = ((seconds - begin * chance) / cell).clamp(0.0, chance.max(0.0));
        masses[k] += chance - at_end;
        masses[k + 1] += at_end;
        from = to;
    }
    masses
}

/// The share of jobs that take no longer than `seconds`, and what they add to the mean.
fn until(service: &Service, seconds: f64) -> (f64, f64) {
    let Some(Shape { middle, spread }) = service.shape() else {
        let share = f64::from(u8::from(service.mean() <= seconds));
        return (share, share * service.mean());
    };
    let deviations = (seconds.ln() - middle) / spread;
    (normal::below(deviations), service.mean() * normal::below(deviations - spread))
}

/// So many visits on average: the whole ones, and one more by chance.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn visited(one: &[f64], calls: f64) -> Vec<f64> {
    let part = calls.fract();
    let mut sum: Vec<f64> = one.iter().map(|mass| part * mass).collect();
    sum[0] += 1.0 - part;
    let (mut whole, mut power) = (calls as u64, one.to_vec());
    while 0 < whole {
        if whole % 2 == 1 {
            sum = convolved(&sum, &power);
        }
        whole /= 2;
        if 0 < whole {
            power = convolved(&power, &power);
        }
    }
    sum
}

/// One after the other; what goes beyond the grid is gone.
fn convolved(one: &[f64], other: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; CELLS + 1];
    for (k, chance) in one.iter().enumerate().filter(|(_, chance)| CHANCE_MIN < **chance) {
        for (place, mass) in sum[k..].iter_mut().zip(other) {
            *place += chance * mass;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(mean: f64, scv: f64) -> Service {
        Service::new(mean, scv).unwrap()
    }

    /// Of two lognormal times, slice by slice of the first.
    fn summed(one: Service, other: Service, seconds: f64) -> f64 {
        let shape = one.shape().expect("times differ");
        let slices = 100_000;
        let width = 16.0 / f64::from(slices);
        let slice = |k| {
            let deviations = -8.0 + (f64::from(k) + 0.5) * width;
            let left = seconds - (shape.middle + shape.spread * deviations).exp();
            other.beyond(left) * normal::density(deviations) * width
        };
        (0..slices).map(slice).sum()
    }

    #[track_caller]
    fn check(visits: &[(Service, f64)], share: f64, seconds: f64, expected: f64) {
        let sum = ServiceSum::of(visits, share).unwrap();
        let found = sum.beyond(seconds);
        let limit = sum.all_but(expected).unwrap();
        assert!(expected * (1.0 - 1e-9) <= found, "{found} is below {expected}");
        assert!(found <= expected * 1.01, "{found} is not {expected}");
        assert!(seconds * (1.0 - 1e-9) <= limit, "{limit} s is below {seconds} s");
        assert!(limit <= seconds * 1.002, "{limit} s is not {seconds} s");
    }

    #[test]
    fn it_errs_on_the_safe_side_and_by_little() {
        for (one, other, seconds) in [
            (service(0.6, 1.0), service(0.5, 1.0), 4.0),
            (service(0.6, 1.0), service(0.5, 0.01), 3.3),
            (service(0.01, 4.0), service(2.0, 1.0), 9.0),
            (service(1.0, 10.0), service(1.0, 10.0), 20.0),
        ] {
            let expected = summed(one, other, seconds);
            check(&[(one, 1.0), (other, 1.0)], 0.01, seconds, expected);
            check(&[(one, 1.0), (other, 1.0)], expected, seconds, expected);
        }
        let one = service(0.6, 1.0);
        check(&[(one, 2.0)], 0.01, 4.0, summed(one, one, 4.0));
    }

    #[test]
    fn what_takes_equally_long_each_time_is_exact() {
        let (one, fixed) = (service(0.6, 1.0), service(0.5, 0.0));
        let sum = ServiceSum::of(&[(one, 1.0), (fixed, 3.0)], 0.01).unwrap();
        assert!((sum.beyond(3.3) - one.beyond(1.8)).abs() < 1e-12);
        assert!((sum.all_but(0.01).unwrap() - one.all_but(0.01).unwrap() - 1.5).abs() < 1e-12);
        let none = ServiceSum::of(&[(fixed, 3.0)], 0.01).unwrap();
        assert_eq!(none.all_but(0.01), Ok(1.5));
        let is_over = |seconds| none.beyond(seconds) < 0.5;
        assert_eq!([0.0, 1.4, 1.5, 9.0].map(is_over), [false, false, true, true]);
    }

    #[test]
    fn a_visit_of_some_jobs_makes_some_of_them_slow() {
        let one = service(0.6, 1.0);
        check(&[(one, 0.5)], 0.01, 3.0, one.beyond(3.0) / 2.0);
        let twice = summed(one, one, 4.0);
        check(&[(one, 1.5)], 0.01, 4.0, f64::midpoint(one.beyond(4.0), twice));
    }

    /// Many visits are nearly normal.
    #[test]
    fn many_visits_are_counted_as_well() {
        let sum = ServiceSum::of(&[(service(1.0, 1.0), 1000.0)], 0.01).unwrap();
        let limit = sum.all_but(0.01).unwrap();
        let expected = 1000.0 + normal::Z_99 * 1000.0_f64.sqrt();
        assert!(expected <= limit && limit < 1.01 * expected, "{limit}, not {expected}");
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(ServiceSum::of(&[(service(1e300, 1.0), 1e300)], 0.01).is_err());
        assert!(ServiceSum::of(&[(service(1.0, 1.0), 2.0)], 0.0).is_err());
    }
}
