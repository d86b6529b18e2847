//! Opens files of load; what is wrong with one is told with its name.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use headcount_sim::load::trace_file::{self, Arrivals, TraceFileError};
use headcount_sim::load::{Buckets, Job};

use super::files::refused;
use crate::Stop;
use crate::command::duration::shown;
use crate::command::opened;

/// The longest that jobs may take on average.
const MEAN_MAX: Duration = Duration::from_secs(86_400);

/// Counts of arrivals; the step is that of the first two lines where it is not known.
pub(super) fn arrivals(file: &Path, step: Option<Duration>) -> Result<Buckets, Stop> {
    let read = |opened| match step {
        Some(step) => Arrivals::read_with_step(opened, step),
        None => Arrivals::read(opened),
    };
    let arrivals = read(open(file)?).map_err(|error| wrong(file, &error))?;
    match 0.0 < arrivals.total() {
        true => Ok(arrivals.into()),
        false => Err(refused(file, "nothing arrives in it; is it the right file?")),
    }
}

/// Jobs one by one.
pub(super) fn jobs(file: &Path) -> Result<Vec<Job>, Stop> {
    let jobs = trace_file::read_jobs(open(file)?).map_err(|error| wrong(file, &error))?;
    bearable(mean(&jobs)).map_err(|why| refused(file, &why))?;
    match jobs.iter().any(|job| !job.size.is_zero()) {
        true => Ok(jobs),
        false => Err(refused(file, "no job in it takes any time; is it the right file?")),
    }
}

fn mean(jobs: &[Job]) -> Duration {
    let all = jobs.iter().map(|job| job.size).fold(Duration::ZERO, Duration::saturating_add);
    all / u32::try_from(jobs.len()).unwrap_or(u32::MAX).max(1)
}

/// A run goes on until jobs have had their time, and looks at the pool all the while.
pub(super) fn bearable(mean: Duration) -> Result<(), String> {
    match mean <= MEAN_MAX {
        true => Ok(()),
        false => Err(format!(
            "jobs take {} on average, and up to a day is simulated; make them shorter, or leave \
             out the longest",
            shown(mean)
        )),
    }
}

fn open(file: &Path) -> Result<File, Stop> {
    opened::open(file).map_err(|error| refused(file, &format!("it cannot be opened: {error}")))
}

fn wrong(file: &Path, error: &TraceFileError) -> Stop {
    refused(file, &error.to_string())
}
