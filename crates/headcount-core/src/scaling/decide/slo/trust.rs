//! How far the pool may go beyond what demonstrably worked.
//!
//! What worked is the number of workers that were busy over a window in which tasks took no longer
//! than at rest, or that a probe found to be of use. It grows by evidence only, so that the pool
//! goes at most one factor further with each generation of tasks; it fades while it is not used.
//! What ever worked fades more slowly, and is trusted as it is on a machine that is well.

use super::alarm::is_sick;
use super::config::SloConfig;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::{Observation, Timestamp};

/// Seconds after which half of the trust is gone that nobody used.
const HALF_LIFE: f64 = 300.0;
const HALF_LIFE_KNOWN: f64 = 3600.0;
/// The change, as a share, from which the region is moved: each move is a decision to be read.
const MOVE_MIN: f64 = 0.05;
/// More workers than anybody has; notes may be damaged.
const WORKERS_MAX: f64 = 1e12;

/// What the knee limiter found out at a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Finding {
    /// So many workers were of use.
    Works(f64),
    /// More than so many are of none.
    Stops(f64),
}

/// The workers that are trusted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trust {
    start: f64,
    factor: f64,
    /// The concurrency that demonstrably worked. `None`: before the first tick.
    worked: Option<f64>,
    /// The same, remembered for longer: what is beyond it is new.
    known: f64,
    /// Whether the machine is as well as it was then.
    is_well: bool,
    /// The region as it was last shown.
    shown: Option<f64>,
    last_tick: Timestamp,
}

impl Trust {
    pub(super) fn new(config: &SloConfig) -> Self {
        Self {
            start: f64::from(config.trust_start),
            factor: config.trust_factor,
            worked: None,
            known: 0.0,
            is_well: true,
            shown: None,
            last_tick: Timestamp::ORIGIN,
        }
    }

    /// The concurrency that demonstrably worked.
    pub(super) fn worked(&self) -> f64 {
        self.worked.unwrap_or(0.0)
    }

    /// The concurrency that demonstrably worked, remembered for longer.
    pub(super) fn known(&self) -> f64 {
        self.known.max(self.worked())
    }

    /// The most workers that are trusted.
    pub(super) fn region(&self) -> f64 {
        let known = if self.is_well { self.known() } else { 0.0 };
        (self.worked() * self.factor).max(self.start).max(known).min(WORKERS_MAX)
    }

    /// Takes in a tick.
    pub(super) fn observe(&mut self, observation: &Observation, finding: Option<Finding>) {
        let (now, busy) = (observation.at, f64::from(observation.pool.busy));
        self.is_well = !is_sick(observation);
        // Begins by holding: a pool that runs already is not cut below what is busy.
        let worked = self.worked.unwrap_or(busy / self.factor);
        let seconds = now.since(self.last_tick).as_secs_f64();
        self.last_tick = now;
        let faded = (worked * (-seconds / HALF_LIFE).exp2()).max(busy.min(worked));
        self.worked = Some(match finding {
            None => faded,
            Some(Finding::Works(workers)) => faded.max(workers),
            Some(Finding::Stops(workers)) => faded.min(workers),
        });
        self.known *= (-seconds / HALF_LIFE_KNOWN).exp2();
        self.known = match finding {
            Some(Finding::Stops(workers)) => self.known.min(workers),
            _ => self.known.max(self.worked()),
        };
    }

    /// The region, moved only where that is worth a decision.
    pub(super) fn show(&mut self) -> f64 {
        let region = self.region();
        let shown = self.shown.filter(|shown| (region - shown).abs() <= MOVE_MIN * shown);
        *self.shown.insert(shown.unwrap_or(region))
    }

    pub(super) fn save(&self, notes: &mut Notes) {
        (self.worked, (self.known, (self.shown, self.last_tick))).write(notes);
    }

    pub(super) fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        (self.worked, (self.known, (self.shown, self.last_tick))) = Noted::read(notes)?;
        let is_sound = |workers: f64| (0.0..=WORKERS_MAX).contains(&workers);
        let is_known = self.worked.is_none_or(is_sound) && self.shown.is_none_or(is_sound);
        (is_known && is_sound(self.known)).then_some(())
    }
}
