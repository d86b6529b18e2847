//! The offered load: how many workers would be busy if there were always one free.

use super::bad_number::BadNumber;

/// The offered load in erlangs: how many workers would be busy if there were always one free.
///
/// It is the rate of arrivals times the mean service time, and the least that a pool needs more
/// than.
///
/// ```
/// use headcount_sim::maths::Load;
///
/// let load = Load::of(1000.0, 0.060)?;
/// assert_eq!(load.erlangs(), 60.0);
/// assert_eq!(load.utilization(80), Some(0.75));
/// assert_eq!(load.utilization(60), None, "no line ever ends where everybody is always busy");
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Load(f64);

impl Load {
    /// A load of so many erlangs.
    ///
    /// # Errors
    ///
    /// When it is below 0 or not a number.
    pub fn new(erlangs: f64) -> Result<Self, BadNumber> {
        BadNumber::zero_or_above("the offered load", erlangs).map(Self)
    }

    /// What `rate` jobs a second of `mean` seconds make.
    ///
    /// # Errors
    ///
    /// When either is below 0 or not a number, or both together are too much to count.
    pub fn of(rate: f64, mean: f64) -> Result<Self, BadNumber> {
        let rate = BadNumber::zero_or_above("the rate of arrivals", rate)?;
        let mean = BadNumber::zero_or_above("the mean of the service time", mean)?;
        Self::new(rate * mean)
    }

    /// In erlangs.
    #[must_use]
    pub fn erlangs(self) -> f64 {
        self.0
    }

    /// The share of their time that `servers` are busy. `None`: they do not keep up.
    #[must_use]
    pub fn utilization(self, servers: u32) -> Option<f64> {
        let share = self.0 / f64::from(servers);
        (share < 1.0).then_some(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_refused() {
        for (rate, mean) in [(-1.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0), (1e200, 1e200)] {
            assert!(Load::of(rate, mean).is_err(), "{rate} of {mean}");
        }
    }

    #[test]
    fn nobody_keeps_up_with_nothing() {
        let idle = Load::new(0.0).unwrap();
        assert_eq!((idle.utilization(1), idle.utilization(0)), (Some(0.0), None));
    }
}
