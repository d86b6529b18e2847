//! More workers than ever worked, and tasks take much longer: fall back first, ask afterwards.
//!
//! Beyond a knee every worker more makes all tasks longer, and every longer task is a reason to
//! hire: within seconds a pool is at its maximum with half of its throughput. A careful probe would
//! come too late. So the pool falls back at once to what is known to work, and then sees what that
//! did. Where tasks stood in line they take less now, in proportion to the workers at least. Where
//! they are merely bigger they take as long as before, and the alarm was false.
//!
//! What ended says so some seconds late. So it is also raised by how many are busy, see [`Crowd`];
//! how much longer their tasks take is then not known, and where they take longer with the workers
//! that are left, too, a probe tells why.

use super::crowd::Crowd;
use super::measure::Measure;
use super::probe::PROBE_BUSY_MIN;
use super::rest::Rest;
use crate::Observation;
use crate::health::Zone;
use crate::scaling::notes::{Noted, Notes, NotesReader};
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
/// The least that is kept where only the crowd speaks for it.
const CROWD_KEPT_MIN: f64 = 0.5;
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
    pub(super) cause: Cause,
}

/// What raised it, and so what tells whether it was right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cause {
    /// Tasks that ended took much longer. Those that take longer than this with the workers that
    /// are left, in times of rest, are bigger.
    Ended { left: f64 },
    /// More are busy than should be. How much longer their tasks take is not known yet, so where
    /// they still do, a probe must tell why.
    Crowd,
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
    /// They take longer than at rest, for one reason or the other.
    Doubtful,
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
        let alarm = (is_beyond && is_slow && is_sure).then(|| {
            let limit = (measure.busy / inflation).max(known.min(KEPT * busy));
            let limit = limit.min(KEPT_MAX * busy);
            // What those in line will take, and what bigger ones will: halfway tells them apart.
            let in_line = (inflation * (limit / measure.busy).min(1.0)).max(1.0);
            let left = (in_line * inflation * CHANCE).sqrt().max(1.0);
            Self { limit, cause: Cause::Ended { left } }
        });
        alarm.filter(Self::can_be_judged)
    }

    /// Whether so many are busy that tasks must be held up, before these have ended.
    ///
    /// Not on a sick machine: it holds tasks up, too, but only until it is well, and a limit that
    /// was found in such a hurry would outlast that by minutes.
    pub(super) fn by_crowd(
        rest: &Rest,
        crowd: &Crowd,
        observation: &Observation,
        known: f64,
    ) -> Option<Self> {
        if is_sick(observation) {
            return None;
        }
        let pool = &observation.pool;
        let busy = f64::from(pool.busy);
        let (expected, z_score) = crowd.excess(rest)?;
        let is_pressed = 0 < pool.queued || pool.parked == 0;
        let is_beyond = known * BEYOND < busy && is_pressed && rest.proven.is_some();
        let is_slow = INFLATION_MIN * expected < busy && Z_MIN < z_score;
        let alarm = (is_beyond && is_slow).then(|| {
            // Those who should be busy are few where the surge is young.
            let limit = expected.max(known.min(KEPT * busy)).max(CROWD_KEPT_MIN * busy);
            Self { limit: limit.min(KEPT_MAX * busy), cause: Cause::Crowd }
        });
        alarm.filter(Self::can_be_judged)
    }

    /// Whether what is left can tell if it was right. It falls back first and asks afterwards; of
    /// fewer workers no probe could tell anything, and a false alarm would stand for hours, until
    /// their few long tasks have made windows.
    fn can_be_judged(&self) -> bool {
        PROBE_BUSY_MIN <= self.limit
    }

    /// What `measure`, with the workers that are left, says of an alarm, where tasks may take
    /// `inflation_max` times as long as at rest.
    pub(super) fn upshot(
        cause: Cause,
        rest: &Rest,
        measure: &Measure,
        inflation_max: f64,
    ) -> Upshot {
        let left = match cause {
            Cause::Ended { left } => left,
            Cause::Crowd if measure.is_full() && rest.is_exceeded(measure, inflation_max) => {
                return Upshot::Doubtful;
            }
            Cause::Crowd => return Upshot::Right,
        };
        let inflation = rest.measure.inflation_at_least(measure);
        let is_bigger = left.max(LEFT_MIN) < inflation && inflation < left * LEFT_MAX;
        if !is_bigger || !measure.is_full() {
            return Upshot::Right;
        }
        match LEFT_Z_MIN <= rest.measure.z_of(inflation, measure) {
            true => Upshot::False,
            false if measure.count < LEFT_TASKS_MAX => Upshot::Open,
            false => Upshot::Right,
        }
    }
}

/// Whether the machine itself may hold tasks up, by what its sensors say.
pub(super) fn is_sick(observation: &Observation) -> bool {
    observation.health.is_some_and(|health| Zone::of(health.score) != Zone::Safe)
}

