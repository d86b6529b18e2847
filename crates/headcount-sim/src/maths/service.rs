//! How long jobs take: their mean, and how much they differ.

use super::bad_number::BadNumber;
use super::normal;

/// How long jobs take, by two numbers: their mean, and their squared coefficient of variation
/// (variance over the square of the mean), which is 0 where all take equally long and 1 for
/// exponential times.
///
/// Means and waits need no more than that. Where the share of slow jobs is asked for, the times
/// are taken as lognormal, as those of most services are.
///
/// ```
/// use headcount_sim::maths::Service;
///
/// let service = Service::lognormal(0.050, 0.200)?;
/// assert_eq!((service.mean() * 1e4).round() / 1e4, 0.0597);
/// assert_eq!((service.scv() * 100.0).round() / 100.0, 0.43);
/// assert!((service.beyond(0.200) - 0.01).abs() < 1e-12);
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service {
    mean: f64,
    scv: f64,
}

impl Service {
    /// Jobs of `mean` seconds that differ by `scv`.
    ///
    /// # Errors
    ///
    /// When the mean is not above 0, or the squared coefficient of variation is below 0.
    pub fn new(mean: f64, scv: f64) -> Result<Self, BadNumber> {
        let mean = BadNumber::above_zero("the mean of the service time", mean)?;
        let scv = BadNumber::zero_or_above("the variation (scv) of the service time", scv)?;
        Ok(Self { mean, scv })
    }

    /// Jobs that all take `seconds`.
    ///
    /// # Errors
    ///
    /// When that is not above 0.
    pub fn fixed(seconds: f64) -> Result<Self, BadNumber> {
        Self::new(seconds, 0.0)
    }

    /// Jobs that end at any moment with the same chance, after `mean` seconds on average.
    ///
    /// # Errors
    ///
    /// When that is not above 0.
    pub fn exponential(mean: f64) -> Result<Self, BadNumber> {
        Self::new(mean, 1.0)
    }

    /// Lognormal times of which half are below `p50` and 99 in a hundred below `p99`.
    ///
    /// # Errors
    ///
    /// When the median is not above 0 or above the 99th percentile.
    pub fn lognormal(p50: f64, p99: f64) -> Result<Self, BadNumber> {
        let p50 = BadNumber::above_zero("the median of the service time", p50)?;
        if !(p50 <= p99 && p99.is_finite()) {
            let what = "the 99th percentile of the service time";
            return Err(BadNumber { what, value: p99, must: "be no less than the median" });
        }
        let sigma = (p99 / p50).ln() / normal::Z_99;
        Self::new(p50 * (sigma * sigma / 2.0).exp(), (sigma * sigma).exp_m1())
    }

    /// The mean, in seconds.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The squared coefficient of variation.
    #[must_use]
    pub fn scv(&self) -> f64 {
        self.scv
    }

    /// The share of jobs that take longer than `seconds`, were they lognormal.
    #[must_use]
    pub fn beyond(&self, seconds: f64) -> f64 {
        match self.shape() {
            _ if seconds <= 0.0 => 1.0,
            Some(shape) => normal::above((seconds.ln() - shape.middle) / shape.spread),
            None => f64::from(u8::from(seconds < self.mean)),
        }
    }

    /// The span that all but `share` of the jobs stay within, were they lognormal.
    ///
    /// # Errors
    ///
    /// When the share is not between 0 and 1.
    pub fn all_but(&self, share: f64) -> Result<f64, BadNumber> {
        let share = BadNumber::share("the share of slower jobs", share)?;
        let at = |shape: Shape| (shape.middle + shape.spread * normal::above_inverse(share)).exp();
        Ok(self.shape().map_or(self.mean, at))
    }

    /// The normal distribution of the logarithms. `None`: all jobs take equally long.
    pub(super) fn shape(&self) -> Option<Shape> {
        let variance = self.scv.ln_1p();
        let shape = Shape { middle: self.mean.ln() - variance / 2.0, spread: variance.sqrt() };
        (0.0 < variance).then_some(shape)
    }
}

/// Mean and deviation of the logarithms of lognormal times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) middle: f64,
    pub(super) spread: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_percentiles_come_back_as_they_went_in() {
        let service = Service::lognormal(0.03, 4.0).unwrap();
        assert!((service.beyond(0.03) - 0.5).abs() < 1e-12);
        assert!((service.beyond(4.0) - 0.01).abs() < 1e-12);
        assert!((service.all_but(0.01).unwrap() - 4.0).abs() < 1e-9);
    }

    #[test]
    fn equal_jobs_are_over_at_once() {
        let service = Service::lognormal(2.0, 2.0).unwrap();
        assert_eq!((service.mean(), service.scv()), (2.0, 0.0));
        assert_eq!(service.all_but(0.01), Ok(2.0));
        let is_over = |seconds| service.beyond(seconds) < 0.5;
        let all = [-1.0, 0.0, 1.9, 2.0, 9.0].map(is_over);
        assert_eq!(all, [false, false, false, true, true]);
    }

    #[test]
    fn nonsense_is_refused() {
        let told = |service: Result<Service, BadNumber>| service.unwrap_err().to_string();
        assert_eq!(
            told(Service::new(f64::NAN, 1.0)),
            "the mean of the service time is NaN; it must be above 0"
        );
        assert_eq!(
            told(Service::new(1.0, -1.0)),
            "the variation (scv) of the service time is -1; it must be 0 or above"
        );
        assert_eq!(
            told(Service::lognormal(2.0, 1.0)),
            "the 99th percentile of the service time is 1; it must be no less than the median"
        );
        assert!(Service::lognormal(1.0, f64::INFINITY).is_err());
        assert!(Service::lognormal(1e-300, 1e300).is_err(), "too wide to be counted");
    }
}
