//! What one tick costs: signals read, a proposal, every guard's ruling, a decision.
//!
//! Beside it, in the same rounds, what a boxed closure costs to make and call: the smallest piece
//! of work that a pool does, as a measure of the machine.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use bench::{Row, measure_and_report, nanoseconds_each};
use headcount_core::decide::{
    Aimd, Combine, CompositeConfig, DeciderConfig, PartConfig, PidConfig, Rule, Target, Threshold,
};
use headcount_core::guard::{
    Cooldown, ErrorVeto, FlapDamper, HealthBrake, HoldPeak, MemoryLimit, StepLimit, WarmUp,
};
use headcount_core::health::Health;
use headcount_core::signal::{Smoothing, Source};
use headcount_core::{
    Autoscaler, GuardsConfig, MemoryUse, Name, Observation, Policy, PolicyConfig, PoolSnapshot,
    Preset, SignalConfig, Staffing, Statistics, Timestamp,
};

const ROUNDS: usize = 21;
const TICKS: u32 = 20_000;

fn main() -> ExitCode {
    measure_and_report(measure)
}

fn measure() -> Vec<Row> {
    let mut subjects = [
        ("3 signals, composite of 3, 8 guards", lean()),
        ("4 signals, composite of 4, all 12 guards", full()),
        ("preset slo", preset("slo")),
        ("preset thread_system", preset("thread_system")),
        ("preset gopipe", preset("gopipe")),
    ];
    let mut rounds = vec![Vec::new(); subjects.len() + 2];
    for _ in 0..ROUNDS {
        for (index, (_, autoscaler)) in subjects.iter_mut().enumerate() {
            rounds[index].push(ticks(autoscaler));
        }
        let explained = explain(&mut subjects[0].1);
        rounds[subjects.len()].push(explained);
        rounds[subjects.len() + 1].push(boxed_closure());
    }
    let mut rows = Vec::new();
    for (index, (name, autoscaler)) in subjects.iter_mut().enumerate() {
        rows.push(Row::alone(&format!("tick: {name}"), "ns", &rounds[index]));
        let allocations = allocations(autoscaler);
        rows.push(Row::alone(&format!("allocations in 1000 ticks: {name}"), "", &[allocations]));
    }
    rows.push(Row::alone("tick and explain in one line", "ns", &rounds[subjects.len()]));
    rows.push(Row::alone("boxed closure, made and called", "ns", &rounds[subjects.len() + 1]));
    let pairs = rounds[0].iter().zip(&rounds[subjects.len() + 1]);
    let ratios: Vec<f64> = pairs.map(|(tick, closure)| tick / closure).collect();
    rows.push(Row::alone("the first tick, as a multiple of a boxed closure", "x", &ratios));
    rows
}

fn preset(name: &str) -> Autoscaler {
    let preset = Preset::named(name).expect("a preset of that name");
    Policy::check(&preset.config(), 16).expect("presets are right").build()
}

fn composite() -> DeciderConfig {
    let name = |text| Name::new(text).expect("a name");
    let threshold = Threshold {
        grow_when_any: vec![Rule::above(name("wait_p99"), 0.5)],
        shrink_when_all: vec![],
        ..Threshold::default()
    };
    DeciderConfig::Composite(CompositeConfig {
        combine: Combine::Max,
        parts: vec![
            PartConfig::of(DeciderConfig::Threshold(threshold)),
            PartConfig::of(DeciderConfig::Aimd(Aimd::default())),
            PartConfig::of(DeciderConfig::Pid(PidConfig::default())),
        ],
    })
}

fn signals() -> Vec<SignalConfig> {
    let smoothed = |name: &str, source, smoothing| SignalConfig {
        name: Name::new(name).expect("a name"),
        source,
        smoothing,
    };
    let tau = Duration::from_secs(5);
    vec![
        smoothed("utilization", Source::Utilization, vec![Smoothing::Mean { samples: 5 }]),
        smoothed("wait_p99", Source::WaitP99, vec![Smoothing::Ewma { tau }]),
        smoothed("depth_per_worker", Source::DepthPerWorker, vec![]),
    ]
}

