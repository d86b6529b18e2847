//! A number that makes no sense where it stands.

use std::fmt;

/// A number that makes no sense where it stands.
///
/// ```
/// use headcount_sim::maths::Service;
///
/// let error = Service::new(-0.5, 1.0).expect_err("no job takes less than nothing");
/// assert_eq!(error.to_string(), "the mean of the service time is -0.5; it must be above 0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BadNumber {
    /// Of what.
    pub what: &'static str,
    /// The number.
    pub value: f64,
    /// What it must be, as in "it must be above 0".
    pub must: &'static str,
}

impl BadNumber {
    /// `value`, if it is above 0 and finite.
    pub(crate) fn above_zero(what: &'static str, value: f64) -> Result<f64, Self> {
        let is_good = 0.0 < value && value.is_finite();
        is_good.then_some(value).ok_or(Self { what, value, must: "be above 0" })
    }

    /// `value`, if it is 0 or above and finite.
    pub(crate) fn zero_or_above(what: &'static str, value: f64) -> Result<f64, Self> {
        let is_good = 0.0 <= value && value.is_finite();
        is_good.then_some(value).ok_or(Self { what, value, must: "be 0 or above" })
    }

    /// `value`, if it is a share of which something is left on both sides.
    pub(crate) fn share(what: &'static str, value: f64) -> Result<f64, Self> {
        let is_good = 0.0 < value && value < 1.0;
        is_good.then_some(value).ok_or(Self { what, value, must: "be between 0 and 1" })
    }
}

impl fmt::Display for BadNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}; it must {}", self.what, self.value, self.must)
    }
}

impl std::error::Error for BadNumber {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_no_good_anywhere() {
        for check in [BadNumber::above_zero, BadNumber::zero_or_above, BadNumber::share] {
            for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
                assert!(check("it", value).is_err(), "{value}");
            }
        }
    }

    #[test]
    fn the_edges_are_where_they_are_said_to_be() {
        assert!(BadNumber::above_zero("it", 0.0).is_err());
        assert_eq!(BadNumber::zero_or_above("it", 0.0), Ok(0.0));
        assert!(BadNumber::share("it", 0.0).is_err() && BadNumber::share("it", 1.0).is_err());
    }
}
