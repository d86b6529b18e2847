//! Shows the rules of a queue, or changes some of them.

use std::io::Write;

use headcount_core::jobs::Label;
use serde_json::Value;

use crate::Stop;
use crate::command::reach::{Path, Reach, queues};

pub(super) async fn run(
    reach: &Reach,
    queue: &Label,
    set: Option<&str>,
    out: &mut impl Write,
) -> Result<(), Stop> {
    let changes = set.map(parsed).transpose()?;
    let remote = reach.remote().await?;
    queues(&remote, Some(queue)).await?;
    let path = Path::of(&["queues", queue.as_str(), "rules"]);
    let mut rules = remote.get(&path).await?;
    if let Some(changes) = changes {
        changed(&mut rules, changes);
        remote.put(&path, &rules).await?;
        rules = remote.get(&path).await?;
    }
    Ok(writeln!(out, "{rules:#}")?)
}

fn parsed(text: &str) -> Result<serde_json::Map<String, Value>, Stop> {
    match serde_json::from_str(text) {
        Ok(Value::Object(changes)) => Ok(changes),
        Ok(other) => Err(Stop::Misused(format!(
            "--set has {other}; write an object, as in '{{\"running_max\": 5}}'"
        ))),
        Err(error) => Err(Stop::Misused(format!("--set is no JSON: {error}"))),
    }
}

/// The rules that are not mentioned stay as they are.
fn changed(rules: &mut Value, changes: serde_json::Map<String, Value>) {
    for (name, value) in changes {
        rules[name] = value;
    }
}
