//! Keeps one wild reading from deciding anything.

use super::super::{Signal, Unit, read_finite};
use super::recent::Recent;
use crate::{Name, Notes, NotesReader, Observation, Reason, Timestamp};

/// Brings outliers of a signal back to a limit: a fixed range, or the neighbourhood of the median.
///
/// Wrap one in another to have both. A reading is moved to the limit and never dropped.
///
/// ```
/// use headcount_core::signal::{Clamp, QueueDepth, Signal};
/// use headcount_core::{Observation, PoolSnapshot, Timestamp};
///
/// let mut depth = Clamp::between("depth", Box::new(QueueDepth), 0.0, 1000.0);
/// let pool = PoolSnapshot { queued: 5_000_000, ..PoolSnapshot::default() };
/// assert_eq!(depth.read(&Observation::new(Timestamp::ORIGIN, pool)), Some(1000.0));
/// ```
#[derive(Clone, Debug)]
pub struct Clamp {
    name: Name,
    inner: Box<dyn Signal>,
    limit: Limit,
}

#[derive(Clone, Debug)]
enum Limit {
    Range { low: f64, high: f64 },
    NearMedian(Neighbourhood),
}

impl Clamp {
    /// The most readings that a median is taken of.
    pub const SAMPLES_MAX: u32 = 255;

    /// Brings what `inner` says into `low..=high`; `high` wins where they cross.
    #[must_use]
    pub fn between(name: &str, inner: Box<dyn Signal>, low: f64, high: f64) -> Self {
        Self { name: Name::cut(name), inner, limit: Limit::Range { low, high } }
    }

    /// Brings what `inner` says to within `spreads` spreads of the median of the last `samples`
    /// readings before it (a Hampel filter; 3 is usual).
    ///
    /// The spread is the median distance from the median, scaled to equal the standard deviation
    /// of a normal distribution. A true step is followed as soon as half of the readings
    /// have taken it. Two cases pass as they are: the first `samples` readings, and any reading
    /// while more than half of the last ones are equal, because a spread of 0 is no measure and
    /// to be late for a queue that begins to fill would cost more than to believe a spike.
    ///
    /// `samples` is brought into 1 to [`Clamp::SAMPLES_MAX`].
    #[must_use]
    pub fn near_median(name: &str, inner: Box<dyn Signal>, samples: u32, spreads: f64) -> Self {
        let samples = samples.clamp(1, Self::SAMPLES_MAX) as usize;
        let limit = Limit::NearMedian(Neighbourhood::new(samples, spreads));
        Self { name: Name::cut(name), inner, limit }
    }
}

impl Limit {
    fn apply(&mut self, now: Timestamp, value: f64) -> f64 {
        match self {
            // Not `clamp`, which panics where the limits cross.
            Self::Range { low, high } => value.max(*low).min(*high),
            Self::NearMedian(neighbourhood) => neighbourhood.apply(now, value),
        }
    }
}

#[derive(Clone, Debug)]
struct Neighbourhood {
    samples: usize,
    spreads: f64,
    /// One more than are judged by: when an observation is read twice, the reading it gave is
    /// taken out again and those before it must still be there.
    recent: Recent,
}

impl Neighbourhood {
    /// Scales the median distance to the standard deviation of a normal distribution.
    const NORMAL: f64 = 1.4826;

    fn new(samples: usize, spreads: f64) -> Self {
        Self { samples, spreads, recent: Recent::new(samples + 1) }
    }

    fn apply(&mut self, now: Timestamp, value: f64) -> f64 {
        self.recent.forget_from(now);
        let limited = self.limited(value).unwrap_or(value);
        // The reading as it came: limited ones would hold the median where it is for ever.
        self.recent.push(now, value);
        limited
    }

    /// `value` within its limits, or `None` where there are none yet.
    fn limited(&mut self, value: f64) -> Option<f64> {
        if self.recent.len() < self.samples {
            return None;
        }
        let median = self.recent.percentile(50, self.samples, |value| value)?;
        let distance = |value: f64| (value - median).abs();
        let spread = self.recent.percentile(50, self.samples, distance)?;
        let reach = Self::NORMAL * self.spreads * spread;
        (0.0 < reach).then(|| value.max(median - reach).min(median + reach))
    }
}

impl Signal for Clamp {
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
        Some(self.limit.apply(observation.at, value))
    }
    fn kind(&self, text: &mut String) {
        text.push_str("clamp of ");
        self.inner.kind(text);
    }
    fn save(&self, notes: &mut Notes) {
        if let Limit::NearMedian(neighbourhood) = &self.limit {
            neighbourhood.recent.save(notes);
        }
        self.inner.save(notes);
    }
    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        match &mut self.limit {
            Limit::Range { .. } => self.inner.load(notes),
            Limit::NearMedian(neighbourhood) => {
                let samples = neighbourhood.recent.read(notes)?;
                self.inner.load(notes)?;
                neighbourhood.recent.replace(samples);
                Some(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::signal::smooth::story::{Teller, check};

    fn between(low: f64, high: f64) -> Clamp {
        Clamp::between("between", Box::new(Teller), low, high)
    }

    /// A limit of exactly `reach` spreads, without the scale to the normal distribution.
    fn near(samples: u32, reach: f64) -> Clamp {
        let spreads = reach / Neighbourhood::NORMAL;
        Clamp::near_median("near", Box::new(Teller), samples, spreads)
    }

    #[test]
    fn a_range_holds_at_both_ends() {
        check(between(-1.0, 2.0), "0:-5 1:-1 2:0 3:2 4:9 5:-", "-1 -1 0 2 2 -");
        check(between(3.0, 2.0), "0:0 1:9", "2 2");
    }

    #[test]
    fn a_spike_is_cut_to_the_neighbourhood_of_the_median() {
        // Median 3, distances 2 1 0 1 2, so one spread is 1.
        check(near(5, 4.0), "0:1 1:2 2:3 3:4 4:5 5:900", "1 2 3 4 5 7");
        check(near(5, 4.0), "0:1 1:2 2:3 3:4 4:5 5:-900", "1 2 3 4 5 -1");
    }

    #[test]
    fn a_true_step_is_followed_once_it_is_the_majority() {
        check(near(3, 2.0), "0:1 1:2 2:3 3:100 4:101 5:102", "1 2 3 4 5 102");
    }

    #[test]
    fn where_readings_stood_still_nothing_is_an_outlier() {
        check(near(3, 2.0), "0:0 1:0 2:0 3:900", "0 0 0 900");
    }

    #[test]
    fn gaps_and_second_readings_leave_the_median_alone() {
        check(near(3, 2.0), "0:1 1:- 2:2 2:2 3:3 3:3 4:100 4:100", "1 - 2 2 3 3 4 4");
    }
}
