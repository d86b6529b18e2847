//! The list of what is measured, and the run through it.

use super::contest::Subject;
use super::latency::{StartLatency, SubmitLatency};
use super::memory::Memory;
use super::resize;
use super::standing::{Allocations, Idle};
use super::throughput::{Blocking, Mixed, Results, Spin, Tiny, tiny_futures};
use crate::{Asked, Row};

use super::ours;

const ROUNDS: usize = 7;

/// For what takes seconds, as a resize does that waits for a keep-alive.
const ROUNDS_DEAR: usize = 3;

/// For idling, which takes two seconds for each pool.
const ROUNDS_IDLE: usize = 2;

fn subjects() -> Vec<Subject> {
    vec![
        Subject::of(|| Tiny { workers: 2, producers: 1, tasks: 200_000 }),
        Subject::of(|| Tiny { workers: 2, producers: 4, tasks: 200_000 }),
        Subject::of(|| Tiny { workers: 2, producers: 8, tasks: 200_000 }),
        Subject::of(|| Tiny { workers: 64, producers: 1, tasks: 100_000 }),
        Subject::of(|| Tiny { workers: 64, producers: 4, tasks: 100_000 }),
        Subject::of(|| Spin { workers: 2, microseconds: 1, tasks: 60_000 }),
        Subject::of(|| Spin { workers: 2, microseconds: 10, tasks: 6_000 }),
        Subject::of(|| Mixed { workers: 2, one_in: 500, microseconds: 400, tasks: 200_000 }),
        Subject::of(|| Results { workers: 2, batch: 256, batches: 200 }),
        Subject::of(|| Blocking { workers: 1_000, tasks: 10_000, milliseconds: 10 }),
        Subject::of(|| SubmitLatency { workers: 4, rate: 20_000, tasks: 4_000 }),
        Subject::of(|| StartLatency { workers: 4, idle_ms: 1, tasks: 200 }),
        resize::from_busy(1_000).at_most(ROUNDS_DEAR),
        resize::from_idle(1_000).at_most(ROUNDS_DEAR),
        Subject::of(|| Memory { workers: 1_000 }).at_most(ROUNDS_DEAR),
        Subject::of(|| Idle { workers: 100, seconds: 2 }).at_most(ROUNDS_IDLE),
        Subject::of(|| Allocations { workers: 2, tasks: 20_000 }).at_most(ROUNDS_DEAR),
        tiny_futures(2, 1, 200_000),
        tiny_futures(2, 4, 200_000),
        metrics(),
    ]
}

/// What it costs us to be watched. Nobody else can be, so the measure beside it is ours when
/// nobody looks.
fn metrics() -> Subject {
    let title = "cost of metrics: 2 workers, 1 producer, no-op, snapshot read every ms";
    let contestants = ours::watched_and_not(200_000);
    Subject::between(vec![(title.to_owned(), "ns")], contestants)
}

/// Measures what was asked for.
pub fn measure(asked: &Asked) -> Result<Vec<Row>, String> {
    let mut subjects = subjects();
    let names: Vec<String> = subjects.iter().flat_map(Subject::names).map(str::to_owned).collect();
    subjects.retain(|subject| subject.names().any(|name| asked.wants(name)));
    if subjects.is_empty() {
        let text = asked.only.as_deref().unwrap_or_default();
        return Err(format!("no row contains {text:?}; the rows are:\n{}", names.join("\n")));
    }
    let rounds = asked.rounds.unwrap_or(ROUNDS);
    for round in 0..=rounds {
        eprintln!("round {round} of {rounds}{}", if round == 0 { ", the warm-up" } else { "" });
        subjects.iter_mut().for_each(|subject| subject.run(round));
    }
    let rows = subjects.iter().flat_map(Subject::rows);
    Ok(rows.filter(|row| asked.wants(&row.row)).collect())
}
