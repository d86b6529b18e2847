//! The flags of `headcount jobs`.

use headcount_core::jobs::{JobId, Label, State};

use crate::command::reach::Reach;

/// What the command takes.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
    #[command(flatten)]
    pub(super) reach: Reach,
}

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Lists jobs.
    List(Wanted),
    /// Shows all that is known of a job.
    #[command(arg_required_else_help = true)]
    Show {
        /// The jobs.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<JobId>,
        /// The queue they are in; otherwise all are searched.
        #[arg(short, long)]
        queue: Option<Label>,
    },
    /// Tries jobs again, with fresh counters: dead, quarantined, cancelled, or not yet due.
    #[command(arg_required_else_help = true)]
    Retry(Which),
    /// Cancels jobs; one that runs is asked to stop.
    #[command(arg_required_else_help = true)]
    Cancel(Which),
    /// Forgets jobs that do not run.
    #[command(arg_required_else_help = true)]
    Delete(Which),
}

/// Which jobs to list.
#[derive(Debug, clap::Args)]
pub(super) struct Wanted {
    /// Those of this queue only.
    #[arg(short, long)]
    pub(super) queue: Option<Label>,
    /// Those in this state only: blocked, scheduled, ready, running, retrying, done, dead,
    /// quarantined, cancelled.
    #[arg(short, long)]
    pub(super) state: Option<State>,
    /// At most so many.
    #[arg(short = 'n', long, default_value_t = 50, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) limit: u32,
}

/// Which jobs to change.
#[derive(Debug, clap::Args)]
pub(super) struct Which {
    /// These jobs.
    #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
    pub(super) ids: Vec<JobId>,
    /// The queue they are in; otherwise all are searched.
    #[arg(short, long)]
    pub(super) queue: Option<Label>,
    /// All that are in the state of --state.
    #[arg(long, requires = "state")]
    pub(super) all: bool,
    /// The state of those that --all means.
    #[arg(short, long, requires = "all")]
    pub(super) state: Option<State>,
    /// Does it; without it, --all only says what would be done.
    #[arg(short, long)]
    pub(super) yes: bool,
}
