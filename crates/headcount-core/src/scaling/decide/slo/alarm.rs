//! More workers than ever worked, and tasks take much longer: fall back first, ask afterwards.
//!
//! Beyond a knee every worker more makes all tasks longer, and every longer task is a reason to
//! hire: within seconds a pool is at its maximum with half of its throughput. A careful probe would
//! come too late. So the pool falls back at once to what is known to work, and then sees what that
//! did. Where tasks stood in line they take less now, in proportion to the workers at least. Where
//! they are merely bigger they take as long as before, and the alarm was false.

use super::measure::Measure;
use super::rest::Rest;
use crate::scaling::observation::PoolSnapshot;

/// What raises it: so many times the workers that ever worked, so many tasks, so much longer,
/// and so surely.
const BEYOND: f64 = 1.15;
const TASKS_MIN: f64 = 40.0;
const INFLATION_MIN: f64 = 1.4;
const Z_MIN: f64 = 5.0;
/// The share of the workers that is kept, and at most where their throughput asks for more.
const KEPT: f64 = 0.67;
const KEPT_MAX: f64 = 0.9;
/// How much of the inflation is left once chance has no part in it: the longest raise an alarm.
const CHANCE: f64 = 0.85;
/// The inflation that bigger tasks leave: so much at least and, as a factor of what tells them
/// apart, at most. More than that is neither: other tasks, that tell nothing of those before.
const LEFT_MIN: f64 = 1.2;
const LEFT_MAX: f64 = 3.0;
/// How sure that must be, and the tasks after which it is given up.
const LEFT_Z_MIN: f64 = 4.0;
const LEFT_TASKS_MAX: f64 = 400.0;

/// A reason to fall back at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Alarm {
    /// The workers that are left.
    pub(super) limit: f64,
    /// Tasks that take longer than this with them, in times of rest, are bigger.
    pub(super) left: f64,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Upshot {
    /// It cannot be said yet.
    Open,
    /// They stood in each other's way, or nothing speaks against it.
    Right,
    /// The tasks are bigger.
    False,
}

impl Alarm {
    /// Whether what was measured so far is one, where `known` workers are known to work.
    pub(super) fn raised(
        rest: &Rest,
        measure: &Measure,
        pool: &PoolSnapshot,
        known: f64,
    ) -> Option<Self> {
        let busy = f64::from(pool.busy);
        // Where nobody may wait, nothing does before the ceiling: all are busy, and more are hired.
        let is_pressed = 0 < pool.queued || pool.parked == 0;
        let is_beyond = known * BEYOND < busy && is_pressed;
        let inflation = rest.measure.inflation(measure);
        let is_slow = INFLATION_MIN < inflation && Z_MIN < rest.measure.z_score(measure);
        // Of workers that become fewer, those with long tasks are left.
        let is_falling = measure.rise < 0.0 && !measure.is_steady();
        let is_sure = rest.proven.is_some() && TASKS_MIN <= measure.count && !is_falling;
        (is_beyond && is_slow && is_sure).then(|| {
            let limit = (measure.busy / inflation).max(known.min(KEPT * busy));
            let limit = limit.min(KEPT_MAX * busy);
            // What those in line will take, and what bigger ones will: halfway tells them apart.
            let in_line = (inflation * (limit / measure.busy).min(1.0)).max(1.0);
            Self { limit, left: (in_line * inflation * CHANCE).sqrt().max(1.0) }
        })
    }

    /// What `measure`, with the workers that are left, says of an alarm.
    pub(super) fn upshot(left: f64, rest: &Rest, measure: &Measure) -> Upshot {
        let inflation = rest.measure.inflation_at_least(measure);
        let is_bigger = left.max(LEFT_MIN) < inflation && inflation < left * LEFT_MAX;
        if !is_bigger || !measure.is_held() {
            return Upshot::Right;
        }
        match LEFT_Z_MIN <= rest.measure.z_of(inflation, measure) {
            true => Upshot::False,
            false if measure.count < LEFT_TASKS_MAX => Upshot::Open,
            false => Upshot::Right,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure::tests::measure;
    use super::*;
    use crate::Timestamp;

    /// Whether 60 busy workers whose tasks take twice as long are an alarm where 40 worked, with so
    /// many tasks waiting and so many workers parked.
    fn is_raised(queued: u64, parked: u32) -> bool {
        let at_rest = Measure { count: 2000.0, ..measure(1.0, 40.0) };
        let rest = Rest { measure: at_rest, proven: Some(Timestamp::ORIGIN) };
        let pool = PoolSnapshot { busy: 60, parked, queued, ..PoolSnapshot::default() };
        Alarm::raised(&rest, &measure(2.0, 60.0), &pool, 40.0).is_some()
    }

    #[test]
    fn a_pool_that_lets_nobody_wait_is_pressed_when_all_are_busy() {
        assert!(is_raised(5, 0), "work waits");
        assert!(is_raised(0, 0), "each task that comes is a hire");
        assert!(!is_raised(0, 3), "some have nothing to do");
    }
}
