//! The command line of headcount: parses, dispatches, and turns a failure into an exit code.
//!
//! Exit codes: 0 done, 1 it did not work, 2 it was called wrongly. `run` has its own, which tell
//! how many jobs failed.

#![forbid(unsafe_code)]

mod command;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use command::printable;

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
    /// Shows it at work: a wave of jobs, workers that follow it, and why; ends by itself.
    Demo(command::demo::Arguments),
    /// Runs jobs: a store, workers that size themselves, and an API. Works without any flag.
    Serve(Box<command::serve::Arguments>),
    /// Runs jobs of a store that others serve, without an API.
    Work(Box<command::work::Arguments>),
    /// Submits jobs, one or many.
    Enqueue(Box<command::enqueue::Arguments>),
    /// Lists, shows, retries, cancels and deletes jobs.
    Jobs(command::jobs::Arguments),
    /// Lists, shows, pauses, resumes and purges queues, and sets their rules.
    Queues(command::queues::Arguments),
    /// Lists the pools of workers of a server.
    Pools(command::pools::PoolsArguments),
    /// Says why a pool has as many workers as it has.
    Why(command::pools::WhyArguments),
    /// Gives a pool a size by hand.
    Scale(command::pools::ScaleArguments),
    /// Looks at a Redis before jobs are kept in it.
    Redis(command::redis::Arguments),
    /// Checks, shows and compares files of pools.
    Config(command::config::Arguments),
    /// Says how many workers a load needs, which bounds to set, and how that comes about.
    Plan(Box<command::plan::Arguments>),
    /// Replays a recorded run under the same policy, or beside another one.
    Replay(command::replay::Arguments),
    /// Runs a command for every item, as many at once as help.
    Run(Box<command::run::Arguments>),
    /// Simulates policies on a load, before production does.
    Sim(Box<command::sim::Arguments>),
}

/// Why a command stopped.
#[derive(Debug)]
enum Stop {
    /// It was called wrongly; the sentence says how.
    Misused(String),
    /// It did not work; the lines say why, each for itself.
    Refused(String),
    /// It did not work; the sentence says why.
    Failed(String),
    /// It did not come out as it should, and everything was printed already.
    Told,
    /// It was done, and the exit code says how it came out.
    Ended(u8),
    /// What it prints could not be written.
    Unwritten(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Unwritten(error)
    }
}

fn main() -> ExitCode {
    let command = match Arguments::try_parse() {
        Ok(arguments) => arguments.command,
        Err(error) => return refuse(&error),
    };
    let command = match command {
        Command::Run(arguments) => return run(&arguments),
        command => command,
    };
    let mut out = io::stdout().lock();
    let done = match command {
        Command::Run(_) => Ok(()),
        Command::Presets(arguments) => command::presets::run(&arguments, &mut out),
        Command::Demo(arguments) => command::demo::run(&arguments, &mut out),
        Command::Serve(arguments) => command::serve::run(&arguments, &mut out),
        Command::Work(arguments) => command::work::run(&arguments, &mut out),
        Command::Enqueue(arguments) => command::enqueue::run(&arguments, &mut out),
        Command::Jobs(arguments) => command::jobs::run(&arguments, &mut out),
        Command::Queues(arguments) => command::queues::run(&arguments, &mut out),
        Command::Pools(arguments) => command::pools::run_pools(&arguments, &mut out),
        Command::Why(arguments) => command::pools::run_why(&arguments, &mut out),
        Command::Scale(arguments) => command::pools::run_scale(&arguments, &mut out),
        Command::Redis(arguments) => command::redis::run(&arguments, &mut out),
        Command::Config(arguments) => command::config::run(&arguments, &mut out),
        Command::Plan(arguments) => command::plan::run(&arguments, &mut out),
        Command::Replay(arguments) => command::replay::run(&arguments, &mut out),
        Command::Sim(arguments) => command::sim::run(&arguments, &mut out),
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
        Err(Stop::Told) => ExitCode::from(1),
        Err(Stop::Ended(code)) => ExitCode::from(code),
        Err(Stop::Failed(sentence)) => complain(1, &sentence),
        Err(Stop::Misused(sentence)) => complain(2, &sentence),
        Err(Stop::Refused(lines)) => {
            // Without a name before them: editors jump to lines that begin with a place.
            let _unheard = writeln!(io::stderr(), "{}", printable::lines(&lines));
            ExitCode::from(1)
        }
    }
}

/// Jobs print from many threads, and its exit code counts those that failed.
fn run(arguments: &command::run::Arguments) -> ExitCode {
    match command::run::run(arguments) {
        Ok(code) | Err(Stop::Ended(code)) => ExitCode::from(code),
        Err(Stop::Unwritten(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::from(command::run::OUTPUT_CLOSED)
        }
        Err(Stop::Unwritten(error)) => complain(command::run::OURS, &error.to_string()),
        Err(Stop::Told) => ExitCode::from(command::run::OURS),
        Err(Stop::Misused(sentence) | Stop::Refused(sentence) | Stop::Failed(sentence)) => {
            complain(command::run::OURS, &sentence)
        }
    }
}

/// Says what is wrong with the arguments, or what was asked for: the help, the version.
fn refuse(error: &clap::Error) -> ExitCode {
    // Nothing is left to be done where even this cannot be written.
    let _unheard = error.print();
    let is_run = std::env::args_os().nth(1).is_some_and(|command| command == "run");
    match (error.use_stderr(), is_run) {
        (false, _) => ExitCode::SUCCESS,
        (true, true) => ExitCode::from(command::run::OURS),
        (true, false) => ExitCode::from(2),
    }
}

fn complain(code: u8, sentence: &str) -> ExitCode {
    // Nothing is left to be done where even this cannot be written.
    let _unheard = writeln!(io::stderr(), "headcount: {}", printable::lines(sentence));
    ExitCode::from(code)
}
