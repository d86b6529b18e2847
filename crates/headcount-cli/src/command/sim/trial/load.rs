//! What comes when, and how big it is: from files, as described, or some of both.

use std::sync::Arc;
use std::time::Duration;

use headcount_core::Timestamp;
use headcount_sim::load::{Arrivals, Job, Load, Sizes};

use super::arguments::Arguments;
use crate::Stop;
use crate::command::sim::traces;
use crate::command::trace_name::{jobs_beside, step};

/// For how long jobs come where nobody says.
const SPAN: Duration = Duration::from_secs(600);
/// The longest run: a year.
const SPAN_MAX: Duration = Duration::from_secs(366 * 86_400);

/// The jobs, in order of time.
pub(super) fn jobs(arguments: &Arguments) -> Result<Arc<[Job]>, Stop> {
    if arguments.span.is_some_and(|span| SPAN_MAX < span) {
        return misused("--span is longer than a year; make it shorter".to_owned());
    }
    let jobs = match arrivals(arguments)? {
        None => as_listed(arguments)?,
        Some(arrivals) => drawn(arguments, arrivals)?,
    };
    let span = arguments.span.map_or_else(|| whole(&jobs), Ok)?;
    let jobs: Vec<Job> =
        jobs.into_iter().take_while(|job| job.at.since(Timestamp::ORIGIN) < span).collect();
    match jobs.is_empty() {
        true => misused("no job comes at all; make the rate or --span larger".to_owned()),
        false => Ok(jobs.into()),
    }
}

/// All of them, where that is not too long. Nothing is left out without a word.
fn whole(jobs: &[Job]) -> Result<Duration, Stop> {
    let last = jobs.last().map(|job| job.at.since(Timestamp::ORIGIN)).unwrap_or_default();
    match last < SPAN_MAX {
        true => Ok(SPAN_MAX),
        false => misused(format!(
            "jobs come for {}d, and a run is of 366d at most; give --span 366d for the first of \
             them",
            last.as_secs() / 86_400
        )),
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

fn drawn(arguments: &Arguments, arrivals: Arrivals) -> Result<Vec<Job>, Stop> {
    let beside = || arguments.trace.as_deref().and_then(jobs_beside);
    let listed =
        arguments.jobs.clone().or_else(|| beside().filter(|_| arguments.service.is_none()));
    let sizes = match (&listed, &arguments.service) {
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
    traces::bearable(sizes.mean()).map_err(Stop::Misused)?;
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
