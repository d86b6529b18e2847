//! A job as it is shown.

use headcount_core::Timestamp;
use headcount_core::jobs::JobRecord;
use serde::Serialize;
use serde_json::value::RawValue;

/// In lists, payloads and results of more bytes are told by their size only.
pub(super) const LISTED_BYTES_MAX: usize = 16 << 10;

/// A job as it is shown.
#[derive(Serialize)]
pub(super) struct JobView {
    id: String,
    queue: String,
    kind: String,
    state: &'static str,
    priority: u8,
    tenant: Option<String>,
    key: Option<String>,
    attempts: u32,
    crashes: u32,
    preemptions: u32,
    submitted_at_ms: u64,
    due_at_ms: u64,
    started_at_ms: Option<u64>,
    ended_at_ms: Option<u64>,
    progress: Option<u8>,
    error: Option<String>,
    payload: Blob,
    result: Option<Blob>,
}

/// Bytes as JSON: as they are where they are JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum Blob {
    Json(Box<RawValue>),
    Other { base64: String },
    Large { bytes: usize },
}

impl JobView {
    /// The job with payloads and results of at most so many bytes.
    pub(super) fn of(job: JobRecord, bytes_max: usize) -> Self {
        Self {
            id: job.id.to_string(),
            queue: job.queue.as_str().to_owned(),
            kind: job.spec.kind.as_str().to_owned(),
            state: job.state.as_str(),
            priority: job.spec.priority.get(),
            tenant: job.spec.tenant.map(|tenant| tenant.as_str().to_owned()),
            key: job.spec.key.map(|key| key.as_str().to_owned()),
            attempts: job.attempts,
            crashes: job.crashes,
            preemptions: job.preemptions,
            submitted_at_ms: millis(job.submitted_at),
            due_at_ms: millis(job.due_at),
            started_at_ms: job.started_at.map(millis),
            ended_at_ms: job.ended_at.map(millis),
            progress: job.progress,
            error: job.error,
            payload: Blob::of(&job.spec.payload, bytes_max),
            result: job.result.map(|result| Blob::of(&result, bytes_max)),
        }
    }
}

impl Blob {
    fn of(bytes: &[u8], bytes_max: usize) -> Self {
        if bytes_max < bytes.len() {
            return Self::Large { bytes: bytes.len() };
        }
        match serde_json::from_slice(bytes) {
            Ok(json) => Self::Json(json),
            Err(_) => Self::Other { base64: base64(bytes) },
        }
    }
}

/// A store's time in whole milliseconds since 1970.
pub(super) fn millis(at: Timestamp) -> u64 {
    at.as_nanos() / 1_000_000
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0, |bits, byte| (bits << 8) | u32::from(*byte));
        let bits = bits << (8 * (3 - three.len()));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &str) {
        let shown = serde_json::to_string(&Blob::of(bytes, 20)).expect("JSON");
        assert_eq!(shown, expected, "{}", bytes.escape_ascii());
    }

    #[test]
    fn json_is_shown_as_it_is_and_all_else_in_letters() {
        check(br#"{"b": 1, "a": 1e400}"#, r#"{"b": 1, "a": 1e400}"#);
        check(b"12345678901234567890", "12345678901234567890");
        check(b"not JSON, far too long", r#"{"bytes":22}"#);
        check(b"", r#"{"base64":""}"#);
        check(b"f", r#"{"base64":"Zg=="}"#);
        check(b"fo", r#"{"base64":"Zm8="}"#);
        check(b"foo", r#"{"base64":"Zm9v"}"#);
        check(b"foobar", r#"{"base64":"Zm9vYmFy"}"#);
        check(b"\xff\xff\xfe\x00", r#"{"base64":"///+AA=="}"#);
    }
}
