//! What tasks take when nobody stands in another's way.
//!
//! - It is learnt where few are busy, never where tasks are quick: choosing the quick windows
//!   would ratchet the limit down to nothing. Only what is far quicker is taken over at once, for
//!   tasks cannot be congested and quick.
//! - It is *proven* where only the load shaped it, where many more workers were as quick, or where
//!   a probe showed that the workers were needed. What was learnt while held at the limit is not:
//!   the limit may have been beyond the knee from the start.

use super::measure::Measure;
use super::probe::Probe;
use crate::Timestamp;
use crate::scaling::notes::{Noted, Notes, NotesReader};

/// Standard errors from which a difference counts.
const Z_MIN: f64 = 3.0;
/// The share of what worked below which few workers are busy.
const LOW_SHARE: f64 = 0.7;
/// How many more workers than at rest still count as few.
const LOW_RISE: f64 = 1.15;
/// How much of the failures that are gone is taken over.
const DRIFT: f64 = 0.1;
/// How many more workers must be as quick to prove that the fewer were unhindered.
const PROOF_RISE: f64 = 1.3;
/// A window is clean up to this inflation, or so few standard errors.
const CLEAN_MAX: f64 = 1.15;
const CLEAN_Z_MAX: f64 = 2.0;

/// What tasks take at rest, and since when that is proven.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rest {
    pub(super) measure: Measure,
    pub(super) proven: Option<Timestamp>,
}

impl Rest {
    /// The first that was ever measured.
    pub(super) fn first(now: Timestamp, measure: Measure) -> Self {
        Self { measure, proven: measure.is_demand_limited().then_some(now) }
    }

    /// Whether tasks took longer, beyond `inflation_max` and beyond chance.
    pub(super) fn is_exceeded(&self, measure: &Measure, inflation_max: f64) -> bool {
        Z_MIN < self.measure.z_score(measure) && inflation_max < self.measure.inflation(measure)
    }

    /// Whether tasks took as long as at rest, as far as that can be told.
    pub(super) fn is_kept(&self, measure: &Measure) -> bool {
        self.measure.inflation(measure) < CLEAN_MAX || self.measure.z_score(measure) < CLEAN_Z_MAX
    }

    /// What a window teaches that raised no doubts, where `worked` workers worked before.
    pub(super) fn taught(
        mut self,
        now: Timestamp,
        measure: &Measure,
        worked: f64,
        inflation_max: f64,
    ) -> Self {
        let fall = (self.measure.error_rate - measure.error_rate).max(0.0);
        self.measure.error_rate -= fall * DRIFT;
        if measure.is_steady() && self.is_far_quicker(measure, inflation_max) {
            return Self::first(now, *measure);
        }
        let low = (worked * LOW_SHARE).max(self.measure.busy * LOW_RISE);
        if measure.is_demand_limited() && measure.is_steady() && measure.busy <= low {
            self.measure.pool(measure);
            self.proven = Some(now);
        }
        if self.is_kept(measure) && self.measure.busy * PROOF_RISE <= measure.busy {
            self.proven = Some(now);
        }
        self
    }

    /// What a probe teaches that found all workers needed, to one that knew `rest` or nothing.
    pub(super) fn proven_by(
        probe: &Probe,
        now: Timestamp,
        measure: &Measure,
        rest: Option<Self>,
    ) -> Self {
        let alike = rest.filter(|rest| {
            let is_same = |measure| rest.measure.z_score(measure).abs() < Z_MIN;
            is_same(measure) && is_same(&probe.before)
        });
        let mut learnt = alike.map_or(*measure, |rest| rest.measure);
        match alike {
            Some(_) => learnt.pool(measure),
            // Unhindered before the probe, too: the two tell more than one.
            None => learnt.pool(&probe.before),
        }
        Self { measure: learnt, proven: Some(now) }
    }

    /// Whether tasks took much less, beyond `inflation_max` and beyond chance.
    pub(super) fn is_far_quicker(&self, measure: &Measure, inflation_max: f64) -> bool {
        measure.z_score(&self.measure) > Z_MIN && inflation_max < measure.inflation(&self.measure)
    }
}

impl Noted for Rest {
    fn write(&self, notes: &mut Notes) {
        (self.measure, self.proven).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (measure, proven) = Noted::read(notes)?;
        Some(Self { measure, proven })
    }
}
