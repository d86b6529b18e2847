//! A limit that follows the ratio of a long mean of service times to a short one: Netflix's
//! `Gradient2Limit` behind its `WindowedLimit`.
//!
//! While tasks take no longer than half as long again as they used to, the limit grows by four in
//! every window, a fifth of it at once. It never stops growing while it is used, and the long mean
//! follows a congestion that lasts: it passes a knee.

use std::time::Duration;

use super::window::{Window, is_span};
use super::{Range, exactly};
use crate::Bounds;
use crate::decide::Decider;
use crate::policy::Inspection;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::signal::Unit;
use crate::{Proposal, Reason, Situation};

/// Beyond this many times the present, the past is brought down faster.
const DRIFT_MAX: f64 = 2.0;
const DRIFT_DECAY: f64 = 0.95;
/// The least that is left of a limit by one window, before smoothing.
const GRADIENT_MIN: f64 = 0.5;
/// Windows that count alike, before the mean begins to forget.
const WARM_UP: u32 = 10;

/// A limit by the ratio of a long mean of service times to a short one.
///
/// ```
/// use headcount_core::decide::{DeciderConfig, Gradient2Config};
/// use headcount_core::{Observation, Policy, PolicyConfig, PoolSnapshot, Staffing};
///
/// let decider = Some(DeciderConfig::Gradient2(Gradient2Config::default()));
/// let config = PolicyConfig { decider, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 64).expect("no fault").build();
/// let pool = PoolSnapshot::of(Staffing::exactly(1));
/// let decision = autoscaler.tick(&Observation { pool, ..Observation::default() });
/// assert_eq!(decision.to, Staffing::exactly(20), "it begins with twenty");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Gradient2Config {
    /// The workers it begins with. Default: 20.
    pub start: u32,
    /// The lowest limit. Default: 20.
    pub limit_min: u32,
    /// The highest limit. Default: 200.
    pub limit_max: u32,
    /// Workers added in a window, before smoothing. Default: 4.
    pub queue_size: u32,
    /// How much of a new limit counts at once. Default: 0.2.
    pub smoothing: f64,
    /// How many times the long mean is no reason to shrink. Default: 1.5.
    pub tolerance: f64,
    /// How many windows the long mean spans. Default: 600.
    pub long_windows: u32,
    /// How long a window is. Default: 1 s.
    pub window: Duration,
    /// How many tasks must end in it; with fewer it is thrown away. Default: 10.
    pub samples_min: u32,
}

impl Default for Gradient2Config {
    fn default() -> Self {
        Self {
            start: 20,
            limit_min: 20,
            limit_max: 200,
            queue_size: 4,
            smoothing: 0.2,
            tolerance: 1.5,
            long_windows: 600,
            window: Duration::from_secs(1),
            samples_min: 10,
        }
    }
}

impl Gradient2Config {
    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        inspection.at_least_one("start", self.start);
        inspection.at_least_one("limit_min", self.limit_min);
        inspection.at_least_one("limit_max", self.limit_max);
        inspection.share("smoothing", self.smoothing);
        if !(self.tolerance.is_finite() && 1.0 <= self.tolerance) {
            inspection.fault("tolerance", self.tolerance, "a finite factor of 1 or more is needed");
        }
        inspection.at_least_one("long_windows", self.long_windows);
        inspection.some_time("window", self.window);
        inspection.at_least_one("samples_min", self.samples_min);
    }

    pub(crate) fn build(&self, bounds: Bounds) -> Gradient2 {
        let range = Range::of(self.limit_min, self.limit_max, bounds);
        let limit = range.clamp(f64::from(self.start));
        let window = Window::default();
        Gradient2 { config: *self, range, limit, window, long: 0.0, windows: 0 }
    }
}

/// The decider.
#[derive(Clone, Debug)]
pub(crate) struct Gradient2 {
    config: Gradient2Config,
    range: Range,
    limit: f64,
    window: Window,
    /// The long mean of service times, and how many windows are in it while it warms up.
    long: f64,
    windows: u32,
}

