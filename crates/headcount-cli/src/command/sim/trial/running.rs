//! Runs each policy on the same jobs in the same world.

use std::time::Duration;

use headcount_core::{Decision, Observation, Timestamp};
use headcount_sim::bound::{Bound, BoundConfig};
use headcount_sim::contest::NoBound;
use headcount_sim::load::Job;
use headcount_sim::report::Run;
use headcount_sim::run::{PoolSetup, Score, Simulation, Violation};

use super::arguments::Arguments;
use super::diary::Diary;
use super::downstream::knee_steps;
use super::policies::promise;
use super::world;

/// The bound is worked out in so many slots at most.
const SLOTS_MAX: u32 = 4_000;

/// What came of one policy.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) score: Score,
    /// What it did, over time.
    pub(super) run: Run,
    /// Decisions that were not written down any more.
    pub(super) decisions_left_out: usize,
}

/// Runs one policy to the end.
pub(super) fn trial(arguments: &Arguments, pool: &PoolSetup) -> Result<Trial, Violation> {
    let mut diary = Diary::of(span(&pool.jobs), arguments.nodes.count());
    let mut watch = |node: usize, observation: &Observation, decision: &Decision| {
        diary.note(node, observation, decision);
    };
    let simulation = Simulation::new(world::setup(arguments, pool)).watched(&mut watch);
    let score = simulation.run_as_one(&pool.name)?;
    let decisions_left_out = diary.left_out;
    Ok(Trial { score, run: diary.run(&pool.name, &pool.jobs), decisions_left_out })
}

/// From the beginning to the last arrival.
pub(super) fn span(jobs: &[Job]) -> Duration {
    jobs.last().map(|job| job.at.since(Timestamp::ORIGIN)).unwrap_or_default()
}

/// What it would have cost one who knew the future, or why that cannot be said.
pub(super) fn bound(arguments: &Arguments, pools: &[PoolSetup]) -> Result<f64, String> {
    let Some(first) = pools.first() else { return Err("nobody takes part".to_owned()) };
    if !arguments.sick.is_empty() {
        return Err(NoBound::SickMachine.to_string());
    }
    let config = BoundConfig {
        // Fine enough for the promise to mean something, and not finer.
        slot: first.mean_size().max(span(&first.jobs) / SLOTS_MAX).max(Duration::from_millis(1)),
        spawn_delay: arguments.spawn_delay,
        spawn_cost: arguments.spawn_cost,
        // Not those of the pools: what a job costs at best does not depend on who is compared.
        workers_min: arguments.min.unwrap_or(1).saturating_mul(arguments.nodes.count()),
        knee: knee_steps(arguments, span(&first.jobs)),
        ..BoundConfig::of(promise(arguments))
    };
    let bound = Bound::in_longer_slots(&first.jobs.iter().copied(), &config);
    bound.map(|bound| bound.j).map_err(|error| error.to_string())
}
