//! Counts of arrivals from a file, and the sizes of their jobs from another beside it.

use std::fmt::Display;
use std::fs::File;
use std::path::Path;

use headcount_sim::load::trace_file::{Arrivals, read_jobs};
use headcount_sim::maths::Service;

use super::record::{Record, Times};
use crate::Stop;
use crate::command::opened;
use crate::command::trace_name::{jobs_beside, step};

/// The counts in `path`, and the times of the jobs in `jobs` or in the file beside it.
pub(super) fn read(path: &Path, jobs: Option<&Path>) -> Result<Record, Stop> {
    let opened = open(path)?;
    let arrivals = match step(path) {
        Some(step) => Arrivals::read_with_step(opened, step),
        None => Arrivals::read(opened),
    };
    let arrivals = arrivals.map_err(|error| refused(path, &error))?;
    let jobs = jobs.map(Path::to_owned).or_else(|| jobs_beside(path));
    let service = jobs.map(|file| service(&file)).transpose()?;
    let counts: Vec<u64> = arrivals.counts.iter().copied().map(whole).collect();
    let no_rate = nothing_comes(path, &counts);
    Ok(Record { step: arrivals.step.as_secs_f64(), counts, service, spawn: None, no_rate })
}

/// What to do with a file in which no job comes.
fn nothing_comes(path: &Path, counts: &[u64]) -> Option<String> {
    counts.iter().all(|count| *count == 0).then(|| {
        format!(
            "{}: no job comes in any of its {} buckets; give a file in which some do, or --rate \
             10/s in its place",
            path.display(),
            counts.len()
        )
    })
}

/// How long the jobs in `path` take.
pub(super) fn service(path: &Path) -> Result<Service, Stop> {
    let mut times = Times::default();
    for job in read_jobs(open(path)?).map_err(|error| refused(path, &error))? {
        times.add(job.size.as_secs_f64());
    }
    match times.service() {
        Some(service) => service.map_err(|bad| refused(path, &bad)),
        None => Err(refused(path, "it has no jobs; give a file that has, or --service")),
    }
}

/// Counts are whole, but where somebody has scaled them.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn whole(count: f64) -> u64 {
    count.round() as u64
}

fn open(path: &Path) -> Result<File, Stop> {
    opened::open(path).map_err(|error| refused(path, &error))
}

fn refused(path: &Path, why: &(impl Display + ?Sized)) -> Stop {
    Stop::Refused(format!("{}: {why}", path.display()))
}
