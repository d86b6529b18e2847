//! A downstream with a knee: it is found, kept to, and left behind when it is gone.

use std::time::Duration;

use crate::plant::Stage;
use crate::run::{Guards, Moment, Run, Setting};

/// The knee of these stories, and what is near enough to it.
const KNEE: f64 = 40.0;
const NEAR: std::ops::RangeInclusive<u32> = 27..=60;

fn load(seconds: f64, load: f64) -> Stage {
    Stage::load(seconds, load).knee(KNEE)
}

#[track_caller]
fn check_near(run: &Run, from: f64, to: f64) {
    let ceiling = run.ceiling(from, to);
    assert!(NEAR.contains(&ceiling), "{ceiling} from {from} s to {to} s{}", run.line(5.0));
}

#[test]
fn without_a_limit_the_overload_never_ends() {
    let ungoverned = Setting { governed: false, start: 300, max: 300, ..Setting::default() };
    let run = ungoverned.run(&[load(60.0, 20.0), load(60.0, 50.0), load(120.0, 20.0)]);
    assert!(10_000 < run.last().waiting, "{}", run.line(5.0));
}

#[test]
fn a_knee_is_found_and_the_queue_drains() {
    Setting::default().everywhere(|setting| {
        let run = setting.run(&[load(60.0, 20.0), load(60.0, 50.0), load(120.0, 20.0)]);
        let line = run.line(5.0);
        check_near(&run, 70.0, 120.0);
        assert!(run.between(60.0, 70.0).any(Moment::is_bound), "{setting:?}{line}");
        assert!(run.last().waiting < 50, "{setting:?}{line}");
        // Three quarters of what the downstream can do are done, while it is being learnt.
        let done = run.at(120.0).submitted - run.at(120.0).waiting;
        let before = run.at(60.0).submitted - run.at(60.0).waiting;
        assert!(18_000 < done - before, "{} were done, {setting:?}{line}", done - before);
    });
}

#[test]
fn a_surge_over_the_knee_is_caught_within_seconds() {
    // Tasks of a second, well known at 40 of them at once, in front of a knee of 50. Then more than
    // the downstream can take: each window that is waited for costs seconds beyond the knee.
    Setting::default().everywhere(|setting| {
        let stage = |seconds, load| Stage::load(seconds, load).knee(50.0).longer(10.0);
        let run = setting.run(&[stage(200.0, 40.0), stage(60.0, 100.0)]);
        let line = run.line(1.0);
        let beyond = run.seconds(203.0, 260.0, |moment| 70 < moment.ceiling);
        assert!(beyond < 5.0, "{beyond} s far beyond the knee, {setting:?}{line}");
    });
}

#[test]
fn a_pool_at_its_knee_is_probed_rarely() {
    Setting::default().everywhere(|setting| {
        let run = setting.run(&[load(60.0, 20.0), load(300.0, 50.0)]);
        let probing = run.seconds(60.0, 360.0, |m| m.is_probing());
        assert!(probing < 36.0, "{probing} s of 300, {setting:?}{}", run.line(5.0));
    });
}

#[test]
fn a_guard_that_holds_the_peak_only_delays_it() {
    let guards = Guards::HoldPeak(Duration::from_secs(15));
    Setting { guards, ..Setting::default() }.everywhere(|setting| {
        let run = setting.run(&[load(60.0, 20.0), load(120.0, 50.0)]);
        check_near(&run, 110.0, 180.0);
    });
}

#[test]
fn a_knee_is_found_by_counters_alone() {
    Setting { logs: false, ..Setting::default() }.everywhere(|setting| {
        let run = setting.run(&[load(60.0, 20.0), load(60.0, 50.0), load(120.0, 20.0)]);
        check_near(&run, 75.0, 120.0);
        assert!(run.last().waiting < 50, "{setting:?}{}", run.line(5.0));
    });
}

