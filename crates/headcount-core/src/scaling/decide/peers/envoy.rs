//! A limit by the ratio of a measured best service time to the present one, with a square root of
//! room: Envoy's adaptive concurrency.
//!
//! Every minute the limit falls to three for as long as it takes fifty tasks to end: what those
//! take is the best time. It is measured anew at once where the limit stood at its minimum five
//! times in a row. Tasks that began before the limit fell do not count: as many as were at work
//! then are left out.
//!
//! Envoy takes the median of a window. What a pool counts has none; the geometric mean stands in
//! its place, which is the median where service times are even on the logarithm. Its minute varies
//! by chance by 15 %; here it does not.

use std::time::Duration;

use super::pace::Pace;
use super::window::{Window, is_span};
use super::{Range, exactly};
use crate::Bounds;
use crate::decide::Decider;
use crate::policy::Inspection;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::signal::Unit;
use crate::{Proposal, Reason, Situation};

/// Between these a limit changes at once.
const GRADIENT_MIN: f64 = 0.5;
const GRADIENT_MAX: f64 = 2.0;
/// So many windows at the minimum are enough to doubt the best time.
const AT_MINIMUM_MAX: u32 = 5;

/// A limit by the ratio of a measured best service time to the present one.
///
/// ```
/// use headcount_core::decide::{DeciderConfig, EnvoyConfig};
/// use headcount_core::{Observation, Policy, PolicyConfig, PoolSnapshot, Staffing};
///
/// let decider = Some(DeciderConfig::Envoy(EnvoyConfig::default()));
/// let config = PolicyConfig { decider, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 64).expect("no fault").build();
/// let pool = PoolSnapshot::of(Staffing::exactly(1));
/// let decision = autoscaler.tick(&Observation { pool, ..Observation::default() });
/// assert_eq!(decision.to, Staffing::exactly(3), "it begins by measuring the best time");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct EnvoyConfig {
    /// The limit while the best time is measured, and the lowest one. Default: 3.
    pub limit_min: u32,
    /// The highest limit. Default: 1000.
    pub limit_max: u32,
    /// How much longer than the best time is as good, as a share. Default: 0.25.
    pub buffer: f64,
    /// How often the limit is updated. Default: 100 ms.
    pub period: Duration,
    /// How often the best time is measured. Default: 60 s.
    pub probe_period: Duration,
    /// How many tasks it is measured by. Default: 50.
    pub probe_samples: u32,
}

impl Default for EnvoyConfig {
    fn default() -> Self {
        Self {
            limit_min: 3,
            limit_max: 1000,
            buffer: 0.25,
            period: Duration::from_millis(100),
            probe_period: Duration::from_secs(60),
            probe_samples: 50,
        }
    }
}

impl EnvoyConfig {
    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        inspection.at_least_one("limit_min", self.limit_min);
        inspection.at_least_one("limit_max", self.limit_max);
        inspection.not_negative("buffer", self.buffer);
        inspection.some_time("period", self.period);
        inspection.some_time("probe_period", self.probe_period);
        inspection.at_least_one("probe_samples", self.probe_samples);
    }

    pub(crate) fn build(&self, bounds: Bounds) -> Envoy {
        let range = Range::of(self.limit_min, self.limit_max, bounds);
        Envoy {
            config: *self,
            range,
            limit: range.min,
            window: Window::default(),
            pace: Pace::default(),
            best: None,
            probe: Some(Probe { waiting_for: None }),
            at_minimum: 0,
        }
    }
}

/// The decider.
#[derive(Clone, Debug)]
pub(crate) struct Envoy {
    config: EnvoyConfig,
    range: Range,
    limit: f64,
    window: Window,
    /// When the best time is measured.
    pace: Pace,
    best: Option<f64>,
    probe: Option<Probe>,
    /// Windows in a row at the lowest limit.
    at_minimum: u32,
}

/// The best time is being measured.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// Tasks that were at work when the limit fell and have not ended. `None`: it falls now.
    waiting_for: Option<u32>,
}

impl Envoy {
    fn observe(&mut self, situation: &Situation<'_>) {
        let is_time = self.pace.is_due(situation.now(), self.config.probe_period);
        if is_time && self.best.is_some() && self.probe.is_none() {
            self.probe = Some(Probe { waiting_for: None });
        }
        self.window.add(situation);
        match self.probe {
            Some(probe) => self.measure(probe, situation.pool().busy),
            None if self.window.spans(self.config.period.as_secs_f64()) => {
                if let Some(service) = self.window.service() {
                    self.update(service);
                }
                self.window.restart();
            }
            None => {}
        }
    }

