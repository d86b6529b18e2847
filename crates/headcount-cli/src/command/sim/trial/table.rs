//! The trials as rows: for the screen and for the page.

use headcount_sim::report::Table;

use super::running::Trial;
use crate::command::sim::columns::span;

const COLUMNS: [&str; 11] = [
    "policy", "late %", "wait p50", "p99", "J", "J/J*", "worker-s", "spawns", "peak", "turns/h",
    "goodput",
];

pub(super) fn table(trials: &[Trial], bound: Option<f64>) -> Table {
    Table {
        columns: COLUMNS.map(str::to_owned).to_vec(),
        rows: trials.iter().map(|trial| row(trial, bound)).collect(),
    }
}

fn row(trial: &Trial, bound: Option<f64>) -> Vec<String> {
    let score = &trial.score;
    let j = score.cost_per_work();
    vec![
        score.name.clone(),
        format!("{:.2}", score.late_percent()),
        span(score.wait_p50),
        span(score.wait_p99),
        format!("{j:.3}"),
        bound.map_or("-".to_owned(), |bound| format!("{:.3}", j / bound)),
        format!("{:.0}", score.worker_seconds),
        score.spawns.to_string(),
        score.peak.to_string(),
        format!("{:.0}", score.reversals_per_hour()),
        format!("{:.4}", score.goodput()),
    ]
}
