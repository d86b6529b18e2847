//! The flags of `headcount sim`.

use std::path::PathBuf;
use std::time::Duration;

use headcount_sim::load::{Arrivals, Sizes};

use super::downstream::{Drift, Knee, KneeChange, Refused};
use super::machine::Sickness;
use super::nodes::Nodes;
use super::world::{self, NewestFirst};
use super::{arrivals, numbers, sizes};
use crate::command::duration;

/// What the command takes.
#[derive(Debug, clap::Args)]
#[group(skip)]
#[command(after_help = "docs/sim.md has every flag, with examples.")]
pub(in crate::command::sim) struct Arguments {
    /// A policy: a preset (slo), one at a tempo (hpa/15), fixed:8, or a pool of a file
    /// (pools.yaml:api); slo+health heeds the machine's health. May be repeated; slo by default.
    #[arg(long, value_name = "POLICY", help_heading = "Policies")]
    pub(super) policy: Vec<String>,
    /// The pool of files that have several.
    #[arg(long, value_name = "NAME", help_heading = "Policies")]
    pub(super) pool: Option<String>,
    /// At least so many workers, on each node; 1 for presets.
    #[arg(long, value_name = "N", help_heading = "Policies")]
    pub(super) min: Option<u32>,
    /// At most so many workers, on each node; 256 for presets.
    #[arg(long, value_name = "N", help_heading = "Policies")]
    pub(super) max: Option<u32>,

    /// Jobs come as in a file of arrivals, plain or packed with gzip.
    #[arg(long, value_name = "FILE", conflicts_with = "arrivals", help_heading = "Load")]
    pub(super) trace: Option<PathBuf>,
    /// Jobs are as big as in a file of jobs; without --trace and --arrivals they come as in it,
    /// too.
    #[arg(long, value_name = "FILE", conflicts_with = "service", help_heading = "Load")]
    pub(super) jobs: Option<PathBuf>,
    /// Jobs come like this: poisson:50/s, step:10/s,100/s@60s, ramp:1/s,40/s,
    /// sine:20/s,swing=10/s,period=5m, onoff:40/s,on=30s,off=60s, mmpp:5/s,50/s,stay=10s,
    /// selfsimilar:13/s,bias=0.7.
    #[arg(long, value_name = "HOW", value_parser = arrivals::parse, help_heading = "Load")]
    pub(super) arrivals: Option<Arrivals>,
    /// Jobs take so long: lognormal:100ms,scv=2, exp:100ms, const:100ms, bimodal:1ms,30s,long=3%,
    /// pareto:100ms,shape=2.5, or some of each by weight: classes:3=exp:10ms+1=const:2s.
    #[arg(long, value_name = "HOW", value_parser = sizes::parse, help_heading = "Load")]
    pub(super) service: Option<Sizes>,
    /// For how long jobs come: 10m where they are described, else as long as the file.
    #[arg(long, value_name = "SPAN", value_parser = duration::parse, help_heading = "Load")]
    pub(super) span: Option<Duration>,
    /// Where chance begins.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = numbers::seed)]
    #[arg(allow_hyphen_values = true, help_heading = "Load")]
    pub(super) seed: u64,

    /// A job that waits longer is late; 100ms by default.
    #[arg(long, value_name = "SPAN", value_parser = duration::parse, help_heading = "Promise")]
    pub(super) slo: Option<Duration>,
    /// A job that is done later than this is late, however long it waited.
    #[arg(long, value_name = "SPAN", value_parser = duration::parse, conflicts_with = "slo")]
    #[arg(help_heading = "Promise")]
    pub(super) latency: Option<Duration>,

