//! The load to expect when a worker hired now will have started.
//!
//! Level and trend of the arrivals (Holt), smoothed over half of the start-up time. Where workers
//! start quickly nothing is forecast: waiting for the task is better than guessing at it.

use std::time::Duration;

use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::{Situation, Timestamp};

/// Level and trend of the arrivals.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Forecast {
    last: Option<(Timestamp, u64)>,
    level: Option<f64>,
    /// Arrivals a second, a second.
    trend: f64,
}

impl Forecast {
    /// Takes in a tick, smoothing over `horizon`.
    pub(super) fn observe(&mut self, situation: &Situation<'_>, horizon: Duration) {
        let (now, submitted) = (situation.now(), situation.pool().counters.submitted);
        let Some((then, before)) = self.last else {
            self.last = Some((now, submitted));
            return;
        };
        let seconds = now.since(then).as_secs_f64();
        if seconds <= 0.0 {
            return;
        }
        self.last = Some((now, submitted));
        let Some(arrived) = submitted.checked_sub(before) else {
            *self = Self { last: self.last, ..Self::default() };
            return;
        };
        let rate = arrived as f64 / seconds;
        let Some(level) = self.level else {
            self.level = Some(rate);
            return;
        };
        let weight = 1.0 - (-seconds / (horizon.as_secs_f64() / 2.0).max(1e-3)).exp();
        let expected = level + self.trend * seconds;
        let level_next = expected + weight * (rate - expected);
        self.trend += weight / 2.0 * ((level_next - level) / seconds - self.trend);
        self.level = Some(level_next);
    }

    /// Arrivals a second after `horizon`, where anything is known.
    pub(super) fn arrivals(&self, horizon: Duration) -> Option<f64> {
        Some((self.level? + self.trend * horizon.as_secs_f64()).max(0.0))
    }

    pub(super) fn save(&self, notes: &mut Notes) {
        (self.last, (self.level, self.trend)).write(notes);
    }

    pub(super) fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        (self.last, (self.level, self.trend)) = Noted::read(notes)?;
        Some(())
    }
}
