//! Failures that say it is too much.
//!
//! A downstream that refuses calls, or lets them time out, says so itself: no probe is needed.
//! But a broken one fails at any concurrency. So failures count where there are more of them than
//! at rest, with more workers or longer tasks than at rest; and where far fewer workers leave as
//! many of them, they are taken for how things are.

use std::time::Duration;

use super::knee::Look;
use super::measure::Measure;
use crate::Timestamp;
use crate::scaling::notes::{Noted, Notes, NotesReader};

/// The share of failures, beyond those at rest, that counts.
const RATE_MIN: f64 = 0.1;
/// Standard errors from which a difference counts.
const Z_MIN: f64 = 3.0;
/// How many times the workers of rest make a crowd.
const CROWD_MIN: f64 = 1.3;
/// What a refusal leaves of the workers, as a share: at least this...
const KEPT_MIN: f64 = 0.5;
/// ...and where more is known to work, at most this.
const KEPT_MAX: f64 = 0.98;
/// So few of the workers, and so many of the failures, have nothing to do with each other.
const CROWD_LEFT_MAX: f64 = 0.6;
const RATE_LEFT_MIN: f64 = 0.5;

/// How long nothing is tried again after failures: each try makes more of them.
const PAUSE: Duration = Duration::from_secs(10);

/// Failures that say it is too much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Refusal {
    /// Their share, and how many workers were busy, when they began.
    rate: f64,
    busy: f64,
    /// When there were such failures last.
    last: Timestamp,
}

impl Refusal {
    /// What the failures of a window say, where they say anything: anew, or once more after
    /// `first`.
    pub(super) fn of(look: &Look, first: Option<Self>) -> Option<Self> {
        let Look { measure, rest, is_inflated, .. } = look;
        let is_crowded = CROWD_MIN * rest.measure.busy < measure.busy;
        let is_ours = is_crowded || *is_inflated || first.is_some();
        let chance = measure.error_rate * (1.0 - measure.error_rate) / measure.count;
        let rise_min = RATE_MIN.max(Z_MIN * chance.sqrt());
        let rise = measure.error_rate - rest.measure.error_rate;
        let (rate, busy) = first.map_or((measure.error_rate, measure.busy), |f| (f.rate, f.busy));
        (rise_min < rise && is_ours).then_some(Self { rate, busy, last: look.now })
    }

    /// Whether it is too early to try more workers again.
    pub(super) fn is_recent(&self, now: Timestamp) -> bool {
        now.since(self.last) < PAUSE
    }

    /// After a step back of the clock its span begins anew.
    pub(super) fn begin_anew(&mut self, now: Timestamp) {
        self.last = now;
    }

    /// Whether far fewer workers left as many failures.
    pub(super) fn is_unrelated(&self, measure: &Measure) -> bool {
        measure.busy < self.busy * CROWD_LEFT_MAX && self.rate * RATE_LEFT_MIN < measure.error_rate
    }

    /// What is left of the workers: those whose tasks ended well, at the service time of rest;
    /// or those that are known to have worked, unless they fail as well.
    pub(super) fn limit(look: &Look, first: Option<Self>) -> f64 {
        let Look { measure, rest, worked, .. } = look;
        let times = rest.measure.inflation(measure).max(1.0);
        let kept = measure.busy * ((1.0 - measure.error_rate) / times).max(KEPT_MIN);
        match first {
            Some(_) => kept,
            None => kept.max(worked.min(measure.busy * KEPT_MAX)),
        }
    }
}

impl Noted for Refusal {
    fn write(&self, notes: &mut Notes) {
        (self.rate, (self.busy, self.last)).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (rate, (busy, last)) = Noted::read(notes)?;
        Some(Self { rate, busy, last }).filter(|read| 0.0 <= read.rate && 0.0 <= read.busy)
    }
}
