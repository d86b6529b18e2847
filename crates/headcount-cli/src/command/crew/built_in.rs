//! Kinds that every server knows, to try it out with.

use std::time::Duration;

use headcount::jobs::{HandleError, JobError, Queue};
use serde_json::{Value, json};

use crate::command::duration;

/// Their names.
pub(super) const KINDS: [&str; 2] = ["echo", "sleep"];

/// `echo` gives back what it was given; `sleep` takes as long as it is told.
pub(super) fn add_to(queue: &Queue) -> Result<(), HandleError> {
    let known = queue.kinds();
    let is_free = |kind: &str| known.iter().all(|known| known.as_str() != kind);
    if is_free(KINDS[0]) {
        queue.handle(KINDS[0], |payload: Value, _ctx| async move { Ok(payload) })?;
    }
    if is_free(KINDS[1]) {
        queue.handle(KINDS[1], |payload: Value, _ctx| async move {
            let span = span(&payload).map_err(JobError::dead)?;
            tokio::time::sleep(span).await;
            Ok(json!({"slept_ms": span.as_millis()}))
        })?;
    }
    Ok(())
}

/// How long: seconds as a number, or a span as a text.
fn span(payload: &Value) -> Result<Duration, String> {
    let said = match payload {
        Value::Number(seconds) => seconds.to_string(),
        Value::String(span) => span.clone(),
        other => other.to_string(),
    };
    duration::parse(&said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_is_told_how_long() {
        let millis = |payload: Value| span(&payload).ok().map(|span| span.as_millis());
        assert_eq!(millis(json!(2)), Some(2000));
        assert_eq!(millis(json!(0.5)), Some(500));
        assert_eq!(millis(json!("20ms")), Some(20));
        assert_eq!(millis(json!(-1)), None);
        assert_eq!(millis(json!({"ms": 1})), None);
    }
}
