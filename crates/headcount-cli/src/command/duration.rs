//! Spans as people write them: `30`, `1.5s`, `200ms`, `5m`, `2h`, `1d`.

use std::time::Duration;

/// What each letter stands for, in seconds. Without one, seconds are meant.
const UNITS: [(&str, f64); 7] = [
    ("us", 0.000_001),
    ("ms", 0.001),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3600.0),
    ("d", 86400.0),
    ("", 1.0),
];

pub(super) fn parse(text: &str) -> Result<Duration, String> {
    let letters = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(letters);
    let seconds = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, seconds)| seconds);
    let number = number.parse::<f64>().ok().filter(|number| 0.0 <= *number);
    let span = seconds.zip(number).map(|(seconds, number)| seconds * number);
    span.and_then(|span| Duration::try_from_secs_f64(span).ok())
        .ok_or_else(|| format!("{text:?} is no span of time; write 30, 1.5s, 200ms, 5m, 2h or 1d"))
}

/// The same for people to read: `4s`, `2m05s`, `3h20m`.
pub(super) fn shown(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let told = match parse(text) {
            Ok(span) => format!("{span:?}"),
            Err(why) => why.split(';').next().unwrap_or_default().to_owned(),
        };
        assert_eq!(told, expected, "{text:?}");
    }

    #[test]
    fn spans_are_read_as_people_write_them() {
        check("30", "30s");
        check("1.5s", "1.5s");
        check("200ms", "200ms");
        check("250us", "250µs");
        check("5m", "300s");
        check("2h", "7200s");
        check("1d", "86400s");
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "-1", "1 s", "5min", "1e30d", "nan", "m"] {
            check(text, &format!("{text:?} is no span of time"));
        }
    }

    #[test]
    fn spans_are_shown_short() {
        let shown = |seconds| shown(Duration::from_secs(seconds));
        assert_eq!([4, 125, 12000].map(shown), ["4s", "2m05s", "3h20m"]);
    }
}
