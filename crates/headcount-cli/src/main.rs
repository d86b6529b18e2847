//! The command line of headcount: parses, dispatches, and turns a failure into an exit code.
//!
//! Exit codes: 0 done, 1 it did not work, 2 it was called wrongly.

#![forbid(unsafe_code)]

mod command;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// How many workers should there be right now?
#[derive(Debug, Parser)]
#[command(name = "headcount", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Lists the ready-made policies, or shows one with where its numbers come from.
    Presets(command::presets::Arguments),
    /// Runs a policy through a made-up half hour and says what it decides, and why.
    Demo(command::demo::Arguments),
}

/// Why a command stopped.
#[derive(Debug)]
enum Stop {
    /// It was called wrongly; the sentence says how.
    Misused(String),
    /// What it prints could not be written.
    Unwritten(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Unwritten(error)
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut out = io::stdout().lock();
    let done = match arguments.command {
        Command::Presets(arguments) => command::presets::run(&arguments, &mut out),
        Command::Demo(arguments) => command::demo::run(&arguments, &mut out),
    };
    match done.and_then(|()| Ok(out.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read our output has seen enough, as in `headcount demo | head`.
        Err(Stop::Unwritten(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(Stop::Unwritten(error)) => {
            complain(1, &format!("output could not be written: {error}"))
        }
        Err(Stop::Misused(sentence)) => complain(2, &sentence),
    }
}

fn complain(code: u8, sentence: &str) -> ExitCode {
    // Nothing is left to be done where even this cannot be written.
    let _unheard = writeln!(io::stderr(), "headcount: {sentence}");
    ExitCode::from(code)
}
