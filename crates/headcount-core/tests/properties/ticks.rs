//! Observations as no pool should send them, in an order in which no clock should run.
//!
//! Every public field takes every value: counters fall, time stands still and steps back, shares
//! are not numbers, more workers are busy than live.

use std::time::Duration;

use headcount_core::health::{Health, Resource};
use headcount_core::{
    Autoscaler, Breaker, Calendar, Counters, Decision, Externals, LogSums, ManualTarget, MemoryUse,
    Mode, Observation, PoolSnapshot, Statistics, Timestamp, Weekday,
};
use proptest::option::of;
use proptest::prelude::*;

use crate::numbers::{many, moment, name, span, wild, workers};
use crate::policies::mode;

/// One tick: an order that came before it, what is seen, and whether the shell does as decided.
#[derive(Clone, Debug)]
pub(crate) struct Tick {
    pub(crate) order: Option<Order>,
    pub(crate) observation: Observation,
    pub(crate) applies: bool,
}

/// What somebody may tell an autoscaler between two ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    Mode(Mode),
    Manual(Option<ManualTarget>),
}

impl Tick {
    /// Lets `autoscaler` decide, and tells it what came of the decision.
    pub(crate) fn run(&self, autoscaler: &mut Autoscaler) -> Decision {
        self.obey(autoscaler);
        let decision = autoscaler.tick(&self.observation);
        if self.applies && decision.resize().is_some() {
            autoscaler.applied(&decision);
        }
        decision
    }

    /// Passes the order on.
    pub(crate) fn obey(&self, autoscaler: &mut Autoscaler) {
        match self.order {
            Some(Order::Mode(mode)) => autoscaler.set_mode(mode),
            Some(Order::Manual(target)) => autoscaler.set_manual(target),
            None => {}
        }
    }
}

/// A row of wild ticks. In half of them counters are what a pool's are: sums that only grow.
pub(crate) fn wild_ticks() -> BoxedStrategy<Vec<Tick>> {
    let tick = (prop::option::weighted(0.1, order()), observation(), any::<bool>());
    let clocked = prop::collection::vec((tick, pass()), 1..16);
    (moment(), clocked, any::<bool>())
        .prop_map(|(mut now, ticks, sums_up)| {
            let mut sums = Sums::default();
            let tick = |((order, observation, applies), pass): (_, Pass)| {
                now = pass.after(now);
                let mut observation = Observation { at: now, ..observation };
                if sums_up {
                    sums.add(&mut observation.pool);
                }
                Tick { order, observation, applies }
            };
            ticks.into_iter().map(tick).collect()
        })
        .boxed()
}

/// What was counted so far.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    counters: Counters,
    logs: LogSums,
}

impl Sums {
    /// Takes what `pool` counts as counted since the tick before, and puts the sums there.
    fn add(&mut self, pool: &mut PoolSnapshot) {
        let more = pool.counters;
        let sums = &mut self.counters;
        sums.submitted = sums.submitted.saturating_add(more.submitted);
        sums.completed = sums.completed.saturating_add(more.completed);
        sums.failed = sums.failed.saturating_add(more.failed);
        pool.counters = Counters { started: sums.completed, ..*sums };
        let Some(logs) = &mut pool.service_logs else { return };
        self.logs.count = self.logs.count.saturating_add(logs.count);
        let sum = |sum: f64, more: f64| Some(sum + more).filter(|sum| sum.is_finite());
        self.logs.sum = sum(self.logs.sum, logs.sum).unwrap_or(self.logs.sum);
        let squares = sum(self.logs.sum_of_squares, logs.sum_of_squares);
        self.logs.sum_of_squares = squares.unwrap_or(self.logs.sum_of_squares);
        *logs = self.logs;
    }
}

/// How the clock goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pass {
    Still,
    On(Duration),
    Back(Duration),
    To(Timestamp),
}

impl Pass {
    /// The time after `now`.
    pub(crate) fn after(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Still => now,
            Self::On(span) => now + span,
            Self::Back(span) => now.before(span),
            Self::To(moment) => moment,
        }
    }
}

fn pass() -> BoxedStrategy<Pass> {
    prop_oneof![
        1 => Just(Pass::Still),
        8 => (0_u64..20_000).prop_map(|millis| Pass::On(Duration::from_millis(millis))),
        1 => span().prop_map(Pass::Back),
        1 => moment().prop_map(Pass::To),
    ]
    .boxed()
}

