//! The trials as a picture over time, and as a page.

use headcount_sim::Promise;
use headcount_sim::report::{Report, Table, page, timeline};

use super::arguments::Arguments;
use super::policies::promise;
use super::running::Trial;
use crate::Stop;
use crate::command::sim::files::put;

/// Writes what was asked for.
pub(super) fn write(
    arguments: &Arguments,
    trials: &[Trial],
    summary: &Table,
    subtitle: &str,
) -> Result<(), Stop> {
    let names: Vec<&str> = trials.iter().map(|trial| trial.score.name.as_str()).collect();
    let report = Report {
        title: names.join(", "),
        subtitle: subtitle.to_owned(),
        wait_promised: match promise(arguments) {
            Promise::Wait(wait) => Some(wait),
            Promise::Latency(_) => None,
        },
        runs: trials.iter().map(|trial| trial.run.clone()).collect(),
        summary: summary.clone(),
    };
    if let Some(file) = &arguments.svg {
        put(file, &timeline(&report))?;
    }
    if let Some(file) = &arguments.html {
        put(file, &page(&report))?;
    }
    Ok(())
}
