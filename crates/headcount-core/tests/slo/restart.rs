//! A restart, with notes and without, under the same clock and under a new one.

use headcount_core::{Notes, Observation, Timestamp};

use crate::plant::Stage;
use crate::run::Setting;

fn knee(seconds: f64, load: f64) -> Stage {
    Stage::load(seconds, load).knee(40.0)
}

#[test]
fn with_notes_it_goes_on_as_if_nothing_had_happened() {
    // Free, probing, bound, refused, bound and learning, free again.
    let story = [
        knee(40.0, 20.0),
        knee(120.0, 50.0),
        knee(30.0, 50.0).failing(0.3, 30.0),
        knee(60.0, 20.0).bigger(1.5),
        Stage::load(20.0, 200.0),
    ];
    for logs in [true, false] {
        Setting { logs, ..Setting::default() }.everywhere(|setting| {
            let straight = setting.run(&story);
            let restarted = setting.run_with(&story, |_, autoscaler, _| {
                let mut successor = setting.autoscaler();
                assert_eq!(successor.restore(&autoscaler.save()), Ok(()));
                *autoscaler = successor;
            });
            for (one, other) in straight.moments.iter().zip(&restarted.moments) {
                assert_eq!(one.decision.proposal, other.decision.proposal, "at {} s", one.at);
            }
        });
    }
}

#[test]
fn without_notes_nobody_is_late_for_long() {
    Setting::default().everywhere(|setting| {
        let run = setting.run_with(&[Stage::load(180.0, 200.0)], |at, autoscaler, _| {
            if (90.0..90.1).contains(&at) {
                *autoscaler = setting.autoscaler();
            }
        });
        let line = run.line(2.0);
        assert!(!run.was_bound(), "{setting:?}{line}");
        assert!(run.late(89.0, 180.0) < 0.01, "{setting:?}{line}");
    });
}

#[test]
fn without_notes_the_knee_is_found_again() {
    Setting::default().everywhere(|setting| {
        let run = setting.run_with(&[knee(60.0, 20.0), knee(150.0, 50.0)], |at, autoscaler, _| {
            if (120.0..120.1).contains(&at) {
                *autoscaler = setting.autoscaler();
            }
        });
        let ceiling = run.ceiling(150.0, 210.0);
        assert!((27..=60).contains(&ceiling), "{ceiling}, {setting:?}{}", run.line(5.0));
    });
}

/// Two minutes into the story the clock goes back to zero.
fn begin_anew(at: f64, observation: &mut Observation) {
    if 120.0 < at {
        let nanos = observation.at.as_nanos().saturating_sub(120_000_000_000);
        observation.at = Timestamp::from_nanos(nanos);
    }
}

#[test]
fn a_clock_that_begins_anew_freezes_no_window() {
    // Bound at the knee; then the knee is gone and the load is high.
    let story = [knee(40.0, 20.0), knee(60.0, 50.0), knee(30.0, 20.0), Stage::load(20.0, 200.0)];
    Setting::default().everywhere(|setting| {
        let run = setting.run_with(&story, |at, _, observation| begin_anew(at, observation));
        let line = run.line(1.0);
        assert!(run.at(119.0).is_bound(), "{setting:?}{line}");
        assert!(160 < run.last().ceiling, "{setting:?}{line}");
    });
}

#[test]
fn a_clock_that_begins_anew_freezes_no_limit() {
    // Bound at the knee, and nobody needs it any more.
    let story = [knee(40.0, 20.0), knee(30.0, 50.0), knee(990.0, 10.0)];
    Setting::default().everywhere(|setting| {
        let run = setting.run_with(&story, |at, _, observation| begin_anew(at, observation));
        let line = run.line(5.0);
        assert!(run.at(119.0).is_bound(), "{setting:?}{line}");
        assert!(!run.last().is_bound(), "{setting:?}{line}");
    });
}

#[test]
fn damaged_notes_leave_nothing_that_cannot_be_noted() {
    let odd = [-1.0, 0.0, 1e-300, 1e300, -1e300, f64::MAX].map(f64::to_bits);
    let story = [knee(40.0, 20.0), knee(30.0, 50.0).failing(0.3, 50.0)];
    let (setting, mut told) = (Setting::default(), Vec::new());
    setting.run_with(&story, |_, autoscaler, observation| {
        told.push((autoscaler.save(), observation.clone()));
    });
    // Free, just before the step; and amid all that follows it.
    for tick in [199, 206, 210, 240, 300] {
        let words = told[tick].0.words();
        for damage in (0..words.len()).flat_map(|at| odd.map(|word| (at, word))) {
            let mut damaged = words.to_vec();
            damaged[damage.0] = damage.1;
            let mut autoscaler = setting.autoscaler();
            if autoscaler.restore(&Notes::of_words(damaged)).is_err() {
                continue;
            }
            for (_, observation) in told.iter().skip(tick).take(40) {
                assert!(1 <= autoscaler.tick(observation).to.ceiling);
            }
            let mut successor = setting.autoscaler();
            assert_eq!(successor.restore(&autoscaler.save()), Ok(()), "{tick} {damage:?}");
        }
    }
}
