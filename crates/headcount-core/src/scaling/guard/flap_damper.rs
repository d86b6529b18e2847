//! Makes a pool that keeps turning around wait longer before it shrinks.
//!
//! Each reversal beyond the allowed ones doubles the wait. Only shrinking waits: without a shrink
//! there is nothing to turn around from, and growth that waits would hurt users.

use std::time::Duration;

use super::{Because, Guard, Ruling};
use crate::{Situation, Staffing};

/// Counts reversals, and widens the wait before a shrink.
///
/// ```
/// use headcount_core::guard::{FlapDamper, Guard};
/// use headcount_core::{History, Observation, PoolSnapshot, Situation, Staffing, Timestamp};
///
/// let (four, five) = (Staffing::exactly(4), Staffing::exactly(5));
/// let mut history = History::default();
/// for second in [0, 2, 4] {
///     history.applied(Timestamp::from_secs(second), four, five);
///     history.applied(Timestamp::from_secs(second + 1), five, four);
/// }
/// let observation = Observation::new(Timestamp::from_secs(10), PoolSnapshot::of(four));
/// let situation = Situation { observation: &observation, readings: &[], history: &history };
/// let ruling = FlapDamper::default().review(&situation, Staffing::exactly(3));
/// let because = ruling.because().expect("it turned around too often");
/// assert_eq!(because.to_string(), "5 reversals, so a shrink waits 60 s");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct FlapDamper {
    /// How far back reversals count. Default: 10 min.
    pub window: Duration,
    /// How many reversals are no flapping yet. Default: 3.
    pub reversals_max: u32,
    /// How long a shrink waits after the last change at the first reversal too many. Default: 30 s.
    pub hold: Duration,
    /// The longest wait. Default: 10 min.
    pub hold_max: Duration,
}

impl Default for FlapDamper {
    fn default() -> Self {
        Self {
            window: Duration::from_mins(10),
            reversals_max: 3,
            hold: Duration::from_secs(30),
            hold_max: Duration::from_mins(10),
        }
    }
}

impl FlapDamper {
    fn hold_for(&self, reversals: u32) -> Duration {
        let excess = reversals.saturating_sub(self.reversals_max);
        match excess {
            0 => Duration::ZERO,
            _ => self.hold.saturating_mul(1 << (excess - 1).min(16)).min(self.hold_max),
        }
    }
}

impl Guard for FlapDamper {
    fn name(&self) -> &'static str {
        "flap_damper"
    }

    fn review(&self, situation: &Situation<'_>, wanted: Staffing) -> Ruling {
        let (now, history, from) = (situation.now(), situation.history, situation.from());
        let reversals = history.reversals_since(now.before(self.window));
        let hold = self.hold_for(reversals);
        let rested = history.last_move().is_none_or(|last| hold <= now.since(last));
        if rested {
            return Ruling::Allow;
        }
        let because = Because::Flapping { reversals, hold };
        Ruling::of(from, wanted, wanted.no_less_than(from), because)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::guard::harness::Scene;

    /// Grows at 0, shrinks at 10, grows at 20, and so on.
    fn flapping(now: u64, moves: u64) -> Scene {
        (0..moves).fold(Scene::at(now), |scene, i| match i % 2 {
            0 => scene.grew(i * 10),
            _ => scene.shrank(i * 10),
        })
    }

    #[test]
    fn the_wait_doubles_with_every_reversal_too_many() {
        let damper = FlapDamper::default();
        flapping(31, 4).check(&damper, 4, 3, "yes 3");
        flapping(69, 5).check(&damper, 4, 3, "flap_damper (4 reversals) 4");
        flapping(70, 5).check(&damper, 4, 3, "yes 3");
        flapping(109, 6).check(&damper, 4, 3, "flap_damper (5 reversals) 4");
        flapping(110, 6).check(&damper, 4, 3, "yes 3");
    }

    #[test]
    fn growth_never_waits() {
        flapping(69, 5).check(&FlapDamper::default(), 4, 9, "yes 9");
    }

    #[test]
    fn old_reversals_are_forgotten() {
        let forgetful = FlapDamper { window: Duration::from_secs(15), ..FlapDamper::default() };
        flapping(41, 5).check(&forgetful, 4, 3, "yes 3");
    }

    #[test]
    fn the_wait_has_an_end() {
        let damper = FlapDamper::default();
        assert_eq!(damper.hold_for(u32::MAX), Duration::from_mins(10));
    }
}
