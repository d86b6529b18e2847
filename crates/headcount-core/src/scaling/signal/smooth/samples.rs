//! Silence until enough has been heard.

use super::super::{Signal, Unit, read_finite};
use crate::{Name, Noted, Notes, NotesReader, Observation, Reason, Timestamp};

/// What a signal says, from its n-th reading on.
///
/// It passes each reading on as it is. For the mean of the last n see
/// [`Window::last`](super::Window::last).
///
/// ```
/// use headcount_core::signal::{QueueDepth, Samples, Signal};
/// use headcount_core::{Observation, PoolSnapshot, Timestamp};
///
/// let mut depth = Samples::new("depth", Box::new(QueueDepth), 3);
/// let readings = [1, 2, 3, 4].map(|second| {
///     let pool = PoolSnapshot { queued: second, ..PoolSnapshot::default() };
///     depth.read(&Observation::new(Timestamp::from_secs(second), pool))
/// });
/// assert_eq!(readings, [None, None, Some(3.0), Some(4.0)]);
/// ```
#[derive(Clone, Debug)]
pub struct Samples {
    name: Name,
    inner: Box<dyn Signal>,
    least: u32,
    had: u32,
    last: Option<Timestamp>,
}

impl Samples {
    /// Keeps silent about `inner` before its reading number `samples_min`, under `name`.
    ///
    /// Of a longer name only the first [`Name::LEN_MAX`] bytes are kept.
    #[must_use]
    pub fn new(name: &str, inner: Box<dyn Signal>, samples_min: u32) -> Self {
        Self { name: Name::cut(name), inner, least: samples_min, had: 0, last: None }
    }

    /// Counts a reading, but not the same one twice, and not past what is asked for.
    fn count(&mut self, now: Timestamp) {
        if self.had < self.least && self.last != Some(now) {
            self.had += 1;
            self.last = Some(now);
        }
    }
}

impl Signal for Samples {
    fn name(&self) -> &str {
        self.name.as_str()
    }
    fn unit(&self) -> Unit {
        self.inner.unit()
    }
    fn reason(&self) -> Reason {
        self.inner.reason()
    }
    fn read(&mut self, observation: &Observation) -> Option<f64> {
        let value = read_finite(&mut *self.inner, observation)?;
        self.count(observation.at);
        (self.least <= self.had).then_some(value)
    }
    fn kind(&self, text: &mut String) {
        text.push_str("samples of ");
        self.inner.kind(text);
    }
    fn save(&self, notes: &mut Notes) {
        (self.had, self.last).write(notes);
        self.inner.save(notes);
    }
    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        let (had, last) = Noted::read(notes)?;
        self.inner.load(notes)?;
        (self.had, self.last) = (had, last);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::signal::smooth::story::{Teller, check};

    fn samples(samples_min: u32) -> Samples {
        Samples::new("samples", Box::new(Teller), samples_min)
    }

    #[test]
    fn only_readings_are_counted() {
        check(samples(2), "0:5 1:- 2:nan 3:7 4:- 5:9", "- - - 7 - 9");
    }

    #[test]
    fn the_same_observation_is_counted_once() {
        check(samples(2), "0:5 0:5 0:5 1:6 1:6", "- - - 6 6");
    }

    #[test]
    fn none_or_one_sample_needs_no_waiting() {
        check(samples(0), "0:5", "5");
        check(samples(1), "0:5", "5");
    }
}
