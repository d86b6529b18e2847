//! A downstream without a knee: nobody is held back for long, whatever the load does.

use crate::plant::Stage;
use crate::run::{Run, Setting};

#[test]
fn a_pool_without_a_knee_is_never_bound() {
    // Ten times the load, and back, and again. Half a minute is more than the warm-up needs.
    Setting::default().everywhere(|setting| {
        let run = setting.run(&[20.0, 200.0, 20.0, 200.0].map(|load| Stage::load(60.0, load)));
        let line = run.line(5.0);
        assert!(!run.was_bound(), "{setting:?}{line}");
        for minute in [0.0, 60.0, 120.0, 180.0] {
            let late = run.late(minute + 10.0, minute + 60.0);
            assert!(late < 0.001, "{late} late after {minute} s, {setting:?}{line}");
        }
        let seconds = late_seconds(&run, 60.0, 120.0);
        assert!(seconds < 8.0, "late for {seconds} s after the step, {setting:?}{line}");
    });
}

#[test]
fn bigger_tasks_are_not_taken_for_a_knee() {
    // As many tasks, each bigger: more are busy, throughput is the same, nothing is congested.
    for times in [1.5, 2.0] {
        Setting::default().everywhere(|setting| {
            let before = Stage::load(60.0, 40.0);
            let run = setting.run(&[before, Stage { seconds: 240.0, ..before.bigger(times) }]);
            check_served(&run, 60.0, 40.0 * times);
        });
    }
}

#[test]
fn a_spell_of_bigger_tasks_leaves_nothing_behind() {
    Setting::default().everywhere(|setting| {
        let usual = Stage::load(60.0, 40.0);
        let after = Stage { seconds: 180.0, ..usual };
        let run = setting.run(&[usual, usual.bigger(2.0), after]);
        check_served(&run, 60.0, 40.0);
        assert!(run.late(130.0, 300.0) < 0.005, "{setting:?}{}", run.line(5.0));
    });
}

#[test]
fn few_tasks_a_second_are_enough_to_grow() {
    // Ten tasks of 2 s a second, then forty.
    Setting::default().everywhere(|setting| {
        let calm = Stage::load(200.0, 20.0).longer(20.0);
        let run = setting.run(&[calm, Stage::load(200.0, 80.0).longer(20.0)]);
        let line = run.line(10.0);
        assert!(!run.was_bound(), "{setting:?}{line}");
        assert!(run.late(10.0, 200.0) < 0.001, "{setting:?}{line}");
        assert!(run.late(260.0, 400.0) < 0.001, "{setting:?}{line}");
    });
}

#[test]
fn counters_alone_are_enough_to_grow() {
    // No service times are kept: Little's law gives them.
    Setting { logs: false, ..Setting::default() }.everywhere(|setting| {
        let run = setting.run(&[20.0, 200.0, 20.0].map(|load| Stage::load(60.0, load)));
        let line = run.line(5.0);
        assert!(!run.was_bound(), "{setting:?}{line}");
        assert!(run.late(90.0, 180.0) < 0.001, "{setting:?}{line}");
    });
}

#[test]
fn a_burst_is_followed_to_ten_thousand() {
    Setting { max: 10_000, ..Setting::default() }.everywhere(|setting| {
        let run = setting.run(&[Stage::load(15.0, 10.0), Stage::load(25.0, 5000.0)]);
        let line = run.line(1.0);
        assert!(!run.was_bound(), "{setting:?}{line}");
        assert!(5000 < run.at(24.0).ceiling, "{setting:?}{line}");
        assert!(run.late(38.0, 40.0) < 0.001, "{setting:?}{line}");
    });
}

#[test]
fn an_overload_at_the_maximum_is_probed_rarely() {
    // Begun under load, held at its maximum for ten minutes: it cannot know that there is no knee
    // but by trying, and tries with little.
    Setting { max: 60, start: 60, ..Setting::default() }.everywhere(|setting| {
        let run = setting.run(&[Stage::load(600.0, 66.0)]);
        let probing = run.seconds(20.0, 600.0, |m| m.ceiling < 55);
        assert!(probing < 0.08 * 580.0, "{probing} s below 55, {setting:?}{}", run.line(10.0));
    });
}

/// From second `from` on the load needed so many workers, and had them but for a short probe.
#[track_caller]
fn check_served(run: &Run, from: f64, needed: f64) {
    let (line, end) = (run.line(5.0), run.last().at);
    assert!(!run.was_bound(), "{line}");
    let short = run.seconds(from, end, |m| f64::from(m.ceiling) < needed);
    assert!(short < 10.0, "{short} s with fewer than {needed}{line}");
    assert!(run.late(from, end) < 0.03, "{} late{line}", run.late(from, end));
    assert!(run.last().waiting < 100, "{} wait at the end{line}", run.last().waiting);
}

/// Seconds of a span in which somebody was late.
fn late_seconds(run: &Run, from: f64, to: f64) -> f64 {
    let mut late = run.at(from).late;
    run.seconds(from, to, |moment| late != std::mem::replace(&mut late, moment.late))
}
