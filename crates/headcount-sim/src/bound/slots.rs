//! The jobs of a run, counted into slots of time.

use std::time::Duration;

use headcount_core::Timestamp;

use crate::load::Job;

use super::clairvoyant::BoundError;
use super::config::{BoundConfig, KneeStep};

/// The most slots: two days of seconds. The solver takes some ten seconds for so many.
pub const SLOTS_MAX: usize = 200_000;

/// What happens in each slot. Work is in workers busy for one slot.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Slots {
    /// The work that arrives.
    pub(super) arrived: Vec<f64>,
    /// The work that may be left at its end.
    pub(super) slack: Vec<f64>,
    /// The workers that must be there.
    pub(super) workers_min: Vec<f64>,
    /// The most work that gets done; infinite where there is no knee.
    pub(super) knee: Vec<f64>,
    /// The workers that are there before the first slot.
    pub(super) workers_first: f64,
}

impl Slots {
    pub(super) fn of(
        jobs: impl IntoIterator<Item = Job>,
        config: &BoundConfig,
    ) -> Result<Self, BoundError> {
        if config.slot.is_zero() {
            return Err(BoundError::NoSlot);
        }
        if let Some(step) = wrong_step(&config.knee) {
            return Err(BoundError::WrongKnee { step });
        }
        let counted = Counted::of(jobs, config)?;
        let slot = config.slot.as_secs_f64();
        let in_slots = |nanos: u128| nanos as f64 / 1e9 / slot;
        let mut left = 0_u128;
        let slack = counted.arrived.iter().zip(&counted.due).map(|(arrived, due)| {
            left = left + arrived - due;
            in_slots(left)
        });
        let slots = Self {
            slack: slack.collect(),
            arrived: counted.arrived.iter().map(|&nanos| in_slots(nanos)).collect(),
            workers_min: workers_min(config, counted.arrived.len(), counted.last),
            knee: knee(config, counted.arrived.len()),
            workers_first: f64::from(config.workers_min),
        };
        slots.before_the_knee(config.slot)
    }

    pub(super) fn len(&self) -> usize {
        self.arrived.len()
    }

    pub(super) fn has_knee(&self) -> bool {
        self.knee.iter().any(|knee| knee.is_finite())
    }

    /// All the work there is, in workers busy for one slot.
    pub(super) fn work(&self) -> f64 {
        self.arrived.iter().sum()
    }

    /// Where the knee lets no more be done later, less may be left.
    fn before_the_knee(mut self, slot: Duration) -> Result<Self, BoundError> {
        let mut left = 0.0_f64;
        for index in 0..self.len() {
            left = (left + self.arrived[index] - self.knee[index]).max(0.0);
            // Sums of many small numbers do not come out to the last digit.
            if self.slack[index] + 1e-9 * (1.0 + left) < left {
                let at = Timestamp::ORIGIN + slot.saturating_mul(count(index));
                let late = slot.mul_f64(left - self.slack[index]);
                return Err(BoundError::BeyondTheKnee { at, late });
            }
        }
        for index in (1..self.len()).rev() {
            let later = self.slack[index] - self.arrived[index] + self.knee[index];
            self.slack[index - 1] = self.slack[index - 1].min(later).max(0.0);
        }
        Ok(self)
    }
}

/// The first step that is no number of workers or is out of order.
fn wrong_step(knee: &[KneeStep]) -> Option<usize> {
    let mut before = Timestamp::ORIGIN;
    knee.iter().position(|step| {
        let in_order = before <= step.from;
        before = step.from;
        !(in_order && 0.0 <= step.workers)
    })
}

/// Nanoseconds of work by slot, exactly.
struct Counted {
    arrived: Vec<u128>,
    due: Vec<u128>,
    last: Timestamp,
}

impl Counted {
    fn of(jobs: impl IntoIterator<Item = Job>, config: &BoundConfig) -> Result<Self, BoundError> {
        let slot = config.slot.as_nanos();
        let mut counted = Self { arrived: Vec::new(), due: Vec::new(), last: Timestamp::ORIGIN };
        for job in jobs.into_iter().filter(|job| !job.size.is_zero()) {
            let due = job.at + config.promise.within(job.size);
            let arrives = u128::from(job.at.as_nanos()) / slot;
            // What is due at the very end of a slot is due in it.
            let ends = u128::from(due.as_nanos()).div_ceil(slot).saturating_sub(1).max(arrives);
            let ends = usize::try_from(ends).unwrap_or(usize::MAX);
            if SLOTS_MAX <= ends {
                return Err(BoundError::TooManySlots { max: SLOTS_MAX });
            }
            counted.reach(ends);
            counted.arrived[usize::try_from(arrives).unwrap_or(ends)] += job.size.as_nanos();
            counted.due[ends] += job.size.as_nanos();
            counted.last = counted.last.max(job.at);
        }
        match counted.arrived.is_empty() {
            true => Err(BoundError::NoWork),
            false => Ok(counted),
        }
    }

    fn reach(&mut self, index: usize) {
        if self.arrived.len() <= index {
            self.arrived.resize(index + 1, 0);
            self.due.resize(index + 1, 0);
        }
    }
}

/// The minimum is held until the last arrival: a run is not over before that.
fn workers_min(config: &BoundConfig, len: usize, last: Timestamp) -> Vec<f64> {
    let end = last.as_nanos() as f64 / config.slot.as_nanos() as f64;
    let min = f64::from(config.workers_min);
    (0..len).map(|index| min * (end - index as f64).clamp(0.0, 1.0)).collect()
}

/// The mean of the knee over each slot, infinite where it has not begun.
fn knee(config: &BoundConfig, len: usize) -> Vec<f64> {
    let in_slots = |at: Timestamp| at.as_nanos() as f64 / config.slot.as_nanos() as f64;
    let ends = config.knee.iter().skip(1).map(|step| in_slots(step.from)).chain([f64::INFINITY]);
    let steps: Vec<(f64, f64, f64)> =
        config.knee.iter().zip(ends).map(|(s, end)| (in_slots(s.from), end, s.workers)).collect();

    let mut first = 0;
    let mean = |index: usize| {
        let (begins, ends) = (index as f64, index as f64 + 1.0);
        first += steps[first..].iter().take_while(|(_, until, _)| *until <= begins).count();
        let steps = steps[first..].iter().take_while(|(from, ..)| *from < ends);
        let part = |&(from, until, workers): &(f64, f64, f64)| match from.max(begins) {
            from if from < until.min(ends) => (until.min(ends) - from) * workers,
            _ => 0.0,
        };
        match steps.clone().next() {
            Some((from, ..)) if *from <= begins => steps.map(part).sum(),
            _ => f64::INFINITY,
        }
    };
    (0..len).map(mean).collect()
}

fn count(index: usize) -> u32 {
    u32::try_from(index).expect("slots are fewer than SLOTS_MAX")
}
