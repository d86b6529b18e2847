//! What tasks take when nobody stands in another's way.
//!
//! - It is learnt where few are busy, never where tasks are quick: choosing the quick windows
//!   would ratchet the limit down to nothing. And the load must ask for few: where fewer are busy
//!   only because their tasks happen to be small, that would choose the quick ones, too.
//! - Only what is far quicker is taken over at once, for tasks cannot be congested and quick.
//! - The first window holds the short tasks of a beginning; it counts for little.
//! - It is *proven* where only the load shaped it, where many more workers were as quick, or where
//!   a probe showed that the workers were needed. What was learnt while held at the limit is not:
//!   the limit may have been beyond the knee from the start.

use super::measure::Measure;
use super::probe::Probe;
use crate::Timestamp;
use crate::scaling::notes::{Noted, Notes, NotesReader};

/// Standard errors from which a difference counts; and from which on it counts where every window
/// is looked at, as one in a thousand differs by three of them.
const Z_MIN: f64 = 3.0;
const Z_MIN_EVERY: f64 = 5.0;
/// The tasks that the first window counts for at most.
const FIRST_COUNT_MAX: f64 = 200.0;
/// The share of what worked below which few workers are busy.
const LOW_SHARE: f64 = 0.7;
/// How many more workers than at rest still count as few.
const LOW_RISE: f64 = 1.15;
/// The inflation, as a logarithm, at which a limit settles. Below a knee there is none, so some is
/// needed to know where it is; each percent costs about as much of the throughput.
const SETTLED: f64 = 0.06;
/// By how many standard errors of rest it is more: a rest that is too low by chance would bind a
/// pool for nothing, and keep it there.
const ERRORS: f64 = 2.0;
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
        let proven = measure.is_demand_limited().then_some(now);
        let count = measure.count.min(FIRST_COUNT_MAX);
        Self { measure: Measure { count, ..measure }, proven }
    }

    /// Whether tasks took longer, beyond `inflation_max` and beyond chance.
    pub(super) fn is_exceeded(&self, measure: &Measure, inflation_max: f64) -> bool {
        Z_MIN < self.measure.z_score(measure) && inflation_max < self.measure.inflation(measure)
    }

    /// Whether tasks took as long as at rest, as far as that can be told.
    pub(super) fn is_kept(&self, measure: &Measure) -> bool {
        self.measure.inflation(measure) < CLEAN_MAX || self.measure.z_score(measure) < CLEAN_Z_MAX
    }

    /// Whether tasks took longer than where a limit settles, which is further up where rest itself
    /// is not known well. Not a matter of chance: what a single window says too much or too little,
    /// the next ones make up for.
    pub(super) fn is_surpassed(&self, measure: &Measure) -> bool {
        1.0 < self.surplus(measure)
    }

    /// How many times as long tasks took as where a limit settles.
    pub(super) fn surplus(&self, measure: &Measure) -> f64 {
        self.measure.inflation(measure)
            / (SETTLED + ERRORS * self.measure.own_error().min(1.0)).exp()
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
        let is_sure = Z_MIN_EVERY < measure.z_score(&self.measure);
        if is_sure && measure.is_steady() && self.is_far_quicker(measure, inflation_max) {
            return Self::first(now, *measure);
        }
        let low = (worked * LOW_SHARE).max(self.measure.busy * LOW_RISE);
        let asked_for = measure.throughput * self.measure.mean;
        let is_low = asked_for.max(measure.busy) <= low;
        if measure.is_demand_limited() && measure.is_steady() && is_low {
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
        // That throughput fell says that most of the workers were needed, not all: a few beyond a
        // knee make every task longer. So it is the fewer workers whose tasks tell of rest.
        let known = rest.filter(|rest| is_alike(&rest.measure, measure));
        let mut learnt = known.map_or(*measure, |rest| rest.measure);
        match known {
            Some(_) => learnt.pool(measure),
            // Unhindered before the probe, too: the two tell more than one.
            None if is_alike(measure, &probe.before) => learnt.pool(&probe.before),
            None => {}
        }
        Self { measure: learnt, proven: Some(now) }
    }

    /// Whether tasks took much less, beyond `inflation_max` and beyond chance.
    pub(super) fn is_far_quicker(&self, measure: &Measure, inflation_max: f64) -> bool {
        measure.z_score(&self.measure) > Z_MIN && inflation_max < measure.inflation(&self.measure)
    }
}

