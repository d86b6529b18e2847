//! Shows all that is known of a job.

use std::io::Write;

use headcount_core::jobs::{JobId, Label};
use serde_json::Value;

use crate::Stop;
use crate::command::reach::{Reach, find_job};
use crate::command::when;

pub(super) async fn run(
    reach: &Reach,
    queue: Option<&Label>,
    ids: &[JobId],
    out: &mut impl Write,
) -> Result<(), Stop> {
    let remote = reach.remote().await?;
    for (number, id) in ids.iter().enumerate() {
        let (_, job) = find_job(&remote, queue, *id).await?;
        match reach.json {
            true => writeln!(out, "{job:#}")?,
            false => {
                if 0 < number {
                    writeln!(out)?;
                }
                write!(out, "{}", told(&job))?;
            }
        }
    }
    Ok(())
}

/// A line for each thing that is known, with times for people.
fn told(job: &Value) -> String {
    let fields = job.as_object().into_iter().flatten();
    let lines = fields.filter(|(_, value)| !value.is_null()).map(|(name, value)| {
        match name.strip_suffix("_at_ms") {
            Some(name) => format!("{name:<12} {}", when::told(value)),
            None => format!("{name:<12} {}\n", plain(value)).trim_end().to_owned(),
        }
    });
    lines.map(|line| line + "\n").collect()
}

/// A text without its quotes, unless it could steer a terminal; anything else as JSON.
fn plain(value: &Value) -> String {
    match value.as_str() {
        Some(text) if !text.chars().any(|c| c.is_control() && c != '\n') => text.to_owned(),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_known_is_told() {
        let job = json!({"id": "1", "error": null, "payload": {"a": 1}, "kind": "x\u{1b}"});
        let lines: Vec<String> = told(&job).lines().map(str::to_owned).collect();
        assert!(lines.contains(&"id           1".to_owned()), "{lines:?}");
        assert!(lines.contains(&"payload      {\"a\":1}".to_owned()), "{lines:?}");
        assert!(lines.contains(&"kind         \"x\\u001b\"".to_owned()), "{lines:?}");
        assert_eq!(lines.len(), 3);
    }
}
