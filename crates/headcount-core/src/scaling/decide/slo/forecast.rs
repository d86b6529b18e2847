//! The load to expect when a worker hired now will have started.
//!
//! Level and trend of the arrivals (Holt), smoothed over half of the start-up time, times what
//! tasks last took. Where workers start quickly nothing is forecast: waiting for the task is
//! better than guessing at it.

use std::time::Duration;

use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::{Situation, Timestamp};

/// More than ever arrives. Ticks that nearly coincide make rates without bounds.
const RATE_MAX: f64 = 1e30;

/// Level and trend of the arrivals, and what tasks take.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Forecast {
    last: Option<(Timestamp, u64)>,
    level: Option<f64>,
    /// Arrivals a second, a second.
    trend: f64,
    /// Seconds that a task last took. A moment without an end of one does not make it unknown.
    service: Option<f64>,
}

impl Forecast {
    /// Takes in a tick, smoothing over `horizon`.
    pub(super) fn observe(&mut self, situation: &Situation<'_>, horizon: Duration) {
        let pool = situation.pool();
        if let Some(service) = pool.service {
            self.service = Some(service.mean.as_secs_f64());
        }
        let (now, submitted) = (situation.now(), pool.counters.submitted);
        let Some((then, before)) = self.last else {
            self.last = Some((now, submitted));
            return;
        };
        if now == then {
            return;
        }
        self.last = Some((now, submitted));
        let Some(arrived) = submitted.checked_sub(before) else {
            // Another pool stands in this one's place.
            *self = Self { last: self.last, ..Self::default() };
            return;
        };
        // A clock with a new origin says nothing of the span; what was learnt is still good.
        if then < now {
            self.arrived(arrived as f64, now.since(then).as_secs_f64(), horizon);
        }
    }

    fn arrived(&mut self, arrived: f64, seconds: f64, horizon: Duration) {
        let rate = arrived / seconds;
        let Some(level) = self.level else {
            self.level = Some(rate);
            return;
        };
        let weight = 1.0 - (-seconds / (horizon.as_secs_f64() / 2.0).max(1e-3)).exp();
        let expected = level + self.trend * seconds;
        let level_next = (expected + weight * (rate - expected)).clamp(-RATE_MAX, RATE_MAX);
        let trend = self.trend + weight / 2.0 * ((level_next - level) / seconds - self.trend);
        self.trend = trend.clamp(-RATE_MAX, RATE_MAX);
        self.level = Some(level_next);
    }

    /// Workers that will be busy after `horizon`, where anything is known.
    pub(super) fn load(&self, horizon: Duration) -> Option<f64> {
        let arrivals = (self.level? + self.trend * horizon.as_secs_f64()).max(0.0);
        Some(arrivals * self.service?)
    }

    pub(super) fn save(&self, notes: &mut Notes) {
        (self.last, (self.level, (self.trend, self.service))).write(notes);
    }

    pub(super) fn restore(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        (self.last, (self.level, (self.trend, self.service))) = Noted::read(notes)?;
        let is_sound = |rate: f64| rate.abs() <= RATE_MAX;
        let is_known = is_sound(self.trend) && self.level.is_none_or(is_sound);
        (is_known && self.service.is_none_or(|service| 0.0 <= service)).then_some(())
    }
}
