//! `thread_system`, its calls: modes, manual sizes, evaluation, statistics, samples.

use std::time::Duration;

use headcount_core::decide::{DeciderConfig, ScheduleConfig, ShiftConfig, Step};
use headcount_core::{
    Calendar, Direction, ManualTarget, Mode, Observation, PolicyConfig, Preset, Reason, Staffing,
    Stats, Timestamp, Weekday,
};

use crate::world::{World, busy, waits};

/// Two workers or more, sixteen at most, everybody busy.
fn overloaded(size: u32) -> World {
    let own = PolicyConfig {
        workers_min: Some(2),
        workers_max: Some(16),
        ..Preset::thread_system().config()
    };
    let mut world = World::with(&own, 4, size);
    world.demand = 99;
    world
}

fn in_mode(mode: Mode, size: u32) -> World {
    let mut world = overloaded(size);
    world.autoscaler.set_mode(mode);
    world
}

#[test]
fn only_the_automatic_mode_scales_by_itself() {
    assert_eq!(in_mode(Mode::Automatic, 4).run(40), "4s:5 34s:6");
    for mode in [Mode::Off, Mode::Manual, Mode::Advise] {
        assert_eq!(in_mode(mode, 4).run(40), "", "{mode}");
    }
}

#[test]
fn the_mode_can_be_changed_while_it_runs() {
    let mut world = in_mode(Mode::Off, 4);
    assert_eq!(world.run(10), "");
    world.autoscaler.set_mode(Mode::Automatic);
    assert_eq!(world.run(1), "10s:5", "signals were read all along");
    world.autoscaler.set_mode(Mode::Off);
    assert_eq!(world.run(300), "");
}

#[test]
fn to_evaluate_changes_nothing() {
    let (mut asked, mut left_alone) = (overloaded(4), overloaded(4));
    for second in 0..100 {
        let observation = asked.observe();
        for _ in 0..7 {
            let answer = asked.autoscaler.evaluate(&observation);
            assert_eq!(answer, left_alone.autoscaler.evaluate(&observation), "at {second} s");
        }
        assert_eq!(asked.step(), left_alone.step());
    }
    assert_eq!(asked.autoscaler.stats(), left_alone.autoscaler.stats());
    assert_eq!(asked.autoscaler.save(), left_alone.autoscaler.save());
    assert_eq!(asked.size, left_alone.size);
}

#[test]
fn an_operator_asks_what_it_would_do_and_decides() {
    let mut world = in_mode(Mode::Manual, 4);
    world.run(10);
    let observation = world.observe();
    let advice = world.autoscaler.advise(&observation);
    assert_eq!(
        advice.explain().to_string(),
        "would grow 4 to 5: wants 5 (utilization 100 % > 80 %) -> bounds 5"
    );
    assert_eq!(advice.resize(), None, "it is only advice");
    world.ask_for(Some(advice.to.ceiling));
    assert_eq!(world.run(60), "10s:5", "and nothing more than was asked for");
}

#[test]
fn a_manual_size_is_clamped_to_the_bounds() {
    for (asked, got) in [(8, 8), (40, 16), (1, 2), (0, 2), (u32::MAX, 16)] {
        let mut world = in_mode(Mode::Manual, 4);
        world.ask_for(Some(asked));
        let decision = world.step();
        assert_eq!((decision.reason(), world.size), (Reason::Manual, got), "asked for {asked}");
    }
}

#[test]
fn a_manual_size_is_had_in_every_mode_that_applies_anything() {
    for (mode, size) in [(Mode::Manual, 9), (Mode::Automatic, 9), (Mode::Off, 4), (Mode::Advise, 4)]
    {
        let mut world = in_mode(mode, 4);
        world.ask_for(Some(9));
        world.run(3);
        assert_eq!(world.size, size, "{mode}");
    }
}