#[test]
fn a_pool_that_begins_beyond_its_knee_comes_back() {
    // What it measures first is already congested, wherever its ceiling begins.
    for start in [64, 300] {
        Setting { start, max: 300, ..Setting::default() }.everywhere(|setting| {
            let run = setting.run(&[load(180.0, 50.0), load(180.0, 20.0)]);
            // It is doubted from the first window on, as soon as the warm-up lets it.
            check_near(&run, 25.0, 45.0);
            check_near(&run, 60.0, 180.0);
            let left = run.last().waiting;
            assert!(left < run.at(180.0).waiting / 4, "{setting:?}{}", run.line(5.0));
        });
    }
}

#[test]
fn a_bound_pool_learns_bigger_tasks() {
    // The knee stays where it is, and tasks grow at all loads: the limit must not be ground down.
    Setting::default().everywhere(|setting| {
        let peak = load(40.0, 60.0);
        let bigger = Stage { seconds: 200.0, ..load(200.0, 20.0).bigger(1.5) };
        let stages = [load(60.0, 30.0), peak, load(20.0, 60.0).bigger(1.5), bigger];
        let run = setting.run(&stages);
        let line = run.line(5.0);
        check_near(&run, 75.0, 100.0);
        check_near(&run, 130.0, 320.0);
        let low = run.seconds(80.0, 320.0, |m| !m.is_probing() && m.ceiling < 20);
        assert!(low < 10.0, "{low} s below 20, {setting:?}{line}");
        let drained = run.at(140.0).waiting.saturating_sub(run.last().waiting);
        assert!(4000 < drained, "{drained} drained, {setting:?}{line}");
    });
}

#[test]
fn a_knee_that_falls_is_followed() {
    // By a third in ten minutes, a little at a time, with more to do than it can take.
    Setting::default().everywhere(|setting| {
        let falling = (0..20)
            .map(|step| Stage::load(30.0, 45.0).knee(KNEE - KNEE / 3.0 * f64::from(step) / 20.0));
        let stages: Vec<Stage> = std::iter::once(load(60.0, 30.0)).chain(falling).collect();
        let run = setting.run(&stages);
        let ceiling = run.ceiling(560.0, 660.0);
        assert!((22..=34).contains(&ceiling), "{ceiling}, {setting:?}{}", run.line(10.0));
    });
}

#[test]
fn a_brown_out_is_followed_down_and_up() {
    Setting::default().everywhere(|setting| {
        let brown = Stage::load(120.0, 30.0).knee(KNEE / 2.0);
        let run = setting.run(&[load(60.0, 30.0), brown, load(240.0, 30.0)]);
        let line = run.line(5.0);
        let ceiling = run.ceiling(110.0, 180.0);
        assert!((13..=30).contains(&ceiling), "{ceiling} in the brown-out, {setting:?}{line}");
        check_near(&run, 200.0, 380.0);
        assert!(run.last().waiting < run.at(180.0).waiting / 3, "{setting:?}{line}");
    });
}

#[test]
fn a_knee_that_is_gone_is_forgotten_quickly() {
    // Held at the limit, and nothing is amiss any more: growth accelerates.
    Setting::default().everywhere(|setting| {
        let gone = Stage::load(60.0, 200.0);
        let run = setting.run(&[load(60.0, 20.0), load(60.0, 50.0), gone]);
        let line = run.line(2.0);
        assert!(200 < run.at(150.0).ceiling, "{setting:?}{line}");
        assert!(run.late(178.0, 180.0) < 0.001, "{setting:?}{line}");
    });
}

#[test]
fn a_limit_that_nobody_needs_is_lifted() {
    let run = Setting::default().run(&[load(60.0, 20.0), load(30.0, 50.0), load(930.0, 10.0)]);
    assert!(run.at(90.0).is_bound(), "{}", run.line(5.0));
    assert!(run.at(930.0).is_bound(), "fourteen minutes are not enough{}", run.line(5.0));
    assert!(!run.last().is_bound(), "{}", run.line(5.0));
}

