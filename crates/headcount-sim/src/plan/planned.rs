//! The answer, with every figure on the way to it.

use crate::maths::{BadNumber, Slo, Traffic, workers_needed};

use super::bounds::Bounds;
use super::no_plan::NoPlan;
use super::question::Question;
use super::standing::Standing;
use super::what_if::WhatIf;

/// Shares that are closer than this are the same.
const ROUNDING: f64 = 1e-9;

/// How many workers a load needs, with every figure on the way.
///
/// ```
/// use headcount_sim::maths::{Service, Slo, Traffic};
/// use headcount_sim::plan::{Plan, Question};
///
/// let traffic = Traffic::poisson(1000.0, Service::lognormal(0.050, 0.200)?)?;
/// let plan = Plan::of(&Question::new(traffic, Slo::wait(0.050, 0.01)?))?;
/// assert_eq!(plan.at.workers, 64);
/// assert!(plan.at.late <= 0.01 && plan.one_less.expect("63 keep up") > 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What was asked.
    pub question: Question,
    /// The fewest workers that keep the promise, and how they stand.
    pub at: Standing,
    /// The share that would be late with one worker less. `None`: they would not keep up.
    pub one_less: Option<f64>,
    /// The bounds to set.
    pub bounds: Bounds,
    /// What twice the load would need.
    pub doubling: Doubling,
    /// What would be needed if the numbers are a little wrong.
    pub what_ifs: Vec<WhatIf>,
    /// What that takes of memory. `None`: not asked.
    pub memory: Option<Memory>,
    /// How the workers of today stand. `None`: not asked.
    pub present: Option<Present>,
}

/// What twice the load would need.
///
/// ```
/// # use headcount_sim::maths::{Service, Slo, Traffic};
/// # use headcount_sim::plan::{Plan, Question};
/// # let traffic = Traffic::poisson(1000.0, Service::lognormal(0.050, 0.200)?)?;
/// let plan = Plan::of(&Question::new(traffic, Slo::wait(0.050, 0.01)?))?;
/// assert_eq!(plan.doubling.workers, Some(123), "less than twice as many");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Doubling {
    /// Arrivals in a second.
    pub rate: f64,
    /// The workers for it. `None`: more than are looked for.
    pub workers: Option<u32>,
}

/// What workers take of memory.
///
/// ```
/// # use headcount_sim::maths::{Service, Slo, Traffic};
/// # use headcount_sim::plan::{Plan, Question};
/// # let traffic = Traffic::poisson(1000.0, Service::lognormal(0.050, 0.200)?)?;
/// # let question = Question::new(traffic, Slo::wait(0.050, 0.01)?);
/// let question = Question { bytes_per_worker: Some(64 << 20), ..question };
/// let memory = Plan::of(&question)?.memory.expect("it was asked");
/// assert_eq!(memory.initial, 4 << 30);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Bytes of the fewest.
    pub floor: u64,
    /// Bytes of those needed.
    pub initial: u64,
    /// Bytes of the most.
    pub ceiling: u64,
}

/// The workers of today.
///
/// ```
/// # use headcount_sim::maths::{Service, Slo, Traffic};
/// # use headcount_sim::plan::{Plan, Question};
/// # let traffic = Traffic::poisson(1000.0, Service::lognormal(0.050, 0.200)?)?;
/// # let question = Question::new(traffic, Slo::wait(0.050, 0.01)?);
/// let question = Question { present: Some(59), ..question };
/// let present = Plan::of(&question)?.present.expect("it was asked");
/// assert_eq!((present.workers, present.standing), (59, None), "they do not keep up");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Present {
    /// How many.
    pub workers: u32,
    /// How they stand. `None`: they do not keep up.
    pub standing: Option<Standing>,
}

impl Plan {
    /// The answer to `question`.
    ///
    /// # Errors
    ///
    /// When nothing comes, a number makes no sense, or no number of workers would do.
    pub fn of(question: &Question) -> Result<Self, NoPlan> {
        check(question)?;
        let Question { traffic, slo, .. } = question;
        let needed = needed(traffic, slo)?;
        let too_many = NoPlan::TooMany { erlangs: traffic.load().erlangs() };
        let at = Standing::of(traffic, slo, needed).ok_or(too_many)?;
        let twice = traffic.with_rate(2.0 * traffic.rate())?;
        let doubling = Doubling { rate: twice.rate(), workers: workers_needed(&twice, slo) };
        let bounds = Bounds::of(question, needed, doubling.workers);
        Ok(Self {
            question: *question,
            at,
            one_less: slo.late(traffic, needed - 1),
            bounds,
            doubling,
            what_ifs: WhatIf::all(traffic, slo),
            memory: question.bytes_per_worker.map(|bytes| Memory::of(bytes, &bounds)),
            present: question.present.map(|workers| Present::of(traffic, slo, workers)),
        })
    }

