//! What a sampler keeps of its measurements: the last word, and how many went wrong.
//!
//! It is told the time and does nothing itself, so that a sensor that hangs for an hour can be
//! tested in no time.

use std::time::Duration;

use headcount_core::health::{Health, STALE_AFTER};
use headcount_core::{Name, Timestamp};

use super::sample::HostSample;

/// The last measurement that succeeded.
///
/// ```
/// use headcount::ManualClock;
/// use headcount::probes::{HostSample, Sampler, Scripted};
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// let clock = ManualClock::default();
/// let sensor = Scripted::always(HostSample { io_wait: Some(0.0), ..Default::default() });
/// let sampler = Sampler::manual(sensor, Arc::new(clock.clone()));
/// let latest = sampler.sample_now().expect("the sensor answers");
/// assert_eq!(latest.health.map(|health| health.score), Some(100.0));
///
/// let two_minutes_on = latest.measured_at + Duration::from_mins(2);
/// assert!(!latest.is_stale(two_minutes_on));
/// assert!(latest.is_stale(two_minutes_on + Duration::from_nanos(1)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latest {
    /// What was measured.
    pub sample: HostSample,
    /// The score of it. `None`: nothing that counts was measured.
    pub health: Option<Health>,
    /// When the measurement began.
    pub measured_at: Timestamp,
    /// The pool of database connections that is used the most. `None`: none is watched or says.
    pub fullest_db_pool: Option<Name>,
}

impl Latest {
    /// Whether it is too old to be believed, as [`STALE_AFTER`] has it.
    #[must_use]
    pub fn is_stale(&self, now: Timestamp) -> bool {
        STALE_AFTER < now.since(self.measured_at)
    }
}

/// How measurements went since the sampler was made.
///
/// ```
/// use headcount::ManualClock;
/// use headcount::probes::{Sampler, Scripted, SensorError};
/// use std::sync::Arc;
///
/// let sensor = Scripted::new([Err(SensorError::Unsupported)]);
/// let sampler = Sampler::manual(sensor, Arc::new(ManualClock::default()));
/// sampler.sample_now();
/// assert_eq!(sampler.counts().failed, 1);
/// assert_eq!(sampler.last_failure().as_deref(), Some("this system does not say how it is"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleCounts {
    /// Measurements that succeeded.
    pub taken: u64,
    /// Measurements for which the sensor gave an error.
    pub failed: u64,
    /// Measurements in which the sensor panicked.
    pub panicked: u64,
    /// Measurements that took longer than the time limit, however they ended; one that is still
    /// under way counts as soon as it has taken too long.
    pub late: u64,
}

/// Why a measurement gave nothing.
#[derive(Debug)]
pub(super) enum Mishap {
    Failed(String),
    Panicked,
}

/// What is kept.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) latest: Option<Latest>,
    pub(super) last_failure: Option<String>,
    /// How many measurements have ended, however they did.
    pub(super) ended: u64,
    counts: SampleCounts,
    /// When the one that is under way began.
    began_at: Option<Timestamp>,
}

impl Kept {
    pub(super) fn begin(&mut self, now: Timestamp) {
        self.began_at = Some(now);
    }

    /// A late sample is taken too: it is stamped with its beginning, so that it is not believed for
    /// longer than it deserves, and on a machine that is sick every sample may be late.
    pub(super) fn end(
        &mut self,
        outcome: Result<Latest, Mishap>,
        now: Timestamp,
        time_limit: Duration,
    ) {
        self.counts = self.counts(now, time_limit);
        self.began_at = None;
        self.ended += 1;
        match outcome {
            Ok(latest) => {
                self.counts.taken += 1;
                self.latest = Some(latest);
            }
            Err(Mishap::Failed(why)) => {
                self.counts.failed += 1;
                self.last_failure = Some(why);
            }
            Err(Mishap::Panicked) => {
                self.counts.panicked += 1;
                self.last_failure = Some("the sensor or a database pool panicked".to_owned());
            }
        }
    }

    pub(super) fn counts(&self, now: Timestamp, time_limit: Duration) -> SampleCounts {
        let is_late = self.began_at.is_some_and(|began| time_limit < now.since(began));
        SampleCounts { late: self.counts.late + u64::from(is_late), ..self.counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(5);

    fn at(second: u64) -> Timestamp {
        Timestamp::from_secs(second)
    }

    type Outcome = Result<Latest, Mishap>;

    fn latest(second: u64) -> Latest {
        let (sample, measured_at) = (HostSample::default(), at(second));
        Latest { sample, health: None, measured_at, fullest_db_pool: None }
    }

    /// Measurements of (beginning, end, how): counts and the time of the last one that is kept.
    fn check(story: Vec<(u64, u64, Outcome)>, now: u64, told: &str) {
        let mut kept = Kept::default();
        for (begin, end, outcome) in story {
            kept.begin(at(begin));
            kept.end(outcome, at(end), LIMIT);
        }
        assert_eq!(tell(&kept, now), told);
    }

    fn tell(kept: &Kept, now: u64) -> String {
        let SampleCounts { taken, failed, panicked, late } = kept.counts(at(now), LIMIT);
        let measured_at = kept.latest.map_or("never".to_owned(), |l| l.measured_at.to_string());
        format!("{taken} taken, {failed} failed, {panicked} panicked, {late} late, {measured_at}")
    }

    #[test]
    fn the_last_success_is_kept_through_failures() {
        let failed = || Err(Mishap::Failed("no".to_owned()));
        check(vec![(0, 0, failed())], 1, "0 taken, 1 failed, 0 panicked, 0 late, never");
        check(
            vec![
                (0, 0, Ok(latest(0))),
                (5, 5, Ok(latest(5))),
                (10, 10, failed()),
                (15, 15, failed()),
            ],
            20,
            "2 taken, 2 failed, 0 panicked, 0 late, 5.000 s",
        );
        check(
            vec![(0, 0, Ok(latest(0))), (5, 5, Err(Mishap::Panicked))],
            10,
            "1 taken, 0 failed, 1 panicked, 0 late, 0.000 s",
        );
    }

    #[test]
    fn late_is_past_the_limit_and_kept_as_of_its_beginning() {
        check(
            vec![(10, 15, Ok(latest(10)))],
            60,
            "1 taken, 0 failed, 0 panicked, 0 late, 10.000 s",
        );
        check(
            vec![(10, 16, Ok(latest(10)))],
            60,
            "1 taken, 0 failed, 0 panicked, 1 late, 10.000 s",
        );
    }

    #[test]
    fn one_that_hangs_is_late_before_it_ends_and_once_only() {
        let mut kept = Kept::default();
        kept.begin(at(0));
        kept.end(Ok(latest(0)), at(0), LIMIT);
        kept.begin(at(10));
        assert_eq!(tell(&kept, 15), "1 taken, 0 failed, 0 panicked, 0 late, 0.000 s");
        assert_eq!(tell(&kept, 16), "1 taken, 0 failed, 0 panicked, 1 late, 0.000 s");
        assert_eq!(tell(&kept, 3600), "1 taken, 0 failed, 0 panicked, 1 late, 0.000 s");
        kept.end(Err(Mishap::Panicked), at(3600), LIMIT);
        assert_eq!(tell(&kept, 7200), "1 taken, 0 failed, 1 panicked, 1 late, 0.000 s");
    }
}
