//! `headcount sim`: what policies do to a load, before production finds out.
//!
//! The simulation itself is in `headcount-sim` and pure; here files are opened, work is spread over
//! threads, and results are printed. A *trial* is a few policies side by side on one load; the
//! *benchmark* is all of them on many.

mod trial;
mod bench;

mod columns;
mod files;
mod traces;

use std::io::Write;

use crate::Stop;

/// What the command takes.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    trial: trial::Arguments,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Plays every policy against every load in every regime.
    Bench(bench::Arguments),
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Stop> {
    match &arguments.command {
        Some(Command::Bench(arguments)) => bench::run(arguments, out),
        None => trial::run(&arguments.trial, out),
    }
}
