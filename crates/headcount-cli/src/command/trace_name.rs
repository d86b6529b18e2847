//! What the name of a file of arrivals tells: its step, and the jobs that belong to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use headcount_sim::load::trace_file::TraceFolder;

/// The step that the name of a file tells, if it does.
pub(super) fn step(file: &Path) -> Option<Duration> {
    let name = file.file_name()?.to_str()?;
    TraceFolder::of([name]).traces.first().map(|trace| trace.step)
}

/// The file of the same name that has the jobs, if there is one.
pub(super) fn jobs_beside(file: &Path) -> Option<PathBuf> {
    let name = file.file_name()?.to_str()?;
    // The folder of a bare name is "", which cannot be read.
    let folder = file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).ok()?.flatten();
    let names: Vec<String> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
    // Counts that are there both plain and packed are known by the plain one only.
    let plain = name.strip_suffix(".gz").unwrap_or(name);
    let traces = TraceFolder::of(names.iter().map(String::as_str)).traces;
    let trace = traces.into_iter().find(|one| one.arrivals == name || one.arrivals == plain)?;
    Some(file.with_file_name(trace.jobs?))
}
