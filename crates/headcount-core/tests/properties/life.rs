//! The life of a pool that does as decided, a while later.
//!
//! Bounds are taken over at once; workers come and go over the ticks that follow. Loads,
//! service times and the machine change by chance, clocks only run on or stand still.

use std::time::Duration;

use headcount_core::health::Health;
use headcount_core::{
    Autoscaler, Breaker, Calendar, Decision, LogSums, MemoryUse, Observation, Policy, PoolSnapshot,
    Staffing, Statistics, Timestamp,
};
use proptest::option::{of, weighted};
use proptest::prelude::*;

use crate::numbers::name;
use crate::ticks::{breaker, calendar};

/// What happens between one tick and the next.
#[derive(Clone, Debug)]
pub(crate) struct Chapter {
    pass_ms: u64,
    load: Load,
    health: Option<(f64, u64)>,
    limits: Limits,
    outside: (Option<f64>, Option<Calendar>),
}

/// What the tasks do.
#[derive(Clone, Copy, Debug)]
struct Load {
    arrived: u64,
    ended: u64,
    failed_share: f64,
    service_ms: u64,
    busy_share: f64,
    queued: u64,
    idle_secs: Option<u64>,
    spawn_delay_ms: Option<u64>,
}

/// What stands in the way.
#[derive(Clone, Copy, Debug)]
struct Limits {
    allowance: Option<u32>,
    memory: Option<MemoryUse>,
    breaker: Option<Breaker>,
    draining: bool,
    /// How many workers come or go until the next tick.
    pace: u32,
}

/// A life of up to `len` chapters.
pub(crate) fn chapters(len: usize) -> BoxedStrategy<Vec<Chapter>> {
    prop::collection::vec(chapter(), 1..len).boxed()
}

fn chapter() -> BoxedStrategy<Chapter> {
    let pass = prop_oneof![
        1 => Just(0),
        6 => 100_u64..5000,
        2 => prop::sample::select(vec![1000, 30_000, 60_000]),
        1 => 5000_u64..300_000,
    ];
    let score = prop_oneof![3 => 60.0..100.0, 1 => 0.0..100.0, 1 => 0.0..30.0];
    let health = weighted(0.8, (score, prop_oneof![9 => 0_u64..100, 1 => 100_u64..300]));
    let outside = (of(0.0..2000.0), of(calendar()));
    (pass, load(), health, limits(), outside)
        .prop_map(|(pass_ms, load, health, limits, outside)| Chapter {
            pass_ms,
            load,
            health,
            limits,
            outside,
        })
        .boxed()
}

fn load() -> BoxedStrategy<Load> {
    let tasks = (0_u64..600, 0_u64..600, prop_oneof![4 => Just(0.0), 1 => 0.0..1.0]);
    let service = prop_oneof![3 => Just(20_u64), 1 => Just(60), 1 => 1_u64..2000];
    let busy = prop_oneof![0.0..1.0, Just(1.0), Just(0.0)];
    let queued = prop_oneof![2 => Just(0), 1 => 0_u64..50, 1 => 0_u64..5000];
    let spans = (of(0_u64..200), of(0_u64..3000));
    (tasks, service, busy, queued, spans)
        .prop_map(|((arrived, ended, failed_share), service_ms, busy_share, queued, spans)| Load {
            arrived,
            ended,
            failed_share,
            service_ms,
            busy_share,
            queued,
            idle_secs: spans.0,
            spawn_delay_ms: spans.1,
        })
        .boxed()
}

fn limits() -> BoxedStrategy<Limits> {
    let memory = (0_u64..2000, prop_oneof![9 => 0_u64..9000, 1 => Just(0)])
        .prop_map(|(used_bytes, limit_bytes)| MemoryUse { used_bytes, limit_bytes });
    let allowance = weighted(0.2, prop_oneof![4 => 0_u32..30, 1 => Just(0)]);
    let shut = weighted(0.2, breaker());
    (allowance, weighted(0.8, memory), shut, prop::bool::weighted(0.1), 0_u32..6)
        .prop_map(|(allowance, memory, breaker, draining, pace)| Limits {
            allowance,
            memory,
            breaker,
            draining,
            pace,
        })
        .boxed()
}

