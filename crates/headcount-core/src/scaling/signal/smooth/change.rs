//! How fast a signal moves.

use super::super::{Signal, Unit, read_finite};
use crate::{Name, Noted, Notes, NotesReader, Observation, Reason, Timestamp};

/// How much a signal changes in a second: above 0 it rises, below 0 it falls.
///
/// Without data there is no reading; the next one is compared with the last that was had.
///
/// ```
/// use headcount_core::signal::{Change, QueueDepth, Signal, Unit};
/// use headcount_core::{Observation, PoolSnapshot, Timestamp};
///
/// let mut growth = Change::new("queue_growth", Box::new(QueueDepth));
/// assert_eq!(growth.unit(), Unit::PerSecond);
/// let mut read = |second, queued| {
///     let pool = PoolSnapshot { queued, ..PoolSnapshot::default() };
///     growth.read(&Observation::new(Timestamp::from_secs(second), pool))
/// };
/// assert_eq!([read(0, 10), read(2, 40), read(3, 0)], [None, Some(15.0), Some(-40.0)]);
/// ```
#[derive(Clone, Debug)]
pub struct Change {
    name: Name,
    inner: Box<dyn Signal>,
    before: Option<(Timestamp, f64)>,
    reading: Option<f64>,
}

impl Change {
    /// Compares `inner` with itself, under `name`.
    ///
    /// Of a longer name only the first [`Name::LEN_MAX`] bytes are kept.
    #[must_use]
    pub fn new(name: &str, inner: Box<dyn Signal>) -> Self {
        Self { name: Name::cut(name), inner, before: None, reading: None }
    }

    fn compare(&mut self, now: Timestamp, value: f64) -> Option<f64> {
        let Some((at, before)) = self.before else {
            self.before = Some((now, value));
            return None;
        };
        if now == at {
            return self.reading;
        }
        self.before = Some((now, value));
        // A clock that stepped back gives no span to divide by; go on from here.
        if at < now {
            let change = (value - before) / now.since(at).as_secs_f64();
            self.reading = Some(change).filter(|change| change.is_finite());
        }
        self.reading
    }
}

impl Signal for Change {
    fn name(&self) -> &str {
        self.name.as_str()
    }
    fn unit(&self) -> Unit {
        match self.inner.unit() {
            Unit::Count => Unit::PerSecond,
            _ => Unit::Number,
        }
    }
    fn reason(&self) -> Reason {
        self.inner.reason()
    }
    fn read(&mut self, observation: &Observation) -> Option<f64> {
        let value = read_finite(&mut *self.inner, observation)?;
        self.compare(observation.at, value)
    }
    fn kind(&self, text: &mut String) {
        text.push_str("change of ");
        self.inner.kind(text);
    }
    fn save(&self, notes: &mut Notes) {
        (self.before, self.reading).write(notes);
        self.inner.save(notes);
    }
    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        let (before, reading) = Noted::read(notes)?;
        self.inner.load(notes)?;
        (self.before, self.reading) = (before, reading);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::signal::smooth::story::{Teller, check};

    fn change() -> Change {
        Change::new("change", Box::new(Teller))
    }

    #[test]
    fn change_is_measured_by_the_second() {
        check(change(), "0:0 2:10 3:10 13:5", "- 5 0 -0.5");
    }

    #[test]
    fn a_gap_counts_as_time_and_not_as_zero() {
        check(change(), "0:10 1:- 2:- 4:18 5:18", "- - - 2 0");
    }

    #[test]
    fn reading_twice_changes_nothing() {
        check(change(), "0:0 0:0 2:10 2:10 2:99 3:10", "- - 5 5 5 0");
    }

    #[test]
    fn a_clock_that_stepped_back_keeps_the_reading_and_goes_on_from_there() {
        check(change(), "100:0 102:10 50:20 51:23", "- 5 5 3");
    }

    #[test]
    fn a_change_too_large_to_say_is_no_reading() {
        check(change(), "0:-1.7e308 1:1.7e308 2:1.7e308", "- - 0");
    }
}