/// Three signals and eight guards: four that are set, four that are always there.
fn lean() -> Autoscaler {
    let seconds = Duration::from_secs;
    build(PolicyConfig {
        signals: Some(signals()),
        decider: Some(composite()),
        guards: GuardsConfig {
            step: Some(StepLimit { grow_max: Some(4), ..StepLimit::default() }),
            cooldown: Some(Cooldown::new(seconds(3), seconds(60))),
            hold_peak: Some(HoldPeak::default()),
            flap_damper: Some(FlapDamper::default()),
            ..GuardsConfig::default()
        },
        ..PolicyConfig::default()
    })
}

fn full() -> Autoscaler {
    let seconds = Duration::from_secs;
    let mut parts = composite();
    if let DeciderConfig::Composite(composite) = &mut parts {
        composite.parts.push(PartConfig::of(DeciderConfig::Target(Target::default())));
    }
    build(PolicyConfig {
        signals: Some(signals()),
        decider: Some(parts),
        guards: GuardsConfig {
            step: Some(StepLimit { grow_max: Some(4), ..StepLimit::default() }),
            cooldown: Some(Cooldown::new(seconds(3), seconds(60))),
            hold_peak: Some(HoldPeak::default()),
            warm_up: Some(WarmUp::default()),
            error_veto: Some(ErrorVeto::default()),
            flap_damper: Some(FlapDamper::default()),
            health: Some(HealthBrake::default()),
            memory: Some(MemoryLimit::default()),
        },
        ..PolicyConfig::default()
    })
}

fn build(config: PolicyConfig) -> Autoscaler {
    let config = PolicyConfig { workers_max: Some(64), ..config };
    Policy::check(&config, 16).expect("the policy is right").build()
}

/// A pool whose load swings, so that the decisions differ from tick to tick.
struct Load {
    tick: u64,
    observation: Observation,
}

impl Load {
    fn new() -> Self {
        let mut observation =
            Observation::new(Timestamp::ORIGIN, PoolSnapshot::of(Staffing::exactly(16)));
        observation.allowance = Some(40);
        observation.memory = Some(MemoryUse { used_bytes: 1 << 30, limit_bytes: 8 << 30 });
        observation.pool.wait = Statistics::of(&[Duration::from_millis(3); 4]);
        observation.pool.service = Statistics::of(&[Duration::from_millis(20); 4]);
        Self { tick: 0, observation }
    }

    fn next(&mut self) -> &Observation {
        self.tick += 1;
        let o = &mut self.observation;
        o.at = Timestamp::from_millis(self.tick * 200);
        o.health = Some(Health { measured_at: o.at, score: 90.0, worst: None });
        o.pool.busy = 8 + (self.tick % 9) as u32;
        o.pool.queued = self.tick % 50;
        o.pool.counters.submitted += 40;
        o.pool.counters.completed += 40;
        &self.observation
    }
}

fn ticks(autoscaler: &mut Autoscaler) -> f64 {
    let mut load = Load::new();
    nanoseconds_each(TICKS, || {
        let decision = autoscaler.tick(load.next());
        if decision.resize().is_some() {
            autoscaler.applied(&decision);
        }
        black_box(&decision);
    })
}

fn explain(autoscaler: &mut Autoscaler) -> f64 {
    let mut load = Load::new();
    nanoseconds_each(TICKS / 10, || {
        black_box(autoscaler.tick(load.next()).explain().to_string());
    })
}

fn boxed_closure() -> f64 {
    let mut sum = 0_u64;
    nanoseconds_each(TICKS, || {
        let captured = black_box(sum);
        let task: Box<dyn FnOnce() -> u64> = Box::new(move || captured + 1);
        sum = black_box(task)();
    })
}

fn allocations(autoscaler: &mut Autoscaler) -> f64 {
    let mut load = Load::new();
    let counted = allocation_counter::measure(|| {
        for _ in 0..1000 {
            black_box(autoscaler.tick(load.next()));
        }
    });
    counted.count_total as f64
}
