//! The cells as tables, one for each load in each regime.

use std::io::{self, Write};
use std::time::Duration;

use headcount_sim::contest::{Cell, Interval};

use super::standing::{best_of_families, by_fixture, in_order, no_bound, score};
use crate::command::sim::columns::{lines, span};

const COLUMNS: [&str; 9] =
    ["policy", "late %", "wait p50", "p99", "J", "J/J*", "spawns", "turns/h", "goodput"];

/// Which rows there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    /// Every tempo of every policy.
    All,
    /// Of each policy the best.
    Best,
}

pub(super) fn write(cells: &[Cell], rows: Rows, out: &mut impl Write) -> io::Result<()> {
    for cells in by_fixture(cells) {
        let first = &cells[0];
        let bound = match first.j_bound {
            Some(bound) => format!("the bound J* is {bound:.3}"),
            None => no_bound(first),
        };
        writeln!(out, "{}, {}: {bound}", first.regime, first.load)?;
        let cells: Vec<&Cell> = cells.iter().collect();
        let cells = match rows {
            Rows::All => in_order(cells, |cell| cell.policy.clone()),
            Rows::Best => best_of_families(&cells, |cell| cell.policy.clone(), score),
        };
        let head = COLUMNS.map(str::to_owned).to_vec();
        let rows: Vec<Vec<String>> =
            std::iter::once(head).chain(cells.into_iter().map(row)).collect();
        for line in lines(&rows) {
            writeln!(out, "  {line}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn row(cell: &Cell) -> Vec<String> {
    let seconds = |value| span(Duration::try_from_secs_f64(value).unwrap_or(Duration::MAX));
    vec![
        cell.policy.clone(),
        interval(cell.late_percent, 2),
        seconds(cell.wait_p50),
        seconds(cell.wait_p99),
        interval(cell.j, 3),
        cell.j_bound.map_or("-".to_owned(), |bound| format!("{:.3}", cell.j.mean / bound)),
        format!("{:.0}", cell.spawns),
        format!("{:.0}", cell.reversals_per_hour),
        format!("{:.4}", cell.goodput),
    ]
}

fn interval(interval: Interval, digits: usize) -> String {
    let Interval { mean, half } = interval;
    format!("{mean:.digits$} ±{half:.digits$}")
}
