//! The automation of this repository: `cargo xtask <command>`.
//!
//! Everything that CI does is here, in Rust, and runs the same on any machine that has the
//! toolchain. One file per command; this one finds the command and says how it ended.

#![forbid(unsafe_code)]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command for people: what it prints is what it is for"
)]

mod metadata;
mod outcome;
mod process;

mod bench;
mod ci;
mod deny;
mod fuzz;
mod loom;
mod reality;
mod sim;
mod soak;
mod test;
mod tidy;

mod chaos;
mod checks;
mod licence;
mod needs;
mod tally;

use std::env;
use std::process::ExitCode;

use outcome::{Outcome, Stop};

/// What a command is called, what it takes, what it does, and the function that does it.
struct Command {
    name: &'static str,
    takes: &'static str,
    does: &'static str,
    run: fn(&[String]) -> Outcome,
}

const COMMANDS: [Command; 11] = [
    Command {
        name: "test",
        takes: "[NAME...]",
        does: "run every test, or those whose name contains NAME",
        run: test::run,
    },
    Command {
        name: "ci",
        takes: "[--keep-going]",
        does: "format, lints, tidy, tests, docs, features, licences",
        run: ci::run,
    },
    Command {
        name: "tidy",
        takes: "",
        does: "check the sizes, words, links and dependencies of this repository",
        run: tidy::run,
    },
    Command {
        name: "deny",
        takes: "",
        does: "check the licences and origins of all dependencies",
        run: deny::run,
    },
    Command {
        name: "bench",
        takes: "[NAME] [--json FILE] [ARG...]",
        does: "run a benchmark, or list them",
        run: bench::run,
    },
    Command { name: "loom", takes: "", does: "run the concurrency models", run: loom::run },
    Command {
        name: "soak",
        takes: "[COUNT]",
        does: "resize a pool ten million times, or COUNT times, and see that no count drifts",
        run: soak::run,
    },
    Command {
        name: "sim",
        takes: "[--seed N] [--minutes M]",
        does: "run the storm of a seed, or one storm after the other, and see that no rule breaks",
        run: sim::run,
    },
    Command {
        name: "reality",
        takes: "[SECONDS]",
        does: "run the same jobs on real pools and simulated, for a minute or SECONDS, and compare",
        run: reality::run,
    },
    Command {
        name: "chaos",
        takes: "[SIZE]",
        does: "run jobs under faults, SIZE times as many as in tests, and see that none is lost",
        run: chaos::run,
    },
    Command {
        name: "fuzz",
        takes: "config [--minutes N] [--seed S]",
        does: "mutate files of pools, and see that each is read or refused, and soon",
        run: fuzz::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Red) => ExitCode::FAILURE,
        Err(Stop::Misused(why)) => {
            eprintln!("{why}\n\n{}", usage());
            ExitCode::from(2)
        }
    }
}

fn dispatch(arguments: &[String]) -> Outcome {
    let Some((name, rest)) = arguments.split_first() else {
        return Err(Stop::Misused("no command was given".to_owned()));
    };
    if ["help", "--help", "-h"].contains(&name.as_str()) {
        println!("{}", usage());
        return Ok(());
    }
    match COMMANDS.iter().find(|command| command.name == name) {
        Some(command) => (command.run)(rest),
        None => Err(Stop::Misused(format!("there is no command {name:?}"))),
    }
}

fn usage() -> String {
    let line = |command: &Command| {
        let call = format!("{} {}", command.name, command.takes);
        format!("  {call:<36}{}", command.does)
    };
    let lines = COMMANDS.each_ref().map(line);
    format!("usage: cargo xtask <command>\n\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &[&str], expected: &Outcome) {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        assert_eq!(&dispatch(&arguments), expected);
    }

    #[test]
    fn an_unknown_command_is_named_in_the_refusal() {
        check(&["tset"], &Err(Stop::Misused("there is no command \"tset\"".to_owned())));
    }

    #[test]
    fn no_command_is_a_misuse() {
        check(&[], &Err(Stop::Misused("no command was given".to_owned())));
    }

    #[test]
    fn the_usage_lists_every_command() {
        let usage = usage();
        for command in &COMMANDS {
            assert!(usage.contains(command.does), "{} is not in the usage", command.name);
        }
    }
}
