//! Spans of time and sizes, as people write them.

use std::time::Duration;

use serde_json::{Value as Json, json};

/// The units of time, largest first, in nanoseconds.
const UNITS: [(&str, u128); 6] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Units that are read and not written.
const MORE_UNITS: [(&str, u128); 3] =
    [("d", 86_400_000_000_000), ("min", 60_000_000_000), ("µs", 1_000)];

/// The longest span: more than a century.
const SPAN_MAX: u128 = 1_000_000 * 3_600_000_000_000;

/// `1m30s`, `500ms`, `1.5h`; a plain `0` too.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    let mut nanos: u128 = 0;
    while !rest.is_empty() {
        let digits_end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (digits, behind) = rest.split_at(digits_end);
        let unit_end = behind.find(|c: char| c.is_ascii_digit()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(unit_end);
        let unit = unit.trim();
        let (_, each) = UNITS.iter().chain(&MORE_UNITS).find(|(name, _)| *name == unit)?;
        nanos = nanos.checked_add(times(digits, *each)?)?;
        rest = behind;
    }
    let is_some = !text.trim().is_empty() && nanos <= SPAN_MAX;
    let whole = u64::try_from(nanos / 1_000_000_000).ok()?;
    let part = u32::try_from(nanos % 1_000_000_000).ok()?;
    is_some.then(|| Duration::new(whole, part))
}

/// `digits`, which may have a fraction, of something that has `each` parts.
fn times(digits: &str, each: u128) -> Option<u128> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut total = whole.parse::<u128>().ok()?.checked_mul(each)?;
    let mut scale = 10;
    for digit in fraction.chars() {
        total += u128::from(digit.to_digit(10)?) * each / scale;
        scale = u128::checked_mul(scale, 10)?;
    }
    Some(total)
}

/// A span as it is written: `1m30s`.
pub(crate) fn duration_text(span: Duration) -> String {
    let mut rest = span.as_nanos();
    let mut parts = Vec::new();
    for (unit, each) in UNITS {
        if each <= rest {
            parts.push(format!("{}{unit}", rest / each));
            rest %= each;
        }
    }
    if parts.is_empty() { "0s".to_owned() } else { parts.concat() }
}

/// A span as the core writes it.
pub(crate) fn seconds_value(span: Duration) -> Json {
    json!({"secs": span.as_secs(), "nanos": span.subsec_nanos()})
}

/// What the core wrote, as a span.
pub(crate) fn span_of(value: &Json) -> Option<Duration> {
    let nanos = u32::try_from(value.get("nanos")?.as_u64()?).ok()?;
    Some(Duration::new(value.get("secs")?.as_u64()?, nanos))
}

/// The units of size, largest first, in bytes.
const SIZES: [(&str, u128); 4] =
    [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

/// Units that are read and not written.
const MORE_SIZES: [(&str, u128); 5] =
    [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("B", 1)];

/// `64MiB`, `1.5GB`.
pub(crate) fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits_end = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let (digits, unit) = text.split_at(digits_end);
    let units = SIZES.iter().chain(&MORE_SIZES);
    let (_, each) = units.into_iter().find(|(name, _)| *name == unit.trim())?;
    u64::try_from(times(digits, *each)?).ok()
}

/// A size as it is written: `64MiB`.
pub(crate) fn size_value(bytes: u64) -> Json {
    let fits = |(_, each): &&(&str, u128)| {
        each <= &u128::from(bytes) && u128::from(bytes).is_multiple_of(*each)
    };
    match SIZES.iter().find(fits) {
        Some((unit, each)) => format!("{}{unit}", u128::from(bytes) / each).into(),
        None => bytes.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, millis: Option<f64>) {
        let read = duration(text).map(|span| span.as_secs_f64() * 1e3);
        assert_eq!(read, millis, "{text:?}");
    }

    #[test]
    fn spans_are_read_as_people_write_them() {
        check("500ms", Some(500.0));
        check("1m30s", Some(90_000.0));
        check("1m 30s", Some(90_000.0));
        check("1.5h", Some(5_400_000.0));
        check("2 min", Some(120_000.0));
        check("0", Some(0.0));
        check("250us", Some(0.25));
        for word in ["", "3", "s", "3 weeks", "-3s", "1..5s", "1e3s", ".s", "3s5", "9999999h"] {
            check(word, None);
        }
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(size("64MiB"), Some(64 << 20));
        assert_eq!(size("1.5 GB"), Some(1_500_000_000));
        assert_eq!(size("12"), None, "without a unit it is a number, and no text");
        assert_eq!(size("12 parsecs"), None);
        assert_eq!(size("99999999999999TiB"), None);
        assert_eq!(size_value(1536), Json::from(1536));
        assert_eq!(size_value(3 << 20), Json::from("3MiB"));
        assert_eq!(size_value(0), Json::from(0));
    }

    proptest! {
        #[test]
        fn a_span_reads_back(secs in 0..1_000_000_000_u64, nanos in 0..1_000_000_000_u32) {
            let span = Duration::new(secs, nanos);
            prop_assert_eq!(duration(&duration_text(span)), Some(span));
            prop_assert_eq!(span_of(&seconds_value(span)), Some(span));
        }

        #[test]
        fn a_size_reads_back(bytes in any::<u64>(), shift in 0..64_u32) {
            let bytes = bytes >> shift << (shift / 2);
            let back = match size_value(bytes) {
                Json::String(text) => size(&text),
                number => number.as_u64(),
            };
            prop_assert_eq!(back, Some(bytes));
        }

        #[test]
        fn nothing_written_can_break_it(text in "[0-9.hmsun µ]{0,40}") {
            let _may_be_none = (duration(&text), size(&text));
        }
    }
}
