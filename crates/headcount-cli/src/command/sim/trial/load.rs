//! What comes when, and how big it is: from files, as described, or some of both.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use headcount_core::Timestamp;
use headcount_sim::load::trace_file::TraceFolder;
use headcount_sim::load::{Arrivals, Job, Load, Sizes};

use super::arguments::Arguments;
use crate::Stop;
use crate::command::sim::traces;

/// For how long jobs come where nobody says.
const SPAN: Duration = Duration::from_secs(600);
/// The longest run: a year.
const SPAN_MAX: Duration = Duration::from_secs(366 * 86_400);

/// The jobs, in order of time.
pub(super) fn jobs(arguments: &Arguments) -> Result<Arc<[Job]>, Stop> {
    let jobs = match arrivals(arguments)? {
        None => as_listed(arguments)?,
        Some(arrivals) => drawn(arguments, arrivals)?,
    };
    let span = arguments.span.unwrap_or(SPAN_MAX);
    let jobs: Vec<Job> =
        jobs.into_iter().take_while(|job| job.at.since(Timestamp::ORIGIN) < span).collect();
    match jobs.is_empty() {
        true => misused("no job comes at all; make the rate or --span larger".to_owned()),
        false => Ok(jobs.into()),
    }
}

/// How they come. `None`: as in the file of jobs.
fn arrivals(arguments: &Arguments) -> Result<Option<Arrivals>, Stop> {
    match (&arguments.trace, &arguments.arrivals, &arguments.jobs) {
        (Some(file), ..) => {
            let buckets = traces::arrivals(file, step(file))?;
            Ok(Some(Arrivals::Traced(buckets)))
        }
        (None, Some(described), _) => Ok(Some(described.clone())),
        (None, None, Some(_)) => Ok(None),
        (None, None, None) => misused(
            "there is no load; give --arrivals, as in --arrivals poisson:50/s --service exp:100ms, \
             or --trace FILE, or --jobs FILE"
                .to_owned(),
        ),
    }
}

/// The step that the name of a file tells, if it does.
fn step(file: &Path) -> Option<Duration> {
    let name = file.file_name()?.to_str()?;
    TraceFolder::of([name]).traces.first().map(|trace| trace.step)
}

fn drawn(arguments: &Arguments, arrivals: Arrivals) -> Result<Vec<Job>, Stop> {
    let sizes = match (&arguments.jobs, &arguments.service) {
        (Some(file), _) => Sizes::Listed(traces::jobs(file)?.iter().map(|job| job.size).collect()),
        (None, Some(described)) => described.clone(),
        (None, None) => {
            return misused(
                "nobody says how long jobs take; give --service, as in --service exp:100ms, or \
                 --jobs FILE"
                    .to_owned(),
            );
        }
    };
    let span = arguments.span.unwrap_or(SPAN);
    if SPAN_MAX < span {
        return misused("--span is longer than a year; make it shorter".to_owned());
    }
    let load = Load { arrivals, sizes, span };
    load.jobs(arguments.seed).map_err(|error| Stop::Misused(error.to_string()))
}

/// Just as in the file, from its first job on.
fn as_listed(arguments: &Arguments) -> Result<Vec<Job>, Stop> {
    let Some(file) = &arguments.jobs else { return Ok(Vec::new()) };
    let jobs = traces::jobs(file)?;
    let first = jobs.first().map(|job| job.at).unwrap_or_default();
    let from_first = jobs.into_iter().map(|job| Job {
        at: Timestamp::ORIGIN + job.at.since(first),
        // A job of no work at all would end before it began.
        size: job.size.max(Duration::from_nanos(1)),
        ..job
    });
    Ok(from_first.collect())
}

fn misused<T>(sentence: String) -> Result<T, Stop> {
    Err(Stop::Misused(sentence))
}
