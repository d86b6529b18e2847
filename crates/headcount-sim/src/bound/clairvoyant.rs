//! The bound itself.

use std::fmt;
use std::time::Duration;

use headcount_core::Timestamp;

use crate::load::Job;

use super::config::BoundConfig;
use super::program;
use super::proof::{self, Plan};
use super::slots::Slots;

/// Sums over slots are good to this part of themselves; the bound stays below by it.
const ROUNDING: f64 = 1e-12;

/// The least that a run can cost, and a plan that comes close to it.
///
/// ```
/// use headcount_core::Timestamp;
/// use headcount_sim::Promise;
/// use headcount_sim::bound::{Bound, BoundConfig};
/// use headcount_sim::load::Job;
/// use std::time::Duration;
///
/// // A job of 4 s that may wait 6 s, then nothing until another one at 20 s.
/// let second = Duration::from_secs(1);
/// let job = |secs| Job { at: Timestamp::from_secs(secs), size: 4 * second, class: 0 };
/// let promise = Promise::Wait(6 * second);
/// let config = BoundConfig { spawn_cost: 5 * second, ..BoundConfig::of(promise) };
///
/// // The one worker that is always there does it all: 20 s until the last arrival, 4 s after it.
/// let bound = Bound::of([0, 20].map(job), &config)?;
/// assert_eq!((bound.j * 1e3).round(), 3_000.0);
/// assert_eq!(bound.spawns.round(), 0.0);
/// # Ok::<(), headcount_sim::bound::BoundError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// J of the bound: worker-seconds and hires, in parts of the work. No run without lateness is
    /// cheaper.
    pub j: f64,
    /// All the work there is.
    pub work_seconds: f64,
    /// Worker-seconds of the plan, those of starting among them.
    pub worker_seconds: f64,
    /// Hires of the plan, not always whole.
    pub spawns: f64,
    /// How much dearer the plan is than the bound, in parts of the work: how sharp the answer is.
    pub gap: f64,
}

impl Bound {
    /// The bound for these jobs, in any order.
    ///
    /// # Errors
    ///
    /// Where there is no work, more slots than [`super::SLOTS_MAX`], or a knee that is wrong or
    /// leaves too little room for all work to be done in time.
    pub fn of(
        jobs: impl IntoIterator<Item = Job>,
        config: &BoundConfig,
    ) -> Result<Self, BoundError> {
        let slots = Slots::of(jobs, config)?;
        let slot = config.slot.as_secs_f64();
        let hire = config.hire_seconds() / slot;
        let free = proof::plan_for_free_hires(&slots);
        let (proved, plan) = match hire {
            0.0 => (free.workers, free),
            _ => {
                let belief = program::solve(&slots, hire);
                let mended = proof::mended(&slots, &belief);
                // Hires that cost nothing are never dearer, so that is a bound as well.
                (
                    proof::proved(&slots, hire, &belief).max(free.workers),
                    cheaper(mended, free, hire),
                )
            }
        };
        let (work, proved) = (slots.work(), proved * (1.0 - ROUNDING));
        Ok(Self {
            j: proved / work,
            work_seconds: work * slot,
            worker_seconds: plan.workers * slot + plan.spawns * config.spawn_delay.as_secs_f64(),
            spawns: plan.spawns,
            gap: (plan.workers + hire * plan.spawns - proved) / work,
        })
    }

    /// The same in slots as much longer as it takes: for runs that last for days, or in which one
    /// job does. The longer slots are the less sharp is the bound.
    ///
    /// ```
    /// use headcount_core::Timestamp;
    /// use headcount_sim::Promise;
    /// use headcount_sim::bound::{Bound, BoundConfig, BoundError, SLOTS_MAX};
    /// use headcount_sim::load::Job;
    /// use std::time::Duration;
    ///
    /// let config = BoundConfig::of(Promise::Wait(Duration::from_secs(1)));
    /// let days = Job { at: Timestamp::ORIGIN, size: Duration::from_secs(300_000), class: 0 };
    /// let too_many = BoundError::TooManySlots { max: SLOTS_MAX };
    /// assert_eq!(Bound::of([days], &config), Err(too_many), "of a second each");
    /// assert!(Bound::in_longer_slots(&[days], &config).is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Bound::of`]; there are never too many slots.
    pub fn in_longer_slots(
        jobs: &(impl IntoIterator<Item = Job> + Clone),
        config: &BoundConfig,
    ) -> Result<Self, BoundError> {
        let mut config = config.clone();
        loop {
            match Self::of(jobs.clone(), &config) {
                Err(BoundError::TooManySlots { .. }) if config.slot < Duration::MAX => {
                    config.slot = config.slot.saturating_mul(2);
                }
                found => return found,
            }
        }
    }
}

fn cheaper(one: Plan, other: Plan, hire: f64) -> Plan {
    let cost = |plan: Plan| plan.workers + hire * plan.spawns;
    if cost(one) <= cost(other) { one } else { other }
}

/// Why there is no bound.
///
/// ```
/// use headcount_sim::Promise;
/// use headcount_sim::bound::{Bound, BoundConfig, BoundError};
/// use std::time::Duration;
///
/// let config = BoundConfig::of(Promise::Wait(Duration::from_secs(1)));
/// assert_eq!(Bound::of([], &config), Err(BoundError::NoWork));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BoundError {
    /// No job takes any time.
    NoWork,
    /// Slots of no length.
    NoSlot,
    /// A step of the knee is no number of workers, or comes before the one before it.
    WrongKnee {
        /// Which one, from 0.
        step: usize,
    },
    /// The run is too long for slots so short.
    TooManySlots {
        /// The most slots.
        max: usize,
    },
    /// No policy keeps the promise: before the knee there is not enough room for the work.
    BeyondTheKnee {
        /// The slot in which the first work is late.
        at: Timestamp,
        /// How much work is late there.
        late: Duration,
    },
}

impl fmt::Display for BoundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoWork => write!(f, "no job takes any time, so there is no work to be compared"),
            Self::NoSlot => write!(f, "slot is 0 s; use one of a second, or of a mean job"),
            Self::WrongKnee { step } => write!(
                f,
                "step {step} of the knee; write workers of at least 0, in the order of time"
            ),
            Self::TooManySlots { max } => {
                write!(f, "the run has more than {max} slots; use longer ones")
            }
            Self::BeyondTheKnee { at, late } => write!(
                f,
                "no policy keeps the promise: at {at} work of {late:?} is late, whatever one does"
            ),
        }
    }
}

impl std::error::Error for BoundError {}
