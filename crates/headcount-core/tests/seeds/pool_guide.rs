//! The guide to worker pools: its example policy, its compact autoscaler, its failure modes.
//!
//! Stability under delay, which the guide derives a bound for, is shown in `closed_loop.rs`.

use std::time::Duration;

use headcount_core::decide::{
    Aimd, Combine, CompositeConfig, DeciderConfig, PartConfig, Rule, Step, Threshold,
};
use headcount_core::guard::{Cooldown, ErrorVeto};
use headcount_core::signal::{Smoothing, Source};
use headcount_core::{
    Breaker, GuardsConfig, Name, Observation, PolicyConfig, Preset, Reason, SignalConfig, Timestamp,
};

use crate::dice::Dice;
use crate::world::{World, busy, waits};

fn name(text: &str) -> Name {
    Name::new(text).expect("a name")
}

fn cooldown(grow: u64, shrink: u64) -> GuardsConfig {
    let cooldown = Cooldown::new(Duration::from_secs(grow), Duration::from_secs(shrink));
    GuardsConfig { cooldown: Some(cooldown), ..GuardsConfig::default() }
}

/// The guide's example file, as a policy.
fn example() -> PolicyConfig {
    let signal = |text, source| SignalConfig { name: name(text), source, smoothing: Vec::new() };
    let threshold = Threshold {
        grow_when_any: vec![Rule::above(name("wait"), 0.5)],
        shrink_when_all: Vec::new(),
        grow_step: Step::Add(2),
        ..Threshold::default()
    };
    let aimd = Aimd { signal: name("util"), setpoint: 0.7, grow_step: 1, shrink_share: 0.25 };
    let parts = vec![
        PartConfig::of(DeciderConfig::Threshold(threshold)),
        PartConfig::of(DeciderConfig::Aimd(aimd)),
    ];
    PolicyConfig {
        workers_min: Some(4),
        workers_max: Some(128),
        tick: Some(Duration::from_secs(1)),
        signals: Some(vec![signal("wait", Source::WaitP99), signal("util", Source::Utilization)]),
        decider: Some(DeciderConfig::Composite(CompositeConfig { combine: Combine::Max, parts })),
        guards: cooldown(3, 60),
        ..PolicyConfig::default()
    }
}

/// Waits so long, and a share of the workers is busy.
fn load(wait_ms: u64, percent: u32) -> impl Fn(&mut Observation) {
    move |o| {
        let live = o.pool.live;
        busy(&mut o.pool, live * percent / 100);
        waits(&mut o.pool, wait_ms);
    }
}

fn under_example(size: u32) -> World {
    World::with(&example(), 8, size)
}

#[test]
fn a_long_wait_adds_two_every_three_seconds() {
    assert_eq!(under_example(16).run_with(9, load(501, 50)), "0s:18 3s:20 6s:22");
    assert_eq!(under_example(16).run_with(9, load(500, 60)), "", "500 ms are allowed");
}

#[test]
fn utilization_above_its_set_point_adds_one() {
    assert_eq!(under_example(16).run_with(9, load(20, 90)), "0s:17 3s:18 6s:19");
    assert_eq!(under_example(10).run_with(9, load(20, 70)), "", "70 % is the set-point");
}

#[test]
fn of_both_parts_the_larger_wish_counts() {
    let mut world = under_example(16);
    let decision = world.step_with(load(900, 90));
    assert_eq!((decision.reason(), world.size), (Reason::Latency, 18));
    assert_eq!(
        decision.explain().to_string(),
        "grow 16 to 18: wants 18 (wait 0.9 s > 0.5 s) -> bounds 18"
    );
}

#[test]
fn an_idle_pool_gives_back_a_quarter_every_minute_down_to_its_minimum() {
    assert_eq!(under_example(16).run_with(400, load(0, 0)), "0s:12 60s:9 120s:6 180s:4");
}

#[test]
fn no_more_is_given_back_than_can_be_spared() {
    let mut world = under_example(16);
    world.demand = 8;
    assert_eq!(world.run(400), "0s:12", "eight tasks are 67 % of twelve and would be 89 % of nine");
}

#[test]
fn the_maximum_holds_however_long_tasks_wait() {
    let mut world = under_example(120);
    assert_eq!(world.run_with(60, load(9000, 100)), "0s:122 3s:124 6s:126 9s:128");
}

#[test]
fn a_shared_budget_is_a_limit_below_the_maximum() {
    let granted = |o: &mut Observation| {
        load(900, 100)(o);
        o.allowance = Some(19);
    };
    assert_eq!(under_example(16).run_with(60, granted), "0s:18 3s:19");
}

/// The guide's compact autoscaler, as it is written there.
struct Compact {
    size: u32,
    last_up: Option<Duration>,
    last_down: Option<Duration>,
}

impl Compact {
    fn step(&mut self, now: Duration, signal: f64) {
        let since =
            |last: Option<Duration>| last.map_or(Duration::MAX, |last| now.saturating_sub(last));
        if 0.75 < signal && self.size < 64 && Duration::from_secs(3) <= since(self.last_up) {
            self.size = (self.size + 2).min(64);
            self.last_up = Some(now);
        } else if signal < 0.10 && 4 < self.size && Duration::from_secs(60) <= since(self.last_down)
        {
            self.size = (self.size - 1).max(4);
            self.last_down = Some(now);
        }
    }
}

