//! How many would be busy if tasks took as long as at rest.
//!
//! What ended tells of congestion late: in a surge it is the short tasks that end first, and the
//! window that holds them begins before it. How many are *busy* tells at once. Of those who began
//! a task, so many should have ended it by now; who is busy beyond that is held up.
//!
//! A task is taken to go through stages, from each at a constant rate: through one where tasks
//! spread as exponential ones do or wider, through many where all take about as long (Erlang's
//! distribution). As long as the load is steady the number makes no difference. In a surge tasks
//! of a very wide spread leave a little sooner than one stage says, so that rather too many are
//! expected, and nobody is alarmed for it.

use super::rest::Rest;
use crate::Timestamp;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::observation::PoolSnapshot;

/// The variance of the logarithms up to which tasks are of one kind: of milliseconds beside half a
/// minute nobody can say who should have ended by now.
const LOG_VARIANCE_MAX: f64 = 2.5;
/// How much of what the spread of their logarithms says tasks take at least, whatever their kind.
const SPREAD_SURE: f64 = 0.6;
/// The most stages of a task: it then takes within a quarter of the mean, give or take.
const STAGES_MAX: usize = 16;
/// More workers than anybody has; notes may be damaged.
const WORKERS_MAX: f64 = 1e12;

/// Who is busy, and who should be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Crowd {
    /// Who should be busy, by the stage they are at, and how many stages there are. None: nothing
    /// is known of rest yet.
    expected: [f64; STAGES_MAX],
    stages: usize,
    busy: u32,
    completed: u64,
    last: Timestamp,
}

/// How many tasks ended in a tick, and how many should have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ends {
    pub(super) seen: f64,
    pub(super) due: f64,
}

impl Crowd {
    /// Takes in a tick of a pool whose tasks take so long at rest, where that is known.
    pub(super) fn observe(
        &mut self,
        now: Timestamp,
        pool: &PoolSnapshot,
        rest: Option<&Rest>,
    ) -> Option<Ends> {
        let before = *self;
        (self.busy, self.completed, self.last) = (pool.busy, pool.counters.completed, now);
        let rest = rest.filter(|rest| 0.0 < rest.measure.mean);
        self.stages = rest.map_or(0, |rest| stages(rest.measure.log_variance));
        let ended = pool.counters.completed.checked_sub(before.completed);
        let is_known = 0 < self.stages && before.stages == self.stages;
        if is_known && before.busy == 0 {
            // Nobody knows when they came. It may have been long ago, or just now, all at once.
            self.expected = [0.0; STAGES_MAX];
            self.expected[0] = f64::from(pool.busy);
            return None;
        }
        let (Some(rest), Some(ended), true) = (rest, ended, is_known) else {
            self.spread(f64::from(pool.busy));
            return None;
        };
        let begun = (ended as f64 + f64::from(pool.busy) - f64::from(before.busy)).max(0.0);
        let services = now.since(before.last).as_secs_f64() / service(rest);
        self.go_on(begun, services * self.stages as f64);
        let due = (before.total() + begun - self.total()).max(0.0);
        Some(Ends { seen: ended as f64, due })
    }

    /// As many at each stage: so it is where the load is steady.
    fn spread(&mut self, busy: f64) {
        self.expected = [0.0; STAGES_MAX];
        self.expected[..self.stages].fill(busy / self.stages.max(1) as f64);
    }

    /// Goes on by a time in which a stage is left so many times on average, and so many began,
    /// evenly over it.
    fn go_on(&mut self, begun: f64, times: f64) {
        let before = self.expected;
        // How likely it is to have left so many stages, by their number, and to have left more.
        let mut likely = [0.0; STAGES_MAX];
        let (mut left, mut more) = ((-times).exp(), 1.0);
        for stage in 0..self.stages {
            likely[stage] = left;
            more -= left;
            left *= times / (stage as f64 + 1.0);
            let moved: f64 = (0..=stage).map(|from| before[from] * likely[stage - from]).sum();
            let is_short = times < 1e-6;
            let new = match stage {
                0 if is_short => 1.0,
                _ if is_short => 0.0,
                _ => more.max(0.0) / times,
            };
            self.expected[stage] = (moved + begun * new).min(WORKERS_MAX);
        }
    }