impl Noted for Cause {
    fn write(&self, notes: &mut Notes) {
        let left = match *self {
            Self::Ended { left } => Some(left),
            Self::Crowd => None,
        };
        left.write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let left = Option::<f64>::read(notes)?;
        left.is_none_or(|left| 1.0 <= left)
            .then(|| left.map_or(Self::Crowd, |left| Self::Ended { left }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure::tests::measure;
    use super::*;
    use crate::Timestamp;
    use crate::health::Health;

    /// Whether so many busy workers whose tasks take twice as long are an alarm where `known`
    /// worked, in a pool that is like this otherwise.
    fn is_alarm(busy: u32, known: f64, pool: PoolSnapshot) -> bool {
        let at_rest = Measure { count: 2000.0, ..measure(1.0, known) };
        let rest = Rest { measure: at_rest, proven: Some(Timestamp::ORIGIN) };
        let pool = PoolSnapshot { busy, ..pool };
        Alarm::raised(&rest, &measure(2.0, f64::from(busy)), &pool, known).is_some()
    }

    /// Whether 60 are where 40 worked, with so many tasks waiting and so many workers parked.
    fn is_raised(queued: u64, parked: u32) -> bool {
        is_alarm(60, 40.0, PoolSnapshot { parked, queued, ..PoolSnapshot::default() })
    }

    #[test]
    fn too_few_workers_to_be_probed_are_no_alarm() {
        let check = |busy, known| is_alarm(busy, known, PoolSnapshot::default());
        assert!(check(6, 4.0));
        assert!(check(5, 2.5));
        assert!(!check(3, 1.4), "it would leave one and a half, and nobody could tell if rightly");
    }

    #[test]
    fn a_pool_that_lets_nobody_wait_is_pressed_when_all_are_busy() {
        assert!(is_raised(5, 0), "work waits");
        assert!(is_raised(0, 0), "each task that comes is a hire");
        assert!(!is_raised(0, 3), "some have nothing to do");
    }

    /// The tick at which ever more busy workers are an alarm where 40 worked, with how many were
    /// busy then, on a machine in that state.
    fn raised_by_crowd(health: Option<Health>) -> Option<(u64, u32, Alarm)> {
        let at_rest = Measure { count: 2000.0, ..measure(1.0, 40.0) };
        let rest = Rest { measure: at_rest, proven: Some(Timestamp::ORIGIN) };
        let mut crowd = Crowd::default();
        let mut pool = PoolSnapshot { busy: 40, ..PoolSnapshot::default() };
        // At 40 busy workers a task ends each 25 ms; from now on it is each 50 ms.
        (0..40).find_map(|tick| {
            let now = Timestamp::from_millis(100 * tick);
            let observation = Observation { health, ..Observation::new(now, pool) };
            crowd.observe(now, &pool, Some(&rest));
            let alarm = Alarm::by_crowd(&rest, &crowd, &observation, 40.0);
            let raised = alarm.map(|alarm| (tick, pool.busy, alarm));
            pool.counters.completed += 2;
            pool.busy += 2;
            raised
        })
    }

    #[test]
    fn a_crowd_raises_it_before_long_tasks_have_ended() {
        let (tick, busy, alarm) = raised_by_crowd(None).expect("ever more are busy");
        assert!(tick < 25, "{tick}");
        assert!((40.0..0.9 * f64::from(busy)).contains(&alarm.limit), "{alarm:?} of {busy}");
        assert_eq!(alarm.cause, Cause::Crowd);
    }

    #[test]
    fn a_crowd_on_a_sick_machine_is_no_alarm() {
        let at = |score| Health { measured_at: Timestamp::ORIGIN, score, worst: None };
        assert!(raised_by_crowd(Some(at(90.0))).is_some(), "it is well");
        assert_eq!(raised_by_crowd(Some(at(50.0))), None);
        assert_eq!(raised_by_crowd(Some(at(10.0))), None);
    }

    #[test]
    fn after_a_crowd_tasks_that_still_take_longer_are_probed() {
        let at_rest = Measure { count: 2000.0, ..measure(1.0, 40.0) };
        let rest = Rest { measure: at_rest, proven: Some(Timestamp::ORIGIN) };
        let upshot = |service, full| {
            let measure = Measure { full, ..measure(service, 40.0) };
            Alarm::upshot(Cause::Crowd, &rest, &measure, 1.3)
        };
        assert_eq!(upshot(1.1, 1.0), Upshot::Right);
        assert_eq!(upshot(1.7, 1.0), Upshot::Doubtful, "bigger, or still beyond the knee");
        assert_eq!(upshot(1.7, 0.0), Upshot::Right, "nothing waits that a probe could tell by");
    }
}
