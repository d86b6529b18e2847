//! One number for all the readings of a sliding window.

use std::time::Duration;

use super::super::{Signal, Unit, read_finite};
use super::recent::Recent;
use crate::{Name, Notes, NotesReader, Observation, Reason, Timestamp};

/// What a sliding window of readings amounts to.
///
/// [`Window::last`] looks at a number of readings and is silent until it has them all;
/// [`Window::over`] looks at a span of time and speaks from the first one on.
///
/// ```
/// use headcount_core::signal::{Aggregate, QueueDepth, Signal, Window};
/// use headcount_core::{Observation, PoolSnapshot, Timestamp};
///
/// // "Five samples for a decision" is the mean of the last five, and no reading before.
/// let mut depth = Window::last("depth", Box::new(QueueDepth), 5, Aggregate::Mean);
/// let mut read = |second, queued| {
///     let pool = PoolSnapshot { queued, ..PoolSnapshot::default() };
///     depth.read(&Observation::new(Timestamp::from_secs(second), pool))
/// };
/// assert_eq!([read(1, 0), read(2, 0), read(3, 50), read(4, 0)], [None; 4]);
/// assert_eq!(read(5, 0), Some(10.0));
/// ```
#[derive(Clone, Debug)]
pub struct Window {
    name: Name,
    inner: Box<dyn Signal>,
    span: Duration,
    samples_min: usize,
    gap: Gap,
    aggregate: Aggregate,
    recent: Recent,
}

/// What becomes of the readings had when there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gap {
    /// They count until they are too old.
    Ages,
    /// They count no more: the window begins anew.
    Ends,
}

/// What is made of the readings of a [`Window`].
///
/// ```
/// use headcount_core::signal::{Aggregate, QueueDepth, Signal, Window};
/// use headcount_core::{Observation, PoolSnapshot, Timestamp};
///
/// let mut peak = Window::last("peak", Box::new(QueueDepth), 3, Aggregate::Max);
/// let readings = [(1, 4), (2, 9), (3, 2)].map(|(second, queued)| {
///     let pool = PoolSnapshot { queued, ..PoolSnapshot::default() };
///     peak.read(&Observation::new(Timestamp::from_secs(second), pool))
/// });
/// assert_eq!(readings, [None, None, Some(9.0)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Aggregate {
    /// Their mean.
    Mean,
    /// The greatest.
    Max,
    /// The least.
    Min,
    /// The least reading that this many of a hundred do not exceed, 1 to 100.
    Percentile(u8),
}

impl Aggregate {
    fn of(self, recent: &mut Recent) -> Option<f64> {
        match self {
            Self::Mean => {
                let mean = recent.values().sum::<f64>() / recent.len() as f64;
                Some(mean).filter(|mean| mean.is_finite())
            }
            Self::Max => recent.values().max_by(f64::total_cmp),
            Self::Min => recent.values().min_by(f64::total_cmp),
            Self::Percentile(percent) => {
                recent.percentile(percent.clamp(1, 100), recent.len(), |value| value)
            }
        }
    }
}

impl Window {
    /// The most readings that a window holds. A window that would need more forgets its oldest
    /// ones early.
    pub const SAMPLES_MAX: u32 = 1024;

    /// The last `samples` readings of `inner`, one after the other. There is no reading before that
    /// many have been had, and none where `inner` has none: a gap begins the window anew, for what
    /// was read before it says nothing of the present.
    ///
    /// `samples` is brought into 1 to [`Window::SAMPLES_MAX`].
    #[must_use]
    pub fn last(name: &str, inner: Box<dyn Signal>, samples: u32, aggregate: Aggregate) -> Self {
        let window = Self::over(name, inner, Duration::MAX, samples, aggregate);
        Self { samples_min: Self::room(samples), gap: Gap::Ends, ..window }
    }

    /// The readings of `inner` that are at most `span` old, and of those the last `samples_max`.
    /// There is a reading as soon as one of them is there.
    ///
    /// `samples_max` is brought into 1 to [`Window::SAMPLES_MAX`].
    #[must_use]
    pub fn over(
        name: &str,
        inner: Box<dyn Signal>,
        span: Duration,
        samples_max: u32,
        aggregate: Aggregate,
    ) -> Self {
        let recent = Recent::new(Self::room(samples_max));
        let (name, gap) = (Name::cut(name), Gap::Ages);
        Self { name, inner, span, samples_min: 1, gap, aggregate, recent }
    }

    fn room(samples: u32) -> usize {
        samples.clamp(1, Self::SAMPLES_MAX) as usize
    }

    /// Everything since the origin is within a span that reaches further back than it.
    fn first(&self, now: Timestamp) -> Timestamp {
        now.before(self.span)
    }
}