    /// Who should be busy, whatever stage they are at.
    fn total(&self) -> f64 {
        self.expected.iter().sum()
    }

    /// Who should be busy, where that can be said.
    pub(super) fn expected(&self, rest: &Rest) -> Option<f64> {
        let is_narrow = rest.measure.is_of_all() && rest.measure.log_variance <= LOG_VARIANCE_MAX;
        (is_narrow && 0 < self.stages).then(|| self.total().max(1.0))
    }

    /// Who should be busy, and how surely more are, in standard errors.
    pub(super) fn excess(&self, rest: &Rest) -> Option<(f64, f64)> {
        let expected = self.expected(rest)?;
        // By chance as in a Poisson process, whose square root varies by a half whatever its mean,
        // and by what is not known of rest.
        let rise = 2.0 * (f64::from(self.busy).sqrt() - expected.sqrt());
        Some((expected, rise / (1.0 + expected * rest.measure.noise()).sqrt()))
    }
}

/// Seconds that a task takes at rest. Where tasks come in bursts that are over within a tick, busy
/// workers are hardly seen, and less is known of them than of the tasks that ended.
fn service(rest: &Rest) -> f64 {
    rest.measure.mean.max(SPREAD_SURE * rest.measure.service_spread())
}

/// How many stages have times whose logarithms vary by so much.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 1 to `STAGES_MAX`.
fn stages(log_variance: f64) -> usize {
    // The inverse of the trigamma function, within a percent or two.
    (1.0 / log_variance.max(1e-3) + 0.5).round().clamp(1.0, STAGES_MAX as f64) as usize
}

impl Noted for Crowd {
    fn write(&self, notes: &mut Notes) {
        (self.stages as u64, (self.busy, (self.completed, self.last))).write(notes);
        self.expected[..self.stages].iter().for_each(|workers| workers.write(notes));
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (stages, (busy, (completed, last))) = <(u64, _)>::read(notes)?;
        let stages = usize::try_from(stages).ok().filter(|stages| *stages <= STAGES_MAX)?;
        let mut expected = [0.0; STAGES_MAX];
        for workers in &mut expected[..stages] {
            *workers = f64::read(notes).filter(|read| (0.0..=WORKERS_MAX).contains(read))?;
        }
        Some(Self { expected, stages, busy, completed, last })
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
    fn a_burst_after_a_rest_may_have_come_just_before() {
        // A pool at rest is looked at every two seconds, and as soon as a burst has filled it.
        let (rest, mut crowd) = (rest(0.3), Crowd::default());
        for (ms, busy) in [(0, 0), (2000, 0), (4000, 60)] {
            let pool = PoolSnapshot { busy, ..PoolSnapshot::default() };
            crowd.observe(Timestamp::from_millis(ms), &pool, Some(&rest));
        }
        let (expected, z) = crowd.excess(&rest).expect("of one kind");
        assert!((59.0..=60.0).contains(&expected) && z.abs() < 0.1, "{expected}, {z}");
    }

    #[test]
    fn tasks_that_all_take_as_long_end_together() {
        // From 20 to 100 at once; for most of a second none of those ends, as none could.
        let young: Vec<(u32, u64)> =
            (0..8).map(|tick| if tick < 2 { (20, 2) } else { (100, 2) }).collect();
        let z = |log_variance| z_score(&rest(log_variance), &young).expect("of one kind");
        assert!(z(0.02) < 2.0 && 2.5 < z(1.6), "{} and {}", z(0.02), z(1.6));
    }

    #[test]
    fn as_many_are_due_as_a_steady_load_ends() {
        for log_variance in [0.02, 0.3, 1.1, 2.0] {
            let (rest, mut crowd) = (rest(log_variance), Crowd::default());
            let mut due = 0.0;
            for tick in 0..100 {
                let counters = Counters { completed: 2 * tick, ..Counters::default() };
                let pool = PoolSnapshot { busy: 20, counters, ..PoolSnapshot::default() };
                let ends = crowd.observe(Timestamp::from_millis(100 * tick), &pool, Some(&rest));
                due += ends.map_or(0.0, |ends| ends.due);
            }
            assert!((due - 198.0).abs() < 2.0, "{due} of 198 with {log_variance}");
        }
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
