//! How many would be busy if tasks took as long as at rest.
//!
//! What ended tells of congestion late: in a surge it is the short tasks that end first, and the
//! window that holds them begins before it. How many are *busy* tells at once. Of those who began
//! a task, so many should have ended it by now; who is busy beyond that is held up.
//!
//! Tasks are taken to end at a constant rate, which is exact for exponential ones and, as long as
//! the load is steady, for any. In a surge short tasks of a wide spread leave a little sooner than
//! that, so that rather too many are expected, and nobody is alarmed for it.

use super::rest::Rest;
use crate::Timestamp;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::observation::PoolSnapshot;

/// The variance of the logarithms up to which tasks are of one kind: of milliseconds beside half a
/// minute nobody can say who should have ended by now.
const LOG_VARIANCE_MAX: f64 = 2.5;
/// More workers than anybody has; notes may be damaged.
const WORKERS_MAX: f64 = 1e12;

/// Who is busy, and who should be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Crowd {
    /// Who should be busy. `None`: nothing is known of rest yet.
    expected: Option<f64>,
    busy: u32,
    completed: u64,
    last: Timestamp,
}

impl Crowd {
    /// Takes in a tick of a pool whose tasks take so long at rest, where that is known.
    pub(super) fn observe(&mut self, now: Timestamp, pool: &PoolSnapshot, rest: Option<&Rest>) {
        let before = *self;
        (self.busy, self.completed, self.last) = (pool.busy, pool.counters.completed, now);
        let mean = rest.map_or(0.0, |rest| rest.measure.mean);
        let ended = pool.counters.completed.checked_sub(before.completed);
        let (Some(expected), Some(ended), true) = (before.expected, ended, 0.0 < mean) else {
            self.expected = (0.0 < mean).then_some(f64::from(pool.busy));
            return;
        };
        let begun = (ended as f64 + f64::from(pool.busy) - f64::from(before.busy)).max(0.0);
        let services = now.since(before.last).as_secs_f64() / mean;
        let left = (-services).exp();
        // They began evenly over the tick, so that some of them have ended, too.
        let left_of_new = if services < 1e-9 { 1.0 } else { (1.0 - left) / services };
        self.expected = Some((expected * left + begun * left_of_new).min(WORKERS_MAX));
    }

    /// Who should be busy, and how surely more are, in standard errors.
    pub(super) fn excess(&self, rest: &Rest) -> Option<(f64, f64)> {
        let is_narrow = rest.measure.is_of_all() && rest.measure.log_variance <= LOG_VARIANCE_MAX;
        let expected = self.expected.filter(|_| is_narrow)?.max(1.0);
        // By chance as in a Poisson process, whose square root varies by a half whatever its mean,
        // and by what is not known of rest.
        let rise = 2.0 * (f64::from(self.busy).sqrt() - expected.sqrt());
        Some((expected, rise / (1.0 + expected * rest.measure.noise()).sqrt()))
    }
}

impl Noted for Crowd {
    fn write(&self, notes: &mut Notes) {
        (self.expected, (u64::from(self.busy), (self.completed, self.last))).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (expected, (busy, (completed, last))): (Option<f64>, (u64, (u64, Timestamp))) =
            Noted::read(notes)?;
        let is_sound = expected.is_none_or(|workers| (0.0..=WORKERS_MAX).contains(&workers));
        let busy = u32::try_from(busy).ok()?;
        is_sound.then_some(Self { expected, busy, completed, last })
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure::Measure;
    use super::super::measure::tests::measure;
    use super::*;
    use crate::Counters;

    fn rest(log_variance: f64) -> Rest {
        let measure = Measure { count: 2000.0, log_variance, mean: 1.0, ..measure(0.58, 20.0) };
        Rest { measure, proven: Some(Timestamp::ORIGIN) }
    }

    /// How surely too many are busy in the end, where so many are at each tenth of a second and as
    /// many tasks of about a second end meanwhile.
    fn z_score(rest: &Rest, ticks: &[(u32, u64)]) -> Option<f64> {
        let mut crowd = Crowd::default();
        let mut counters = Counters::default();
        for (tick, (busy, ended)) in (0..).zip(ticks) {
            counters.completed += ended;
            let pool = PoolSnapshot { busy: *busy, counters, ..PoolSnapshot::default() };
            crowd.observe(Timestamp::from_millis(100 * tick), &pool, Some(rest));
        }
        Some(crowd.excess(rest)?.1)
    }

    #[test]
    fn a_surge_that_ends_its_tasks_is_no_crowd() {
        // From 20 to 40 tasks a second: who is busy follows within a second or two.
        let surge = (0..40).map(|tick: u32| {
            let busy = 40.0 - 20.0 * (-f64::from(tick) / 10.0).exp();
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 20 to 40.
            (busy as u32, (busy / 10.0).round() as u64)
        });
        let z = z_score(&rest(1.1), &surge.collect::<Vec<_>>()).expect("of one kind");
        assert!(z.abs() < 1.0, "{z}");
    }

    #[test]
    fn those_whose_tasks_do_not_end_are_a_crowd_at_once() {
        // Forty begin a second, and half of them end.
        let stuck = |ticks: u32| (0..ticks).map(|tick| (40 + 2 * tick, 2)).collect::<Vec<_>>();
        let z = |ticks| z_score(&rest(1.1), &stuck(ticks)).expect("of one kind");
        assert!(z(5) < 2.0 && 4.0 < z(20), "{} and {}", z(5), z(20));
    }

    #[test]
    fn of_tasks_of_many_kinds_nobody_knows_who_should_be_busy() {
        let stuck: Vec<(u32, u64)> = (0..30).map(|tick| (40 + 2 * tick, 2)).collect();
        assert_eq!(z_score(&rest(3.4), &stuck), None);
        let mut unseen = rest(0.1);
        // Only quick ones ended, and workers were busy with others.
        unseen.measure.log_mean = 0.001_f64.ln();
        assert_eq!(z_score(&unseen, &stuck), None);
    }
}
