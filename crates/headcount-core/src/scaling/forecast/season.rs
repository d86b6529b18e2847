//! What comes again: a season as it was, or what it adds to level and trend.

use super::holt::Holt;
use super::{SEASON_MAX, bounded, is_sound};
use crate::scaling::notes::{Noted, Notes, NotesReader};

/// How much the newest season counts in what a season adds.
const SEASON: f64 = 0.3;

/// One number for each bucket of a season, in a ring.
#[derive(Clone, Debug)]
struct Ring {
    values: Vec<f64>,
    /// How many were put in since the beginning, for the place of the next one.
    count: u64,
}

impl Ring {
    fn new(season: u32) -> Self {
        Self { values: vec![0.0; season.clamp(1, SEASON_MAX) as usize], count: 0 }
    }

    fn is_full(&self) -> bool {
        self.values.len() as u64 <= self.count
    }

    /// The place of the bucket so many steps ahead of the last one.
    fn place(&self, steps: u32) -> usize {
        let len = self.values.len() as u64;
        let ahead = self.count.wrapping_add(u64::from(steps.max(1)) - 1);
        usize::try_from(ahead % len).unwrap_or(0)
    }

    /// Puts in the next one, in place of that of a season ago.
    fn put(&mut self, value: f64) {
        let place = self.place(1);
        self.values[place] = value;
        self.count = self.count.wrapping_add(1);
    }

    fn save(&self, notes: &mut Notes) {
        (self.values.len() as u64, self.count).write(notes);
        self.values.iter().for_each(|value| value.write(notes));
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        let (len, count) = <(u64, u64)>::read(notes)?;
        if len != self.values.len() as u64 {
            // Another season: what was learnt of that one says nothing of this.
            return None;
        }
        for value in &mut self.values {
            *value = f64::read(notes).filter(|value| is_sound(*value))?;
        }
        self.count = count;
        Some(())
    }
}

/// The value of a season ago.
#[derive(Clone, Debug)]
pub(super) struct SeasonalNaive {
    ring: Ring,
}

impl SeasonalNaive {
    pub(super) fn new(season: u32) -> Self {
        Self { ring: Ring::new(season) }
    }

    pub(super) fn observe(&mut self, value: f64) {
        self.ring.put(value);
    }

    pub(super) fn forecast(&self, steps: u32) -> Option<f64> {
        self.ring.is_full().then(|| self.ring.values[self.ring.place(steps)])
    }

    pub(super) fn save(&self, notes: &mut Notes) {
        self.ring.save(notes);
    }

    pub(super) fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        self.ring.load(notes)
    }
}

/// Level, trend, and what a season adds to them.
#[derive(Clone, Debug)]
pub(super) struct HoltWinters {
    /// What the season adds; the values themselves until there is a whole one.
    ring: Ring,
    /// Known as soon as there is a whole season.
    holt: Option<Holt>,
}

impl HoltWinters {
    pub(super) fn new(season: u32) -> Self {
        Self { ring: Ring::new(season), holt: None }
    }

    pub(super) fn observe(&mut self, value: f64) {
        let Some(holt) = &mut self.holt else {
            self.ring.put(value);
            if self.ring.is_full() {
                self.begin();
            }
            return;
        };
        let added = self.ring.values[self.ring.place(1)];
        holt.observe(bounded(value - added));
        let seen = value - holt.level();
        self.ring.put(bounded(added + SEASON * (seen - added)));
    }

    /// The first season is told apart into its mean and what is left.
    fn begin(&mut self) {
        let values = &mut self.ring.values;
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        for value in values.iter_mut() {
            *value = bounded(*value - mean);
        }
        self.holt = Some(Holt::at(mean));
    }

    pub(super) fn forecast(&self, steps: u32) -> Option<f64> {
        let level = self.holt?.forecast(steps)?;
        Some(level + self.ring.values[self.ring.place(steps)])
    }

    pub(super) fn save(&self, notes: &mut Notes) {
        self.ring.save(notes);
        self.holt.write(notes);
    }

    pub(super) fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        self.ring.load(notes)?;
        self.holt = Noted::read(notes)?;
        Some(())
    }
}
