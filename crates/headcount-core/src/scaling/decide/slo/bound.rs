//! A limit that was found, and how it moves from there.
//!
//! It settles where tasks take just a little longer than at rest, which is just beyond the knee.
//! While they do not, it grows, ever faster, so that a downstream that recovers is used again.
//! While they take longer than that it gives way, half of what is too much at a time: one window
//! is off by more than what is looked for, a few of them together are not. So it follows a knee
//! that falls. But not far below what a verdict said: tasks that have become bigger would bring it
//! down to nothing. There it takes a probe to tell.
//!
//! While the load is low nothing is learnt of it. It is kept for a quarter of an hour, as most
//! knees are still there when the load comes back; but after a minute it is old, and may then grow
//! in large steps from the first. So to keep one that is out of date costs a few windows, and to
//! forget one that is not costs a surge over the knee.

use std::time::Duration;

use super::alarm::Cause;
use super::knee::Look;
use super::measure::Measure;
use super::refusal::Refusal;
use super::rest::Rest;
use crate::Timestamp;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::observation::PoolSnapshot;

/// How fast it grows after a clean window, as a share: after a verdict, after giving way, at most.
const REGROW_VERDICT: f64 = 0.05;
const REGROW: f64 = 0.02;
const REGROW_MAX: f64 = 0.25;
/// How much faster after each further clean window. Ten in a row, or eleven after a step back,
/// make six times the limit and bring the speed to where the knee is taken to be gone.
const REGROW_FASTER: f64 = 2.0;
const REGROW_GONE: f64 = 40.0;
/// How much of what is too much it gives way at a time, as a power.
const GIVE_WAY: f64 = 0.5;
/// The share of what a verdict said below which it does not go by itself.
const UNASKED_MIN: f64 = 0.8;
/// How long it must be twice what is used before it is taken for old, and before it is lifted.
/// Bursts and waves that come every few minutes mostly meet the same knee.
const STALE_SPAN: Duration = Duration::from_secs(60);
const SPARE_SPAN: Duration = Duration::from_secs(900);
/// The share of it that must be busy for a window to tell anything of it.
const USED_MIN: f64 = 0.9;
/// No limit grows beyond this.
const LIMIT_MAX: f64 = 1e12;

/// A limit that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bound {
    pub(super) limit: f64,
    /// What the last verdict said. Only another verdict goes far below it.
    verdict: f64,
    /// How fast it grows after the next clean window; beyond the most, only a count of them.
    regrow: f64,
    /// When more than half of it was last in use.
    used: Timestamp,
    /// The failures that set it, where any did.
    pub(super) refusal: Option<Refusal>,
    /// What set it in a hurry, until it is known whether that was right.
    pub(super) alarm: Option<Cause>,
}

impl Bound {
    pub(super) fn new(now: Timestamp, limit: f64, refusal: Option<Refusal>) -> Self {
        let limit = limit.clamp(1.0, LIMIT_MAX);
        let regrow = REGROW_VERDICT;
        Self { limit, verdict: limit, regrow, used: now, refusal, alarm: None }
    }

    /// Whether a guard holds the ceiling above a limit that was set in a hurry, so that nothing can
    /// be learnt from it.
    pub(super) fn is_overruled(&self, pool: &PoolSnapshot) -> bool {
        self.alarm.is_some() && self.limit + 1.0 < f64::from(pool.ceiling) && 0 < pool.queued
    }

    /// Whether a window tells of this limit, and not of a lower one that somebody else set.
    pub(super) fn is_met_by(&self, measure: &Measure) -> bool {
        measure.is_full() && USED_MIN * self.limit - 0.5 <= measure.around
    }

    /// Whether it is too high, and may give way by itself.
    pub(super) fn is_beyond(&self, look: &Look) -> bool {
        // Much longer tasks at a limit that was fine may well be bigger ones: that takes a probe.
        let lowest = if look.is_inflated { self.verdict } else { self.lowest() };
        let is_surpassed = look.rest.is_surpassed(&look.measure);
        self.is_met_by(&look.measure) && lowest < self.limit && is_surpassed
    }

    /// Whether it gave way as far as it may, and tasks still take longer.
    pub(super) fn is_at_a_loss(&self, rest: &Rest, measure: &Measure) -> bool {
        self.is_met_by(measure) && self.limit <= self.lowest() && rest.is_surpassed(measure)
    }

    fn lowest(&self) -> f64 {
        (self.verdict * UNASKED_MIN).max(1.0)
    }

    /// What becomes of it after a window, or `None` where it is lifted: because it grew and grew
    /// and nothing happened, or because nobody has needed it for long.
    pub(super) fn after(mut self, now: Timestamp, rest: &Rest, measure: &Measure) -> Option<Self> {
        if self.limit < 2.0 * measure.busy {
            // Old: what set it may be over, so it need not grow with care.
            if STALE_SPAN <= now.since(self.used) {
                self.regrow = self.regrow.max(REGROW_MAX);
            }
            self.used = now;
        }
        let is_early = self.refusal.is_some_and(|refusal| refusal.is_recent(now));
        let next = match (self.is_met_by(measure), rest.is_surpassed(measure)) {
            (false, _) => self,
            (true, false) if is_early => self,
            (true, false) => self.grown(),
            (true, true) => self.given_way(rest, measure),
        };
        let is_gone = REGROW_GONE < next.regrow || SPARE_SPAN <= now.since(next.used);
        (!is_gone).then_some(next)
    }

