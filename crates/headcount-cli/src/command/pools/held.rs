//! A size that somebody gave by hand, for people to read.

use std::time::Duration;

use serde_json::Value;

use crate::command::duration::shown;

/// A sentence about the hold of a pool, where it is held.
pub(super) fn told(held: &Value) -> Option<String> {
    let workers = held["workers"].as_u64()?;
    let until = match held["left_ms"].as_u64() {
        Some(left) => format!("for {} more", shown(Duration::from_millis(left))),
        None => "until `headcount scale auto`".to_owned(),
    };
    let why = match reason(held) {
        reason if reason.is_empty() => "no reason was given".to_owned(),
        reason => format!("reason: {reason}"),
    };
    Some(format!("held by hand at {workers} workers {until}; {why}"))
}

/// The reason that was given, in one line that cannot steer a terminal.
pub(super) fn reason(held: &Value) -> String {
    let given = held["reason"].as_str().unwrap_or_default();
    let words: Vec<&str> = given.split_whitespace().collect();
    words.join(" ").chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(held: &Value, expected: Option<&str>) {
        assert_eq!(told(held).as_deref(), expected);
    }

    #[test]
    fn a_hold_says_how_many_how_long_and_why() {
        check(&Value::Null, None);
        check(
            &json!({"workers": 3, "left_ms": 125_000, "reason": "a\nsale\u{1b}[2J"}),
            Some("held by hand at 3 workers for 2m05s more; reason: a sale[2J"),
        );
        check(
            &json!({"workers": 3, "left_ms": null, "reason": null}),
            Some("held by hand at 3 workers until `headcount scale auto`; no reason was given"),
        );
    }
}
