//! The wall clock, for schedules.

use std::time::{SystemTime, UNIX_EPOCH};

use headcount_core::{Calendar, Weekday};

/// The weekday and the time of day, in UTC. `None`: the clock is set to before 1970.
pub(super) fn calendar() -> Option<Calendar> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    calendar_at(since.as_secs())
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
}
