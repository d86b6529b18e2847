//! The fixed number of workers that would have been best, had the load been known.

use std::sync::Arc;

use super::contender::Contender;
use super::entry::Entry;
use super::regime::Regime;
use crate::load::Job;
use crate::run::{Score, Setup, Simulation};

/// Sizes that are tried lie so far apart, as a factor.
const STEP: f64 = 1.12;

/// One simulation of a contender on drawn jobs.
pub(super) fn simulate(
    regime: Regime,
    entry: &Entry,
    contender: &Contender,
    jobs: &Arc<[Job]>,
    fixed: Option<u32>,
) -> Score {
    let mut pool = contender.pool(regime, entry, fixed);
    pool.jobs = Arc::clone(jobs);
    let mut setup = Setup::of(pool);
    if let Some(downstream) = regime.downstream(entry) {
        setup = setup.calling(downstream);
    }
    if let Some(host) = regime.host(entry) {
        setup = setup.on(host);
    }
    let scores = Simulation::new(setup).run().expect("only a checked run can fail");
    scores.into_iter().next().expect("there is one pool")
}

/// The best fixed number: little cost and little lateness, a percent of which counts as much as the
/// whole cost once more.
pub(super) fn best_size(
    regime: Regime,
    entry: &Entry,
    contender: &Contender,
    jobs: &Arc<[Job]>,
) -> u32 {
    let max = regime.workers_max(entry);
    let sizes = std::iter::successors(Some(1_u32), |size| {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
        let next = (f64::from(*size) * STEP).ceil() as u32;
        (*size < max).then(|| next.max(size + 1).min(max))
    });
    let mean_load = jobs.iter().map(|job| job.size.as_secs_f64()).sum::<f64>()
        / entry.load.span.as_secs_f64().max(1e-9);
    // Fewer than are busy on average never catch up; four times the peak is idle.
    let range = mean_load.floor()..=(4.0 * entry.peak).max(1.0);
    let worth_trying = sizes.filter(|size| range.contains(&f64::from(*size)));
    let judged = worth_trying.map(|size| {
        let score = simulate(regime, entry, contender, jobs, Some(size));
        (score.cost_per_work() * (1.0 + score.late_percent()), size)
    });
    judged.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(max, |(_, size)| size)
}