impl Gradient2 {
    fn update(&mut self, short: f64, busy: u32) {
        let long = self.remember(short);
        if DRIFT_MAX < long / short {
            self.long *= DRIFT_DECAY;
        }
        // A limit that is not used says nothing.
        if f64::from(busy) < self.limit / 2.0 {
            return;
        }
        let gradient = (self.config.tolerance * long / short).clamp(GRADIENT_MIN, 1.0);
        let next = self.limit * gradient + f64::from(self.config.queue_size);
        let smoothing = self.config.smoothing;
        self.limit = self.range.clamp(self.limit * (1.0 - smoothing) + next * smoothing);
    }

    /// Takes a window into the long mean.
    fn remember(&mut self, short: f64) -> f64 {
        let weight = match self.windows < WARM_UP {
            true => {
                self.windows += 1;
                1.0 / f64::from(self.windows)
            }
            false => 2.0 / (f64::from(self.config.long_windows) + 1.0),
        };
        self.long += weight * (short - self.long);
        self.long
    }
}

impl Decider for Gradient2 {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        self.window.add(situation);
        if self.window.spans(self.config.window.as_secs_f64()) {
            let is_enough = f64::from(self.config.samples_min) <= self.window.ended;
            if let Some(short) = self.window.service().filter(|_| is_enough) {
                self.update(short, self.window.busy_max);
            }
            self.window.restart();
        }
        self.limit = self.range.clamp(self.limit);
        let mut proposal = Proposal::want(exactly(self.limit), Reason::Latency);
        proposal.estimate("service_long", Unit::Seconds, self.long);
        proposal
    }

    fn save(&self, notes: &mut Notes) {
        (self.window, (self.limit, (self.long, self.windows))).write(notes);
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        (self.window, (self.limit, (self.long, self.windows))) = Noted::read(notes)?;
        let is_known = self.windows <= WARM_UP && (self.windows == 0 || is_span(self.long));
        (is_known && 0.0 <= self.limit).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Pool, run};
    use super::*;

    const BOUNDS: Bounds = Bounds { min: 1, max: 1000 };

    fn limits(services: &[f64]) -> Vec<u32> {
        let mut gradient = Gradient2Config::default().build(BOUNDS);
        let mut limit = |short: &f64| {
            gradient.update(*short, 200);
            exactly(gradient.limit).ceiling
        };
        services.iter().map(&mut limit).collect()
    }

    #[test]
    fn it_grows_by_a_fifth_of_four_in_every_window_it_is_used() {
        assert_eq!(limits(&[0.1; 6]), [20, 21, 22, 23, 24, 24]);
        let pool = Pool::of(20).busy(20);
        let grown = run(&mut Gradient2Config::default().build(BOUNDS), pool, 300);
        assert_eq!(grown.snapshot.ceiling, 200, "and does not stop");
    }

    #[test]
    fn what_takes_much_longer_shrinks_it() {
        // Ten quick windows, then tasks of four times that: 1.5 x 0.1 / 0.4 is held at a half.
        let mut services = vec![0.1; 10];
        services.extend([0.4; 3]);
        let limits = limits(&services);
        assert_eq!(limits[9], 28);
        assert_eq!(limits[10..], [26, 24, 22]);
    }

    #[test]
    fn a_limit_that_is_not_used_stays() {
        let mut gradient = Gradient2Config::default().build(BOUNDS);
        gradient.update(0.1, 9);
        assert_eq!(exactly(gradient.limit).ceiling, 20);
        gradient.update(0.1, 10);
        assert!(20.0 < gradient.limit);
    }

    #[test]
    fn a_window_with_few_tasks_is_thrown_away() {
        // One worker ends nine tasks of 0.11 s a second.
        let few = Gradient2Config { start: 1, limit_min: 1, ..Gradient2Config::default() };
        let slow = Pool::of(1).busy(1).service(0.12);
        assert_eq!(run(&mut few.build(BOUNDS), slow, 60).snapshot.ceiling, 1);
        let quick = Pool::of(1).busy(1).service(0.09);
        assert!(1 < run(&mut few.build(BOUNDS), quick, 60).snapshot.ceiling);
    }
}