#[test]
fn a_manual_size_waits_for_no_cooldown_and_no_samples() {
    let mut world = overloaded(4);
    assert_eq!(world.run(5), "4s:5");
    world.ask_for(Some(12));
    assert_eq!(world.run(1), "5s:12");
    world.ask_for(Some(3));
    assert_eq!(world.run(1), "6s:3");
    world.ask_for(None);
    assert_eq!(world.run(60), "35s:4 65s:5", "automatic again, thirty seconds after 12");
}

#[test]
fn a_manual_size_holds_until_it_expires() {
    let mut world = overloaded(4);
    let until = Some(Timestamp::from_secs(50));
    world.autoscaler.set_manual(Some(ManualTarget { workers: 6, until }));
    assert_eq!(world.run(60), "0s:6 50s:7");
}

#[test]
fn one_step_up_or_down_is_a_manual_size_too() {
    let mut world = in_mode(Mode::Manual, 4);
    let pool = world.observe().pool;
    world.ask_for(Some(Step::Add(1).up(&pool)));
    assert_eq!(world.run(5), "0s:5");
    let pool = world.observe().pool;
    world.ask_for(Some(Step::Add(1).down(&pool)));
    assert_eq!(world.run(5), "5s:4");
}

#[test]
fn a_new_policy_takes_over_with_what_the_old_one_knew() {
    let mut world = overloaded(15);
    assert_eq!(world.run(100), "4s:16");
    let wider = PolicyConfig {
        workers_min: Some(2),
        workers_max: Some(32),
        ..Preset::thread_system().config()
    };
    let mut next = World::with(&wider, 4, world.size).autoscaler;
    next.restore(&world.autoscaler.save()).expect("the same signals and the same decider");
    world.autoscaler = next;
    assert_eq!(world.run(1), "100s:17", "without gathering five samples again");
}

#[test]
fn a_shrink_never_waits_for_a_worker() {
    let mut world = overloaded(4);
    // One worker is to leave and is held up by a long task; the pool goes on being sized.
    let leaving = |o: &mut Observation| {
        o.pool.live += 1;
        o.pool.retiring = 1;
        let live = o.pool.live;
        busy(&mut o.pool, live);
    };
    assert_eq!(world.run_with(70, leaving), "4s:5 34s:6 64s:7");
}

#[test]
fn statistics_count_what_was_applied_and_what_was_decided() {
    let mut world = overloaded(3);
    world.run(40);
    world.demand = 0;
    world.run(70);
    let expected = Stats {
        grows: 2,
        shrinks: 1,
        evaluations: 110,
        suppressed: 43,
        last_grow: Some(Timestamp::from_secs(34)),
        last_shrink: Some(Timestamp::from_secs(100)),
        live_peak: Some(5),
        live_least: Some(3),
    };
    // Held back: growth from 5 s to 33 s and from 35 s to 39 s, a shrink from 101 s to 109 s.
    assert_eq!(world.autoscaler.stats(), expected);
}

#[test]
fn a_reset_forgets_the_counts_and_no_cooldown() {
    let mut world = overloaded(3);
    assert_eq!(world.run(10), "4s:4");
    world.autoscaler.reset_stats();
    assert_eq!(world.autoscaler.stats(), Stats::default());
    assert_eq!(world.run(24), "", "still cooling down");
    assert_eq!(world.run(1), "34s:5");
    let stats = world.autoscaler.stats();
    assert_eq!((stats.grows, stats.evaluations, stats.live_least), (1, 25, Some(4)));
}

#[test]
fn the_last_sixty_samples_are_kept() {
    let mut world = in_mode(Mode::Off, 4);
    world.run(100);
    let kept: Vec<_> = world.autoscaler.samples().map(|sample| sample.at).collect();
    let expected: Vec<_> = (40..100).map(Timestamp::from_secs).collect();
    assert_eq!(kept, expected);
    let config = PolicyConfig { samples_kept: Some(3), ..Preset::thread_system().config() };
    let mut fewer = World::with(&config, 4, 4);
    fewer.run(100);
    assert_eq!(fewer.autoscaler.samples().len(), 3);
}

