//! The bounds to give to a pool.

use crate::maths::{WORKERS_MAX, workers_needed};

use super::question::Question;

/// A worker who starts within this share of the wait can be hired for the job that waits.
const IN_TIME: f64 = 0.5;

/// The bounds to give to a pool: how few, how many to begin with, how many at most.
///
/// ```
/// use headcount_sim::maths::{Service, Slo, Traffic};
/// use headcount_sim::plan::{Floor, Plan, Question};
///
/// let traffic = Traffic::poisson(1000.0, Service::lognormal(0.050, 0.200)?)?;
/// let slo = Slo::wait(0.050, 0.01)?;
/// let question = Question { quiet_rate: Some(100.0), ..Question::new(traffic, slo) };
/// let bounds = Plan::of(&question)?.bounds;
/// assert_eq!((bounds.floor, bounds.initial, bounds.ceiling), (9, 64, 123));
/// assert_eq!(bounds.floor_is_for, Floor::QuietLoad);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The fewest.
    pub floor: u32,
    /// What the fewest are for.
    pub floor_is_for: Floor,
    /// How many to begin with: what the load needs.
    pub initial: u32,
    /// The most: what twice the load needs, or as many as are looked for.
    pub ceiling: u32,
}

/// What the fewest workers are for.
///
/// ```
/// # use headcount_sim::maths::{Service, Slo, Traffic};
/// use headcount_sim::plan::{Floor, Plan, Question};
///
/// # let traffic = Traffic::poisson(1000.0, Service::lognormal(0.050, 0.200)?)?;
/// # let slo = Slo::wait(0.050, 0.01)?;
/// let machines = Question { spawn: 10.0, ..Question::new(traffic, slo) };
/// assert_eq!(Plan::of(&machines)?.bounds.floor_is_for, Floor::BusyLoad);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floor {
    /// For nothing but to be there: others are hired in time.
    Presence,
    /// For the load when it is quietest: others are hired in time.
    QuietLoad,
    /// For the load when it is busiest: nobody could be hired in time.
    BusyLoad,
}

impl Bounds {
    pub(super) fn of(question: &Question, needed: u32, doubled: Option<u32>) -> Self {
        let (floor, floor_is_for) = floor(question, needed);
        Self {
            floor,
            floor_is_for,
            initial: needed,
            ceiling: doubled.unwrap_or(WORKERS_MAX).max(needed),
        }
    }
}

fn floor(question: &Question, needed: u32) -> (u32, Floor) {
    if question.patience() * IN_TIME < question.spawn {
        return (needed, Floor::BusyLoad);
    }
    let quiet = question.quiet_rate.and_then(|rate| question.traffic.with_rate(rate).ok());
    match quiet.and_then(|quiet| workers_needed(&quiet, &question.slo)) {
        Some(workers) => (workers.min(needed), Floor::QuietLoad),
        None => (1, Floor::Presence),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Plan;
    use super::*;
    use crate::maths::{Service, Slo, Traffic};

    fn check(limit: f64, spawn: f64, quiet_rate: Option<f64>, expected: (u32, Floor)) {
        let traffic = Traffic::poisson(100.0, Service::exponential(0.1).unwrap()).unwrap();
        let slo = Slo::wait(limit, 0.01).unwrap();
        let question = Question { quiet_rate, spawn, ..Question::new(traffic, slo) };
        let bounds = Plan::of(&question).unwrap().bounds;
        assert_eq!((bounds.floor, bounds.floor_is_for), expected);
    }

    #[test]
    fn who_is_hired_in_time_need_not_be_kept() {
        check(0.1, 0.001, None, (1, Floor::Presence));
        check(0.1, 0.05, None, (1, Floor::Presence));
        check(0.1, 0.051, None, (14, Floor::BusyLoad));
        check(0.0, 0.001, None, (19, Floor::BusyLoad));
    }

    #[test]
    fn a_quiet_load_keeps_its_own() {
        check(0.1, 0.001, Some(10.0), (4, Floor::QuietLoad));
        check(0.1, 0.001, Some(0.0), (1, Floor::QuietLoad));
        check(0.1, 0.001, Some(1000.0), (14, Floor::QuietLoad));
    }
}