/// A pool that an autoscaler looks after.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    pub(crate) autoscaler: Autoscaler,
    now: Timestamp,
    pool: PoolSnapshot,
}

impl Life {
    /// A pool that begins under `staffing`.
    pub(crate) fn of(policy: &Policy, staffing: Staffing) -> Self {
        let logs = Some(LogSums::default());
        let pool = PoolSnapshot { service_logs: logs, ..PoolSnapshot::of(staffing) };
        Self { autoscaler: policy.build(), now: Timestamp::from_secs(1000), pool }
    }

    /// The whole life: what was seen at each tick, and what was decided.
    pub(crate) fn story(mut self, chapters: &[Chapter]) -> Vec<(Observation, Decision)> {
        let tell = |chapter| {
            let observation = self.observe(chapter);
            let decision = self.decide(&observation);
            (observation, decision)
        };
        chapters.iter().map(tell).collect()
    }

    /// Decides, and does as decided.
    pub(crate) fn decide(&mut self, observation: &Observation) -> Decision {
        let decision = self.autoscaler.tick(observation);
        if let Some(staffing) = decision.resize() {
            (self.pool.floor, self.pool.ceiling) = (staffing.floor, staffing.ceiling);
            self.autoscaler.applied(&decision);
        }
        decision
    }

    /// Lives through `chapter`, and looks.
    pub(crate) fn observe(&mut self, chapter: &Chapter) -> Observation {
        self.now = self.now + Duration::from_millis(chapter.pass_ms);
        self.walk(chapter.limits.pace);
        self.work(&chapter.load);
        self.pool.draining = chapter.limits.draining;
        let mut observation = Observation::new(self.now, self.pool);
        observation.health = chapter.health.map(|(score, age)| Health {
            measured_at: self.now.before(Duration::from_secs(age)),
            score,
            worst: None,
        });
        observation.allowance = chapter.limits.allowance;
        observation.memory = chapter.limits.memory;
        observation.breaker = chapter.limits.breaker;
        observation.calendar = chapter.outside.1;
        if let Some(lag) = chapter.outside.0 {
            observation.externals.set(name("lag"), lag).expect("a finite number");
        }
        observation
    }

    /// The clock goes back by `span`, as after a restart of the machine.
    pub(crate) fn turn_back(&mut self, span: Duration) {
        self.now = self.now.before(span);
    }

    /// `pace` workers come or go, towards the bounds in force.
    fn walk(&mut self, pace: u32) {
        let (live, pool) = (self.pool.live, &mut self.pool);
        pool.live = match live {
            _ if live < pool.floor => live.saturating_add(pace).min(pool.floor),
            _ if pool.ceiling < live => live.saturating_sub(pace).max(pool.ceiling),
            _ => live,
        };
        pool.retiring = pool.live.saturating_sub(pool.ceiling);
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Shares of small numbers.
    fn work(&mut self, load: &Load) {
        let pool = &mut self.pool;
        pool.busy = (f64::from(pool.live) * load.busy_share).round() as u32;
        pool.parked = pool.live - pool.busy;
        pool.queued = load.queued;
        pool.oldest_wait = (0 < load.queued).then_some(Duration::from_millis(load.queued));
        pool.longest_idle = load.idle_secs.map(Duration::from_secs);
        pool.spawn_delay = load.spawn_delay_ms.map(Duration::from_millis);
        pool.blocked_share = Some(load.busy_share);
        pool.counters.submitted += load.arrived;
        pool.counters.started += load.ended;
        pool.counters.completed += load.ended;
        pool.counters.failed += (load.ended as f64 * load.failed_share) as u64;
        let service = Duration::from_millis(load.service_ms);
        let spans = [service / 2, service, service * 3 / 2];
        pool.service = Statistics::of(&spans);
        pool.wait = pool.oldest_wait.and_then(|wait| Statistics::of(&[wait / 2, wait]));
        if let Some(logs) = &mut pool.service_logs {
            (0..load.ended).zip(spans.into_iter().cycle()).for_each(|(_, span)| logs.add(span));
        }
    }
}