#[test]
fn the_compact_autoscaler_and_its_policy_agree_at_every_tick() {
    let signals = vec![SignalConfig {
        name: name("load"),
        source: Source::named("external.load").expect("a source"),
        smoothing: Vec::new(),
    }];
    let threshold = Threshold {
        grow_when_any: vec![Rule::above(name("load"), 0.75)],
        shrink_when_all: vec![Rule::below(name("load"), 0.10)],
        grow_step: Step::Add(2),
        shrink_step: Step::Add(1),
    };
    let config = PolicyConfig {
        signals: Some(signals),
        decider: Some(DeciderConfig::Threshold(threshold)),
        guards: cooldown(3, 60),
        ..Preset::threshold().config()
    };
    let mut world = World::with(&config, 8, 10);
    let mut compact = Compact { size: 10, last_up: None, last_down: None };
    let mut dice = Dice::new(7);
    let mut kind = 0;
    for tick in 0..20_000_u64 {
        // Long stretches of one kind of load, so that both bounds are met.
        if dice.below(400) == 0 {
            kind = dice.below(3);
        }
        let (least, span) = [(0, 20), (0, 101), (60, 41)][kind as usize];
        let signal = f64::from(least + dice.below(span)) / 100.0;
        compact.step(Duration::from_millis(500 * tick), signal);
        world.step_with(|o| o.externals.set(name("load"), signal).expect("a finite number"));
        assert_eq!(world.size, compact.size, "tick {tick}");
    }
}

#[test]
fn the_threshold_preset_adds_two_and_takes_one() {
    let mut world = World::under(&Preset::threshold(), 8, 4);
    world.demand = 99;
    assert_eq!(world.run(9), "1s:6 4s:8 7s:10", "the mean of three samples, every half second");
    world.demand = 0;
    let down = world.run(200);
    assert_eq!(down, "70s:9 131s:8 192s:7", "the last larger wish is more than a minute ago");
}

/// The example with a step between the signal `wait` and the decider.
fn smoothed(smoothing: Smoothing) -> PolicyConfig {
    let mut config = example();
    for signal in config.signals.iter_mut().flatten() {
        if signal.name == name("wait") {
            signal.smoothing.push(smoothing);
        }
    }
    config
}

/// Waits around 110 ms, and once, at 20 s, a reading of 90 s.
fn spike(o: &mut Observation) {
    let second = o.at.as_nanos() / 1_000_000_000;
    load(if second == 20 { 90_000 } else { 100 + second % 3 * 10 }, 60)(o);
}

#[test]
fn an_outlier_of_one_sample_is_clamped() {
    assert_eq!(World::with(&example(), 8, 16).run_with(40, spike), "20s:18", "believed as it is");
    let near = smoothed(Smoothing::NearMedian { samples: 5, spreads: 3.0 });
    assert_eq!(World::with(&near, 8, 16).run_with(40, spike), "");
    let long = |o: &mut Observation| {
        let second = o.at.as_nanos() / 1_000_000_000;
        load(if second < 20 { 100 + second % 3 * 10 } else { 900 + second }, 60)(o);
    };
    let story = World::with(&near, 8, 16).run_with(30, long);
    assert!(story.starts_with("23s:18"), "a true step is followed three samples late: {story}");
}

/// A downstream that fails from 10 s to 40 s: tasks wait longer, and most of them fail.
fn storm(o: &mut Observation) {
    let second = o.at.as_nanos() / 1_000_000_000;
    let failing = second.clamp(10, 40) - 10;
    load(if second < 10 { 100 } else { 2000 }, 60)(o);
    o.pool.counters.completed = 100 * (second + 1);
    o.pool.counters.failed = 60 * failing;
}

#[test]
fn errors_veto_the_growth_that_feeds_a_retry_storm() {
    let grown = |config: &PolicyConfig, secs: u64| {
        let mut world = World::with(config, 8, 16);
        world.run_with(secs, storm);
        world.size
    };
    assert_eq!(grown(&example(), 41), 38, "two more every three seconds, into the failing side");
    let guards = GuardsConfig { error_veto: Some(ErrorVeto::default()), ..example().guards };
    let guarded = PolicyConfig { guards, ..example() };
    assert_eq!(grown(&guarded, 41), 18, "once, before the first failure was counted");
    assert_eq!(grown(&guarded, 48), 24, "and again when tasks succeed");
}

#[test]
fn an_open_breaker_stops_growth() {
    let open = |o: &mut Observation| {
        load(900, 100)(o);
        o.breaker = Some(Breaker::Open);
    };
    let mut world = under_example(16);
    assert_eq!(world.run_with(30, open), "");
    assert_eq!(world.run_with(1, load(900, 100)), "30s:18");
}

#[test]
fn a_pool_that_drains_is_not_shrunk() {
    let draining = |o: &mut Observation| {
        load(0, 0)(o);
        o.pool.draining = true;
    };
    let mut world = under_example(16);
    assert_eq!(world.run_with(600, draining), "");
    assert_eq!(world.run_with(1, load(0, 0)), "600s:12");
}

#[test]
fn a_pool_below_its_floor_is_brought_there_before_anything_is_read() {
    let mut world = under_example(0);
    assert_eq!(world.run(1), "0s:4");
}

#[test]
fn a_clock_that_stands_still_or_steps_back_ends_no_cooldown() {
    let mut world = under_example(16);
    world.now = Timestamp::from_secs(100);
    assert_eq!(world.run_with(1, load(900, 50)), "100s:18");
    // A second goes by, none, then the clock has a new origin twice, then another second.
    for second in [101, 101, 90, 50, 51] {
        world.now = Timestamp::from_secs(second);
        world.step_with(load(900, 50));
        assert_eq!(world.size, 18, "at {second} s");
    }
    world.now = Timestamp::from_secs(52);
    world.step_with(load(900, 50));
    assert_eq!(world.size, 20);
}
