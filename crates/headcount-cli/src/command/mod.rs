//! One file, or one folder, for each command.

pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod plan;
pub(crate) mod presets;
pub(crate) mod replay;
pub(crate) mod run;
pub(crate) mod sim;

pub(crate) mod enqueue;
pub(crate) mod jobs;
pub(crate) mod pools;
pub(crate) mod queues;
pub(crate) mod redis;
pub(crate) mod serve;
pub(crate) mod work;

mod crew;
mod reach;

mod duration;
mod opened;
pub(crate) mod printable;
mod table;
mod trace_name;
mod when;

use std::num::NonZeroUsize;
use std::path::Path;

use headcount::config::{JobsConfig, Reader, Registry};
use headcount_core::Preset;

use crate::Stop;

/// The preset called `name`, or a sentence that lists those there are.
fn preset(name: &str) -> Result<Preset, Stop> {
    Preset::named(name).ok_or_else(|| {
        let names: Vec<_> = Preset::all().iter().map(Preset::name).collect();
        Stop::Misused(format!("no preset is called {name:?}; there are {}", names.join(", ")))
    })
}

/// What a file says of jobs, with the environment laid over it.
fn jobs_config(file: &Path) -> Result<JobsConfig, Stop> {
    let reader = Reader::new(&Registry::new()).environment();
    let reading = reader.read(file).map_err(|report| Stop::Refused(report.to_string()))?;
    Ok(reading.config.jobs)
}

/// The cores of this machine, as far as this process may use them.
fn cores() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    u32::try_from(cores).unwrap_or(u32::MAX)
}