    /// A part of the way to where tasks take as long as they may.
    pub(super) fn given_way(self, rest: &Rest, measure: &Measure) -> Self {
        let share = rest.surplus(measure).max(1.0).powf(-GIVE_WAY);
        let limit = (self.limit * share).max(self.lowest());
        Self { limit, regrow: REGROW, ..self }
    }

    fn grown(self) -> Self {
        let limit = (self.limit * (1.0 + self.regrow.min(REGROW_MAX))).min(LIMIT_MAX);
        let regrow = self.regrow * REGROW_FASTER;
        Self { limit, regrow, refusal: None, ..self }
    }

    /// After a step back of the clock its spans begin anew.
    pub(super) fn begin_anew(&mut self, now: Timestamp) {
        self.used = now;
        if let Some(refusal) = &mut self.refusal {
            refusal.begin_anew(now);
        }
    }

    fn is_sound(&self) -> bool {
        let Self { limit, verdict, .. } = *self;
        let is_ordered = 1.0 <= verdict && self.lowest() <= limit;
        is_ordered && limit <= LIMIT_MAX && (0.0..=REGROW_GONE).contains(&self.regrow)
    }
}

impl Noted for Bound {
    fn write(&self, notes: &mut Notes) {
        (self.limit, self.verdict).write(notes);
        (self.regrow, (self.used, (self.refusal, self.alarm))).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (limit, verdict) = Noted::read(notes)?;
        let (regrow, (used, (refusal, alarm))) = Noted::read(notes)?;
        Some(Self { limit, verdict, regrow, used, refusal, alarm }).filter(Self::is_sound)
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure::tests::measure;
    use super::*;

    /// What a limit of 40 becomes under which tasks of a second take each of these in turn.
    fn settled(services: &[f64]) -> (f64, bool) {
        let at = Timestamp::from_secs(100);
        let rest = Rest { measure: Measure { count: 2000.0, ..measure(1.0, 10.0) }, proven: None };
        let mut bound = Bound::new(at, 40.0, None);
        let mut is_at_a_loss = false;
        for service in services {
            let measure = Measure { held: 1.0, full: 1.0, ..measure(*service, bound.limit) };
            is_at_a_loss = bound.is_at_a_loss(&rest, &measure);
            bound = bound.after(at, &rest, &measure).expect("it is in use");
        }
        (bound.limit, is_at_a_loss)
    }

    #[track_caller]
    fn check(services: &[f64], expected: std::ops::Range<f64>, is_at_a_loss: bool) {
        let (limit, at_a_loss) = settled(services);
        assert!(expected.contains(&limit), "{limit} after {services:?}");
        assert_eq!(at_a_loss, is_at_a_loss, "after {services:?}");
    }

    #[test]
    fn it_gives_way_to_a_little_inflation() {
        check(&[1.2], 37.0..40.0, false);
        check(&[1.2, 1.2], 35.0..38.0, false);
    }

    #[test]
    fn it_goes_back_up_where_it_gave_way_to_chance() {
        check(&[1.2, 1.0, 1.0, 1.0], 40.0..45.0, false);
    }

    #[test]
    fn far_below_a_verdict_it_does_not_go_unasked() {
        check(&[1.5; 9], 32.0..32.001, true);
    }

    #[test]
    fn it_is_kept_while_it_is_quiet_and_then_grows_in_large_steps() {
        let at = |seconds: u64| Timestamp::from_secs(100 + seconds);
        let rest = Rest { measure: Measure { count: 2000.0, ..measure(1.0, 10.0) }, proven: None };
        let bound = Bound::new(at(0), 40.0, None);
        let (quiet, busy) =
            (measure(1.0, 4.0), Measure { held: 1.0, full: 1.0, ..measure(1.0, 40.0) });
        let grown_at = |seconds| {
            let kept = bound.after(at(30), &rest, &quiet).expect("it is kept");
            kept.after(at(seconds), &rest, &busy).expect("it is in use").limit
        };
        assert_eq!((grown_at(59), grown_at(60)), (42.0, 50.0));
        assert!(bound.after(at(899), &rest, &quiet).is_some());
        assert_eq!(bound.after(at(900), &rest, &quiet), None, "it is lifted");
    }

    #[test]
    fn it_grows_by_bursts_too_though_most_of_the_time_nothing_is_done() {
        let rest = Rest { measure: Measure { count: 2000.0, ..measure(1.0, 10.0) }, proven: None };
        let at = Timestamp::from_secs(100);
        let burst = Measure { held: 0.1, full: 0.9, around: 40.0, ..measure(1.0, 4.0) };
        let bound = Bound::new(at, 40.0, None).after(at, &rest, &burst).expect("it is in use");
        assert!((41.9..42.1).contains(&bound.limit), "{}", bound.limit);
    }

    #[test]
    fn it_grows_ever_faster() {
        check(&[1.0], 41.9..42.1, false);
        check(&[1.0; 4], 65.0..75.0, false);
    }
}