    /// How much more may come before the needed workers no longer keep the promise, as a share.
    #[must_use]
    pub fn headroom(&self) -> f64 {
        let most = self.at.rate_max.unwrap_or(0.0);
        (most / self.question.traffic.rate() - 1.0).max(0.0)
    }
}

impl Memory {
    fn of(bytes: u64, bounds: &Bounds) -> Self {
        let all = |workers: u32| bytes.saturating_mul(u64::from(workers));
        Self {
            floor: all(bounds.floor),
            initial: all(bounds.initial),
            ceiling: all(bounds.ceiling),
        }
    }
}

impl Present {
    pub(super) fn of(traffic: &Traffic, slo: &Slo, workers: u32) -> Self {
        Self { workers, standing: Standing::of(traffic, slo, workers) }
    }
}

fn check(question: &Question) -> Result<(), BadNumber> {
    BadNumber::above_zero("the rate of arrivals", question.traffic.rate())?;
    BadNumber::zero_or_above("the time to start a worker", question.spawn)?;
    let quiet = question.quiet_rate.unwrap_or(0.0);
    BadNumber::zero_or_above("the rate when it is quiet", quiet).map(|_| ())
}

/// The fewest workers for a promise, or why there are none.
pub(super) fn needed(traffic: &Traffic, slo: &Slo) -> Result<u32, NoPlan> {
    let late = slo.late_at_best(traffic);
    // A limit that is the very percentile leaves nothing for waiting, to the last digits of it.
    if slo.share() < late * (1.0 + ROUNDING) {
        return Err(NoPlan::ServiceAlone {
            late,
            share: slo.share(),
            limit: slo.limit(),
            limit_least: traffic.service().all_but(slo.share())?,
        });
    }
    let erlangs = traffic.load().erlangs();
    workers_needed(traffic, slo).ok_or(NoPlan::TooMany { erlangs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maths::Service;

    fn question(rate: f64, slo: Slo) -> Question {
        let service = Service::lognormal(0.050, 0.200).unwrap();
        Question::new(Traffic::poisson(rate, service).unwrap(), slo)
    }

    fn wait(seconds: f64) -> Slo {
        Slo::wait(seconds, 0.01).unwrap()
    }

    #[test]
    fn headroom_is_what_the_needed_workers_can_carry_besides() {
        let plan = Plan::of(&question(1000.0, wait(0.050))).unwrap();
        assert_eq!(format!("{:.4}", plan.headroom()), "0.0143");
        let present = Question { present: Some(70), ..plan.question };
        let present = Plan::of(&present).unwrap().present.unwrap().standing.unwrap();
        assert!(1100.0 < present.rate_max.unwrap() && present.late < 0.001);
    }

    #[test]
    fn what_cannot_be_answered_is_said() {
        let told = |question: Question| Plan::of(&question).unwrap_err().to_string();
        assert_eq!(told(question(0.0, wait(0.1))), "the rate of arrivals is 0; it must be above 0");
        let negative = Question { spawn: -1.0, ..question(1.0, wait(0.1)) };
        assert_eq!(told(negative), "the time to start a worker is -1; it must be 0 or above");
        assert!(told(question(1e9, wait(0.1))).contains("at most 10000000 are looked for"));
        let impossible = told(question(1.0, Slo::latency(0.1, 0.01).unwrap()));
        assert!(impossible.starts_with("no number of workers can keep this"), "{impossible}");
    }

    #[test]
    fn memory_is_counted_at_every_bound() {
        let question = Question { bytes_per_worker: Some(10), ..question(1000.0, wait(0.050)) };
        let memory = Plan::of(&question).unwrap().memory.unwrap();
        assert_eq!(memory, Memory { floor: 10, initial: 640, ceiling: 1230 });
    }
}
