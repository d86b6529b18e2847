//! Level and trend.

use super::{bounded, is_sound};
use crate::scaling::notes::{Noted, Notes, NotesReader};

/// How much the newest bucket counts, in the level and in the trend.
pub(super) const LEVEL: f64 = 0.5;
pub(super) const TREND: f64 = 0.1;

/// Level and trend, each a moving average.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Holt {
    level: Option<f64>,
    trend: f64,
}

impl Holt {
    /// One that begins at a level.
    pub(super) fn at(level: f64) -> Self {
        Self { level: Some(bounded(level)), trend: 0.0 }
    }

    pub(super) fn level(&self) -> f64 {
        self.level.unwrap_or(0.0)
    }

    pub(super) fn observe(&mut self, value: f64) {
        let Some(level) = self.level else {
            self.level = Some(value);
            return;
        };
        let expected = level + self.trend;
        let next = bounded(expected + LEVEL * (value - expected));
        self.trend = bounded(self.trend + TREND * (next - level - self.trend));
        self.level = Some(next);
    }

    pub(super) fn forecast(&self, steps: u32) -> Option<f64> {
        Some(self.level? + self.trend * f64::from(steps))
    }
}

impl Noted for Holt {
    fn write(&self, notes: &mut Notes) {
        (self.level, self.trend).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (level, trend): (Option<f64>, f64) = Noted::read(notes)?;
        (level.is_none_or(is_sound) && is_sound(trend)).then_some(Self { level, trend })
    }
}
