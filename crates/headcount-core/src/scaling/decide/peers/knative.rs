//! Two averages of the tasks at work or waiting, one calm and one quick: Knative's KPA.
//!
//! The size follows the average of a minute. Where that of the last seconds asks for twice the
//! workers that are ready it panics: it follows the quick one, and does not shrink until a minute
//! after the last time. It counts what waits too, so it does not saturate; it knows no waiting
//! time.

use std::time::Duration;

use super::meter::{Look, Meter};
use super::pace::Pace;
use super::sliding::Sliding;
use super::whole_above;
use crate::decide::Decider;
use crate::policy::Inspection;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::signal::Unit;
use crate::{PoolSnapshot, Proposal, Reason, Situation, Staffing, Timestamp};

/// So many tasks for each worker, on average over a calm window or, in panic, over a quick one.
///
/// ```
/// use headcount_core::decide::{DeciderConfig, KnativeConfig};
/// use headcount_core::{Observation, Policy, PolicyConfig, PoolSnapshot, Staffing, Timestamp};
///
/// let decider = Some(DeciderConfig::Knative(KnativeConfig::default()));
/// let config = PolicyConfig { decider, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 64).expect("no fault").build();
/// let pool = PoolSnapshot { queued: 17, ..PoolSnapshot::at_work(Staffing::exactly(4), 4) };
/// let mut size_at = |second| {
///     autoscaler.tick(&Observation::new(Timestamp::from_secs(second), pool)).to.ceiling
/// };
/// assert_eq!((size_at(0), size_at(2)), (4, 30), "21 tasks, 0.7 for each worker");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct KnativeConfig {
    /// Tasks for each worker. Default: 0.7.
    pub setpoint: f64,
    /// The calm window. Default: 60 s.
    pub stable_window: Duration,
    /// The quick window. Default: 6 s.
    pub panic_window: Duration,
    /// How many times the ready workers the quick window must ask for. Default: 2.
    pub panic_factor: f64,
    /// How many times as many workers at once. Default: 1000.
    pub grow_factor_max: f64,
    /// By how much a shrink divides at most. Default: 2.
    pub shrink_factor_max: f64,
    /// How often it decides. Default: 2 s.
    pub period: Duration,
}

impl Default for KnativeConfig {
    fn default() -> Self {
        Self {
            setpoint: 0.7,
            stable_window: Duration::from_secs(60),
            panic_window: Duration::from_secs(6),
            panic_factor: 2.0,
            grow_factor_max: 1000.0,
            shrink_factor_max: 2.0,
            period: Duration::from_secs(2),
        }
    }
}

impl KnativeConfig {
    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        inspection.positive("setpoint", self.setpoint);
        inspection.some_time("stable_window", self.stable_window);
        inspection.some_time("panic_window", self.panic_window);
        inspection.some_time("period", self.period);
        let factors = [
            ("panic_factor", self.panic_factor),
            ("grow_factor_max", self.grow_factor_max),
            ("shrink_factor_max", self.shrink_factor_max),
        ];
        for (field, factor) in factors {
            if !(factor.is_finite() && 1.0 < factor) {
                inspection.fault(field, factor, "a finite factor above 1 is needed");
            }
        }
    }

    pub(crate) fn build(&self) -> Knative {
        Knative {
            config: *self,
            meter: Meter::default(),
            pace: Pace::default(),
            stable: Sliding::default(),
            panic: Sliding::default(),
            panics: None,
        }
    }
}

/// The decider.
#[derive(Clone, Debug)]
pub(crate) struct Knative {
    config: KnativeConfig,
    meter: Meter,
    pace: Pace,
    /// Tasks times seconds.
    stable: Sliding<1>,
    panic: Sliding<1>,
    /// When the threshold was last crossed, and the most workers wanted since the first time.
    panics: Option<(Timestamp, u32)>,
}

impl Knative {
    fn observe(&mut self, situation: &Situation<'_>) {
        let now = situation.now();
        match self.meter.look(situation) {
            Look::First => {
                (self.stable, self.panic) = (Sliding::default(), Sliding::default());
                self.panics = None;
            }
            Look::Again => {}
            Look::Next(passed) => {
                let amount = [situation.pool().pending() as f64 * passed.seconds];
                self.stable.add(now, self.config.stable_window, passed.seconds, amount);
                self.panic.add(now, self.config.panic_window, passed.seconds, amount);
            }
        }
    }

