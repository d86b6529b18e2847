//! A limit that was found, and how it moves from there.
//!
//! It grows after every clean window, ever faster, so that a downstream that recovers is used
//! again; it steps back to where nothing was amiss as soon as tasks take longer. Below what a
//! verdict said it does not go by itself: a throughput that is low because the limit is low would
//! ratchet it down to nothing.

use std::time::Duration;

use super::measure::Measure;
use super::refusal::Refusal;
use super::rest::Rest;
use crate::Timestamp;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::observation::PoolSnapshot;

/// How fast it grows after a clean window, as a share: after a verdict, after a step back, at most.
const REGROW_VERDICT: f64 = 0.05;
const REGROW: f64 = 0.02;
const REGROW_MAX: f64 = 0.25;
/// How much faster after each further clean window. Ten in a row, or twelve after a step back,
/// make five times the limit and bring the speed to where the knee is taken to be gone.
const REGROW_FASTER: f64 = 1.5;
const REGROW_GONE: f64 = 2.5;
/// How far it steps back where it is a little too high, as a share.
const STEP_BACK: f64 = 0.03;
/// How long it must be twice what is used before it is lifted.
const SPARE_SPAN: Duration = Duration::from_secs(60);
/// The share of it that must be busy for a window to tell anything of it.
const USED_MIN: f64 = 0.9;
/// No limit grows beyond this.
const LIMIT_MAX: f64 = 1e12;

/// A limit that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bound {
    pub(super) limit: f64,
    /// The last limit under which nothing was amiss.
    clean: f64,
    /// What the last verdict said. Only another verdict goes below it.
    verdict: f64,
    /// How fast it grows after the next clean window; beyond the most, only a count of them.
    regrow: f64,
    /// When more than half of it was last in use.
    used: Timestamp,
    /// The failures that set it, where any did.
    pub(super) refusal: Option<Refusal>,
    /// The inflation that set it in a hurry, until it is known whether that was right.
    pub(super) alarm: Option<f64>,
}

impl Bound {
    pub(super) fn new(now: Timestamp, limit: f64, refusal: Option<Refusal>) -> Self {
        let limit = limit.clamp(1.0, LIMIT_MAX);
        let regrow = REGROW_VERDICT;
        Self { limit, clean: limit, verdict: limit, regrow, used: now, refusal, alarm: None }
    }

    /// Whether a guard holds the ceiling above a limit that was set in a hurry, so that nothing can
    /// be learnt from it.
    pub(super) fn is_overruled(&self, pool: &PoolSnapshot) -> bool {
        self.alarm.is_some() && self.limit + 1.0 < f64::from(pool.ceiling) && 0 < pool.queued
    }

    /// Whether a window tells of this limit, and not of a lower one that somebody else set.
    pub(super) fn is_met_by(&self, measure: &Measure) -> bool {
        measure.is_held() && USED_MIN * self.limit - 0.5 <= measure.busy
    }

    /// Whether it has grown to where tasks take longer again.
    pub(super) fn is_beyond(&self, rest: &Rest, measure: &Measure) -> bool {
        self.is_met_by(measure) && self.clean < self.limit && !rest.is_kept(measure)
    }

    /// What becomes of it after a window, or `None` where it is lifted: because it grew and grew
    /// and nothing happened, or because nobody has needed it for long.
    pub(super) fn after(mut self, now: Timestamp, rest: &Rest, measure: &Measure) -> Option<Self> {
        if self.limit < 2.0 * measure.busy {
            self.used = now;
        }
        let is_early = self.refusal.is_some_and(|refusal| refusal.is_recent(now));
        let next = match (self.is_met_by(measure), rest.is_kept(measure)) {
            (false, _) => self,
            (true, true) if is_early => self,
            (true, true) => self.grown(),
            (true, false) => self.stepped_back(),
        };
        let is_gone = REGROW_GONE < next.regrow || SPARE_SPAN <= now.since(next.used);
        (!is_gone).then_some(next)
    }

    /// Back to where nothing was amiss; or a little further, where it already stands there.
    pub(super) fn stepped_back(self) -> Self {
        let further = (self.clean * (1.0 - STEP_BACK)).max(self.verdict);
        let limit = if self.clean < self.limit { self.clean } else { further };
        Self { limit, clean: limit, regrow: REGROW, ..self }
    }

    fn grown(self) -> Self {
        let limit = (self.limit * (1.0 + self.regrow.min(REGROW_MAX))).min(LIMIT_MAX);
        let regrow = self.regrow * REGROW_FASTER;
        Self { limit, clean: self.limit, regrow, refusal: None, ..self }
    }

    /// After a step back of the clock its spans begin anew.
    pub(super) fn begin_anew(&mut self, now: Timestamp) {
        self.used = now;
        if let Some(refusal) = &mut self.refusal {
            refusal.begin_anew(now);
        }
    }

    fn is_sound(&self) -> bool {
        let Self { limit, clean, verdict, .. } = *self;
        let is_ordered = 1.0 <= verdict && verdict <= clean && clean <= limit;
        let is_alarm = self.alarm.is_none_or(|inflation| 1.0 <= inflation);
        is_ordered && is_alarm && limit <= LIMIT_MAX && (0.0..=REGROW_GONE).contains(&self.regrow)
    }
}

impl Noted for Bound {
    fn write(&self, notes: &mut Notes) {
        (self.limit, (self.clean, self.verdict)).write(notes);
        (self.regrow, (self.used, (self.refusal, self.alarm))).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (limit, (clean, verdict)) = Noted::read(notes)?;
        let (regrow, (used, (refusal, alarm))) = Noted::read(notes)?;
        Some(Self { limit, clean, verdict, regrow, used, refusal, alarm }).filter(Self::is_sound)
    }
}
