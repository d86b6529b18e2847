//! Holds a resize that follows another one too closely.
//!
//! Growing and shrinking have separate clocks: being late to grow hurts users, being late to
//! shrink costs a little money. A machine in the critical zone can be let off: a shrink that waits
//! for its cooldown while the machine goes down helps nobody.

use std::time::Duration;

use super::{Because, Guard, Ruling};
use crate::health::{Standing, Zone};
use crate::{Situation, Staffing, Timestamp};

/// Holds a resize that follows another one too closely.
///
/// ```
/// use headcount_core::guard::{Because, Cooldown, Guard, Ruling};
/// use headcount_core::{History, Observation, PoolSnapshot, Situation, Staffing, Timestamp};
/// use std::time::Duration;
///
/// let mut history = History::default();
/// history.applied(Timestamp::from_secs(100), Staffing::exactly(3), Staffing::exactly(4));
/// let pool = PoolSnapshot::of(Staffing::exactly(4));
/// let observation = Observation::new(Timestamp::from_secs(110), pool);
/// let situation = Situation { observation: &observation, readings: &[], history: &history };
/// let cooldown = Cooldown::new(Duration::from_secs(30), Duration::from_secs(60));
/// let ruling = cooldown.review(&situation, Staffing::exactly(5));
/// assert_eq!(ruling, Ruling::Hold(Because::Cooling(Duration::from_secs(20))));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Cooldown {
    /// From one growth to the next. Default: none.
    pub grow: Duration,
    /// From one shrink to the next. Default: none.
    pub shrink: Duration,
    /// From a shrink to a growth. Default: none.
    pub grow_after_shrink: Duration,
    /// From a growth to a shrink. Default: none.
    pub shrink_after_grow: Duration,
    /// Whether a shrink skips its cooldown while health is critical. Default: it waits.
    pub skip_when_critical: bool,
}

impl Cooldown {
    /// So long between growths, and so long between shrinks.
    #[must_use]
    pub fn new(grow: Duration, shrink: Duration) -> Self {
        Self { grow, shrink, ..Self::default() }
    }

    fn is_let_off(&self, situation: &Situation<'_>) -> bool {
        let health = situation.observation.health.as_ref();
        let critical = health.is_some_and(|health| {
            Standing::of(Some(health), situation.now()).zone == Zone::Critical
        });
        critical && self.skip_when_critical
    }
}

impl Guard for Cooldown {
    fn name(&self) -> &'static str {
        "cooldown"
    }

    fn review(&self, situation: &Situation<'_>, wanted: Staffing) -> Ruling {
        let (now, history, from) = (situation.now(), situation.history, situation.from());
        let (grew, shrank) = (history.last_grow(), history.last_shrink());
        let grow_left = left(now, grew, self.grow).max(left(now, shrank, self.grow_after_shrink));
        let shrink_left = match self.is_let_off(situation) {
            true => Duration::ZERO,
            false => left(now, shrank, self.shrink).max(left(now, grew, self.shrink_after_grow)),
        };

        let mut allowed = wanted;
        let mut wait = Duration::ZERO;
        if !grow_left.is_zero() && allowed != allowed.no_more_than(from) {
            allowed = allowed.no_more_than(from);
            wait = grow_left;
        }
        if !shrink_left.is_zero() && allowed != allowed.no_less_than(from) {
            allowed = allowed.no_less_than(from);
            wait = wait.max(shrink_left);
        }
        Ruling::of(from, wanted, allowed, Because::Cooling(wait))
    }
}

/// What is left of `span` since `last`; nothing where there was no last time.
fn left(now: Timestamp, last: Option<Timestamp>, span: Duration) -> Duration {
    last.map_or(Duration::ZERO, |last| span.saturating_sub(now.since(last)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::guard::harness::{Scene, check, health};

    const UP30_DOWN60: Cooldown = Cooldown {
        grow: Duration::from_secs(30),
        shrink: Duration::from_secs(60),
        grow_after_shrink: Duration::ZERO,
        shrink_after_grow: Duration::ZERO,
        skip_when_critical: false,
    };

    #[test]
    fn growing_and_shrinking_have_separate_clocks() {
        let scene = Scene::at(100).grew(80).shrank(50);
        scene.check(&UP30_DOWN60, 4, 6, "cooldown (10 s left) 4");
        scene.check(&UP30_DOWN60, 4, 3, "cooldown (10 s left) 4");
        Scene::at(110).grew(80).shrank(50).check(&UP30_DOWN60, 4, 6, "yes 6");
        Scene::at(110).grew(80).shrank(50).check(&UP30_DOWN60, 4, 3, "yes 3");
    }

    #[test]
    fn nothing_to_cool_down_from_at_first() {
        check(&UP30_DOWN60, 4, 6, "yes 6");
        check(&UP30_DOWN60, 4, 2, "yes 2");
    }

    #[test]
    fn critical_health_skips_the_shrink_cooldown_only() {
        let scene = Scene::at(100).grew(99).shrank(99).with(health(10.0, 100));
        let skipping = Cooldown { skip_when_critical: true, ..UP30_DOWN60 };
        scene.check(&skipping, 8, 1, "yes 1");
        scene.check(&skipping, 8, 9, "cooldown (29 s left) 8");
        scene.check(&UP30_DOWN60, 8, 1, "cooldown (59 s left) 8");
    }

    #[test]
    fn stale_health_is_not_critical() {
        let scene = Scene::at(300).shrank(299).with(health(10.0, 100));
        let skipping = Cooldown { skip_when_critical: true, ..UP30_DOWN60 };
        scene.check(&skipping, 8, 1, "cooldown (59 s left) 8");
    }

    #[test]
    fn a_growth_can_be_made_to_wait_for_a_shrink() {
        let slow = Cooldown { grow_after_shrink: Duration::from_secs(300), ..UP30_DOWN60 };
        Scene::at(100).shrank(90).check(&slow, 4, 6, "cooldown (290 s left) 4");
    }

    #[test]
    fn time_that_stands_still_never_ends_a_cooldown() {
        Scene::at(50).grew(80).check(&UP30_DOWN60, 4, 6, "cooldown (30 s left) 4");
    }

    #[test]
    fn the_two_ends_of_a_staffing_are_held_apart() {
        let scene = Scene::at(100).grew(99);
        let wanted = Staffing::between(2, 20);
        scene.check_staffing(
            &UP30_DOWN60,
            Staffing::between(4, 10),
            wanted,
            "cooldown (29 s left) 2..10",
        );
    }
}
