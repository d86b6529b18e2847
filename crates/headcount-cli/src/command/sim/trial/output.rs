//! From flags to a table, decisions and pictures.

use std::io::{self, Write};
use std::time::Duration;

use headcount_sim::Promise;
use headcount_sim::load::Job;
use headcount_sim::report::Table;

use super::arguments::Arguments;
use super::policies::{pools, promise};
use super::running::{Trial, bound, span, trial};
use super::table::table;
use super::{json, load, pictures, repeat, world};
use crate::Stop;
use crate::command::duration::shown;
use crate::command::sim::columns::lines;
use crate::command::sim::files::can_be_written;

pub(in crate::command::sim) fn run(
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<(), Stop> {
    let jobs = load::jobs(arguments)?;
    let pools = pools(arguments, &jobs)?;
    world::check(arguments, &pools)?;
    for file in [&arguments.svg, &arguments.html].into_iter().flatten() {
        can_be_written(file)?;
    }
    let bound = bound(arguments, &pools);
    let trials = pools.iter().map(|pool| trial(arguments, pool));
    let trials = trials
        .collect::<Result<Vec<Trial>, _>>()
        .map_err(|violation| Stop::Refused(repeat::broken(&violation, std::env::args_os())))?;

    let head = format!("{}; {}", about(arguments, &jobs), about_bound(&bound));
    let known = bound.ok();
    let table = table(&trials, known);
    pictures::write(arguments, &trials, &table, &head)?;
    if arguments.json {
        return Ok(write!(out, "{}", json::json(&trials, known, arguments.seed))?);
    }
    print(&head, &table, out)?;
    if arguments.explain {
        explain(&trials, out)?;
    }
    Ok(())
}

fn about_bound(bound: &Result<f64, String>) -> String {
    match bound {
        Ok(bound) => format!("the bound J* is {bound:.3}"),
        Err(why) => format!("there is no bound: {why}"),
    }
}

/// The load and the promise in a line.
fn about(arguments: &Arguments, jobs: &[Job]) -> String {
    let span = span(jobs);
    let work: f64 = jobs.iter().map(|job| job.size.as_secs_f64()).sum();
    let load = work / span.as_secs_f64().max(1e-9);
    let promised = match promise(arguments) {
        Promise::Wait(wait) => format!("to wait {wait:?} at most"),
        Promise::Latency(latency) => format!("to be done in {latency:?}"),
    };
    let nodes = match arguments.nodes.count() {
        1 => String::new(),
        nodes => format!(" on {nodes} nodes"),
    };
    let counted = match jobs.len() {
        1 => "1 job".to_owned(),
        many => format!("{many} jobs"),
    };
    format!(
        "{counted} in {}, work for {load:.1} workers{nodes}, promised {promised}; seed {}",
        // The last one comes a little before the end.
        shown(span + Duration::from_millis(500)),
        arguments.seed
    )
}

fn print(head: &str, table: &Table, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{head}\n")?;
    let rows = [vec![table.columns.clone()], table.rows.clone()].concat();
    for line in lines(&rows) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Every resize, and why.
fn explain(trials: &[Trial], out: &mut impl Write) -> io::Result<()> {
    for trial in trials {
        let count = trial.run.decisions.len() + trial.decisions_left_out;
        let counted = if count == 1 { "decision" } else { "decisions" };
        writeln!(out, "\n{}: {count} {counted}", trial.score.name)?;
        for decision in &trial.run.decisions {
            writeln!(out, "{:>12}  {}", decision.at.to_string(), decision.text)?;
        }
        if 0 < trial.decisions_left_out {
            writeln!(out, "and {} more", trial.decisions_left_out)?;
        }
    }
    Ok(())
}
