//! Two changes are never closer than their cooldown, whoever wanted them.
//!
//! Over a life in which all that is decided is applied: while a cooldown runs, the guards that
//! smooth leave no change in its direction, and a change that happens all the same was forced by
//! a hard guard, or is a shrink that critical health let off. Once none runs, nothing waits.

use std::time::Duration;

use headcount_core::guard::{Cooldown, WarmUp};
use headcount_core::health::{Standing, Zone};
use headcount_core::{Decision, Observation, Staffing, Timestamp};
use proptest::prelude::*;

use crate::always;
use crate::chain::{is_forced, is_forced_by, is_smoothed, smoothed};
use crate::life::{Life, chapters};
use crate::policies::{Known, sound};

/// When the pool last grew and last shrank.
#[derive(Clone, Copy, Debug, Default)]
struct Clocks {
    grew: Option<Timestamp>,
    shrank: Option<Timestamp>,
    latest: Option<Timestamp>,
}

impl Clocks {
    /// A clock that went back has a new origin, and what was keeps its age.
    fn follow(&mut self, now: Timestamp) {
        let step = self.latest.map_or(Duration::ZERO, |latest| latest.since(now));
        self.grew = self.grew.map(|at| at.before(step));
        self.shrank = self.shrank.map(|at| at.before(step));
        self.latest = Some(now);
    }

    /// A rise of either end is a growth, a fall of either end a shrink.
    fn applied(&mut self, decision: &Decision) {
        let (from, Some(to)) = (decision.from, decision.resize()) else { return };
        if to != to.no_more_than(from) {
            self.grew = Some(decision.at);
        }
        if to != to.no_less_than(from) {
            self.shrank = Some(decision.at);
        }
    }

    /// Whether a growth would come too soon.
    fn holds_growth(&self, cooldown: &Cooldown, now: Timestamp) -> bool {
        runs(self.grew, cooldown.grow, now) || runs(self.shrank, cooldown.grow_after_shrink, now)
    }

    /// Whether a shrink would come too soon.
    fn holds_shrink(&self, cooldown: &Cooldown, seen: &Observation) -> bool {
        let runs = runs(self.shrank, cooldown.shrink, seen.at)
            || runs(self.grew, cooldown.shrink_after_grow, seen.at);
        let zone = Standing::of(seen.health.as_ref(), seen.at).zone;
        let let_off = zone == Zone::Critical && cooldown.skip_when_critical;
        runs && !let_off
    }
}

fn runs(last: Option<Timestamp>, span: Duration, now: Timestamp) -> bool {
    last.is_some_and(|last| now.since(last) < span)
}

#[track_caller]
fn check(cooldown: &Cooldown, story: &[(Observation, Decision)]) {
    let mut clocks = Clocks::default();
    for (seen, decision) in story {
        clocks.follow(seen.at);
        let (left, from) = (smoothed(decision), decision.from);
        if is_smoothed(decision) && clocks.holds_growth(cooldown, seen.at) {
            assert_eq!(left, left.no_more_than(from), "{}", decision.explain());
            let grows = decision.to != decision.to.no_more_than(from);
            assert!(!grows || is_forced_by(decision, "bounds"), "{}", decision.explain());
        }
        if is_smoothed(decision) && clocks.holds_shrink(cooldown, seen) {
            assert_eq!(left, left.no_less_than(from), "{}", decision.explain());
            let shrinks = decision.to != decision.to.no_less_than(from);
            assert!(!shrinks || is_forced(decision), "{}", decision.explain());
        }
        let runs = clocks.holds_growth(cooldown, seen.at) || clocks.holds_shrink(cooldown, seen);
        assert!(runs || !is_forced_by(decision, "cooldown"), "{}", decision.explain());
        clocks.applied(decision);
    }
}

#[test]
fn changes_are_never_closer_than_their_cooldown() {
    let begin = (0_u32..30, 0_u32..30);
    always(&(sound(), begin, chapters(40)), |(Known { policy, .. }, begin, chapters)| {
        let staffing = Staffing::between(begin.0, begin.1);
        let story = Life::of(&policy, staffing).story(&chapters);
        check(&policy.guards().cooldown.unwrap_or_default(), &story);
    });
}

#[test]
fn a_clock_with_a_new_origin_neither_shortens_nor_lengthens_them() {
    let back = (any::<prop::sample::Index>(), 1_u64..900);
    always(&(sound(), chapters(40), back), |(Known { policy, .. }, chapters, (when, secs))| {
        let mut life = Life::of(&policy, Staffing::between(1, 9));
        let mut story = Vec::new();
        for (index, chapter) in chapters.iter().enumerate() {
            if index == when.index(chapters.len()) {
                life.turn_back(Duration::from_secs(secs));
            }
            let observation = life.observe(chapter);
            let decision = life.decide(&observation);
            story.push((observation, decision));
        }
        check(&policy.guards().cooldown.unwrap_or_default(), &story);
    });
}

#[test]
fn a_pool_that_is_told_to_and_fro_keeps_its_distance() {
    use headcount_core::decide::{DeciderConfig, Target};
    use headcount_core::{GuardsConfig, Policy, PolicyConfig};
    let spans = prop::array::uniform4(0_u64..90);
    let cooldown = (spans, any::<bool>()).prop_map(|(seconds, skip_when_critical)| {
        let [grow, shrink, grow_after_shrink, shrink_after_grow] = seconds.map(Duration::from_secs);
        Cooldown { grow, shrink, grow_after_shrink, shrink_after_grow, skip_when_critical }
    });
    always(&(cooldown, chapters(60)), |(cooldown, chapters)| {
        let warm_up = Some(WarmUp { span: Duration::ZERO });
        let cooled = Some(cooldown);
        let guards = GuardsConfig { cooldown: cooled, warm_up, ..GuardsConfig::default() };
        let config = PolicyConfig {
            workers_max: Some(50),
            decider: Some(DeciderConfig::Target(Target::default())),
            guards,
            ..PolicyConfig::default()
        };
        let policy = Policy::check(&config, 4).expect("a sound policy");
        check(&cooldown, &Life::of(&policy, Staffing::exactly(10)).story(&chapters));
    });
}
