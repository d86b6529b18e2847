//! The flags of `headcount run`: those of xargs and GNU parallel where the meaning is the same.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::bounds::Jobs;
use super::halt::Halt;
use super::split::Delimiter;
use crate::command::duration;

/// What the command takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 all went well, 1 to 100 so many jobs failed, 101 more of \
    them, 126 and 127 the command cannot be run, 130 stopped by Ctrl-C, 141 nobody reads the \
    output, 255 headcount itself could not do its part. docs/run.md has every flag.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Arguments {
    /// The command, with `{}` where the item goes (else it comes last), and after `:::` the items.
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,

    /// Reads items from a file in place of standard input.
    #[arg(short = 'a', long = "arg-file", value_name = "FILE", help_heading = "Input")]
    pub(super) arg_file: Option<PathBuf>,
    /// Items end with a zero byte in place of a newline.
    #[arg(short = '0', long, conflicts_with = "delimiter", help_heading = "Input")]
    pub(super) null: bool,
    /// Items end with this byte in place of a newline: `,`, `\t`, `\x3b`.
    #[arg(short, long, value_parser = Delimiter::parse)]
    #[arg(value_name = "BYTE", help_heading = "Input")]
    pub(super) delimiter: Option<Delimiter>,
    /// So many items for each job.
    #[arg(short = 'n', short_aliases = ['N', 'L'], long = "max-args", aliases = ["max-lines"])]
    #[arg(default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    #[arg(value_name = "N", help_heading = "Input")]
    pub(super) max_args: u16,
    /// What stands for the item in place of `{}`.
    #[arg(short = 'I', long = "replace", value_name = "TEXT", help_heading = "Input")]
    pub(super) replace: Option<String>,
    /// Does nothing where there are no items; always so.
    #[arg(short = 'r', long, help_heading = "Input")]
    pub(super) no_run_if_empty: bool,
    /// Runs the command line through `sh -c`, with each item quoted.
    #[arg(short = 'c', long, help_heading = "Input")]
    pub(super) shell: bool,

    /// Exactly so many jobs at once in place of a search: 8, 0 (as many as can be), 200%, +2, -1.
    #[arg(short = 'P', short_alias = 'j', long = "jobs", alias = "max-procs")]
    #[arg(value_parser = Jobs::parse, allow_hyphen_values = true, value_name = "N")]
    #[arg(conflicts_with_all = ["preset", "policy", "slo", "explain", "trace", "min", "max"])]
    #[arg(help_heading = "How many at once")]
    pub(super) jobs: Option<Jobs>,
    /// At least so many jobs at once; 1, or what the file of `--policy` says.
    #[arg(long, value_name = "N", help_heading = "How many at once")]
    pub(super) min: Option<u32>,
    /// At most so many jobs at once.
    #[arg(long, value_name = "N", help_heading = "How many at once")]
    pub(super) max: Option<u32>,
    /// No item shall wait longer than this: for items that come in over time.
    #[arg(long, value_parser = duration::parse, value_name = "SPAN")]
    #[arg(conflicts_with = "preset", help_heading = "How many at once")]
    pub(super) slo: Option<Duration>,
    /// Another policy; `headcount presets` lists them.
    #[arg(long, value_name = "NAME", help_heading = "How many at once")]
    pub(super) preset: Option<String>,
    /// A policy of one's own: the pool `run` of a configuration file, or its only pool.
    #[arg(long, value_name = "FILE", help_heading = "How many at once")]
    pub(super) policy: Option<PathBuf>,
    /// Goes on as if the machine were well, whatever its memory and its disks say.
    #[arg(long, help_heading = "How many at once")]
    pub(super) no_health: bool,
    /// Tells every change of the number of jobs, and why.
    #[arg(long, help_heading = "How many at once")]
    pub(super) explain: bool,
    /// Records every decision in a file.
    #[arg(long, value_name = "FILE", help_heading = "How many at once")]
    pub(super) trace: Option<PathBuf>,

    /// Tries a job that fails so many times in all.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(value_name = "N", help_heading = "Failures")]
    pub(super) retries: u32,
    /// How long to wait before the second try; before each further one twice as long.
    #[arg(long, default_value = "1s", value_parser = duration::parse)]
    #[arg(value_name = "SPAN", help_heading = "Failures")]
    pub(super) retry_delay: Duration,
    /// Stops a job that takes longer: SIGTERM for all it has started, then SIGKILL.
    #[arg(long, value_parser = duration::parse, value_name = "SPAN", help_heading = "Failures")]
    pub(super) timeout: Option<Duration>,
    /// How long a job may take to end after SIGTERM.
    #[arg(long, default_value = "2s", value_parser = duration::parse)]
    #[arg(value_name = "SPAN", help_heading = "Failures")]
    pub(super) kill_after: Duration,
    /// Ends the run after failures: never, soon,fail=N (what runs may finish) or now,fail=N.
    #[arg(long, default_value = "never", value_parser = Halt::parse)]
    #[arg(value_name = "WHEN", help_heading = "Failures")]
    pub(super) halt: Halt,
    /// Ends the run at the first failure, as `--halt now,fail=1`.
    #[arg(long, conflicts_with = "halt", help_heading = "Failures")]
    pub(super) fail_fast: bool,
    /// Writes a line for each job that ended, in the columns of GNU parallel.
    #[arg(long, value_name = "FILE", help_heading = "Failures")]
    pub(super) joblog: Option<PathBuf>,
    /// Skips jobs that ended according to the joblog.
    #[arg(long, requires = "joblog", help_heading = "Failures")]
    pub(super) resume: bool,
    /// Skips jobs that ended well according to the joblog.
    #[arg(long, requires = "joblog", help_heading = "Failures")]
    pub(super) resume_failed: bool,

    /// Prints output in the order of the items.
    #[arg(short = 'k', long, conflicts_with_all = ["ungroup", "line_buffer"])]
    #[arg(help_heading = "Output")]
    pub(super) keep_order: bool,
    /// Prints the output of a job when it has ended; the default.
    #[arg(long, conflicts_with_all = ["ungroup", "line_buffer"], help_heading = "Output")]
    pub(super) group: bool,
    /// Prints whole lines as they come.
    #[arg(long, alias = "linebuffer", conflicts_with = "ungroup", help_heading = "Output")]
    pub(super) line_buffer: bool,
    /// Lets jobs write where we write, as xargs does. The quickest.
    #[arg(short = 'u', long, conflicts_with = "tag", help_heading = "Output")]
    pub(super) ungroup: bool,
    /// Puts the item before each line of output.
    #[arg(long, help_heading = "Output")]
    pub(super) tag: bool,
    /// Prints each command before it runs.
    #[arg(short = 't', long, help_heading = "Output")]
    pub(super) verbose: bool,
    /// Prints the commands and runs none.
    #[arg(long, alias = "dryrun", help_heading = "Output")]
    pub(super) dry_run: bool,
    /// Tells how far it is, also where standard error is no terminal.
    #[arg(long, aliases = ["bar", "eta"], help_heading = "Output")]
    pub(super) progress: bool,
    /// Does not tell how far it is, even on a terminal.
    #[arg(long, conflicts_with = "progress", help_heading = "Output")]
    pub(super) no_progress: bool,
    /// Says nothing but what went wrong.
    #[arg(short = 'q', long, help_heading = "Output")]
    pub(super) quiet: bool,
}
