//! The flags of `headcount queues`.

use headcount_core::jobs::Label;

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
    /// Lists the queues, with how many jobs are in each state.
    List,
    /// Shows a queue in numbers, since it began and now.
    Show {
        /// The queue.
        #[arg(default_value = "default")]
        queue: Label,
    },
    /// Hands out nothing more; what runs goes on.
    Pause {
        /// The queue.
        queue: Label,
    },
    /// Hands out jobs again.
    Resume {
        /// The queue.
        queue: Label,
    },
    /// Forgets every job that waits; what runs goes on.
    Purge {
        /// The queue.
        queue: Label,
        /// Does it; without it, it only says what would be done.
        #[arg(short, long)]
        yes: bool,
    },
    /// Shows the rules of a queue, or changes some of them.
    Rules {
        /// The queue.
        #[arg(default_value = "default")]
        queue: Label,
        /// The rules to change, as JSON: `{"running_max": 5, "key_running_max": 1}`.
        #[arg(long, value_name = "JSON")]
        set: Option<String>,
    },
}
