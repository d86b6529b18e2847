//! What each guard promises, read from the decisions of a life.
//!
//! The promises of guards that smooth hold up to where the hard ones (health, memory, allowance,
//! bounds) are asked; behind that, only those may have moved the pool further.

use std::time::Duration;

use headcount_core::decide::{DeciderConfig, Target};
use headcount_core::guard::{FlapDamper, Ruling, StepLimit, WarmUp};
use headcount_core::health::{Standing, Zone};
use headcount_core::{
    Breaker, Decision, Direction, GuardsConfig, History, Observation, Policy, PolicyConfig,
    Staffing, Timestamp,
};
use proptest::prelude::*;

use crate::always;
use crate::chain::{is_forced, is_smoothed, smoothed, wanted};
use crate::life::{Life, chapters};
use crate::policies::{Known, sound};

type Story = [(Observation, Decision)];

/// Holds `law` against the lives of every policy.
#[track_caller]
fn check(law: impl Fn(&Policy, &Story)) {
    let begin = prop_oneof![4 => (0_u32..30, 0_u32..30), 1 => (0_u32..200_000, 0_u32..200_000)];
    always(&(sound(), begin, chapters(40)), |(Known { policy, .. }, begin, chapters)| {
        let staffing = Staffing::between(begin.0, begin.1);
        law(&policy, &Life::of(&policy, staffing).story(&chapters));
    });
}

/// The decisions on which guards that smooth were heard.
fn smooth(story: &Story) -> impl Iterator<Item = &(Observation, Decision)> {
    story.iter().filter(|(_, decision)| is_smoothed(decision))
}

#[track_caller]
fn check_no_growth(decision: &Decision) {
    let (left, from) = (smoothed(decision), decision.from);
    assert_eq!(left, left.no_more_than(from), "{}", decision.explain());
}

#[track_caller]
fn check_no_shrink(decision: &Decision) {
    let (left, from) = (smoothed(decision), decision.from);
    assert_eq!(left, left.no_less_than(from), "{}", decision.explain());
    if !is_forced(decision) {
        assert_ne!(decision.direction(), Direction::Shrink, "{}", decision.explain());
    }
}

#[test]
fn a_step_goes_no_further_than_allowed() {
    check(|policy, story| {
        let Some(step) = policy.guards().step else { return };
        for (_, decision) in smooth(story) {
            check_step(&step, decision.from, smoothed(decision), decision);
            check_full_step(&step, decision);
            if !is_forced(decision) {
                check_step(&step, decision.from, decision.to, decision);
            }
        }
    });
}

#[track_caller]
fn check_step(step: &StepLimit, from: Staffing, to: Staffing, decision: &Decision) {
    let grow = farthest(from.ceiling, step.grow_max, step.grow_share_max);
    let shrink = farthest(from.ceiling, step.shrink_max, step.shrink_share_max);
    for (from, to) in [(from.floor, to.floor), (from.ceiling, to.ceiling)] {
        let (up, down) = (to.saturating_sub(from), from.saturating_sub(to));
        assert!(f64::from(up) <= grow && f64::from(down) <= shrink, "{}", decision.explain());
    }
}

/// A step that is cut is cut to the full length: one end goes as far as it may.
#[track_caller]
fn check_full_step(step: &StepLimit, decision: &Decision) {
    let from = decision.from;
    let ruling = decision.rulings.iter().find(|review| review.guard.as_str() == "step");
    let Some(Ruling::Amend(left, _)) = ruling.map(|review| review.ruling) else { return };
    let grow = farthest(from.ceiling, step.grow_max, step.grow_share_max);
    let shrink = farthest(from.ceiling, step.shrink_max, step.shrink_share_max);
    let is_full = |from: u32, to: u32| {
        let far = f64::from(to) - f64::from(from);
        to == 0 || (far - grow).abs() < 0.5 || (far + shrink).abs() < 0.5
    };
    let full = is_full(from.floor, left.floor) || is_full(from.ceiling, left.ceiling);
    assert!(full, "{}", decision.explain());
}

/// The wider of two limits, one worker at least; no limit where there is none.
fn farthest(size: u32, workers: Option<u32>, share: Option<f64>) -> f64 {
    let share = share.map(|share| (f64::from(size) * share).ceil());
    match (workers.map(f64::from), share) {
        (None, None) => f64::INFINITY,
        (a, b) => a.unwrap_or(1.0).max(b.unwrap_or(1.0)).max(1.0),
    }
}

