//! Signals that compare the pool's counters with those of the observation before.
//!
//! Counters are cumulative, so a tick that came late or was left out loses nothing, and reading
//! one observation twice changes nothing. A counter that fell is that of another pool: there is
//! nothing to compare it with, and the signal begins anew.

use super::{Signal, Unit};
use crate::{Noted, Notes, NotesReader, Observation, Reason, Timestamp};

/// Tasks offered in a second, those refused at the door too.
///
/// Demand is what came, not what was let in.
///
/// ```
/// use headcount_core::signal::{ArrivalRate, Signal};
/// use headcount_core::{Observation, PoolSnapshot, Timestamp};
///
/// let mut rate = ArrivalRate::default();
/// let mut observation = Observation::new(Timestamp::ORIGIN, PoolSnapshot::default());
/// assert_eq!(rate.read(&observation), None, "nothing to compare with yet");
/// observation.at = Timestamp::from_secs(2);
/// observation.pool.counters.submitted = 10;
/// assert_eq!(rate.read(&observation), Some(5.0));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ArrivalRate {
    tally: Tally<1>,
}

impl Signal for ArrivalRate {
    fn name(&self) -> &'static str {
        "arrival_rate"
    }
    fn unit(&self) -> Unit {
        Unit::PerSecond
    }
    fn reason(&self) -> Reason {
        Reason::SetPoint
    }
    fn read(&mut self, observation: &Observation) -> Option<f64> {
        self.tally.compare(observation.at, [observation.pool.counters.submitted], PER_SECOND)
    }
    fn save(&self, notes: &mut Notes) {
        self.tally.write(notes);
    }
    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        self.tally = Tally::read(notes)?;
        Some(())
    }
}

/// Tasks that ended in a second, however they ended.
///
/// ```
/// use headcount_core::signal::{Signal, Throughput};
/// use headcount_core::{Observation, PoolSnapshot, Timestamp};
///
/// let mut throughput = Throughput::default();
/// let mut observation = Observation::new(Timestamp::ORIGIN, PoolSnapshot::default());
/// throughput.read(&observation);
/// observation.at = Timestamp::from_millis(500);
/// observation.pool.counters.completed = 10;
/// assert_eq!(throughput.read(&observation), Some(20.0));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Throughput {
    tally: Tally<1>,
}

impl Signal for Throughput {
    fn name(&self) -> &'static str {
        "throughput"
    }
    fn unit(&self) -> Unit {
        Unit::PerSecond
    }
    fn reason(&self) -> Reason {
        Reason::SetPoint
    }
    fn read(&mut self, observation: &Observation) -> Option<f64> {
        self.tally.compare(observation.at, [observation.pool.counters.completed], PER_SECOND)
    }
    fn save(&self, notes: &mut Notes) {
        self.tally.write(notes);
    }
    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        self.tally = Tally::read(notes)?;
        Some(())
    }
}

/// The share of the ended tasks that ended in an error. None ended, no reading.
///
/// ```
/// use headcount_core::signal::{ErrorRate, Signal};
/// use headcount_core::{Observation, PoolSnapshot, Timestamp};
///
/// let mut errors = ErrorRate::default();
/// let mut observation = Observation::new(Timestamp::ORIGIN, PoolSnapshot::default());
/// errors.read(&observation);
/// observation.at = Timestamp::from_secs(1);
/// observation.pool.counters.completed = 8;
/// observation.pool.counters.failed = 2;
/// assert_eq!(errors.read(&observation), Some(0.25));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ErrorRate {
    tally: Tally<2>,
}

impl Signal for ErrorRate {
    fn name(&self) -> &'static str {
        "error_rate"
    }
    fn unit(&self) -> Unit {
        Unit::Ratio
    }
    fn reason(&self) -> Reason {
        Reason::Errors
    }
    fn read(&mut self, observation: &Observation) -> Option<f64> {
        let counters = observation.pool.counters;
        let share = |_, [completed, failed]: [u64; 2]| {
            // Counters are read one after the other, so one that failed in between is ahead.
            (0 < completed).then(|| (failed as f64 / completed as f64).min(1.0))
        };
        self.tally.compare(observation.at, [counters.completed, counters.failed], share)
    }
    fn save(&self, notes: &mut Notes) {
        self.tally.write(notes);
    }
    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        self.tally = Tally::read(notes)?;
        Some(())
    }
}

const PER_SECOND: fn(f64, [u64; 1]) -> Option<f64> = |seconds, [more]| Some(more as f64 / seconds);

