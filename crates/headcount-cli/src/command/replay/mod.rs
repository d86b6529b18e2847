//! `headcount replay`: a recorded run once more, under the same policy or another one.
//!
//! ```text
//! trace -- Row --> reading -- by pool --> Same:    the recorded policy again, bit for bit
//!                                         Another: another one beside it, then simulated
//! ```
//!
//! What is found out is found out by `headcount_sim::replay`; here it is read and told.

mod another;
mod other;
mod reading;
mod same;
mod tale;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::{duration, printable};
use crate::Stop;

/// What the command takes.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("other").args(["policy", "preset"]))]
pub(crate) struct Arguments {
    /// The trace: a file that `headcount run --trace` or a recorder wrote.
    file: PathBuf,
    /// Reads first what was put aside when it was full, oldest first: run.2.jsonl, run.1.jsonl.
    #[arg(long)]
    rotated: bool,
    /// Replays this pool only. Otherwise all of them.
    #[arg(long, value_name = "NAME")]
    pool: Option<String>,
    /// Another policy, beside the recorded one: that of the pool in a configuration file.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Another policy, beside the recorded one: a preset, within the recorded bounds.
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// How long a task may wait before it counts as late. Otherwise as the policies have it.
    #[arg(long, value_name = "SPAN", value_parser = duration::parse, requires = "other")]
    slo: Option<Duration>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    /// Tells the whole story of every decision that is listed.
    #[arg(long)]
    explain: bool,
    /// Lists so many differences of a pool.
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Stop> {
    let found = reading::read(arguments)?;
    match arguments.json {
        true => {
            let pools: Vec<_> = found.tales.iter().map(|tale| tale.as_json()).collect();
            let file = arguments.file.display().to_string();
            let all = json!({ "file": file, "cut_off": found.is_cut_off, "pools": pools });
            writeln!(out, "{all:#}")?;
        }
        false => {
            if found.is_cut_off {
                let file = printable::path(&arguments.file);
                writeln!(out, "{file}: its last line was cut off and is left out")?;
            }
            found.tales.iter().try_for_each(|tale| tale.tell(out))?;
        }
    }
    out.flush()?;
    if !found.unplayed.is_empty() {
        return Err(Stop::Failed(nothing_of(arguments, &found.unplayed)));
    }
    match found.tales.iter().all(|tale| tale.is_as_expected()) {
        true => Ok(()),
        false => Err(Stop::Told),
    }
}

/// To have checked nothing is not to have found nothing.
fn nothing_of(arguments: &Arguments, pools: &[String]) -> String {
    let (file, pools) = (arguments.file.display(), pools.join(", "));
    let (place, advice) = match arguments.rotated {
        true => ("any of the files", "the one that had it is gone"),
        false => ("the file", "with --rotated those before it are read, too"),
    };
    format!("{file}: nothing of {pools} was replayed, as its policy is not in {place}; {advice}")
}
