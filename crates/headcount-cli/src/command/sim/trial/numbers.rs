//! Numbers as people write them: rates and shares.

/// Jobs a second: `50/s`, `3000/m`, `7200/h`, or `50`.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    let (number, seconds) = match text.split_once('/') {
        None => (text, Some(1.0)),
        Some((number, "s")) => (number, Some(1.0)),
        Some((number, "m")) => (number, Some(60.0)),
        Some((number, "h")) => (number, Some(3600.0)),
        Some((number, _)) => (number, None),
    };
    let rate = seconds.zip(positive(number)).map(|(seconds, number)| number / seconds);
    rate.ok_or_else(|| format!("{text:?} is no rate; write 50/s, 3000/m or 7200/h"))
}

/// A part of all: `1%` or `0.01`.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let share = match text.strip_suffix('%') {
        Some(percent) => positive(percent).map(|percent| percent / 100.0),
        None => positive(text),
    };
    let share = share.filter(|share| *share <= 1.0);
    share.ok_or_else(|| format!("{text:?} is no share; write 1% or 0.01"))
}

/// A number from 0 on.
pub(super) fn number(text: &str) -> Result<f64, String> {
    positive(text).ok_or_else(|| format!("{text:?} is no number from 0 on; write 2 or 0.5"))
}

/// Where chance begins.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text:?} is no seed; write a whole number from 0 on, as 7"))
}

fn positive(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite() && 0.0 <= *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_shares_are_read_as_people_write_them() {
        assert_eq!(["50", "50/s", "120/m", "7200/h"].map(|text| rate(text).ok()), {
            [Some(50.0), Some(50.0), Some(2.0), Some(2.0)]
        });
        assert_eq!((share("1%"), share("0.5"), number("2")), (Ok(0.01), Ok(0.5), Ok(2.0)));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "x", "-1", "nan", "inf", "5/d", "1e999"] {
            assert_eq!(rate(text).ok(), None, "{text}");
            assert_eq!(number(text).ok(), None, "{text}");
        }
        for text in ["101%", "1.5", "%", "-1%"] {
            assert_eq!(share(text).ok(), None, "{text}");
        }
    }
}
