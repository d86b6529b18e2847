//! When a schedule's jobs are due.

use std::fmt;
use std::str::FromStr as _;
use std::time::Duration;

use croner::Cron;
use headcount_core::Timestamp;
use headcount_core::jobs::port::NewJob;
use headcount_core::jobs::{JobSpec, Key, Label, LabelError, Start, Unique, UniqueSpan};
use jiff::tz::TimeZone;

use crate::chance::fresh_id;
use crate::client::{Submission, SubmitError};

/// A job that comes round by the calendar.
///
/// ```
/// use headcount_queue::jobs::JobSpec;
/// use headcount_queue::Schedule;
/// use headcount_core::Timestamp;
///
/// let report = JobSpec::new("report".parse()?, b"{}".to_vec());
/// let nightly = Schedule::of_spec("nightly", "0 3 * * *", report)?.zone("UTC")?;
/// let three_hours = Timestamp::from_secs(3 * 3600);
/// assert_eq!(nightly.next_after(Timestamp::ORIGIN), Some(three_hours));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Schedule {
    name: Label,
    pattern: String,
    cron: Cron,
    zone: TimeZone,
    missed: Missed,
    job: JobSpec,
}

/// What becomes of ticks that passed while nobody was there.
///
/// ```
/// use headcount_queue::Missed;
///
/// assert_eq!(Missed::default(), Missed::Skip);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missed {
    /// Nothing: the next tick is the next.
    #[default]
    Skip,
    /// The last of them is made up for, once, if it is no older than a day. A schedule that is new
    /// to the store makes up for its last tick too.
    Once,
}

/// Why there is no such schedule.
///
/// ```
/// use headcount_queue::jobs::JobSpec;
/// use headcount_queue::Schedule;
///
/// let report = JobSpec::new("report".parse()?, b"{}".to_vec());
/// let error = Schedule::of_spec("nightly", "0 25 * * *", report).expect_err("no such hour");
/// assert!(error.to_string().starts_with("\"0 25 * * *\" is no schedule: "), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ScheduleError {
    /// It has no proper name.
    Name(LabelError),
    /// The first text is no schedule, for the reason that is the second.
    Pattern(String, String),
    /// There is no time zone of this name.
    Zone(String),
    /// The job is wrong.
    Job(SubmitError),
}

impl Schedule {
    /// How far back a missed tick is made up for.
    pub const MISSED_MAX: Duration = Duration::from_secs(24 * 3600);

    /// Submits this job whenever the pattern says: minute, hour, day, month, weekday, with seconds
    /// before them if there are six. In UTC, unless [`zone`](Self::zone) says otherwise.
    ///
    /// # Errors
    ///
    /// When name, pattern or job are wrong.
    pub fn new(name: &str, pattern: &str, job: Submission) -> Result<Self, ScheduleError> {
        let spec = job.into_spec().map_err(ScheduleError::Job)?;
        Self::of_spec(name, pattern, spec)
    }

    /// The same with a job of which all is said.
    ///
    /// # Errors
    ///
    /// When name or pattern are wrong.
    pub fn of_spec(name: &str, pattern: &str, job: JobSpec) -> Result<Self, ScheduleError> {
        let name = name.parse().map_err(ScheduleError::Name)?;
        let cron = Cron::from_str(pattern)
            .map_err(|error| ScheduleError::Pattern(pattern.to_owned(), error.to_string()))?;
        let (zone, missed) = (TimeZone::UTC, Missed::Skip);
        Ok(Self { name, pattern: pattern.to_owned(), cron, zone, missed, job })
    }

    /// By the clocks of this place, as `Europe/Paris`: an hour that is skipped in spring is made
    /// up for when it is over, one that comes twice in autumn counts once.
    ///
    /// # Errors
    ///
    /// When there is no such zone.
    pub fn zone(mut self, name: &str) -> Result<Self, ScheduleError> {
        let zone = TimeZone::get(name);
        self.zone = zone.map_err(|_| ScheduleError::Zone(name.to_owned()))?;
        Ok(self)
    }

    /// What becomes of ticks that passed while nobody was there.
    #[must_use]
    pub const fn missed(mut self, missed: Missed) -> Self {
        self.missed = missed;
        self
    }

    /// What it is called. Two schedules of one name in one queue are the same schedule.
    #[must_use]
    pub const fn name(&self) -> &Label {
        &self.name
    }

    /// When it comes round, as it was written.
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The first tick after this time since 1970. `None`: there is none.
    #[must_use]
    pub fn next_after(&self, at: Timestamp) -> Option<Timestamp> {
        let at = self.local(at)?;
        let next = self.cron.find_next_occurrence(&at, false).ok()?;
        timestamp(&next)
    }

    /// The last tick at or before this time since 1970. `None`: there was none.
    #[must_use]
    pub fn last_until(&self, at: Timestamp) -> Option<Timestamp> {
        let at = self.local(at)?;
        let last = self.cron.find_previous_occurrence(&at, true).ok()?;
        timestamp(&last)
    }

    /// The tick that is to be submitted now, by somebody who last looked at `since`.
    ///
    /// Of several ticks between the two, the last: the others were missed.
    #[must_use]
    pub fn due(&self, since: Timestamp, now: Timestamp) -> Option<Timestamp> {
        self.last_until(now).filter(|tick| since < *tick)
    }