#[test]
fn bursts_that_come_again_meet_the_limit_that_was_found() {
    Setting::default().everywhere(|setting| {
        let (quiet, burst) = (load(120.0, 10.0), load(60.0, 50.0));
        let run = setting.run(&[load(60.0, 20.0), burst, quiet, burst, quiet, burst]);
        for from in [240.0, 420.0] {
            let beyond = run.seconds(from, from + 60.0, |moment| *NEAR.end() < moment.ceiling);
            assert!(beyond <= 1.0, "{beyond} s from {from} s on, {setting:?}{}", run.line(2.0));
        }
    });
}

#[test]
fn trust_that_faded_below_a_kept_limit_is_earned_again() {
    // A knee of 120 is found, and kept for ten quiet minutes. What worked is trusted less and less
    // meanwhile. When the load comes back it is trust that holds the pool, not the limit.
    Setting::default().everywhere(|setting| {
        let stage = |seconds, load| Stage::load(seconds, load).knee(120.0);
        let run = setting.run(&[
            stage(60.0, 60.0),
            stage(40.0, 150.0),
            stage(600.0, 8.0),
            stage(60.0, 100.0),
        ]);
        let line = run.line(5.0);
        let (kept, faded) = (run.at(400.0).ceiling, run.at(700.0).ceiling);
        assert!(run.at(700.0).is_bound() && faded < kept - 5, "{setting:?}{line}");
        assert!(kept <= run.at(720.0).ceiling, "{setting:?}{line}");
        assert!(run.late(750.0, 760.0) < 0.001, "{setting:?}{line}");
    });
}

#[test]
fn a_knee_that_went_while_nobody_looked_is_forgotten_quickly() {
    Setting::default().everywhere(|setting| {
        let gone = |seconds, load| Stage::load(seconds, load);
        let run = setting.run(&[
            load(60.0, 20.0),
            load(60.0, 50.0),
            gone(120.0, 10.0),
            gone(60.0, 200.0),
        ]);
        let line = run.line(2.0);
        assert!(200 < run.at(270.0).ceiling, "{setting:?}{line}");
        assert!(run.late(298.0, 300.0) < 0.001, "{setting:?}{line}");
    });
}

#[test]
fn few_tasks_a_second_find_the_knee_slowly() {
    Setting::default().everywhere(|setting| {
        let slow = |seconds, workers| load(seconds, workers).longer(20.0);
        let run = setting.run(&[slow(200.0, 20.0), slow(200.0, 50.0), slow(500.0, 20.0)]);
        let line = run.line(10.0);
        let ceiling = run.ceiling(260.0, 400.0);
        assert!((20..=60).contains(&ceiling), "{ceiling}, {setting:?}{line}");
        assert!(run.last().waiting < 100, "{setting:?}{line}");
    });
}

#[test]
fn failures_of_a_crowd_bind_at_once() {
    // Calls beyond 40 are refused and nothing slows down: no probe could ever see it.
    Setting::default().everywhere(|setting| {
        let refusing = |load| Stage::load(60.0, load).failing(0.4, KNEE);
        let run = setting.run(&[refusing(20.0), refusing(50.0), refusing(20.0)]);
        let line = run.line(5.0);
        assert!(run.between(60.0, 64.0).any(Moment::is_bound), "{setting:?}{line}");
        check_near(&run, 70.0, 120.0);
        let failed = run.at(120.0).failed - run.at(70.0).failed;
        assert!(failed < 2500, "{failed} of 20000 failed, {setting:?}{line}");
        assert!(run.last().waiting < 100, "{setting:?}{line}");
    });
}

#[test]
fn failures_at_any_size_do_not_bind_for_long() {
    // A third fails from the step on, however few are busy. (Without the guards of the preset:
    // its error veto refuses every growth for as long as it lasts.)
    Setting { guards: Guards::None, ..Setting::default() }.everywhere(|setting| {
        let failing = Stage::load(150.0, 60.0).failing(0.33, 0.0);
        let run = setting.run(&[Stage::load(60.0, 20.0), failing]);
        let line = run.line(5.0);
        assert!(60 < run.last().ceiling, "{setting:?}{line}");
        assert!(run.last().waiting < 100, "{setting:?}{line}");
    });
}
