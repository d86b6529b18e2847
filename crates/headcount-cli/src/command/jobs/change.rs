//! Retries, cancels and deletes jobs, by id or all of a state.

use std::io::Write;

use headcount_core::jobs::{JobId, Label, State};
use serde_json::json;

use super::arguments::Which;
use crate::Stop;
use crate::command::reach::{Path, Reach, Remote, find_job, queues};

/// What is done to jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Retry,
    Cancel,
    Delete,
}

impl Change {
    const fn verb(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Cancel => "cancel",
            Self::Delete => "delete",
        }
    }

    const fn done(self) -> &'static str {
        match self {
            Self::Retry => "to be tried again",
            Self::Cancel => "cancelled, or asked to stop",
            Self::Delete => "forgotten",
        }
    }
}

pub(super) async fn run(
    reach: &Reach,
    change: Change,
    which: &Which,
    out: &mut impl Write,
) -> Result<(), Stop> {
    let remote = reach.remote().await?;
    let changed = match which.state.filter(|_| which.all) {
        Some(state) => in_bulk(&remote, change, state, which).await?,
        None => each(&remote, change, which).await?,
    };
    match reach.json {
        true => writeln!(out, "{}", json!({"jobs": changed}))?,
        false => writeln!(out, "{} {}", counted(changed, ""), change.done())?,
    }
    Ok(())
}

/// Those that were named; each must be there, and the change must be possible.
async fn each(remote: &Remote, change: Change, which: &Which) -> Result<u64, Stop> {
    let mut changed = 0;
    for id in &which.ids {
        let (queue, job) = find_job(remote, which.queue.as_ref(), *id).await?;
        if !apply(remote, change, &queue, *id).await? {
            let state = job["state"].as_str().unwrap_or("unknown");
            let verb = change.verb();
            return Err(Stop::Failed(format!(
                "job {id} is {state}, there is nothing to {verb}; {changed} done before it"
            )));
        }
        changed += 1;
    }
    Ok(changed)
}

async fn apply(remote: &Remote, change: Change, queue: &Label, id: JobId) -> Result<bool, Stop> {
    let (queue, id) = (queue.as_str(), id.to_string());
    let answer = match change {
        Change::Delete => remote.delete(&Path::of(&["queues", queue, "jobs", &id])).await?,
        _ => {
            let path = Path::of(&["queues", queue, "jobs", &id, change.verb()]);
            remote.post(&path, &json!({})).await?
        }
    };
    Ok(answer["jobs"] != 0)
}

/// All of a state, once somebody has said yes.
async fn in_bulk(
    remote: &Remote,
    change: Change,
    state: State,
    which: &Which,
) -> Result<u64, Stop> {
    let mut counts = Vec::new();
    for queue in queues(remote, which.queue.as_ref()).await? {
        let stats = remote.get(&Path::of(&["queues", queue.as_str()])).await?;
        let count = stats["jobs"][state.as_str()].as_u64().unwrap_or(0);
        counts.push((queue, count));
    }
    let total = counts.iter().map(|(_, count)| count).sum();
    if !which.yes {
        return Err(Stop::Misused(format!(
            "this would {} {}; say --yes to do it",
            change.verb(),
            counted(total, state.as_str()),
        )));
    }
    let mut changed = 0;
    for (queue, count) in counts.into_iter().filter(|(_, count)| 0 < *count) {
        changed += sweep(remote, change, state, (&queue, count)).await?;
    }
    Ok(changed)
}

/// A call does a part of them; a running job that was asked to stop stays where it is for a while.
async fn sweep(
    remote: &Remote,
    change: Change,
    state: State,
    (queue, count): (&Label, u64),
) -> Result<u64, Stop> {
    let mut changed = 0;
    while changed < count {
        let path = Path::of(&["queues", queue.as_str(), change.verb()]);
        let answer = remote.post(&path, &json!({"state": state.as_str()})).await?;
        match answer["jobs"].as_u64() {
            None | Some(0) => break,
            Some(some) => changed += some,
        }
    }
    Ok(changed)
}

fn counted(count: u64, state: &str) -> String {
    let state = if state.is_empty() { String::new() } else { format!("{state} ") };
    match count {
        1 => format!("1 {state}job"),
        _ => format!("{count} {state}jobs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_said_as_people_do() {
        let told = [(0, "dead"), (1, "dead"), (2, "")].map(|(count, state)| counted(count, state));
        assert_eq!(told, ["0 dead jobs", "1 dead job", "2 jobs"]);
    }
}