/// Counters as they were last seen, and the reading they gave.
#[derive(Clone, Debug, Default)]
struct Tally<const N: usize> {
    before: Option<Seen<N>>,
    reading: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Seen<const N: usize> {
    at: Timestamp,
    counts: [u64; N],
}

impl<const N: usize> Tally<N> {
    /// Reckons a reading from the seconds and the counts since the time before.
    fn compare(
        &mut self,
        at: Timestamp,
        counts: [u64; N],
        reckon: impl FnOnce(f64, [u64; N]) -> Option<f64>,
    ) -> Option<f64> {
        let now = Seen { at, counts };
        let Some(before) = self.before else {
            self.before = Some(now);
            return None;
        };
        if at == before.at {
            return self.reading;
        }
        self.before = Some(now);
        // A clock that stepped back gives no span to divide by. The comparison goes on from
        // here, or the reading would stand still until the clock had caught up.
        if at < before.at {
            return self.reading;
        }
        let seconds = at.since(before.at).as_secs_f64();
        self.reading = grown(before.counts, counts).and_then(|more| reckon(seconds, more));
        self.reading
    }
}

/// How much each counter grew, or `None` where one fell.
fn grown<const N: usize>(before: [u64; N], after: [u64; N]) -> Option<[u64; N]> {
    let mut more = [0; N];
    for ((more, before), after) in more.iter_mut().zip(before).zip(after) {
        *more = after.checked_sub(before)?;
    }
    Some(more)
}

impl<const N: usize> Noted for Tally<N> {
    fn write(&self, notes: &mut Notes) {
        self.before.write(notes);
        self.reading.write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        Some(Self { before: Noted::read(notes)?, reading: Noted::read(notes)? })
    }
}

impl<const N: usize> Noted for Seen<N> {
    fn write(&self, notes: &mut Notes) {
        self.at.write(notes);
        self.counts.iter().for_each(|count| count.write(notes));
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let at = Noted::read(notes)?;
        let mut counts = [0; N];
        for count in &mut counts {
            *count = Noted::read(notes)?;
        }
        Some(Self { at, counts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counters, PoolSnapshot};

    fn at(seconds: u64, completed: u64, failed: u64) -> Observation {
        let counters = Counters { submitted: completed, completed, failed, ..Counters::default() };
        let pool = PoolSnapshot { counters, ..PoolSnapshot::default() };
        Observation::new(Timestamp::from_secs(seconds), pool)
    }

    /// What `signal` reads of (second, completed, failed), in words.
    fn check(mut signal: impl Signal, seen: &[(u64, u64, u64)], told: &str) {
        let read = |&(second, completed, failed): &(u64, u64, u64)| {
            let reading = signal.read(&at(second, completed, failed));
            format!("{second}s:{}", reading.map_or("-".to_owned(), |reading| reading.to_string()))
        };
        assert_eq!(seen.iter().map(read).collect::<Vec<_>>().join(" "), told);
    }

    #[test]
    fn a_late_tick_loses_nothing() {
        check(Throughput::default(), &[(0, 0, 0), (1, 6, 0), (4, 24, 0)], "0s:- 1s:6 4s:6");
        check(ArrivalRate::default(), &[(0, 5, 0), (2, 5, 0), (3, 8, 0)], "0s:- 2s:0 3s:3");
    }

    #[test]
    fn reading_twice_changes_nothing() {
        let seen = [(0, 0, 0), (0, 0, 0), (2, 8, 2), (2, 8, 2), (2, 8, 2), (4, 12, 3)];
        check(Throughput::default(), &seen, "0s:- 0s:- 2s:4 2s:4 2s:4 4s:2");
        check(ErrorRate::default(), &seen, "0s:- 0s:- 2s:0.25 2s:0.25 2s:0.25 4s:0.25");
    }

    #[test]
    fn what_happened_while_time_stood_still_is_counted_later() {
        let seen = [(0, 0, 0), (2, 8, 0), (2, 9, 0), (4, 10, 0)];
        check(Throughput::default(), &seen, "0s:- 2s:4 2s:4 4s:1");
    }

    #[test]
    fn a_clock_that_stepped_back_keeps_the_reading_and_goes_on_from_there() {
        let seen = [(100, 0, 0), (102, 8, 0), (50, 10, 0), (51, 13, 0)];
        check(Throughput::default(), &seen, "100s:- 102s:4 50s:4 51s:3");
    }

    #[test]
    fn another_pool_begins_anew() {
        let seen = [(0, 100, 9), (1, 110, 9), (2, 3, 0), (3, 5, 1)];
        check(Throughput::default(), &seen, "0s:- 1s:10 2s:- 3s:2");
        check(ErrorRate::default(), &seen, "0s:- 1s:0 2s:- 3s:0.5");
    }

    #[test]
    fn no_task_ended_is_no_error_rate() {
        let seen = [(0, 10, 5), (1, 10, 5), (2, 12, 6), (3, 13, 9)];
        check(ErrorRate::default(), &seen, "0s:- 1s:- 2s:0.5 3s:1");
    }

    #[test]
    fn a_restart_goes_unnoticed() {
        goes_unnoticed::<ArrivalRate>();
        goes_unnoticed::<Throughput>();
        goes_unnoticed::<ErrorRate>();
    }

    fn goes_unnoticed<S: Signal + Clone + Default>() {
        let (mut old, mut new) = (S::default(), S::default());
        for observation in [at(0, 0, 0), at(1, 10, 5), at(2, 40, 6)] {
            old.read(&observation);
            let mut notes = Notes::default();
            old.save(&mut notes);
            let mut reader = notes.reader();
            assert!(new.load(&mut reader).is_some() && reader.is_at_end());
            for later in [observation, at(5, 50, 7), at(4, 51, 7), at(9, 60, 8)] {
                let (mut old, mut new) = (old.clone(), new.clone());
                assert_eq!(old.read(&later), new.read(&later), "{}", old.name());
            }
        }
    }

    #[test]
    fn notes_that_do_not_fit_change_nothing() {
        let mut errors = ErrorRate::default();
        errors.read(&at(0, 0, 0));
        let mut notes = Notes::default();
        Some(Timestamp::ORIGIN).write(&mut notes);
        assert_eq!(errors.load(&mut notes.reader()), None);
        assert_eq!(errors.read(&at(1, 4, 1)), Some(0.25));
    }
}
