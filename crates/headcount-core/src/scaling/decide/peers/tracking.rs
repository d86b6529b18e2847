//! So much load for each worker, looked at every so often: Kubernetes' HPA, KEDA, Celery.
//!
//! `target` scales a reading at every tick. This one has a period of its own, between two looks it
//! abstains, and it knows two loads. *Utilization* is the mean over the period, as a collector of
//! metrics has it, and scales the workers that are there: `ceil(n x ratio)`. It saturates at 1, so
//! a load that grows tenfold takes several rounds. *Pending* is what waits and runs at the moment,
//! and needs no knowledge of the workers that are there.
//!
//! How fast the size may change, and that a shrink waits for the highest of the recent proposals,
//! are guards: `step`, `cooldown`, `hold_peak`.

use std::time::Duration;

use super::meter::{Look, Meter};
use super::pace::Pace;
use super::whole_above;
use crate::decide::Decider;
use crate::decide::steps::EPSILON;
use crate::policy::Inspection;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::signal::Unit;
use crate::{Comparison, Evidence, Name, Proposal, Reason, Situation, Staffing};

/// More seconds of workers than there can be.
const SECONDS_MAX: f64 = 1e60;

/// So much load for each worker, looked at every so often.
///
/// ```
/// use headcount_core::decide::{DeciderConfig, Load, TrackingConfig};
/// use headcount_core::{Observation, Policy, PolicyConfig, PoolSnapshot, Staffing};
///
/// let tracking = TrackingConfig { load: Load::Pending, setpoint: 2.0, ..Default::default() };
/// let decider = Some(DeciderConfig::Tracking(tracking));
/// let config = PolicyConfig { decider, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 16).expect("no fault").build();
/// let pool = PoolSnapshot { queued: 11, ..PoolSnapshot::at_work(Staffing::exactly(4), 4) };
/// let decision = autoscaler.tick(&Observation { pool, ..Observation::default() });
/// assert_eq!(decision.to, Staffing::exactly(8), "two each for the 15 that wait or run");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct TrackingConfig {
    /// What is looked at. Default: utilization.
    pub load: Load,
    /// How much of it each worker should have. Default: 0.8.
    pub setpoint: f64,
    /// How far from the set-point is near enough, as a share of it. Default: 0.1.
    pub tolerance: f64,
    /// How often it is looked at. Default: 15 s.
    pub period: Duration,
}

/// What is looked at.
///
/// ```
/// use headcount_core::decide::{Load, TrackingConfig};
///
/// assert_eq!(TrackingConfig::default().load, Load::Utilization);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Load {
    /// The share of workers that run a task, on average over the period.
    Utilization,
    /// The tasks that wait or run, at the moment.
    Pending,
}

impl Default for TrackingConfig {
    fn default() -> Self {
        let (load, period) = (Load::Utilization, Duration::from_secs(15));
        Self { load, setpoint: 0.8, tolerance: 0.1, period }
    }
}

impl TrackingConfig {
    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        inspection.positive("setpoint", self.setpoint);
        inspection.not_negative("tolerance", self.tolerance);
        inspection.some_time("period", self.period);
    }

    pub(crate) fn build(&self) -> Tracking {
        let (meter, pace) = (Meter::default(), Pace::default());
        Tracking { config: *self, meter, pace, busy_seconds: 0.0, live_seconds: 0.0 }
    }
}

/// The decider.
#[derive(Clone, Debug)]
pub(crate) struct Tracking {
    config: TrackingConfig,
    meter: Meter,
    pace: Pace,
    busy_seconds: f64,
    live_seconds: f64,
}

impl Tracking {
    /// How much load each of the present workers has, and the workers that should have it.
    fn demand(&self, situation: &Situation<'_>) -> Option<(f64, f64)> {
        let live = f64::from(situation.pool().live.max(1));
        match self.config.load {
            Load::Utilization => {
                let known = 0.0 < self.live_seconds;
                let mean = known.then(|| self.busy_seconds / self.live_seconds)?;
                Some((mean, live * mean / self.config.setpoint))
            }
            Load::Pending => {
                let pending = situation.pool().pending() as f64;
                Some((pending / live, pending / self.config.setpoint))
            }
        }
    }