#[test]
fn a_peak_is_held_for_its_window() {
    check(|policy, story| {
        let Some(hold) = policy.guards().hold_peak else { return };
        for (index, (observation, decision)) in story.iter().enumerate() {
            if !is_smoothed(decision) {
                continue;
            }
            let start = observation.at.before(hold.window);
            let is_recent = |decision: &&Decision| start <= decision.at;
            let recent = story[..index].iter().map(|(_, decision)| decision).filter(is_recent);
            let peaks = recent.filter_map(|decision| decision.proposal.wanted);
            let peak = peaks.fold(wanted(decision), Staffing::no_less_than);
            let kept = peak.no_more_than(decision.from);
            let left = smoothed(decision);
            assert_eq!(left, left.no_less_than(kept), "{}", decision.explain());
            if !is_forced(decision) {
                assert_eq!(decision.to, decision.to.no_less_than(kept), "{}", decision.explain());
            }
        }
    });
}

#[test]
fn a_young_pool_is_not_shrunk() {
    check(|policy, story| {
        let GuardsConfig { warm_up, hold_peak, .. } = *policy.guards();
        let young = warm_up.map_or(Duration::ZERO, |warm_up| warm_up.span);
        let began = story.first().map_or(Timestamp::ORIGIN, |(first, _)| first.at);
        for (observation, decision) in smooth(story) {
            let age = observation.at.since(began);
            let is_unknown = hold_peak.is_some_and(|hold| age < hold.window);
            if age < young || is_unknown {
                check_no_shrink(decision);
            }
        }
    });
}

#[test]
fn a_veto_stops_growth() {
    check(|policy, story| {
        for (observation, decision) in smooth(story) {
            let failing = policy.guards().error_veto.is_some_and(|veto| {
                let mut readings = decision.readings.iter();
                let reading = readings.find(|reading| reading.name == veto.signal);
                reading.and_then(|reading| reading.value).is_some_and(|rate| veto.rate_max < rate)
            });
            let open = observation.breaker.is_some_and(|breaker| breaker != Breaker::Closed);
            if failing || open {
                check_no_growth(decision);
            }
        }
    });
}

#[test]
fn a_draining_pool_is_not_shrunk() {
    check(|_, story| {
        for (_, decision) in smooth(story).filter(|(seen, _)| seen.pool.draining) {
            check_no_shrink(decision);
        }
    });
}

#[test]
fn hard_limits_hold_down_to_the_minimum() {
    check(|policy, story| {
        for (observation, decision) in smooth(story) {
            let allowance = observation.allowance.unwrap_or(u32::MAX);
            assert!(decision.to.ceiling <= allowance, "{}", decision.explain());
            // A minimum that is not granted is waited for.
            let min = policy.bounds().min.min(allowance);
            let standing = Standing::of(observation.health.as_ref(), observation.at);
            if policy.guards().health.is_some() && standing.zone == Zone::Critical {
                assert_eq!(decision.to, Staffing::exactly(min), "{}", decision.explain());
            }
            let unknown = policy.guards().memory.is_some() && observation.memory.is_none();
            let most = decision.from.ceiling.max(min);
            assert!(!unknown || decision.to.ceiling <= most, "{}", decision.explain());
        }
    });
}

#[test]
fn a_pool_that_flaps_waits_before_it_shrinks() {
    let damper = (1_u64..600, 0_u32..3, 1_u64..120, 0_u64..600);
    let damper = damper.prop_map(|(window, reversals_max, hold, more)| FlapDamper {
        window: Duration::from_secs(window),
        reversals_max,
        hold: Duration::from_secs(hold),
        hold_max: Duration::from_secs(hold + more),
    });
    always(&(damper, chapters(60)), |(damper, chapters)| {
        let warm_up = Some(WarmUp { span: Duration::ZERO });
        let flap_damper = Some(damper);
        let guards = GuardsConfig { flap_damper, warm_up, ..GuardsConfig::default() };
        let config = PolicyConfig {
            workers_max: Some(50),
            decider: Some(DeciderConfig::Target(Target::default())),
            guards,
            ..PolicyConfig::default()
        };
        let policy = Policy::check(&config, 4).expect("a sound policy");
        check_damper(&damper, &Life::of(&policy, Staffing::exactly(10)).story(&chapters));
    });
}

#[track_caller]
fn check_damper(damper: &FlapDamper, story: &Story) {
    let mut moves: Vec<(Timestamp, Direction)> = Vec::new();
    for (_, decision) in story {
        let start = decision.at.before(damper.window);
        let turns = moves.windows(2).filter(|pair| start <= pair[1].0 && pair[0].1 != pair[1].1);
        let excess = turns.count().saturating_sub(damper.reversals_max as usize);
        let doublings = u32::try_from(excess.saturating_sub(1)).expect("a short life");
        let hold = damper.hold.saturating_mul(1 << doublings.min(16)).min(damper.hold_max);
        let last = moves.last().map(|(at, _)| *at);
        if 0 < excess && last.is_some_and(|last| decision.at.since(last) < hold) {
            check_no_shrink(decision);
        }
        if decision.resize().is_some() {
            moves.push((decision.at, decision.direction()));
            moves = moves.split_off(moves.len().saturating_sub(History::MOVES_MAX));
        }
    }
}
