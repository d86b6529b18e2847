//! `slo` in front of a downstream that slows down when too many call it at once.
//!
//! The pool is the inner loop in its simplest form: it hires whenever anything waits, up to the
//! ceiling. Past the knee more workers make every task slower, so that a pool that only looks at
//! what waits runs to its maximum, stays there, and never catches up again.

use std::time::Duration;

use headcount_core::{
    Decision, LogSums, Observation, Policy, PolicyConfig, PoolSnapshot, Preset, Reason, Staffing,
    Statistics, Timestamp,
};

const TICK: f64 = 0.2;
const SERVICE: f64 = 0.1;
const MAX: u32 = 300;

/// A downstream that serves `knee` calls at full speed, and each further one at the cost of all.
struct Downstream {
    knee: f64,
}

impl Downstream {
    fn service(&self, busy: f64) -> f64 {
        match busy <= self.knee {
            true => SERVICE,
            false => SERVICE * busy / self.knee * (1.0 + 0.02 * (busy - self.knee)),
        }
    }
}

/// A pool that hires whenever anything waits.
struct Pool {
    waiting: f64,
    done: f64,
    fraction: f64,
    snapshot: PoolSnapshot,
    dice: u64,
}

impl Pool {
    fn new() -> Self {
        let snapshot = PoolSnapshot {
            service_logs: Some(LogSums::default()),
            ..PoolSnapshot::of(Staffing::between(1, MAX))
        };
        Self { waiting: 0.0, done: 0.0, fraction: 0.0, snapshot, dice: 0x9E37_79B9_7F4A_7C15 }
    }

    /// Lognormal with a squared coefficient of variation near 1.
    fn spread(&mut self) -> f64 {
        let sum: f64 = (0..12)
            .map(|_| {
                self.dice ^= self.dice << 13;
                self.dice ^= self.dice >> 7;
                self.dice ^= self.dice << 17;
                (self.dice >> 11) as f64 / (1_u64 << 53) as f64
            })
            .sum();
        ((sum - 6.0) * 0.83 - 0.35).exp()
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn run(&mut self, load: f64, downstream: &Downstream) {
        let arrived = load / SERVICE * TICK;
        self.waiting += arrived;
        let ceiling = f64::from(self.snapshot.ceiling);
        let busy = (self.waiting / TICK * SERVICE).min(ceiling);
        let service = downstream.service(busy);
        let done = (busy / service * TICK).min(self.waiting);
        self.waiting -= done;
        self.done += done;
        self.fraction += done;
        let whole = self.fraction.floor();
        self.fraction -= whole;

        let mut logs = self.snapshot.service_logs.unwrap_or_default();
        for _ in 0..whole as u64 {
            logs.add(Duration::from_secs_f64(service * self.spread()));
        }
        let pool = &mut self.snapshot;
        pool.service_logs = Some(logs);
        pool.counters.completed += whole as u64;
        pool.counters.submitted += arrived as u64;
        pool.service = Statistics::of(&[Duration::from_secs_f64(service)]);
        pool.busy = busy.round() as u32;
        pool.live = pool.busy.max(pool.floor);
        pool.queued = self.waiting as u64;
    }
}

struct Run {
    decisions: Vec<Decision>,
    waiting: Vec<f64>,
}

/// Runs through the loads, a minute each, under `slo` or under a fixed ceiling.
fn run(loads: &[f64], knee: f64, governed: bool) -> Run {
    let preset = Preset::slo(Duration::from_millis(100));
    let config = PolicyConfig { workers_max: Some(MAX), ..PolicyConfig::default() };
    let policy = Policy::check(&config.or(preset.config()), 8).expect("the policy is right");
    let mut autoscaler = policy.build();
    let (mut pool, downstream) = (Pool::new(), Downstream { knee });
    let mut run = Run { decisions: Vec::new(), waiting: Vec::new() };
    let minute = (60.0 / TICK) as u64;
    for tick in 0..minute * loads.len() as u64 {
        pool.run(loads[(tick / minute) as usize], &downstream);
        let now = Timestamp::from_millis(tick * 200);
        let decision = autoscaler.tick(&Observation::new(now, pool.snapshot));
        if let Some(staffing) = decision.resize().filter(|_| governed) {
            (pool.snapshot.floor, pool.snapshot.ceiling) = (staffing.floor, staffing.ceiling);
            autoscaler.applied(&decision);
        }
        run.decisions.push(decision);
        run.waiting.push(pool.waiting);
    }
    run
}

#[test]
fn without_a_limit_the_overload_never_ends() {
    let run = run(&[20.0, 50.0, 20.0, 20.0], 40.0, false);
    let last = run.waiting.last().copied().unwrap_or_default();
    assert!(1000.0 < last, "{last} tasks wait long after the peak");
}

#[test]
fn slo_finds_the_knee_and_recovers() {
    let run = run(&[20.0, 20.0, 50.0, 20.0, 20.0, 20.0], 40.0, true);
    let last = run.waiting.last().copied().unwrap_or(f64::MAX);
    assert!(last < 10.0, "{last} tasks wait at the end");
    let bound: Vec<u32> = run
        .decisions
        .iter()
        .filter(|decision| decision.reason() == Reason::Knee)
        .map(|decision| decision.to.ceiling)
        .collect();
    assert!(!bound.is_empty(), "the knee was seen");
    let mean = bound.iter().sum::<u32>() / bound.len() as u32;
    assert!((20..=60).contains(&mean), "the ceiling was {mean} on average, the knee is at 40");
}

#[test]
fn slo_leaves_a_pool_without_a_knee_alone() {
    let run = run(&[20.0, 50.0, 20.0, 100.0, 20.0], 1e9, true);
    assert!(run.decisions.iter().all(|decision| decision.reason() == Reason::WaitBudget));
    let last = run.waiting.last().copied().unwrap_or(f64::MAX);
    assert!(last < 100.0, "{last} tasks wait at the end");
}

#[test]
fn every_estimate_is_in_the_decision() {
    let run = run(&[20.0, 20.0, 50.0], 40.0, true);
    let decision = run.decisions.last().expect("there were decisions");
    let names: Vec<_> = decision.proposal.estimates.iter().map(|e| e.name.to_string()).collect();
    let all = "wait_budget trust knee_phase knee service_at_rest inflation z_score busy_mean \
               throughput";
    assert_eq!(names.join(" "), all);
}
