//! One more while tasks take no longer than usual, a tenth fewer when they clearly do: Vector's
//! adaptive request concurrency.
//!
//! It updates once in the time that a task takes. What is usual is a moving average of it with
//! its deviation, so a slow drift into congestion goes unseen. A task that fails counts as
//! back-pressure. It can be looked at no more often than the pool is, so where tasks take less
//! than a tick it updates once a tick.

use super::window::{Window, is_span};
use super::{Range, exactly};
use crate::Bounds;
use crate::decide::Decider;
use crate::policy::Inspection;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::signal::Unit;
use crate::{Proposal, Reason, Situation};

/// The largest variance that is told apart, in square seconds.
const VARIANCE_MAX: f64 = 1e24;
/// Service times that differ by less, as a share, are the same.
const SAME: f64 = 1e-6;

/// One more while tasks take no longer than usual, a tenth fewer when they clearly do.
///
/// ```
/// use headcount_core::decide::ArcConfig;
///
/// let arc = ArcConfig::default();
/// assert_eq!((arc.start, arc.decrease_ratio), (1, 0.9));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct ArcConfig {
    /// The workers it begins with. Default: 1.
    pub start: u32,
    /// The highest limit. Default: 200.
    pub limit_max: u32,
    /// What is left of a limit that is lowered. Default: 0.9.
    pub decrease_ratio: f64,
    /// How much the newest service time counts in the moving average. Default: 0.4.
    pub ewma_alpha: f64,
    /// How many deviations longer than usual are too long. Default: 2.5.
    pub deviations_max: f64,
}

impl Default for ArcConfig {
    fn default() -> Self {
        Self { start: 1, limit_max: 200, decrease_ratio: 0.9, ewma_alpha: 0.4, deviations_max: 2.5 }
    }
}

impl ArcConfig {
    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        inspection.at_least_one("start", self.start);
        inspection.at_least_one("limit_max", self.limit_max);
        inspection.inner_share("decrease_ratio", self.decrease_ratio);
        inspection.inner_share("ewma_alpha", self.ewma_alpha);
        inspection.not_negative("deviations_max", self.deviations_max);
    }

    pub(crate) fn build(&self, bounds: Bounds) -> Arc {
        let range = Range::of(1, self.limit_max, bounds);
        let limit = range.clamp(f64::from(self.start));
        Arc { config: *self, range, limit, window: Window::default(), usual: None }
    }
}

/// The decider.
#[derive(Clone, Debug)]
pub(crate) struct Arc {
    config: ArcConfig,
    range: Range,
    limit: f64,
    window: Window,
    usual: Option<Usual>,
}

/// What tasks usually take, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Usual {
    mean: f64,
    variance: f64,
}

impl Usual {
    fn with(self, service: f64, alpha: f64) -> Self {
        let difference = service - self.mean;
        let step = alpha * difference;
        let variance = (1.0 - alpha) * (self.variance + difference * step);
        Self { mean: self.mean + step, variance: variance.min(VARIANCE_MAX) }
    }
}

impl Arc {
    fn update(&mut self, service: Option<f64>) {
        let Some(usual) = self.usual else {
            self.usual = service.map(|mean| Usual { mean, variance: 0.0 });
            return;
        };
        // Where tasks all take the same, the last bit of a float is neither longer nor shorter.
        let same = usual.mean * (1.0 + SAME);
        let too_long = same + self.config.deviations_max * usual.variance.sqrt();
        let has_pressure = 0.0 < self.window.failed;
        let is_usual = service.is_some_and(|now| now <= same);
        let is_long = service.is_some_and(|now| too_long <= now);
        if self.window.was_full && !has_pressure && is_usual {
            self.limit += 1.0;
        } else if has_pressure || is_long {
            self.limit = (self.limit * self.config.decrease_ratio).floor();
        }
        self.limit = self.range.clamp(self.limit);
        self.usual = Some(service.map_or(usual, |now| usual.with(now, self.config.ewma_alpha)));
    }
}

impl Decider for Arc {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        self.window.add(situation);
        let interval = self.usual.map_or(0.0, |usual| usual.mean);
        let service = self.window.service();
        if self.window.spans(interval) && (self.usual.is_some() || service.is_some()) {
            self.update(service);
            self.window.restart();
        }
        self.limit = self.range.clamp(self.limit);
        let mut proposal = Proposal::want(exactly(self.limit), Reason::Latency);
        if let Some(usual) = self.usual {
            proposal.estimate("service_usual", Unit::Seconds, usual.mean);
            proposal.estimate("service_deviation", Unit::Seconds, usual.variance.sqrt());
        }
        proposal
    }

    fn save(&self, notes: &mut Notes) {
        (self.window, self.limit).write(notes);
        self.usual.map(|usual| (usual.mean, usual.variance)).write(notes);
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        (self.window, self.limit) = Noted::read(notes)?;
        let usual = Option::<(f64, f64)>::read(notes)?;
        self.usual = usual.map(|(mean, variance)| Usual { mean, variance });
        let is_sound =
            |usual: Usual| is_span(usual.mean) && (0.0..=VARIANCE_MAX).contains(&usual.variance);
        (0.0 <= self.limit && self.usual.is_none_or(is_sound)).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Pool, run};
    use super::*;

    const BOUNDS: Bounds = Bounds { min: 1, max: 1000 };

    /// One update for each service time, with all workers busy.
    fn limits(start: u32, services: &[f64]) -> Vec<f64> {
        let mut arc = ArcConfig { start, ..ArcConfig::default() }.build(BOUNDS);
        let mut limit = |service: &f64| {
            arc.window.was_full = true;
            arc.update(Some(*service));
            arc.limit
        };
        services.iter().map(&mut limit).collect()
    }

    #[test]
    fn one_more_for_each_interval_at_the_usual_time() {
        assert_eq!(limits(1, &[0.1; 5]), [1.0, 2.0, 3.0, 4.0, 5.0]);
        let arc = &mut ArcConfig::default().build(BOUNDS);
        let pool = run(arc, Pool::of(1).busy(1).every_ms(100), 10);
        assert!((95..=100).contains(&pool.snapshot.ceiling), "{}", pool.snapshot.ceiling);
    }

    #[test]
    fn a_tenth_fewer_when_tasks_take_clearly_longer() {
        // One of 0.2 s is beyond all that was seen, and lowers the limit; it makes 0.14 s usual,
        // with a deviation of 0.05 s, so that another one of 0.2 s is within it.
        assert_eq!(limits(20, &[0.1, 0.1, 0.2, 0.2, 0.5]), [20.0, 21.0, 18.0, 18.0, 16.0]);
    }

    #[test]
    fn a_failure_lowers_it_and_an_unused_limit_stays() {
        let mut arc = ArcConfig { start: 20, ..ArcConfig::default() }.build(BOUNDS);
        arc.update(Some(0.1));
        arc.update(Some(0.1));
        assert_eq!(exactly(arc.limit).ceiling, 20, "nobody was held by it");
        arc.window.failed = 1.0;
        arc.update(Some(0.1));
        assert_eq!(exactly(arc.limit).ceiling, 18);
    }
}
