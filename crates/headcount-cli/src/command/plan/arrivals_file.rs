//! Counts of arrivals from a file, and the sizes of their jobs from another beside it.

use std::fmt::Display;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use headcount_sim::load::trace_file::{Arrivals, TraceFolder, read_jobs};
use headcount_sim::maths::Service;

use super::record::{Record, Times};
use crate::Stop;

/// The counts in `path`, and the times of the jobs in `jobs` or in the file beside it.
pub(super) fn read(path: &Path, jobs: Option<&Path>) -> Result<Record, Stop> {
    let arrivals = Arrivals::read(open(path)?).map_err(|error| refused(path, &error))?;
    let jobs = jobs.map(Path::to_owned).or_else(|| beside(path));
    let service = jobs.map(|file| service(&file)).transpose()?;
    let counts = arrivals.counts.iter().copied().map(whole).collect();
    Ok(Record { step: arrivals.step.as_secs_f64(), counts, service, spawn: None })
}

/// The file of the same name that has the jobs, if there is one.
fn beside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    // The folder of a bare name is "", which cannot be read.
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).ok()?.flatten();
    let names: Vec<String> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
    // Counts that are there both plain and packed are known by the plain one only.
    let plain = name.strip_suffix(".gz").unwrap_or(name);
    let traces = TraceFolder::of(names.iter().map(String::as_str)).traces;
    let trace = traces.into_iter().find(|one| one.arrivals == name || one.arrivals == plain)?;
    Some(path.with_file_name(trace.jobs?))
}

fn service(path: &Path) -> Result<Service, Stop> {
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
    File::open(path).map_err(|error| refused(path, &error))
}

fn refused(path: &Path, why: &(impl Display + ?Sized)) -> Stop {
    Stop::Refused(format!("{}: {why}", path.display()))
}
