//! The wall clock, for schedules.
//!
//! By a fixed distance from UTC and no more: named zones and daylight saving would need a table of
//! what governments decide, which is not ours to keep.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use headcount_core::{Calendar, Weekday};

/// How far a clock is ahead of UTC, all year round.
///
/// ```
/// use headcount::UtcOffset;
///
/// let offset: UtcOffset = "+05:30".parse()?;
/// assert_eq!((offset.minutes(), offset.to_string()), (330, "+05:30".to_owned()));
/// assert_eq!("UTC".parse(), Ok(UtcOffset::UTC));
/// let error = "Europe/Berlin".parse::<UtcOffset>().expect_err("a zone has no fixed offset");
/// assert!(error.to_string().contains("write UTC or a fixed offset such as +02:00"), "{error}");
/// # Ok::<(), headcount::UtcOffsetError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UtcOffset {
    minutes: i16,
}

impl UtcOffset {
    /// Not ahead and not behind.
    pub const UTC: Self = Self { minutes: 0 };
    /// No clock on earth is further ahead or behind than so many minutes.
    pub const MINUTES_MAX: i16 = 14 * 60;

    /// How many minutes it is ahead; below 0 where it is behind.
    #[must_use]
    pub const fn minutes(self) -> i16 {
        self.minutes
    }
}

impl FromStr for UtcOffset {
    type Err = UtcOffsetError;

    fn from_str(text: &str) -> Result<Self, UtcOffsetError> {
        if text == "UTC" {
            return Ok(Self::UTC);
        }
        let refused = || UtcOffsetError(text.to_owned());
        let (sign, rest) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
            (Some(rest), _) => (1, rest),
            (_, Some(rest)) => (-1, rest),
            _ => return Err(refused()),
        };
        let two_digits = |part: &str| {
            let is_number = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
            part.parse::<i16>().ok().filter(|_| is_number)
        };
        let parts = rest.split_once(':');
        let parts = parts.and_then(|(hour, minute)| two_digits(hour).zip(two_digits(minute)));
        let (hours, minutes) = parts.filter(|(_, minute)| *minute < 60).ok_or_else(refused)?;
        match 60 * hours + minutes {
            ahead if ahead <= Self::MINUTES_MAX => Ok(Self { minutes: sign * ahead }),
            _ => Err(refused()),
        }
    }
}

impl fmt::Display for UtcOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.minutes {
            0 => f.write_str("UTC"),
            minutes => {
                let sign = if minutes < 0 { '-' } else { '+' };
                let minutes = minutes.unsigned_abs();
                write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        }
    }
}

/// A text that says no offset.
///
/// ```
/// use headcount::UtcOffset;
///
/// let error = "+2".parse::<UtcOffset>().expect_err("two digits are needed");
/// let text = "\"+2\" is no offset; write UTC or a fixed offset such as +02:00, at most 14:00; \
///             named zones and daylight saving are not known";
/// assert_eq!(error.to_string(), text);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UtcOffsetError(String);

impl UtcOffsetError {
    /// What would be right.
    pub(crate) const ADVICE: &str = "write UTC or a fixed offset such as +02:00, at most 14:00; \
                                     named zones and daylight saving are not known";
}

impl fmt::Display for UtcOffsetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no offset; {}", self.0, Self::ADVICE)
    }
}

impl std::error::Error for UtcOffsetError {}

/// The weekday and the time of day, by a clock so far ahead of UTC. `None`: the clock is set to
/// before 1970.
pub(super) fn calendar(offset: UtcOffset) -> Option<Calendar> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    calendar_at(since.as_secs().checked_add_signed(60 * i64::from(offset.minutes))?)
}

fn calendar_at(unix_seconds: u64) -> Option<Calendar> {
    let day = u64::from(Calendar::DAY);
    // The first of January 1970 was a Thursday.
    let weekday = usize::try_from((unix_seconds / day + 3) % 7).ok()?;
    let second = u32::try_from(unix_seconds % day).ok()?;
    Calendar::at_second(Weekday::ALL[weekday], second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_begin_at_midnight_and_weeks_on_monday() {
        let at = |seconds| calendar_at(seconds).expect("a time of day");
        assert_eq!(at(0), Calendar::at_second(Weekday::Thursday, 0).expect("midnight"));
        // 2026-11-16 12:34:56, a Monday.
        let noon = Calendar::at_second(Weekday::Monday, 45_296).expect("a time of day");
        assert_eq!(at(1_794_832_496), noon);
    }

    #[test]
    fn an_offset_is_a_sign_two_digits_and_two_digits() {
        let check = |text: &str, minutes: i16| {
            let offset = text.parse::<UtcOffset>().expect(text);
            assert_eq!((offset.minutes(), offset.to_string().as_str()), (minutes, text));
        };
        check("UTC", 0);
        check("+02:00", 120);
        check("-03:30", -210);
        check("+14:00", 840);
        check("-14:00", -840);
        for text in ["", "utc", "+2", "+2:00", "02:00", "+02:60", "+14:01", "+0200", "++2:00", "Z"]
        {
            assert!(text.parse::<UtcOffset>().is_err(), "{text}");
        }
    }
}
