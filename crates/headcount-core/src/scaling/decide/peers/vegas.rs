//! A limit that keeps a few tasks too many at work, by the quickest window: Netflix's `VegasLimit`.
//!
//! What is above the quickest window is taken for queueing: `queue = limit (1 - quickest / now)`.
//! Little of it grows the limit, much of it shrinks it. The quickest window is forgotten now and
//! then. Where service times vary, windows do too, and the limit shrinks for no reason.
//!
//! In a single task's place stands a window's typical one, as behind Netflix's `WindowedLimit`.
//! When to forget is drawn by chance there, between half and all of 30 times the limit; here it is
//! three quarters of that. A task that fails counts as dropped.

use std::time::Duration;

use super::window::{Window, is_span};
use super::{Range, exactly};
use crate::Bounds;
use crate::decide::Decider;
use crate::policy::Inspection;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::signal::Unit;
use crate::{Proposal, Reason, Situation};

/// The share of the most windows after which the quickest one is forgotten.
const FORGETS_AT: f64 = 0.75;

/// A limit that keeps a few tasks too many at work.
///
/// ```
/// use headcount_core::decide::VegasConfig;
///
/// let vegas = VegasConfig::default();
/// assert_eq!((vegas.alpha, vegas.beta), (3, 6), "times the logarithm of the limit");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct VegasConfig {
    /// The workers it begins with. Default: 20.
    pub start: u32,
    /// The highest limit. Default: 1000.
    pub limit_max: u32,
    /// Below so many queued tasks it grows, times the logarithm of the limit. Default: 3.
    pub alpha: u32,
    /// Above so many queued tasks it shrinks, times the logarithm of the limit. Default: 6.
    pub beta: u32,
    /// After how many windows the quickest one is forgotten, for each worker. Default: 30.
    pub probe_windows: u32,
    /// How long a window is. Default: 1 s.
    pub window: Duration,
    /// How many tasks must end in it; with fewer it is thrown away. Default: 10.
    pub samples_min: u32,
}

impl Default for VegasConfig {
    fn default() -> Self {
        Self {
            start: 20,
            limit_max: 1000,
            alpha: 3,
            beta: 6,
            probe_windows: 30,
            window: Duration::from_secs(1),
            samples_min: 10,
        }
    }
}

impl VegasConfig {
    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        inspection.at_least_one("start", self.start);
        inspection.at_least_one("limit_max", self.limit_max);
        inspection.at_least_one("alpha", self.alpha);
        if self.beta < self.alpha {
            let allowed = format!("it must be at least alpha, which is {}", self.alpha);
            inspection.fault("beta", self.beta, &allowed);
        }
        inspection.at_least_one("probe_windows", self.probe_windows);
        inspection.some_time("window", self.window);
        inspection.at_least_one("samples_min", self.samples_min);
    }

    pub(crate) fn build(&self, bounds: Bounds) -> Vegas {
        let range = Range::of(1, self.limit_max, bounds);
        let limit = range.clamp(f64::from(self.start));
        let window = Window::default();
        Vegas { config: *self, range, limit, window, quickest: None, windows: 0 }
    }
}

/// The decider.
#[derive(Clone, Debug)]
pub(crate) struct Vegas {
    config: VegasConfig,
    range: Range,
    limit: f64,
    window: Window,
    /// The typical service time of the quickest window.
    quickest: Option<f64>,
    /// Windows since it was last forgotten.
    windows: u32,
}

impl Vegas {
    fn update(&mut self, service: f64, busy: u32, dropped: bool) {
        self.windows = self.windows.saturating_add(1);
        let windows_max = f64::from(self.config.probe_windows) * self.limit * FORGETS_AT;
        if windows_max <= f64::from(self.windows) {
            (self.quickest, self.windows) = (Some(service), 0);
            return;
        }
        match self.quickest {
            Some(quickest) if quickest <= service => self.step(service / quickest, busy, dropped),
            _ => self.quickest = Some(service),
        }
    }

    /// Moves the limit, where tasks take so many times as long as in the quickest window.
    fn step(&mut self, inflation: f64, busy: u32, dropped: bool) {
        let log = self.limit.log10().floor().max(1.0);
        let (alpha, beta) = (f64::from(self.config.alpha), f64::from(self.config.beta));
        let queue = (self.limit * (1.0 - 1.0 / inflation)).ceil();
        let change = match () {
            () if dropped => -log,
            // A limit that is not used says nothing.
            () if f64::from(busy) * 2.0 < self.limit => 0.0,
            () if queue <= log => beta * log,
            () if queue < alpha * log => log,
            () if beta * log < queue => -log,
            () => 0.0,
        };
        self.limit = self.range.clamp(self.limit + change);
    }
}

impl Decider for Vegas {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        self.window.add(situation);
        if self.window.spans(self.config.window.as_secs_f64()) {
            let is_enough = f64::from(self.config.samples_min) <= self.window.ended;
            if let Some(service) = self.window.service().filter(|_| is_enough) {
                self.update(service, self.window.busy_max, 0.0 < self.window.failed);
            }
            self.window.restart();
        }
        self.limit = self.range.clamp(self.limit);
        let mut proposal = Proposal::want(exactly(self.limit), Reason::Latency);
        if let Some(quickest) = self.quickest {
            proposal.estimate("service_quickest", Unit::Seconds, quickest);
        }
        proposal
    }

    fn save(&self, notes: &mut Notes) {
        (self.window, (self.limit, (self.quickest, self.windows))).write(notes);
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        (self.window, (self.limit, (self.quickest, self.windows))) = Noted::read(notes)?;
        (0.0 <= self.limit && self.quickest.is_none_or(is_span)).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { min: 1, max: 1000 };

    /// The limit after a quickest window of 0.1 s and one of `service`, with all workers busy.
    fn check(start: u32, service: f64, expected: u32) {
        let mut vegas = VegasConfig { start, ..VegasConfig::default() }.build(BOUNDS);
        vegas.update(0.1, start, false);
        assert_eq!(exactly(vegas.limit).ceiling, start, "the quickest one so far");
        vegas.update(service, start, false);
        assert_eq!(exactly(vegas.limit).ceiling, expected, "from {start} by {service}");
    }

    #[test]
    fn little_queueing_grows_it_and_much_shrinks_it() {
        check(20, 0.1, 26);
        check(20, 0.11, 21);
        check(20, 0.125, 20);
        check(20, 0.2, 19);
        check(200, 0.1, 212);
        check(200, 0.2, 198);
    }

    #[test]
    fn an_unused_limit_stays_and_a_failure_shrinks_it() {
        let mut vegas = VegasConfig::default().build(BOUNDS);
        vegas.update(0.1, 20, false);
        vegas.update(0.1, 9, false);
        assert_eq!(exactly(vegas.limit).ceiling, 20);
        vegas.update(0.1, 9, true);
        assert_eq!(exactly(vegas.limit).ceiling, 19);
    }

    #[test]
    fn the_quickest_window_is_forgotten_in_the_end() {
        let mut vegas = VegasConfig::default().build(BOUNDS);
        vegas.update(0.1, 20, false);
        for window in 2..450 {
            vegas.update(0.124, 20, false);
            assert_eq!((vegas.limit, vegas.quickest), (20.0, Some(0.1)), "window {window}");
        }
        vegas.update(0.124, 20, false);
        assert_eq!(vegas.quickest, Some(0.124));
    }
}
