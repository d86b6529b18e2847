//! `headcount queues`: lists, shows, pauses, resumes and purges queues, and sets their rules.

mod arguments;
mod list;
mod rules;
mod show;

use std::io::Write;

use headcount_core::jobs::Label;
use serde_json::{Value, json};

pub(crate) use arguments::Arguments;

use super::reach::{Path, Reach, Remote, queues, waited};
use crate::Stop;
use arguments::Command;

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Stop> {
    let reach = &arguments.reach;
    waited(async {
        match &arguments.command {
            Command::List => list::run(reach, out).await,
            Command::Show { queue } => show::run(reach, queue, out).await,
            Command::Pause { queue } => {
                steer(reach, queue, "pause", out).await?;
                say(reach, out, &format!("{queue} is paused; what runs goes on, nothing begins"))
            }
            Command::Resume { queue } => {
                steer(reach, queue, "resume", out).await?;
                say(reach, out, &format!("{queue} goes on"))
            }
            Command::Purge { queue, yes } => purge(reach, queue, *yes, out).await,
            Command::Rules { queue, set } => rules::run(reach, queue, set.as_deref(), out).await,
        }
    })
}

/// Tells the queue to do something; it must exist.
async fn steer(
    reach: &Reach,
    queue: &Label,
    verb: &str,
    out: &mut impl Write,
) -> Result<Value, Stop> {
    let remote = reach.remote().await?;
    queues(&remote, Some(queue)).await?;
    let answer = remote.post(&Path::of(&["queues", queue.as_str(), verb]), &json!({})).await?;
    if reach.json {
        writeln!(out, "{answer}")?;
    }
    Ok(answer)
}

async fn purge(reach: &Reach, queue: &Label, yes: bool, out: &mut impl Write) -> Result<(), Stop> {
    if !yes {
        let remote = reach.remote().await?;
        let waiting = waiting(&remote, queue).await?;
        return Err(Stop::Misused(format!(
            "this would forget {waiting} jobs of {queue} that wait; say --yes to do it"
        )));
    }
    let answer = steer(reach, queue, "purge", out).await?;
    let count = answer["jobs"].as_u64().unwrap_or(0);
    say(reach, out, &format!("{count} jobs of {queue} are forgotten; what runs goes on"))
}

async fn waiting(remote: &Remote, queue: &Label) -> Result<u64, Stop> {
    queues(remote, Some(queue)).await?;
    let stats = remote.get(&Path::of(&["queues", queue.as_str()])).await?;
    let states = ["blocked", "scheduled", "ready", "retrying"];
    Ok(states.iter().filter_map(|state| stats["jobs"][state].as_u64()).sum())
}

/// A sentence for people; `--json` has said it already.
fn say(reach: &Reach, out: &mut impl Write, sentence: &str) -> Result<(), Stop> {
    if !reach.json {
        writeln!(out, "{sentence}")?;
    }
    Ok(())
}