fn order() -> BoxedStrategy<Order> {
    let target = (workers(), of(moment()));
    let target = target.prop_map(|(workers, until)| ManualTarget { workers, until });
    prop_oneof![mode().prop_map(Order::Mode), of(target).prop_map(Order::Manual)].boxed()
}

fn observation() -> BoxedStrategy<Observation> {
    let limits = (of(workers()), of(memory()), of(breaker()));
    let outside = (of(calendar()), externals());
    (pool(), of(health()), limits, outside)
        .prop_map(|(pool, health, (allowance, memory, breaker), (calendar, externals))| {
            Observation {
                at: Timestamp::ORIGIN,
                pool,
                health,
                allowance,
                memory,
                breaker,
                calendar,
                externals,
            }
        })
        .boxed()
}

fn pool() -> BoxedStrategy<PoolSnapshot> {
    let bounds = (workers(), workers(), any::<bool>());
    let crew = (workers(), workers(), workers(), workers(), workers());
    let queue = (many(), of(many()), of(span()), of(span()));
    let tasks = (counters(), of(statistics()), of(statistics()), of(log_sums()));
    let rest = (of(wild()), of(span()));
    (bounds, crew, queue, tasks, rest)
        .prop_map(|(bounds, crew, queue, tasks, rest)| {
            let (live, busy, parked, starting, retiring) = crew;
            let (queued, queue_len_max, oldest_wait, longest_idle) = queue;
            let (counters, wait, service, service_logs) = tasks;
            let (floor, ceiling, draining) = bounds;
            let (blocked_share, spawn_delay) = rest;
            PoolSnapshot {
                floor,
                ceiling,
                live,
                busy,
                parked,
                starting,
                retiring,
                queued,
                queue_len_max,
                oldest_wait,
                longest_idle,
                counters,
                wait,
                service,
                service_logs,
                blocked_share,
                spawn_delay,
                draining,
            }
        })
        .boxed()
}

fn counters() -> BoxedStrategy<Counters> {
    ([many(), many(), many(), many(), many()], [many(), many(), many(), many(), many()])
        .prop_map(|(begun, unrun)| {
            let [submitted, started, completed, failed, panicked] = begun;
            let [rejected, expired, cancelled, dropped, returned] = unrun;
            Counters {
                submitted,
                started,
                completed,
                failed,
                panicked,
                rejected,
                expired,
                cancelled,
                dropped,
                returned,
            }
        })
        .boxed()
}

fn statistics() -> BoxedStrategy<Statistics> {
    (many(), span(), wild(), span(), span(), span())
        .prop_map(|(count, mean, scv, p50, p95, p99)| Statistics {
            count,
            mean,
            scv,
            p50,
            p95,
            p99,
        })
        .boxed()
}

fn log_sums() -> BoxedStrategy<LogSums> {
    (many(), wild(), wild())
        .prop_map(|(count, sum, sum_of_squares)| LogSums { count, sum, sum_of_squares })
        .boxed()
}

fn memory() -> BoxedStrategy<MemoryUse> {
    (many(), many())
        .prop_map(|(used_bytes, limit_bytes)| MemoryUse { used_bytes, limit_bytes })
        .boxed()
}

fn health() -> BoxedStrategy<Health> {
    let score = prop_oneof![3 => 0.0..100.0, 1 => wild()];
    let worst = prop::sample::select(vec![None, Some(Resource::Cpu), Some(Resource::Memory)]);
    (moment(), score, worst)
        .prop_map(|(measured_at, score, worst)| Health { measured_at, score, worst })
        .boxed()
}

/// Any state of a breaker.
pub(crate) fn breaker() -> BoxedStrategy<Breaker> {
    prop::sample::select(vec![Breaker::Closed, Breaker::HalfOpen, Breaker::Open]).boxed()
}

/// Any second of the week.
pub(crate) fn calendar() -> BoxedStrategy<Calendar> {
    let day = prop::sample::select(Weekday::ALL.to_vec());
    (day, 0..Calendar::DAY)
        .prop_map(|(day, second)| Calendar::at_second(day, second).expect("a second of the day"))
        .boxed()
}

/// Numbers from outside; what the door refuses is missing.
fn externals() -> BoxedStrategy<Externals> {
    (of(wild()), of(wild()))
        .prop_map(|(lag, price)| {
            let mut externals = Externals::default();
            for (text, value) in [("lag", lag), ("price", price)] {
                let taken = value.map(|value| externals.set(name(text), value).is_ok());
                assert_eq!(taken, value.map(f64::is_finite), "finite numbers only");
            }
            externals
        })
        .boxed()
}
