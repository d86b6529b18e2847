//! Lists jobs: what runs first, then what waits, then what has ended.

use std::io::Write;

use headcount_core::jobs::port::Listing;
use headcount_core::jobs::{Label, State};
use serde_json::Value;

use super::arguments::Wanted;
use crate::Stop;
use crate::command::reach::{Path, Reach, Remote, queues};
use crate::command::table::Table;
use crate::command::when;

/// In which order states are listed where none is asked for.
const ORDER: [State; 9] = [
    State::Running,
    State::Ready,
    State::Retrying,
    State::Scheduled,
    State::Blocked,
    State::Dead,
    State::Quarantined,
    State::Cancelled,
    State::Done,
];

pub(super) async fn run(reach: &Reach, wanted: &Wanted, out: &mut impl Write) -> Result<(), Stop> {
    let remote = reach.remote().await?;
    let limit = usize::try_from(wanted.limit).unwrap_or(usize::MAX);
    let mut jobs = Vec::new();
    let queues = queues(&remote, wanted.queue.as_ref()).await?;
    for queue in &queues {
        for state in ORDER.into_iter().filter(|state| wanted.state.is_none_or(|s| s == *state)) {
            // One more than is shown tells whether there are more.
            let left = limit + 1 - jobs.len();
            jobs.extend(page_through(&remote, queue, state, left).await?);
        }
    }
    let is_more = limit < jobs.len();
    jobs.truncate(limit);
    if reach.json {
        return Ok(writeln!(out, "{:#}", Value::Array(jobs))?);
    }
    if jobs.is_empty() {
        return Ok(writeln!(out, "no jobs")?);
    }
    table(&jobs).write(out)?;
    if is_more {
        writeln!(out, "and more; --limit shows them, --state and --queue choose")?;
    }
    Ok(())
}

async fn page_through(
    remote: &Remote,
    queue: &Label,
    state: State,
    limit: usize,
) -> Result<Vec<Value>, Stop> {
    let mut jobs = Vec::new();
    let mut cursor = None;
    while jobs.len() < limit {
        let page_len = (limit - jobs.len()).min(Listing::LIMIT_MAX);
        let path = Path::of(&["queues", queue.as_str(), "jobs"]).asking(&[
            ("state", Some(state.to_string())),
            ("limit", Some(page_len.to_string())),
            ("cursor", cursor),
        ]);
        let mut page = remote.get(&path).await?;
        if let Value::Array(some) = page["jobs"].take() {
            jobs.extend(some);
        }
        match page["next"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    Ok(jobs)
}

fn table(jobs: &[Value]) -> Table {
    let headings = ["id", "queue", "kind", "state", "tries", "submitted", "error"];
    let mut table = Table::new(&headings, &["tries"]);
    for job in jobs {
        let text = |field: &str| job[field].as_str().unwrap_or_default().to_owned();
        let tries = job["attempts"].as_u64().unwrap_or(0) + job["crashes"].as_u64().unwrap_or(0);
        let tries = tries + u64::from(job["state"] == "running" || job["state"] == "done");
        table.row(&[
            text("id"),
            text("queue"),
            text("kind"),
            text("state"),
            tries.to_string(),
            when::ago(&job["submitted_at_ms"]),
            text("error"),
        ]);
    }
    table
}