    fn observe(&mut self, situation: &Situation<'_>) {
        match self.meter.look(situation) {
            Look::First => (self.busy_seconds, self.live_seconds) = (0.0, 0.0),
            Look::Again => {}
            Look::Next(passed) => {
                let live = f64::from(situation.pool().live) * passed.seconds;
                self.busy_seconds = (self.busy_seconds + passed.busy_seconds).min(SECONDS_MAX);
                self.live_seconds = (self.live_seconds + live).min(SECONDS_MAX);
            }
        }
    }
}

impl Decider for Tracking {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        self.observe(situation);
        if !self.pace.is_due(situation.now(), self.config.period) {
            return Proposal::abstain(Reason::Steady);
        }
        let demand = self.demand(situation);
        (self.busy_seconds, self.live_seconds) = (0.0, 0.0);
        let Some((each, workers)) = demand else { return Proposal::abstain(Reason::NoData) };
        let limit = self.config.setpoint;
        if (each / limit - 1.0).abs() <= self.config.tolerance + EPSILON {
            return Proposal::want(situation.from(), Reason::Steady);
        }
        let (name, unit, reason) = match self.config.load {
            Load::Utilization => ("utilization", Unit::Ratio, Reason::WorkerUtilization),
            Load::Pending => ("pending_per_worker", Unit::Number, Reason::QueueDepth),
        };
        let comparison = if each < limit { Comparison::Below } else { Comparison::Above };
        let evidence = Evidence { name: Name::cut(name), unit, value: each, comparison, limit };
        Proposal::want(Staffing::exactly(whole_above(workers)), reason).because(evidence)
    }

    fn save(&self, notes: &mut Notes) {
        (self.meter, self.pace).write(notes);
        (self.busy_seconds, self.live_seconds).write(notes);
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        (self.meter, self.pace) = Noted::read(notes)?;
        (self.busy_seconds, self.live_seconds) = Noted::read(notes)?;
        let sums = [self.busy_seconds, self.live_seconds];
        sums.iter().all(|sum| (0.0..=SECONDS_MAX).contains(sum)).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Pool, run, story};
    use super::*;

    #[test]
    fn kubernetes_looks_every_15_seconds_and_takes_the_ceiling_of_the_ratio() {
        // 10 workers of which all are busy: 10 x 1 / 0.8, and nothing between two looks.
        let run = Pool::of(10).busy(10);
        story(TrackingConfig::default().build(), run, 30, "15s:13 30s:17");
    }

    #[test]
    fn within_a_tenth_it_stays() {
        story(TrackingConfig::default().build(), Pool::of(100).busy(88), 15, "15s:100");
        story(TrackingConfig::default().build(), Pool::of(100).busy(72), 15, "15s:100");
        story(TrackingConfig::default().build(), Pool::of(100).busy(89), 15, "15s:112");
        story(TrackingConfig::default().build(), Pool::of(100).busy(40), 15, "15s:50");
    }

    #[test]
    fn the_mean_is_that_of_the_last_period_alone() {
        let mut tracking = TrackingConfig::default().build();
        let rushed = run(&mut tracking, Pool::of(10).busy(10), 15);
        let mut calm = run(&mut tracking, rushed.busy(4), 16);
        calm.look(&mut tracking);
        assert_eq!(calm.snapshot.ceiling, 5, "4 busy ones at 80 %");
    }

    #[test]
    fn one_for_every_pending_task() {
        let celery = TrackingConfig {
            load: Load::Pending,
            setpoint: 1.0,
            tolerance: 0.0,
            period: Duration::from_secs(1),
        };
        story(celery.build(), Pool::of(4).busy(4).queued(9), 1, "0s:13 1s:22");
        story(celery.build(), Pool::of(4).busy(2), 1, "0s:2 1s:2");
    }
}