impl Signal for Window {
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
        let now = observation.at;
        match read_finite(&mut *self.inner, observation) {
            Some(value) => {
                self.recent.forget_from(now);
                self.recent.push(now, value);
            }
            None if self.gap == Gap::Ends => self.recent.forget_before(Timestamp::MAX),
            None => {}
        }
        self.recent.forget_before(self.first(now));
        if self.recent.len() < self.samples_min {
            return None;
        }
        self.aggregate.of(&mut self.recent)
    }
    fn kind(&self, text: &mut String) {
        text.push_str("window of ");
        self.inner.kind(text);
    }
    fn save(&self, notes: &mut Notes) {
        self.recent.save(notes);
        self.inner.save(notes);
    }
    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        let samples = self.recent.read(notes)?;
        self.inner.load(notes)?;
        self.recent.replace(samples);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::signal::smooth::story::{Teller, check, told};

    fn last(samples: u32, aggregate: Aggregate) -> Window {
        Window::last("last", Box::new(Teller), samples, aggregate)
    }

    fn over(span_secs: u64, samples_max: u32, aggregate: Aggregate) -> Window {
        let span = Duration::from_secs(span_secs);
        Window::over("over", Box::new(Teller), span, samples_max, aggregate)
    }

    #[test]
    fn the_mean_of_the_last_three_waits_for_three() {
        check(last(3, Aggregate::Mean), "0:3 1:6 2:9 3:0 900:0", "- - 6 5 3");
    }

    #[test]
    fn no_data_is_skipped_and_never_counted_as_zero() {
        check(over(9, 99, Aggregate::Mean), "0:3 1:- 2:5 3:- 4:7", "3 3 4 4 5");
        check(over(9, 99, Aggregate::Min), "0:3 1:inf 2:5 3:nan 4:2", "3 3 3 3 2");
    }

    #[test]
    fn a_gap_begins_the_last_readings_anew() {
        check(last(2, Aggregate::Mean), "0:3 1:5 2:- 3:7 4:9 5:nan 6:1", "- 4 - - 8 - -");
    }

    #[test]
    fn a_span_of_all_times_keeps_its_readings_over_a_gap() {
        let over = Window::over("over", Box::new(Teller), Duration::MAX, 9, Aggregate::Max);
        check(over, "0:3 1:- 2:2", "3 3 3");
    }

    #[test]
    fn a_reading_leaves_the_window_just_after_its_span() {
        check(over(10, 99, Aggregate::Max), "0:9 1:2 10:3 11:3 12:1 30:-", "9 9 9 3 3 -");
        check(over(10, 99, Aggregate::Min), "0:1 5:- 10:- 11:-", "1 1 1 -");
    }

    #[test]
    fn at_its_limit_the_window_forgets_the_oldest() {
        check(over(99, 2, Aggregate::Max), "0:9 1:8 2:7 3:6", "9 9 8 7");
        check(last(0, Aggregate::Mean), "0:9 1:8", "9 8");
        let mut longest = last(u32::MAX, Aggregate::Max);
        let readings: Vec<_> = (0..=u64::from(Window::SAMPLES_MAX))
            .map(|second| longest.read(&told(second, Some(-(second as f64)))))
            .collect();
        assert_eq!(readings[1022..], [None, Some(0.0), Some(-1.0)]);
    }

    #[test]
    fn percentiles_are_readings_that_were_had() {
        let story = "0:40 1:10 2:30 3:20";
        check(last(4, Aggregate::Percentile(1)), story, "- - - 10");
        check(last(4, Aggregate::Percentile(25)), story, "- - - 10");
        check(last(4, Aggregate::Percentile(26)), story, "- - - 20");
        check(last(4, Aggregate::Percentile(75)), story, "- - - 30");
        check(last(4, Aggregate::Percentile(100)), story, "- - - 40");
        check(last(4, Aggregate::Percentile(0)), story, "- - - 10");
        check(last(4, Aggregate::Percentile(255)), story, "- - - 40");
    }

    #[test]
    fn reading_twice_counts_once() {
        check(last(2, Aggregate::Mean), "0:2 0:2 1:4 1:4 2:8 2:8", "- - 3 3 6 6");
    }

    #[test]
    fn a_clock_that_stepped_back_forgets_what_has_not_happened() {
        check(over(10, 99, Aggregate::Max), "100:9 101:8 50:1 51:2", "9 9 1 2");
    }

    #[test]
    fn a_mean_too_large_to_say_is_no_reading() {
        let mut signal = last(2, Aggregate::Mean);
        signal.read(&told(0, Some(f64::MAX)));
        assert_eq!(signal.read(&told(1, Some(f64::MAX))), None);
    }
}
