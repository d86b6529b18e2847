//! Queues and jobs by the names that people give.

use headcount_core::jobs::{JobId, Label};
use serde_json::Value;

use super::{Path, Remote, Unanswered};
use crate::Stop;

/// The names of all queues, or the one that was asked for.
pub(crate) async fn queues(remote: &Remote, only: Option<&Label>) -> Result<Vec<Label>, Stop> {
    let all = known(remote).await?;
    match only {
        None => Ok(all),
        Some(queue) if all.contains(queue) => Ok(vec![queue.clone()]),
        Some(queue) => Err(unknown_queue(queue, &all)),
    }
}

async fn known(remote: &Remote) -> Result<Vec<Label>, Stop> {
    let answer = remote.get(&Path::of(&["queues"])).await?;
    let name = |queue: &Value| queue["name"].as_str()?.parse().ok();
    Ok(answer.as_array().into_iter().flatten().filter_map(name).collect())
}

/// The sentence about a queue that is not there.
fn unknown_queue(queue: &Label, all: &[Label]) -> Stop {
    let names: Vec<&str> = all.iter().map(Label::as_str).collect();
    let there = match names.is_empty() {
        true => "there are none yet".to_owned(),
        false => format!("there are {}", names.join(", ")),
    };
    Stop::Failed(format!("no queue is called {queue}; {there}"))
}

/// The queue that has the job, and the job.
pub(crate) async fn find_job(
    remote: &Remote,
    only: Option<&Label>,
    id: JobId,
) -> Result<(Label, Value), Stop> {
    for queue in queues(remote, only).await? {
        match remote.get(&Path::of(&["queues", queue.as_str(), "jobs", &id.to_string()])).await {
            Ok(job) => return Ok((queue, job)),
            Err(Unanswered::Unknown(_)) => {}
            Err(unanswered) => return Err(unanswered.into()),
        }
    }
    let place = only.map(|queue| format!(" in queue {queue}")).unwrap_or_default();
    Err(Stop::Failed(format!(
        "no job {id}{place}; one that was done may be forgotten, unless it was submitted \
         with --keep"
    )))
}
