//! Keeps what was wanted a short while ago.
//!
//! A shrink goes no lower than the highest proposal of the recent window, so a lull of seconds
//! does not give back what the next burst needs. A history that does not reach back over the
//! window begins by holding: what is not remembered may have been a peak.

use std::time::Duration;

use super::{Because, Guard, Ruling};
use crate::{Situation, Staffing};

/// Keeps the highest proposal of the recent window.
///
/// ```
/// use headcount_core::decide::{DeciderConfig, Target};
/// use headcount_core::guard::HoldPeak;
/// use headcount_core::{
///     GuardsConfig, Observation, Policy, PolicyConfig, PoolSnapshot, Staffing, Timestamp,
/// };
///
/// let guards = GuardsConfig { hold_peak: Some(HoldPeak::default()), ..GuardsConfig::default() };
/// let decider = Some(DeciderConfig::Target(Target::default()));
/// let config = PolicyConfig { decider, guards, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 8).expect("no fault").build();
/// let mut size_at = |second, busy| {
///     let pool = PoolSnapshot { busy, ..PoolSnapshot::of(Staffing::exactly(7)) };
///     autoscaler.tick(&Observation::new(Timestamp::from_secs(second), pool)).to.ceiling
/// };
/// assert_eq!((size_at(0, 5), size_at(60, 0)), (7, 7), "7 were wanted within the minute");
/// assert_eq!(size_at(61, 0), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct HoldPeak {
    /// How far back a proposal counts. Default: 60 s.
    pub window: Duration,
}

impl Default for HoldPeak {
    fn default() -> Self {
        Self { window: Duration::from_secs(60) }
    }
}

impl Guard for HoldPeak {
    fn name(&self) -> &'static str {
        "hold_peak"
    }

    fn looks_back(&self) -> Duration {
        self.window
    }

    fn review(&self, situation: &Situation<'_>, wanted: Staffing) -> Ruling {
        let (now, history, from) = (situation.now(), situation.history, situation.from());
        let age = history.began().map_or(Duration::ZERO, |began| now.since(began));
        let unseen = self.window.saturating_sub(age);
        if !unseen.is_zero() {
            let kept = wanted.no_less_than(from);
            return Ruling::of(from, wanted, kept, Because::Unremembered(unseen));
        }
        let peak = history.peak_since(now.before(self.window)).unwrap_or(wanted);
        // An old peak stops a shrink; it is no reason to grow.
        let kept = wanted.no_less_than(peak.no_more_than(from));
        Ruling::of(from, wanted, kept, Because::Peak(peak))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::guard::harness::Scene;

    const MINUTE: HoldPeak = HoldPeak { window: Duration::from_secs(60) };

    #[test]
    fn holds_the_peak_for_the_whole_window() {
        let scene = |now| Scene::at(now).wanted(&[(0, 4), (100, 9), (110, 3)]);
        scene(110).check(&MINUTE, 10, 3, "hold_peak 9");
        scene(160).check(&MINUTE, 10, 3, "hold_peak 9");
        scene(162).check(&MINUTE, 10, 3, "yes 3");
    }

    #[test]
    fn an_old_peak_is_no_reason_to_grow() {
        Scene::at(110).wanted(&[(0, 4), (100, 9)]).check(&MINUTE, 5, 3, "hold_peak 5");
        Scene::at(110).wanted(&[(0, 4), (100, 9)]).check(&MINUTE, 5, 6, "yes 6");
    }

    #[test]
    fn a_lost_history_begins_by_holding() {
        Scene::at(59).wanted(&[(0, 1)]).check(&MINUTE, 8, 1, "hold_peak (1 s left) 8");
        Scene::at(61).wanted(&[(0, 1)]).check(&MINUTE, 8, 1, "yes 1");
        Scene::at(59).wanted(&[]).check(&MINUTE, 8, 1, "hold_peak (60 s left) 8");
        Scene::at(59).wanted(&[(0, 1)]).check(&MINUTE, 8, 20, "yes 20");
    }
}