    /// The workers that a window asks for, as fast as rates allow.
    fn wanted(&self, mean: f64, ready: u32) -> u32 {
        let ready = f64::from(ready);
        let fewest = (ready / self.config.shrink_factor_max).floor();
        let most = (ready * self.config.grow_factor_max).ceil();
        whole_above((mean / self.config.setpoint).min(most).max(fewest))
    }

    /// The most workers wanted in the panic, where there is one.
    fn panicking(&mut self, now: Timestamp, is_over: bool, wanted: u32) -> Option<u32> {
        let since = match self.panics {
            Some((_, most)) if is_over => Some((now, most)),
            None if is_over => Some((now, 0)),
            Some((crossed, _)) if self.config.stable_window < now.since(crossed) => None,
            going_on => going_on,
        };
        self.panics = since.map(|(crossed, most)| (crossed, most.max(wanted)));
        self.panics.map(|(_, most)| most)
    }
}

/// Workers that have begun.
fn ready(pool: &PoolSnapshot) -> u32 {
    pool.live.saturating_sub(pool.starting).max(1)
}

fn mean((seconds, [amount]): (f64, [f64; 1])) -> Option<f64> {
    (0.0 < seconds).then(|| (amount / seconds).max(0.0))
}

impl Decider for Knative {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        self.observe(situation);
        let now = situation.now();
        if !self.pace.is_due(now, self.config.period) {
            return Proposal::abstain(Reason::Steady);
        }
        let stable = mean(self.stable.sums(now, self.config.stable_window));
        let panic = mean(self.panic.sums(now, self.config.panic_window));
        let (Some(stable), Some(panic)) = (stable, panic.or(stable)) else {
            return Proposal::abstain(Reason::NoData);
        };
        let ready = ready(situation.pool());
        let threshold = self.config.panic_factor * f64::from(ready);
        let is_over = threshold <= f64::from(whole_above(panic / self.config.setpoint));
        let calm = self.wanted(stable, ready);
        let quick = self.wanted(panic, ready).max(calm);
        let (size, reason) = match self.panicking(now, is_over, quick) {
            Some(most) => (most, Reason::QueueDepth),
            None => (calm, Reason::SetPoint),
        };
        let mut proposal = Proposal::want(Staffing::exactly(size), reason);
        proposal.estimate("pending_stable", Unit::Number, stable);
        proposal.estimate("pending_panic", Unit::Number, panic);
        proposal
    }

    fn save(&self, notes: &mut Notes) {
        (self.meter, (self.pace, self.panics)).write(notes);
        (self.stable, self.panic).write(notes);
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        (self.meter, (self.pace, self.panics)) = Noted::read(notes)?;
        (self.stable, self.panic) = Noted::read(notes)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Pool, run};
    use super::*;

    fn size(pool: &Pool) -> u32 {
        pool.snapshot.ceiling
    }

    #[test]
    fn calm_it_follows_the_average_of_a_minute() {
        let mut knative = KnativeConfig::default().build();
        let calm = run(&mut knative, Pool::of(10).busy(7), 60);
        assert_eq!((size(&calm), knative.panics), (10, None));
        // 14 for thirty seconds of sixty is 10.5 on average: 15 workers, and no panic at 20 of 10.
        let grown = run(&mut knative, calm.busy(13), 30);
        assert_eq!(knative.panics, None);
        assert!((14..=15).contains(&size(&grown)), "{}", size(&grown));
    }

    #[test]
    fn it_panics_at_twice_the_workers_and_shrinks_no_sooner_than_a_minute_later() {
        let mut knative = KnativeConfig::default().build();
        let calm = run(&mut knative, Pool::of(10).busy(7), 60);
        let burst = run(&mut knative, calm.queued(21), 8);
        assert!(38 <= size(&burst), "28 tasks, 0.7 for each: {}", size(&burst));
        let (crossed, _) = knative.panics.expect("it panics");
        let highest = size(&burst);
        let quiet = burst.busy(0).queued(0);
        let left = crossed.as_nanos() / 1_000_000_000 + 60 - quiet.at.as_nanos() / 1_000_000_000;
        let held = run(&mut knative, quiet, left);
        assert_eq!(size(&held), highest, "held until a minute after it crossed");
        let after = run(&mut knative, held, 4);
        assert!(size(&after) < highest && knative.panics.is_none());
    }

    #[test]
    fn a_shrink_halves_at_most() {
        let mut knative = KnativeConfig::default().build();
        let mut pool = Pool::of(40);
        pool.look(&mut knative);
        pool.pass();
        pool.pass();
        pool.look(&mut knative);
        assert_eq!(size(&pool), 20);
    }
}
