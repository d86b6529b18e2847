//! Shows a queue in numbers.

use std::io::Write;

use headcount_core::jobs::Label;
use serde_json::Value;

use super::list::oldest;
use crate::Stop;
use crate::command::reach::{Path, Reach, queues};

pub(super) async fn run(reach: &Reach, queue: &Label, out: &mut impl Write) -> Result<(), Stop> {
    let remote = reach.remote().await?;
    queues(&remote, Some(queue)).await?;
    let stats = remote.get(&Path::of(&["queues", queue.as_str()])).await?;
    if reach.json {
        return Ok(writeln!(out, "{stats:#}")?);
    }
    let paused = if stats["paused"] == true { ", paused" } else { "" };
    writeln!(out, "{queue}{paused}")?;
    writeln!(out, "now:         {}", counts(&stats["jobs"]))?;
    writeln!(out, "since begun: {}", counts(&stats["totals"]))?;
    if let Some(holders) = stats["holders"].as_u64() {
        writeln!(out, "processes that take jobs: {holders}")?;
    }
    let oldest = oldest(&stats);
    if !oldest.is_empty() {
        writeln!(out, "the oldest ready job has waited {oldest}")?;
    }
    Ok(())
}

/// Those that are not 0.
fn counts(counts: &Value) -> String {
    let counts = counts.as_object().into_iter().flatten();
    let told: Vec<String> = counts
        .filter(|(_, count)| count.as_u64() != Some(0))
        .map(|(name, count)| format!("{count} {}", name.replace('_', " ")))
        .collect();
    match told.is_empty() {
        true => "nothing".to_owned(),
        false => told.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_zero_is_left_out() {
        let told = counts(&json!({"ready": 3, "dead": 0, "leases_expired": 1}));
        // In whichever order the object has them.
        let mut parts: Vec<&str> = told.split(", ").collect();
        parts.sort_unstable();
        assert_eq!(parts, ["1 leases expired", "3 ready"]);
        assert_eq!(counts(&json!({"dead": 0})), "nothing");
    }
}