    fn measure(&mut self, probe: Probe, busy: u32) {
        let ended = self.window.ended;
        match probe.waiting_for {
            None => {
                self.window.restart();
                self.probe = Some(Probe { waiting_for: Some(busy) });
            }
            Some(old) if 0 < old && f64::from(old) <= ended => {
                self.window.restart();
                self.probe = Some(Probe { waiting_for: Some(0) });
            }
            Some(0) if f64::from(self.config.probe_samples) <= ended => {
                self.best = self.window.service();
                self.window.restart();
                (self.probe, self.at_minimum) = (None, 0);
            }
            Some(_) => {}
        }
    }

    fn update(&mut self, service: f64) {
        let Some(best) = self.best else { return };
        let gradient = best * (1.0 + self.config.buffer) / service;
        let kept = self.limit * gradient.clamp(GRADIENT_MIN, GRADIENT_MAX);
        self.limit = self.range.clamp((kept + kept.sqrt()).floor());
        self.at_minimum = match self.limit <= self.range.min {
            true => self.at_minimum.saturating_add(1),
            false => 0,
        };
        if AT_MINIMUM_MAX <= self.at_minimum {
            self.probe = Some(Probe { waiting_for: None });
        }
    }
}

impl Decider for Envoy {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        self.observe(situation);
        self.limit = self.range.clamp(self.limit);
        let mut proposal = match self.probe {
            Some(_) => Proposal::want(exactly(self.range.min), Reason::Probe),
            None => Proposal::want(exactly(self.limit), Reason::Latency),
        };
        if let Some(best) = self.best {
            proposal.estimate("service_best", Unit::Seconds, best);
        }
        proposal
    }

    fn save(&self, notes: &mut Notes) {
        (self.window, (self.pace, self.limit)).write(notes);
        let probe = self.probe.map(|probe| probe.waiting_for);
        (self.best, (probe, self.at_minimum)).write(notes);
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        (self.window, (self.pace, self.limit)) = Noted::read(notes)?;
        let probe: Option<Option<u32>>;
        (self.best, (probe, self.at_minimum)) = Noted::read(notes)?;
        self.probe = probe.map(|waiting_for| Probe { waiting_for });
        (0.0 <= self.limit && self.best.is_none_or(is_span)).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Pool, run};
    use super::*;

    const BOUNDS: Bounds = Bounds { min: 1, max: 1000 };

    fn envoy(best: f64, limit: f64) -> Envoy {
        let mut envoy = EnvoyConfig::default().build(BOUNDS);
        (envoy.best, envoy.probe, envoy.limit) = (Some(best), None, limit);
        envoy
    }

    /// The limit after one update.
    fn check(limit: f64, service: f64, expected: u32) {
        let mut envoy = envoy(0.1, limit);
        envoy.update(service);
        assert_eq!(exactly(envoy.limit).ceiling, expected, "from {limit} by {service}");
    }

    #[test]
    fn a_ratio_with_a_quarter_of_grace_and_a_square_root_of_room() {
        check(80.0, 0.1, 110);
        check(100.0, 0.125, 110);
        check(100.0, 0.25, 57);
        check(100.0, 9.0, 57);
        check(100.0, 0.001, 214);
    }

    #[test]
    fn it_begins_with_three_until_fifty_tasks_tell_the_best_time() {
        let mut envoy = EnvoyConfig::default().build(BOUNDS);
        let pool = run(&mut envoy, Pool::of(3).busy(3).every_ms(100), 1);
        assert_eq!((pool.snapshot.ceiling, envoy.best), (3, None));
        let pool = run(&mut envoy, pool, 2);
        assert!(envoy.best.is_some_and(|best| (best - 0.1).abs() < 1e-6));
        assert!(3 < pool.snapshot.ceiling);
    }

    #[test]
    fn every_minute_the_limit_falls_to_three_for_a_while() {
        let mut envoy = EnvoyConfig::default().build(Bounds { min: 1, max: 40 });
        let mut pool = run(&mut envoy, Pool::of(3).busy(3).every_ms(100), 59);
        assert_eq!(pool.snapshot.ceiling, 40);
        pool = run(&mut envoy, pool, 2);
        assert_eq!(pool.snapshot.ceiling, 3);
        // 40 that began before, and 50 that count, at 30 a second.
        pool = run(&mut envoy, pool, 5);
        assert_eq!(pool.snapshot.ceiling, 40);
    }

    #[test]
    fn five_windows_at_the_minimum_measure_anew() {
        let mut envoy = envoy(0.1, 3.0);
        for window in 1..5 {
            envoy.update(9.0);
            assert!(envoy.probe.is_none(), "window {window}");
        }
        envoy.update(9.0);
        assert!(envoy.probe.is_some());
    }
}