    /// From when on whoever begins at `now` looks for ticks.
    pub(super) fn begin(&self, now: Timestamp) -> Timestamp {
        match self.missed {
            Missed::Skip => now,
            Missed::Once => now.before(Self::MISSED_MAX),
        }
    }

    /// The job of a tick.
    pub(super) fn tick(&self, tick: Timestamp) -> NewJob {
        let key: Key = format!("schedule {}", self.name).parse().expect("a name makes a key");
        let number = tick.as_nanos() / 1_000_000;
        let unique = Some(Unique { key, span: UniqueSpan::Above(number) });
        let spec = JobSpec { unique, start: Start::At(tick), ..self.job.clone() };
        NewJob { id: fresh_id(), spec }
    }

    fn local(&self, at: Timestamp) -> Option<jiff::Zoned> {
        let nanos = i128::from(at.as_nanos());
        let at = jiff::Timestamp::from_nanosecond(nanos).ok()?;
        Some(at.to_zoned(self.zone.clone()))
    }
}

fn timestamp(at: &jiff::Zoned) -> Option<Timestamp> {
    let nanos = at.timestamp().as_nanosecond();
    u64::try_from(nanos).ok().map(Timestamp::from_nanos)
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::Pattern(pattern, why) => write!(f, "{pattern:?} is no schedule: {why}"),
            Self::Zone(name) => {
                write!(f, "there is no time zone {name:?} here; use one like Europe/Paris, or UTC")
            }
            Self::Job(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ScheduleError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(pattern: &str, zone: &str) -> Schedule {
        let job = JobSpec::new("report".parse().expect("a name"), b"{}".to_vec());
        let schedule = Schedule::of_spec("nightly", pattern, job).expect("a schedule");
        schedule.zone(zone).expect("a zone")
    }

    fn at(text: &str) -> Timestamp {
        let at: jiff::Timestamp = text.parse().expect("a time");
        timestamp(&at.to_zoned(TimeZone::UTC)).expect("after 1970")
    }

    #[track_caller]
    fn check(pattern: &str, zone: &str, after: &str, expected: &[&str]) {
        let schedule = schedule(pattern, zone);
        let mut last = at(after);
        for expected in expected {
            let next = schedule.next_after(last).expect("it comes round");
            assert_eq!(next, at(expected), "{pattern} in {zone} after {last}");
            assert_eq!(schedule.last_until(next), Some(next), "a tick is its own last");
            last = next;
        }
    }

    #[test]
    fn ticks_are_reckoned_in_their_zone() {
        check("0 3 * * *", "UTC", "2026-11-16T02:59:59Z", &["2026-11-16T03:00:00Z"]);
        check("0 3 * * *", "Europe/Paris", "2026-11-16T00:00:00Z", &["2026-11-16T02:00:00Z"]);
        check("0 9 * * MON", "UTC", "2026-11-16T09:00:00Z", &["2026-11-23T09:00:00Z"]);
        let thirds = ["2026-11-16T00:00:20Z", "2026-11-16T00:00:40Z", "2026-11-16T00:01:00Z"];
        check("*/20 * * * * *", "UTC", "2026-11-16T00:00:00.5Z", &thirds);
    }

    #[test]
    fn an_hour_that_comes_twice_counts_once() {
        let nights = ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"];
        check("30 2 * * *", "Europe/Paris", "2026-10-24T12:00:00Z", &nights);
    }

    #[test]
    fn an_hour_that_is_skipped_costs_no_day() {
        let schedule = schedule("30 2 * * *", "Europe/Paris");
        let first = schedule.next_after(at("2026-03-28T12:00:00Z")).expect("it comes round");
        assert_eq!(first.since(at("2026-03-29T00:00:00Z")).as_secs() / 3600, 1, "{first}");
    }

    #[test]
    fn of_several_missed_ticks_the_last_is_due() {
        let schedule = schedule("0 * * * *", "UTC");
        let (since, now) = (at("2026-11-16T00:30:00Z"), at("2026-11-16T04:10:00Z"));
        assert_eq!(schedule.due(since, now), Some(at("2026-11-16T04:00:00Z")));
        assert_eq!(schedule.due(at("2026-11-16T04:00:00Z"), now), None);
        // Never early, by however little.
        let just_before = Timestamp::from_nanos(at("2026-11-16T05:00:00Z").as_nanos() - 1);
        assert_eq!(schedule.due(at("2026-11-16T04:00:00Z"), just_before), None);
    }

    #[test]
    fn a_wrong_schedule_is_told() {
        let job = JobSpec::new("report".parse().expect("a name"), b"{}".to_vec());
        let error = Schedule::of_spec("Nightly", "0 3 * * *", job.clone()).expect_err("a name");
        assert!(error.to_string().contains("\"Nightly\" holds 'N'"), "{error}");
        let schedule = Schedule::of_spec("nightly", "0 3 * * *", job).expect("a schedule");
        let error = schedule.zone("Europe/Atlantis").expect_err("it sank");
        assert!(error.to_string().contains("no time zone \"Europe/Atlantis\""), "{error}");
    }
}
