//! From flags to tables and files.

use std::io::{self, Write};

use headcount_sim::contest::Cell;

use super::arguments::Arguments;
use super::fixtures::{Fixture, fixtures};
use super::loads::{Offer, offered};
use super::passed_over::PassedOver;
use super::playing::play;
use super::progress::Progress;
use super::table::{self, Rows};
use super::{goals, means, pictures};
use crate::Stop;
use crate::command::cores;
use crate::command::printable;
use crate::command::sim::files::{can_be_written, put};

pub(in crate::command::sim) fn run(
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<(), Stop> {
    let offer = offered(arguments.traces.as_deref())?;
    let fixtures = fixtures(arguments, &offer)?;
    if let Some(file) = &arguments.json {
        can_be_written(file)?;
    }
    if let Some(file) = &arguments.scatter {
        let regimes = fixtures.iter().map(|fixture| fixture.regime.to_string());
        for file in pictures::files(file, regimes) {
            can_be_written(&file)?;
        }
    }
    remark(&offer);
    let cells = played(arguments, &fixtures);
    if let Some(file) = &arguments.json {
        put(file, &json(&cells))?;
    }
    if let Some(file) = &arguments.scatter {
        for (file, picture) in pictures::pictures(&cells, file) {
            put(&file, &picture)?;
        }
    }
    let rows = if arguments.all { Rows::All } else { Rows::Best };
    table::write(&cells, rows, out)?;
    goals::write(&cells, out)?;
    means::write(&cells, rows, out)?;
    all_played(arguments, &offer)
}

/// Says what of the folder is not played. The benchmark goes on where nobody reads that.
fn remark(offer: &Offer) {
    for PassedOver { file, why } in &offer.passed_over {
        let told = printable::word(&format!("headcount: {file}: it is passed over: {why}"));
        let _unheard = writeln!(io::stderr(), "{told}");
    }
    for skipped in &offer.skipped {
        let told = printable::word(&format!("headcount: {}; it is skipped", skipped.why));
        let _unheard = writeln!(io::stderr(), "{told}");
    }
}

/// Whoever asked for all loads and did not get them is told in the end, too. Where loads were
/// named, all of them were played.
fn all_played(arguments: &Arguments, offer: &Offer) -> Result<(), Stop> {
    let names: Vec<&str> = offer.skipped.iter().map(|skipped| skipped.load.as_str()).collect();
    let counted = match names.len() {
        _ if !arguments.load.is_empty() => return Ok(()),
        0 => return Ok(()),
        1 => "1 trace was".to_owned(),
        many => format!("{many} traces were"),
    };
    Err(Stop::Failed(format!("{counted} skipped: {}", names.join(", "))))
}

fn played(arguments: &Arguments, fixtures: &[Fixture]) -> Vec<Cell> {
    let seeds: Vec<u64> = (1..=arguments.seeds).collect();
    let threads = arguments.threads.map_or(cores(), u32::from);
    let threads = usize::try_from(threads).unwrap_or(1);
    let progress = Progress::of(fixtures.iter().map(|fixture| fixture.contenders.len()).sum());
    let cells = play(fixtures, &seeds, threads, &progress);
    progress.over();
    cells
}

fn json(cells: &[Cell]) -> String {
    let cells: Vec<String> = cells.iter().map(Cell::to_json).collect();
    format!("[\n{}\n]\n", cells.join(",\n"))
}
