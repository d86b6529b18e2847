//! Storms from a seed on, for as long as is asked for: `storm [--seed N] [--minutes M]`.
//!
//! Without minutes it is the storm of that one seed, and how it went is printed. The first storm
//! that breaks a rule ends it, with the command that repeats it.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a command for people, which runs for a time on the clock"
)]

use std::env;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use headcount_sim::storm::storm;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let told = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)?.parse::<u64>().ok()
    };
    match (told("--seed"), told("--minutes")) {
        (seed, Some(minutes)) => many(seed.unwrap_or_else(some_seed), minutes),
        (Some(seed), None) => one(seed),
        (None, None) => {
            eprintln!("usage: storm [--seed N] [--minutes M]");
            ExitCode::from(2)
        }
    }
}

/// Another one at each call. Short, as somebody may have to type it.
fn some_seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(0, |since| since.as_secs() % 1_000_000 * 1_000_000)
}

fn one(seed: u64) -> ExitCode {
    match storm(seed) {
        Ok(scores) => {
            for score in scores {
                let (late, cost) = (score.late_percent(), score.cost_per_work());
                println!("{}: {} jobs, {late:.1} % late, J {cost:.2}", score.name, score.jobs);
            }
            ExitCode::SUCCESS
        }
        Err(violation) => {
            eprintln!("{violation}\nrepeat it with: cargo xtask sim --seed {seed}");
            ExitCode::FAILURE
        }
    }
}

fn many(first: u64, minutes: u64) -> ExitCode {
    let until = Instant::now() + Duration::from_secs(60 * minutes);
    let (mut storms, mut jobs) = (0_u64, 0);
    while Instant::now() < until {
        let seed = first + storms;
        match storm(seed) {
            Ok(scores) => jobs += scores.iter().map(|score| score.jobs).sum::<u64>(),
            Err(_) => return one(seed),
        }
        storms += 1;
    }
    println!("{storms} storms from seed {first} on, {jobs} jobs, no rule was broken");
    ExitCode::SUCCESS
}
