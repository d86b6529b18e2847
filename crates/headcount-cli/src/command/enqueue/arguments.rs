//! The flags of `headcount enqueue`: all that can be said of a job.

use std::time::Duration;

use headcount_core::jobs::{JobId, Key, Label, Priority};

use super::moment;
use crate::command::duration;
use crate::command::reach::Reach;

/// What the command takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 submitted, or with --wait done; 1 it did not work, or lines \
    were not submitted; 2 called wrongly; with --wait also 3 dead, 4 quarantined, 5 cancelled, 6 \
    not ended in time; of several jobs the highest. docs/serve.md has examples."
)]
pub(crate) struct Arguments {
    /// Which handler runs it.
    pub(super) kind: Label,
    /// What the handler is given, as JSON; `-` reads it from standard input. Otherwise null.
    #[arg(conflicts_with = "stdin", allow_hyphen_values = true)]
    pub(super) payload: Option<String>,
    /// Submits a job for each line of standard input; a line is a payload.
    #[arg(long)]
    pub(super) stdin: bool,
    /// How many lines are submitted at once.
    #[arg(long, default_value_t = 500, value_name = "N", requires = "stdin")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(super) batch: u16,
    /// Waits until it has ended, or for as long as said, and prints its result.
    #[arg(long, value_name = "SPAN", num_args = 0..=1, require_equals = true)]
    #[arg(value_parser = duration::parse, default_missing_value = "36500d")]
    pub(super) wait: Option<Duration>,

    /// The queue it goes to.
    #[arg(short, long, default_value = "default", help_heading = "The job")]
    pub(super) queue: Label,
    /// How urgent it is: 0 the most, 9 the least; 5.
    #[arg(short, long, value_name = "0-9", value_parser = priority, help_heading = "The job")]
    pub(super) priority: Option<Priority>,
    /// On whose behalf it runs; tenants take turns.
    #[arg(long, help_heading = "The job")]
    pub(super) tenant: Option<Label>,
    /// Jobs with one key run only so many at once as the queue's rules allow.
    #[arg(long, help_heading = "The job")]
    pub(super) key: Option<Key>,
    /// It starts this long from now.
    #[arg(long, value_parser = duration::parse, value_name = "SPAN", conflicts_with = "at")]
    #[arg(help_heading = "The job")]
    pub(super) delay: Option<Duration>,
    /// It starts at this time: 2030-01-31T08:00:00Z, or @ and seconds since 1970.
    #[arg(long, value_parser = moment::parse, value_name = "TIME", help_heading = "The job")]
    pub(super) at: Option<u64>,
    /// Other submits with this key count as the same job until it has ended.
    #[arg(long, value_name = "KEY", conflicts_with = "stdin", help_heading = "The job")]
    pub(super) unique: Option<Key>,
    /// They do so for this long, ended or not.
    #[arg(long, value_parser = duration::parse, value_name = "SPAN", requires = "unique")]
    #[arg(help_heading = "The job")]
    pub(super) unique_for: Option<Duration>,
    /// It waits until this job has ended well; may be said several times.
    #[arg(long, value_name = "ID", help_heading = "The job")]
    pub(super) after: Vec<JobId>,
    /// It waits until those jobs have ended, well or not.
    #[arg(long, requires = "after", help_heading = "The job")]
    pub(super) after_any: bool,
    /// How often its handler may fail; 20.
    #[arg(long, value_name = "N", help_heading = "The job")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) attempts: Option<u32>,
    /// How many lost workers put it aside; 3.
    #[arg(long, value_name = "N", help_heading = "The job")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) crashes: Option<u32>,
    /// How long its handler may run.
    #[arg(long, value_parser = duration::parse, value_name = "SPAN", help_heading = "The job")]
    pub(super) timeout: Option<Duration>,
    /// How long it is kept with its result once it is done; not at all, or an hour with --wait.
    #[arg(long, value_parser = duration::parse, value_name = "SPAN", help_heading = "The job")]
    pub(super) keep: Option<Duration>,
    /// Who it is: a submit that is repeated with the same id counts once.
    #[arg(long, conflicts_with = "stdin", help_heading = "The job")]
    pub(super) id: Option<JobId>,

    #[command(flatten)]
    pub(super) reach: Reach,
}

fn priority(text: &str) -> Result<Priority, String> {
    let number: u8 = text.parse().map_err(|_| format!("{text:?} is no number from 0 to 9"))?;
    Priority::try_from(number).map_err(|error| error.to_string())
}