    /// So many nodes serve the load, each with workers and a machine of its own: 3, dealt in turn,
    /// or 3,dealt=chance.
    #[arg(long, value_name = "N", value_parser = Nodes::parse, default_value = "1")]
    #[arg(help_heading = "World")]
    pub(super) nodes: Nodes,
    /// All nodes together run so many workers at most.
    #[arg(long, value_name = "N", help_heading = "World")]
    pub(super) budget: Option<u32>,
    /// How long a worker needs to start.
    #[arg(long, value_name = "SPAN", value_parser = duration::parse, default_value = "0.1ms")]
    #[arg(help_heading = "World")]
    pub(super) spawn_delay: Duration,
    /// What a start costs, in the time of a worker.
    #[arg(long, value_name = "SPAN", value_parser = duration::parse, default_value = "50ms")]
    #[arg(help_heading = "World")]
    pub(super) spawn_cost: Duration,
    /// Beyond so many at once jobs slow each other down: 40, or 40,crowding=0.02.
    #[arg(long, value_name = "N", value_parser = Knee::parse, help_heading = "World")]
    pub(super) knee: Option<Knee>,
    /// The knee becomes another one: 60s=20. May be repeated.
    #[arg(long, value_name = "WHEN=N", value_parser = KneeChange::parse, requires = "knee")]
    #[arg(conflicts_with = "knee_drift", help_heading = "World")]
    pub(super) knee_change: Vec<KneeChange>,
    /// The knee goes evenly from one number to another while jobs come: 60..40, or
    /// 60..40,crowding=0.02.
    #[arg(long, value_name = "N..N", value_parser = Drift::parse, conflicts_with = "knee")]
    #[arg(help_heading = "World")]
    pub(super) knee_drift: Option<Drift>,
    /// With more jobs than this at once, a share of them is refused: 50,share=30%.
    #[arg(long, value_name = "N,share=SHARE", value_parser = Refused::parse)]
    #[arg(help_heading = "World")]
    pub(super) refuse: Option<Refused>,
    /// The machine is sick for a while: 60s..120s,score=20,knee=8, or with node=2 that of one node.
    /// May be repeated.
    #[arg(long, value_name = "WHEN", value_parser = Sickness::parse, help_heading = "World")]
    pub(super) sick: Vec<Sickness>,
    /// From then on the sensors of every machine say what they said last.
    #[arg(long, value_name = "WHEN", value_parser = duration::parse, help_heading = "World")]
    pub(super) sensors_stuck: Option<Duration>,
    /// So many hires come to nothing.
    #[arg(long, value_name = "SHARE", value_parser = numbers::share, help_heading = "World")]
    pub(super) hire_fails: Option<f64>,
    /// In so many jobs the worker dies, 90% at most; another one takes the job up.
    #[arg(long, value_name = "SHARE", value_parser = world::dying, help_heading = "World")]
    pub(super) worker_dies: Option<f64>,
    /// So many jobs fail at their end.
    #[arg(long, value_name = "SHARE", value_parser = numbers::share, help_heading = "World")]
    pub(super) fail: Option<f64>,
    /// How often a failed job is tried again: after 1s, 2s, 4s and so on.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "World")]
    pub(super) retries: u8,
    /// So many jobs may wait; others are turned away.
    #[arg(long, value_name = "N", help_heading = "World")]
    pub(super) queue_limit: Option<u64>,
    /// A job that has waited for so long is dropped.
    #[arg(long, value_name = "SPAN", value_parser = duration::parse, help_heading = "World")]
    pub(super) expire_after: Option<Duration>,
    /// The newest jobs go first while the oldest has waited for longer; without it as the policy
    /// has it: `slo` when the oldest is late, all others never.
    #[arg(long, value_name = "SPAN|never", value_parser = NewestFirst::parse)]
    #[arg(help_heading = "World")]
    pub(super) newest_first_after: Option<NewestFirst>,

    /// Checks every rule after every event.
    #[arg(long, help_heading = "Output")]
    pub(super) checked: bool,
    /// Prints JSON in place of the table.
    #[arg(long, conflicts_with = "explain", help_heading = "Output")]
    pub(super) json: bool,
    /// Prints every resize and why.
    #[arg(long, help_heading = "Output")]
    pub(super) explain: bool,
    /// Draws size, demand, waits and decisions over time.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) svg: Option<PathBuf>,
    /// Writes a page with the table, the picture and the decisions.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) html: Option<PathBuf>,
}
