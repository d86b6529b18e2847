//! Time as a value.
//!
//! The core is told the time with every call, so that the same code runs live, in the simulator
//! and in replay, and a test can say "two minutes later" without waiting for them.

use std::fmt;
use std::ops::Add;
use std::time::Duration;

/// A point in time, as a span since an origin that the shell chose.
///
/// It orders, subtracts and can be written down. Subtraction never fails: the span since a later
/// point is zero, so a clock that stands still or steps back can slow a decision down but cannot
/// break it.
///
/// ```
/// use headcount_core::Timestamp;
/// use std::time::Duration;
///
/// let start = Timestamp::from_secs(10);
/// let later = start + Duration::from_secs(5);
/// assert_eq!(later.since(start), Duration::from_secs(5));
/// assert_eq!(start.since(later), Duration::ZERO);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Timestamp(u64);

impl Timestamp {
    /// The origin itself.
    pub const ORIGIN: Self = Self(0);
    /// The last point that can be said, some 584 years after the origin.
    pub const MAX: Self = Self(u64::MAX);

    /// A point `nanos` nanoseconds after the origin.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A point `millis` milliseconds after the origin.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// A point `secs` seconds after the origin.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000_000))
    }

    /// Nanoseconds since the origin.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The span from `earlier` to this point, or zero when `earlier` is the later one.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The point `span` before this one, or the origin when that lies before it.
    #[must_use]
    pub fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(nanos(span)))
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(nanos(span)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} s", Duration::from_nanos(self.0).as_secs_f64())
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// Tells the time: real in production, virtual in the simulator.
///
/// Shells hold one; the core never does. The time told never runs backwards.
///
/// ```
/// use headcount_core::{Clock, Timestamp};
///
/// struct Noon;
/// impl Clock for Noon {
///     fn now(&self) -> Timestamp {
///         Timestamp::from_secs(12 * 3600)
///     }
/// }
/// assert_eq!(Noon.now(), Timestamp::from_secs(43_200));
/// ```
pub trait Clock: Send + Sync {
    /// The present.
    fn now(&self) -> Timestamp;
}

/// A day of the week.
///
/// ```
/// use headcount_core::Weekday;
///
/// // A shift that began on Sunday evening may still be on early on Monday.
/// assert_eq!(Weekday::Monday.previous(), Weekday::Sunday);
/// assert!(Weekday::Monday < Weekday::Sunday, "the week begins on Monday");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[allow(missing_docs)]
pub enum Weekday {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

impl Weekday {
    /// All seven, Monday first.
    pub const ALL: [Self; 7] = [
        Self::Monday,
        Self::Tuesday,
        Self::Wednesday,
        Self::Thursday,
        Self::Friday,
        Self::Saturday,
        Self::Sunday,
    ];

    /// The day before this one.
    #[must_use]
    pub fn previous(self) -> Self {
        Self::ALL[(self as usize + 6) % 7]
    }
}

/// The wall clock as people read it, in the time zone that the shell chose.
///
/// A [`Timestamp`] has no calendar: its origin is arbitrary and it never jumps. Schedules need
/// the calendar, so the shell sends it along.
///
/// ```
/// use headcount_core::{Calendar, Weekday};
///
/// let noon = Calendar::new(Weekday::Friday, 12, 0).expect("a time of day");
/// assert_eq!(noon.second_of_day(), 43_200);
/// assert!(Calendar::new(Weekday::Friday, 24, 0).is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "WrittenCalendar"))]
pub struct Calendar {
    weekday: Weekday,
    second_of_day: u32,
}

/// A time of day as it stands in a file, where it may be past the end of the day.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct WrittenCalendar {
    weekday: Weekday,
    second_of_day: u32,
}

#[cfg(feature = "serde")]
impl TryFrom<WrittenCalendar> for Calendar {
    type Error = String;

    fn try_from(written: WrittenCalendar) -> Result<Self, String> {
        let second = written.second_of_day;
        Self::at_second(written.weekday, second)
            .ok_or_else(|| format!("second_of_day is {second}; a day ends at second 86399"))
    }
}

impl Calendar {
    /// Seconds in a day.
    pub const DAY: u32 = 86_400;

    /// The given minute of a weekday, or `None` where there is no such minute.
    #[must_use]
    pub fn new(weekday: Weekday, hour: u32, minute: u32) -> Option<Self> {
        if 24 <= hour || 60 <= minute {
            return None;
        }
        Some(Self { weekday, second_of_day: hour * 3600 + minute * 60 })
    }

    /// The given second of a weekday, or `None` past the end of the day.
    #[must_use]
    pub fn at_second(weekday: Weekday, second_of_day: u32) -> Option<Self> {
        (second_of_day < Self::DAY).then_some(Self { weekday, second_of_day })
    }

    /// The day of the week.
    #[must_use]
    pub const fn weekday(self) -> Weekday {
        self.weekday
    }

    /// Seconds since midnight.
    #[must_use]
    pub const fn second_of_day(self) -> u32 {
        self.second_of_day
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_never_overflows() {
        assert_eq!(Timestamp::MAX + Duration::MAX, Timestamp::MAX);
        assert_eq!(Timestamp::ORIGIN.before(Duration::MAX), Timestamp::ORIGIN);
        assert_eq!(Timestamp::from_secs(u64::MAX), Timestamp::MAX);
    }

    #[test]
    fn the_week_wraps() {
        assert_eq!(Weekday::Monday.previous(), Weekday::Sunday);
        assert_eq!(Weekday::Sunday.previous(), Weekday::Saturday);
    }
}
