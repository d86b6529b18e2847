//! Little's law: what is inside is what comes in a second times how long it stays.

use super::bad_number::BadNumber;

/// How many are inside on average, where `rate` come in a second and each stays `seconds`.
///
/// It holds for any line whatsoever: jobs that wait, workers that are busy, people in a shop.
///
/// ```
/// assert_eq!(headcount_sim::maths::little_count(200.0, 0.25), Ok(50.0));
/// ```
///
/// # Errors
///
/// When either is below 0 or not a number.
pub fn little_count(rate: f64, seconds: f64) -> Result<f64, BadNumber> {
    let rate = BadNumber::zero_or_above("the rate of arrivals", rate)?;
    Ok(rate * BadNumber::zero_or_above("the time inside", seconds)?)
}

/// How long each stays on average, where `rate` come in a second and `count` are inside.
///
/// ```
/// assert_eq!(headcount_sim::maths::little_span(200.0, 50.0), Ok(0.25));
/// ```
///
/// # Errors
///
/// When nobody comes, or the count is below 0 or not a number.
pub fn little_span(rate: f64, count: f64) -> Result<f64, BadNumber> {
    let rate = BadNumber::above_zero("the rate of arrivals", rate)?;
    Ok(BadNumber::zero_or_above("the count inside", count)? / rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_refused() {
        assert!(little_count(-1.0, 1.0).is_err() && little_count(1.0, f64::NAN).is_err());
        assert!(little_span(0.0, 1.0).is_err(), "nobody comes, so nobody is inside");
    }
}
