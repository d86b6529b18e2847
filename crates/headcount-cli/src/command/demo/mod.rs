//! `headcount demo`: jobs and workers at work for half a minute, or a policy in a made-up story.

mod live;
mod picture;
mod tally;
mod wave;

mod story;

use std::io::Write;

use crate::Stop;

/// What the command takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Runs this policy through a made-up half hour instead, at once; `headcount presets` lists
    /// them.
    preset: Option<String>,
    /// Shows the whole chain of every decision: readings, estimates, each guard's ruling.
    #[arg(long, requires = "preset")]
    full: bool,
    /// For how long jobs come.
    #[arg(long, value_name = "N", default_value_t = 30, conflicts_with = "preset")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=90))]
    seconds: u16,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Stop> {
    match &arguments.preset {
        Some(preset) => story::run(preset, arguments.full, out),
        None => live::run(arguments.seconds, out),
    }
}