#[test]
fn a_sample_shows_the_pool_and_what_happened_since_the_one_before() {
    let mut world = in_mode(Mode::Off, 4);
    world.run_with(3, |o| {
        let seconds = o.at.since(Timestamp::ORIGIN).as_secs();
        busy(&mut o.pool, 3);
        waits(&mut o.pool, 20);
        o.pool.queued = 10;
        o.pool.counters.completed = 100 * seconds;
        o.pool.counters.submitted = 120 * seconds;
    });
    let sample = world.autoscaler.samples().last().copied().expect("three samples");
    assert_eq!((sample.at, sample.live, sample.busy), (Timestamp::from_secs(2), 4, 3));
    assert_eq!((sample.queued, sample.utilization), (10, Some(0.75)));
    assert_eq!(sample.queued_per_worker, Some(2.5));
    assert_eq!(sample.wait_p95, Some(Duration::from_millis(20)));
    assert_eq!((sample.completed, sample.submitted), (100, 120));
    assert_eq!(sample.throughput, Some(100.0));
}

/// What a callback would be told of each resize.
fn told(world: &mut World, secs: u64) -> Vec<(Direction, Reason, u32, u32)> {
    let end = world.now + Duration::from_secs(secs);
    let mut told = Vec::new();
    while world.now < end {
        let decision = world.step();
        if decision.resize().is_some() {
            let (from, to) = (decision.from.ceiling, decision.to.ceiling);
            told.push((decision.direction(), decision.reason(), from, to));
        }
    }
    told
}

#[test]
fn a_resize_tells_its_direction_its_reason_from_and_to() {
    let mut world = overloaded(4);
    assert_eq!(told(&mut world, 10), [(Direction::Grow, Reason::WorkerUtilization, 4, 5)]);
    world.ask_for(Some(9));
    assert_eq!(told(&mut world, 10), [(Direction::Grow, Reason::Manual, 5, 9)]);
    world.ask_for(None);
    world.demand = 0;
    let shrink = (Direction::Shrink, Reason::WorkerUtilization, 9, 8);
    assert_eq!(told(&mut world, 70), [shrink]);
}

#[test]
fn a_decision_says_what_it_is_and_explains_itself() {
    let mut world = overloaded(4);
    let silent = world.step();
    assert_eq!((silent.direction(), silent.resize()), (Direction::Hold, None));
    world.run(3);
    let decision = world.step();
    assert_eq!(decision.resize(), Some(Staffing::exactly(5)));
    assert_eq!(
        decision.explain().to_string(),
        "grow 4 to 5: wants 5 (utilization 100 % > 80 %) -> bounds 5"
    );
}

#[test]
fn there_are_five_reasons_to_scale() {
    let reason = |size: u32, look: fn(&mut Observation)| {
        let mut world = World::under(&Preset::thread_system(), 64, size);
        world.run_with(4, look);
        world.step_with(look).reason()
    };
    assert_eq!(reason(10, |o| o.pool.queued = 1001), Reason::QueueDepth);
    assert_eq!(reason(10, |o| busy(&mut o.pool, 10)), Reason::WorkerUtilization);
    assert_eq!(reason(10, |o| waits(&mut o.pool, 51)), Reason::Latency);
    let mut asked = overloaded(4);
    asked.ask_for(Some(6));
    assert_eq!(asked.step().reason(), Reason::Manual);
    assert_eq!(on_shift().reason(), Reason::Scheduled);
}

/// A pool of four on a Monday at nine, when eight are due.
fn on_shift() -> headcount_core::Decision {
    let shift = ShiftConfig {
        days: vec![Weekday::Monday],
        from_second: 8 * 3600,
        to_second: 18 * 3600,
        workers: 8,
    };
    let config = PolicyConfig {
        decider: Some(DeciderConfig::Schedule(ScheduleConfig { shifts: vec![shift] })),
        ..PolicyConfig::default()
    };
    let mut world = World::with(&config, 16, 4);
    let decision = world.step_with(|o| o.calendar = Calendar::new(Weekday::Monday, 9, 0));
    assert_eq!(world.size, 8);
    decision
}
