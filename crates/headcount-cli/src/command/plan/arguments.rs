//! The flags of `headcount plan`.

use std::path::PathBuf;
use std::time::Duration;

use headcount_sim::plan::Stage;

use super::{number, stage};
use crate::command::duration;

/// What the command takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "For example: headcount plan --rate 1000/s --service 60ms --scv 0.43 \
    --wait 50ms --late 1%\ndocs/plan.md has every flag and every formula.")]
pub(crate) struct Arguments {
    /// How many jobs come when it is busiest: 1000/s, 90/m, 2e6/d.
    #[arg(long, value_parser = number::rate, value_name = "RATE", help_heading = "What comes")]
    #[arg(conflicts_with = "trace", allow_hyphen_values = true)]
    pub(super) rate: Option<f64>,
    /// How bursty they come: 1 is chance, 0 a metronome.
    #[arg(long, default_value = "1", value_parser = number::plain, value_name = "N")]
    #[arg(help_heading = "What comes")]
    pub(super) arrivals_scv: f64,
    /// How many jobs come when it is quietest, for the floor.
    #[arg(long, value_parser = number::rate, value_name = "RATE", help_heading = "What comes")]
    #[arg(allow_hyphen_values = true)]
    pub(super) quiet_rate: Option<f64>,
    /// Counts of arrivals in place of a rate: a CSV, also gzipped, with `t_seconds,arrivals`.
    #[arg(long, value_name = "FILE", conflicts_with = "recorded", help_heading = "What comes")]
    pub(super) trace: Option<PathBuf>,
    /// The sizes of jobs, with --trace or --rate: a CSV with `t_seconds,service_seconds`. Without
    /// it, a file of the same name beside the counts.
    #[arg(long, value_name = "FILE", help_heading = "What comes")]
    #[arg(conflicts_with_all = ["recorded", "service", "scv", "service_p50", "service_p99"])]
    pub(super) jobs: Option<PathBuf>,
    /// A run that headcount recorded, as `headcount run --trace` does; with --rate it tells only
    /// how long jobs take and workers need to start.
    #[arg(long, value_name = "FILE", help_heading = "What comes")]
    pub(super) recorded: Option<PathBuf>,
    /// The pool of that run, where it has several.
    #[arg(long, value_name = "NAME", requires = "recorded", help_heading = "What comes")]
    #[arg(conflicts_with = "trace")]
    pub(super) pool: Option<String>,
    /// How long a burst must last to count as load: else the wait and the service together.
    #[arg(long, value_parser = duration::parse, value_name = "SPAN", help_heading = "What comes")]
    pub(super) window: Option<Duration>,

    /// How long a job takes, on average.
    #[arg(long, value_parser = duration::parse, value_name = "SPAN")]
    #[arg(conflicts_with = "service_p50", help_heading = "How long it takes")]
    pub(super) service: Option<Duration>,
    /// How much that varies: variance over the square of the mean. 1 is exponential.
    #[arg(long, default_value = "1", value_parser = number::plain, value_name = "N")]
    #[arg(help_heading = "How long it takes")]
    pub(super) scv: f64,
    /// How long half of the jobs take at most, in place of mean and variation.
    #[arg(long, value_parser = duration::parse, value_name = "SPAN", requires = "service_p99")]
    #[arg(help_heading = "How long it takes")]
    pub(super) service_p50: Option<Duration>,
    /// How long 99 of 100 jobs take at most.
    #[arg(long, value_parser = duration::parse, value_name = "SPAN", requires = "service_p50")]
    #[arg(conflicts_with = "service", help_heading = "How long it takes")]
    pub(super) service_p99: Option<Duration>,
    /// One of several pools that a job passes, in order:
    /// name=thumb,service=20ms,scv=1,workers=8,calls=1.5; only name and service are needed.
    #[arg(long, value_parser = stage::parse, value_name = "PARTS")]
    #[arg(conflicts_with_all = ["service", "service_p50", "jobs", "workers", "spawn"])]
    #[arg(conflicts_with = "quiet_rate")]
    #[arg(help_heading = "How long it takes")]
    pub(super) stage: Vec<Stage>,

    /// No job shall wait longer than this before a worker begins.
    #[arg(long, value_parser = duration::parse, value_name = "SPAN")]
    #[arg(help_heading = "What must hold")]
    pub(super) wait: Option<Duration>,
    /// No job shall take longer than this in all, wait and service together.
    #[arg(long, value_parser = duration::parse, value_name = "SPAN", conflicts_with = "wait")]
    #[arg(help_heading = "What must hold")]
    pub(super) latency: Option<Duration>,
    /// The share of jobs that may be late all the same: 1%, 0.01.
    #[arg(long, default_value = "1%", value_parser = number::share, value_name = "SHARE")]
    #[arg(help_heading = "What must hold")]
    pub(super) late: f64,

    /// How many workers there are today: how do they stand?
    #[arg(long, value_name = "N", help_heading = "Workers")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(super) workers: Option<u32>,
    /// How long a worker takes to start: 1 ms, or what a recorded run says.
    #[arg(long, value_parser = duration::parse, value_name = "SPAN", help_heading = "Workers")]
    pub(super) spawn: Option<Duration>,
    /// What a worker takes of memory: 64MiB.
    #[arg(long, value_parser = number::bytes, value_name = "BYTES", help_heading = "Workers")]
    pub(super) bytes_per_worker: Option<u64>,

    /// Prints JSON.
    #[arg(long)]
    pub(super) json: bool,
}
