//! Times of a store for people: how long ago, or how long from now.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::duration::shown;

/// How long ago a time in milliseconds since 1970 was: `4s`, `in 2m05s`.
pub(crate) fn ago(at: &Value) -> String {
    let Some(at) = at.as_u64() else { return String::new() };
    told_from(now(), at)
}

/// The same as part of a sentence.
pub(crate) fn told(at: &Value) -> String {
    match ago(at) {
        text if text.is_empty() || text.starts_with("in ") => text,
        text => format!("{text} ago"),
    }
}

fn told_from(now: u64, at: u64) -> String {
    match now.checked_sub(at) {
        Some(past) => shown(Duration::from_millis(past)),
        None => format!("in {}", shown(Duration::from_millis(at - now))),
    }
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_past_and_the_future_are_told_apart() {
        assert_eq!(told_from(10_000, 4_000), "6s");
        assert_eq!(told_from(10_000, 135_000), "in 2m05s");
        assert_eq!(told(&Value::Null), "");
    }
}
