//! What comes to a line: how often, how evenly, and how much work it is.

use super::bad_number::BadNumber;
use super::load::Load;
use super::service::Service;

/// What comes to a line: how often, how evenly, and how much work it is.
///
/// ```
/// use headcount_sim::maths::{Service, Traffic};
///
/// let traffic = Traffic::poisson(20.0, Service::exponential(0.5)?)?;
/// assert_eq!(traffic.load().erlangs(), 10.0);
/// assert_eq!(traffic.variability(), 1.0);
/// assert_eq!(traffic.with_arrivals_scv(4.0)?.variability(), 2.5);
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    rate: f64,
    arrivals_scv: f64,
    service: Service,
    load: Load,
}

impl Traffic {
    /// `rate` jobs a second that know nothing of one another.
    ///
    /// # Errors
    ///
    /// When the rate is below 0, or makes a load too great to count.
    pub fn poisson(rate: f64, service: Service) -> Result<Self, BadNumber> {
        let load = Load::of(rate, service.mean())?;
        Ok(Self { rate, arrivals_scv: 1.0, service, load })
    }

    /// The same with arrivals that are more even (below 1) or more bursty (above 1) than chance.
    ///
    /// The number to give is the [index of dispersion](super::Dispersion) of the counts at the
    /// horizon of the wait in question; for independent gaps it is their squared coefficient of
    /// variation.
    ///
    /// # Errors
    ///
    /// When it is below 0 or not a number.
    pub fn with_arrivals_scv(self, scv: f64) -> Result<Self, BadNumber> {
        let arrivals_scv = BadNumber::zero_or_above("the variation (scv) of the arrivals", scv)?;
        Ok(Self { arrivals_scv, ..self })
    }

    /// The same jobs at another rate.
    ///
    /// # Errors
    ///
    /// When the rate is below 0, or makes a load too great to count.
    pub fn with_rate(self, rate: f64) -> Result<Self, BadNumber> {
        Self::poisson(rate, self.service)?.with_arrivals_scv(self.arrivals_scv)
    }

    /// Arrivals in a second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// How bursty the arrivals are: 1 is chance, 0 a metronome.
    #[must_use]
    pub fn arrivals_scv(&self) -> f64 {
        self.arrivals_scv
    }

    /// How long the jobs take.
    #[must_use]
    pub fn service(&self) -> Service {
        self.service
    }

    /// How many workers would be busy if there were always one free.
    #[must_use]
    pub fn load(&self) -> Load {
        self.load
    }

    /// By how much waits are longer than those of a memoryless line: the mean of both variations.
    #[must_use]
    pub fn variability(&self) -> f64 {
        f64::midpoint(self.arrivals_scv, self.service.scv())
    }

    /// The same at so many servers: bursts count for as much as the servers are busy. Where they
    /// are not, the line ends within a burst, and most of its length does not matter.
    #[must_use]
    pub fn variability_at(&self, servers: u32) -> f64 {
        if self.arrivals_scv <= 1.0 {
            return self.variability();
        }
        let busy = self.load.utilization(servers).unwrap_or(1.0);
        f64::midpoint(1.0 + busy * (self.arrivals_scv - 1.0), self.service.scv())
    }

    /// By how much wider than by chance what servers have to do is spread, as Whitt has it for the
    /// share that waits at all. 1 where arrivals are chance.
    #[must_use]
    pub fn width(&self) -> f64 {
        (self.arrivals_scv + self.service.scv()) / (1.0 + self.service.scv())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_rate_changes_nothing_but_the_load() {
        let one = Traffic::poisson(1.0, Service::new(0.5, 3.0).unwrap()).unwrap();
        let bursty = one.with_arrivals_scv(7.0).unwrap();
        let twice = bursty.with_rate(2.0).unwrap();
        assert_eq!((twice.arrivals_scv(), twice.service()), (7.0, bursty.service()));
        assert_eq!(twice.load(), Load::new(1.0).unwrap());
    }

    #[test]
    fn bursts_count_for_as_much_as_servers_are_busy() {
        let one = Traffic::poisson(6.0, Service::new(1.0, 3.0).unwrap()).unwrap();
        let of = |scv| one.with_arrivals_scv(scv).unwrap();
        let at = |scv, servers| format!("{:.3}", of(scv).variability_at(servers));
        assert_eq!([12, 8, 6].map(|servers| at(5.0, servers)), ["3.000", "3.500", "4.000"]);
        assert_eq!([0.2, 1.0].map(|scv| at(scv, 12)), ["1.600", "2.000"]);
        let width = |scv| format!("{:.3}", of(scv).width());
        assert_eq!([1.0, 5.0].map(width), ["1.000", "2.000"]);
    }

    #[test]
    fn nonsense_is_refused() {
        let traffic = Traffic::poisson(1.0, Service::exponential(1.0).unwrap()).unwrap();
        assert!(traffic.with_rate(-1.0).is_err());
        let error = traffic.with_arrivals_scv(f64::NAN).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the variation (scv) of the arrivals is NaN; it must be 0 or above"
        );
    }
}
