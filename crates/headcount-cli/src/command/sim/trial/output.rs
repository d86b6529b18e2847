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
use crate::command::sim::columns::{self, lines};
use crate::command::sim::files::can_be_written;

/// Sums of the same parts in another order differ by less than this share.
const ROUNDING: f64 = 1e-9;

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
    let notes = undone(&trials);
    if !notes.is_empty() {
        writeln!(out, "\n{}", notes.join("\n"))?;
    }
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
    let load = load_told(span, work);
    format!("{counted} in {load}{nodes}, promised {promised}; seed {}", arguments.seed)
}

/// Over which time they come, and how much work that is. Of what comes nearly at once nobody can
/// say how many workers it is for.
fn load_told(span: Duration, work: f64) -> String {
    if span.is_zero() {
        return format!("no time, {}", work_told(work));
    }
    // The last one comes a little before the end.
    let whole = span + Duration::from_millis(500);
    if whole < Duration::from_secs(1) {
        return format!("less than a second, {}", work_told(work));
    }
    let workers = work / span.as_secs_f64();
    format!("{}, work for {workers:.1} workers", shown(whole))
}

fn work_told(seconds: f64) -> String {
    format!("{} of work", columns::span(Duration::try_from_secs_f64(seconds).unwrap_or_default()))
}

/// What is left undone costs nothing: of those who left something it is said how much they did.
fn undone(trials: &[Trial]) -> Vec<String> {
    let undone = trials.iter().filter(|trial| trial.score.done() < 1.0 - ROUNDING);
    let told = undone.map(|trial| {
        // Never rounded up to all of it.
        let percent = (trial.score.done() * 1e4).floor() / 100.0;
        format!(
            "{} did {percent:.2} % of the work; what is left undone at the end, dropped or failed \
             costs nothing, and J is lower for it",
            trial.score.name
        )
    });
    told.collect()
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
