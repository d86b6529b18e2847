//! Lists the queues.

use std::io::Write;
use std::time::Duration;

use serde_json::Value;

use crate::Stop;
use crate::command::duration::shown;
use crate::command::reach::{Path, Reach};
use crate::command::table::Table;

/// The states that have a column.
const STATES: [&str; 7] =
    ["ready", "running", "scheduled", "retrying", "blocked", "dead", "quarantined"];
const HEADINGS: [&str; 10] = [
    "queue",
    "ready",
    "running",
    "scheduled",
    "retrying",
    "blocked",
    "dead",
    "quarantined",
    "oldest",
    "",
];

pub(super) async fn run(reach: &Reach, out: &mut impl Write) -> Result<(), Stop> {
    let remote = reach.remote().await?;
    let all = remote.get(&Path::of(&["queues"])).await?;
    if reach.json {
        return Ok(writeln!(out, "{all:#}")?);
    }
    let all = all.as_array().map(Vec::as_slice).unwrap_or_default();
    if all.is_empty() {
        return Ok(writeln!(out, "no queues yet; a queue begins with its first job")?);
    }
    let mut table = Table::new(&HEADINGS, &HEADINGS[1..9]);
    for queue in all {
        table.row(&row(queue));
    }
    Ok(table.write(out)?)
}

fn row(queue: &Value) -> Vec<String> {
    let mut row = vec![queue["name"].as_str().unwrap_or_default().to_owned()];
    row.extend(STATES.map(|state| queue["jobs"][state].as_u64().unwrap_or(0).to_string()));
    row.push(oldest(queue));
    row.push(if queue["paused"] == true { "paused" } else { "" }.to_owned());
    row
}

/// How long the job has waited that has waited longest.
pub(super) fn oldest(queue: &Value) -> String {
    let age = queue["oldest_ready_age_ms"].as_u64().map(Duration::from_millis);
    age.map(shown).unwrap_or_default()
}
