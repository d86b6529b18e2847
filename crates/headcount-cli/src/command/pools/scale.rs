//! Gives a pool a size by hand, for a while or until it is taken back.

use std::io::Write;
use std::time::Duration;

use serde_json::json;

use super::{chosen, server};
use crate::Stop;
use crate::command::duration;
use crate::command::reach::{Path, Reach};

/// What the command takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many workers; `auto` lets the policy decide again.
    #[arg(value_name = "WORKERS", value_parser = wanted)]
    workers: Wanted,
    /// The pool; may be left out where there is one only.
    #[arg(long)]
    pool: Option<String>,
    /// For this long; then the policy decides again.
    #[arg(long = "for", value_parser = duration::parse, value_name = "SPAN")]
    span: Option<Duration>,
    /// Why, for whoever asks later.
    #[arg(long)]
    reason: Option<String>,
    #[command(flatten)]
    reach: Reach,
}

/// A size by hand, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Workers(u32),
    Auto,
}

fn wanted(text: &str) -> Result<Wanted, String> {
    match text {
        "auto" => Ok(Wanted::Auto),
        _ => text
            .parse()
            .map(Wanted::Workers)
            .map_err(|_| format!("{text:?} is no number of workers; write 8, or auto")),
    }
}

pub(super) async fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Stop> {
    let remote = server(&arguments.reach).await?;
    let pool = chosen(&remote, arguments.pool.as_deref()).await?;
    let workers = match arguments.workers {
        Wanted::Workers(workers) => Some(workers),
        Wanted::Auto => None,
    };
    let mut asked = json!({"workers": workers});
    if let Some(span) = arguments.span {
        asked["for_s"] = span.as_secs().into();
    }
    if let Some(reason) = &arguments.reason {
        asked["reason"] = reason.as_str().into();
    }
    let answer = remote.post(&Path::of(&["pools", &pool, "scale"]), &asked).await?;
    if arguments.reach.json {
        return Ok(writeln!(out, "{answer:#}")?);
    }
    match workers {
        Some(_) => writeln!(out, "{pool} is held; it has up to {} workers", answer["ceiling"])?,
        None => writeln!(out, "{pool} goes by its policy again")?,
    }
    Ok(())
}