/// Whether two took as long, as far as that can be told.
fn is_alike(one: &Measure, other: &Measure) -> bool {
    one.z_score(other).abs() < Z_MIN
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

#[cfg(test)]
mod tests {
    use super::super::measure::tests::measure as slo_measure;
    use super::*;

    #[test]
    fn what_one_window_in_a_thousand_says_is_not_taken_over() {
        let at = Timestamp::from_secs(100);
        let rest =
            Rest::first(at, slo_measure(1.0, 20.0)).taught(at, &slo_measure(1.0, 20.0), 40.0, 1.3);
        // 400 tasks of rest, 200 of a window: the difference is about four standard errors.
        let quick = rest.taught(at, &slo_measure(0.68, 30.0), 30.0, 1.3);
        assert_eq!(quick.measure, rest.measure, "chance");
        let far = rest.taught(at, &slo_measure(0.5, 30.0), 30.0, 1.3);
        assert!((far.measure.log_mean - 0.5_f64.ln()).abs() < 1e-9, "no chance");
    }

    #[test]
    fn rest_is_learnt_where_the_load_asks_for_few() {
        let at = Timestamp::from_secs(100);
        let rest = Rest::first(at, slo_measure(1.0, 20.0));
        let learns =
            |measure: Measure| rest.taught(at, &measure, 30.0, 1.3).measure != rest.measure;
        assert!(learns(slo_measure(1.1, 20.0)));
        // As few are busy, with smaller tasks and more of them: chosen for being quick.
        assert!(!learns(slo_measure(0.8, 20.0)));
    }

    #[test]
    fn the_less_is_known_of_rest_the_more_may_tasks_take() {
        let at = Timestamp::from_secs(100);
        let measure = slo_measure(1.15, 20.0);
        let vague = Rest::first(at, slo_measure(1.0, 20.0));
        let sure = Rest { measure: Measure { count: 2000.0, ..vague.measure }, ..vague };
        assert!(!vague.is_surpassed(&measure) && sure.is_surpassed(&measure));
        assert!(!sure.is_surpassed(&slo_measure(1.05, 20.0)));
    }

    #[test]
    fn what_a_few_workers_too_many_take_is_no_rest() {
        let at = Timestamp::from_secs(100);
        let sure = Measure { count: 2000.0, ..slo_measure(1.0, 20.0) };
        let rest = Rest { measure: sure, proven: Some(at) };
        // Of 54 workers at a knee of 50 a probe leaves 36, which are needed.
        let learnt = |before, fewer| {
            let probe = Probe { before: slo_measure(before, 54.0), since: at };
            let learnt = Rest::proven_by(&probe, at, &slo_measure(fewer, 36.0), Some(rest));
            learnt.measure.log_mean.exp()
        };
        assert!(learnt(1.4, 1.1) < 1.02, "they are nearly as quick as at rest");
        assert!(learnt(1.4, 1.0) < 1.01, "and these as quick");
        let bigger = learnt(1.5, 1.5);
        assert!((bigger - 1.5).abs() < 0.01, "{bigger}: the tasks are bigger");
        let both = learnt(2.0, 1.4);
        assert!((both - 1.4).abs() < 0.01, "{both}: bigger, and beyond a knee");
    }

    #[test]
    fn a_first_window_counts_for_little() {
        let long = Measure { count: 900.0, ..slo_measure(1.0, 20.0) };
        assert!(Rest::first(Timestamp::ORIGIN, long).measure.count <= 200.0);
    }
}
