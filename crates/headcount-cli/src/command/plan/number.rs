//! Numbers as people write them: `1000/s`, `1%`, `64MiB`.

/// What comes per second, minute, hour or day. Without one of them, seconds are meant.
const SPANS: [(&str, f64); 6] =
    [("", 1.0), ("/s", 1.0), ("/m", 60.0), ("/min", 60.0), ("/h", 3600.0), ("/d", 86400.0)];

const SIZES: [(&str, u64); 9] = [
    ("", 1),
    ("B", 1),
    ("KB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Arrivals in a second.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    let (number, unit) = text.split_at(text.find('/').unwrap_or(text.len()));
    let seconds = SPANS.iter().find(|(name, _)| *name == unit).map(|(_, seconds)| seconds);
    let rate = seconds.zip(positive(number)).map(|(seconds, number)| number / seconds);
    rate.ok_or_else(|| format!("{text:?} is no rate; write 1000/s, 90/m, 5000/h or 2e6/d"))
}

/// A share between 0 and 1.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let share = match text.strip_suffix('%') {
        Some(percent) => positive(percent.trim_end()).map(|percent| percent / 100.0),
        None => positive(text),
    };
    share
        .filter(|share| 0.0 < *share && *share < 1.0)
        .ok_or_else(|| format!("{text:?} is no share; write 1%, 0.1% or 0.01, below 100%"))
}

/// A count of bytes.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let letters = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(letters);
    let size = SIZES.iter().find(|(name, _)| *name == unit).map(|(_, size)| *size);
    let count = number.trim_end().parse::<u64>().ok().filter(|count| 0 < *count);
    let bytes = size.zip(count).and_then(|(size, count)| count.checked_mul(size));
    bytes.ok_or_else(|| format!("{text:?} is no size of memory; write 64MiB, 2GiB or 500KB"))
}

/// A number of 0 or above.
pub(super) fn plain(text: &str) -> Result<f64, String> {
    positive(text).ok_or_else(|| format!("{text:?} is no number of 0 or above; write 0.5, 1 or 4"))
}

fn positive(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| 0.0 <= *number && number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_people_write_them() {
        let all = ["1000/s", "1000", "90/m", "90/min", "7200/h", "1e6/d"].map(rate);
        assert_eq!(all, [Ok(1000.0), Ok(1000.0), Ok(1.5), Ok(1.5), Ok(2.0), Ok(1e6 / 86400.0)]);
        for text in ["", "/s", "-1/s", "nan", "inf/s", "5/w", "5 /s"] {
            let error = rate(text).unwrap_err();
            assert!(error.starts_with(&format!("{text:?} is no rate; write")), "{error}");
        }
    }

    #[test]
    fn shares_are_read_in_both_forms() {
        assert_eq!(["1%", "0.5 %", "0.01"].map(share), [Ok(0.01), Ok(0.005), Ok(0.01)]);
        for text in ["1", "100%", "0", "-1%", "%", "nan"] {
            assert!(share(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn sizes_are_read_with_their_units() {
        assert_eq!(["64MiB", "2 GB", "7"].map(bytes), [Ok(64 << 20), Ok(2_000_000_000), Ok(7)]);
        for text in ["0", "1.5GiB", "64mb", "99999999TiB", "MiB", ""] {
            assert!(bytes(text).is_err(), "{text:?}");
        }
    }
}
