//! How a job is written down.
//!
//! A digit for the version, the spec without its payload as one line of JSON, a line break, and
//! the payload as it came. The line can be read by a script in the store, the payload need not be.
//! Fields may be added: an old reader passes over them, a new one fills in their defaults. What an
//! old reader must not pass over makes a new version.

use headcount_core::jobs::JobSpec;

/// The version that is written, and the newest that can be read.
pub const VERSION: u8 = b'1';

/// The job as bytes.
///
/// ```
/// use headcount_queue::encoding::{decode, encode};
/// use headcount_queue::jobs::JobSpec;
///
/// let spec = JobSpec::new("thumbnail".parse()?, b"{\"width\":200}".to_vec());
/// assert_eq!(decode(&encode(&spec)), Ok(spec));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
#[allow(clippy::missing_panics_doc, reason = "a spec is plain data, it can be written")]
pub fn encode(spec: &JobSpec) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(96 + spec.payload.len());
    bytes.push(VERSION);
    serde_json::to_writer(&mut bytes, spec).expect("a spec is plain data, and memory takes it");
    bytes.push(b'\n');
    bytes.extend_from_slice(&spec.payload);
    bytes
}

/// The job that [`encode`] wrote.
///
/// # Errors
///
/// A sentence that says what was found instead.
pub fn decode(bytes: &[u8]) -> Result<JobSpec, String> {
    match bytes.first() {
        Some(&VERSION) => {}
        Some(version) => {
            let version = version.escape_ascii();
            return Err(format!(
                "a job has format {version}, this version reads 1; use a newer one"
            ));
        }
        None => return Err("a job has no bytes at all".to_owned()),
    }
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let end = end.ok_or("a job has no end of its first line")?;
    let mut spec: JobSpec = serde_json::from_slice(&bytes[1..end])
        .map_err(|error| format!("a job's first line is no spec: {error}"))?;
    spec.payload = bytes[end + 1..].to_vec();
    Ok(spec)
}

/// Whether a newer version wrote this, which will know how to read it.
#[cfg(any(feature = "embedded", feature = "redis"))]
pub(crate) fn is_newer(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|version| version.is_ascii_digit() && VERSION < *version)
}

/// What is shown in place of a job that cannot be read: its payload is all that was found.
#[cfg(any(feature = "embedded", feature = "redis"))]
pub(crate) fn stand_in(found: &[u8]) -> JobSpec {
    JobSpec::new("unreadable".parse().expect("it is a fine name"), found.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use headcount_core::Timestamp;
    use headcount_core::jobs::{
        Backoff, Dependence, JobId, Priority, Retry, Start, Unique, UniqueSpan,
    };
    use std::time::Duration;

    fn everything() -> JobSpec {
        let second = Duration::from_secs(1);
        JobSpec {
            payload: b"\n\0{}".to_vec(),
            priority: Priority::new(1),
            tenant: Some("acme".parse().expect("a name")),
            key: Some("line \u{e4}".parse().expect("a key")),
            start: Start::At(Timestamp::from_secs(9)),
            unique: Some(Unique {
                key: "once".parse().expect("a key"),
                span: UniqueSpan::For(second),
            }),
            after: vec![JobId::new(1, 2)],
            dependence: Dependence::End,
            retry: Retry { attempts_max: 2, backoff: Backoff::Fixed(second), budget: Some(second) },
            crashes_max: 7,
            timeout: Some(second),
            keep: second,
            ..JobSpec::new("kind".parse().expect("a name"), Vec::new())
        }
    }

    #[test]
    fn what_was_written_is_read() {
        assert_eq!(decode(&encode(&everything())), Ok(everything()));
    }

    #[test]
    fn defaults_take_no_room() {
        let spec = JobSpec::new("kind".parse().expect("a name"), b"{}".to_vec());
        let text = String::from_utf8(encode(&spec)).expect("all of it is text");
        assert_eq!(text, "1{\"kind\":\"kind\"}\n{}");
    }

    #[test]
    fn what_a_newer_version_adds_is_passed_over() {
        let spec = decode(b"1{\"kind\":\"kind\",\"colour\":\"red\"}\n{}").expect("it is readable");
        assert_eq!(spec, JobSpec::new("kind".parse().expect("a name"), b"{}".to_vec()));
    }

    #[track_caller]
    fn check_refused(bytes: &[u8], said: &str) {
        let error = decode(bytes).expect_err("it is no job");
        assert!(error.contains(said), "{error}");
    }

    #[test]
    fn anything_else_is_told() {
        check_refused(b"", "no bytes");
        check_refused(b"2{}\n", "format 2, this version reads 1");
        check_refused(b"1{\"kind\":\"kind\"}", "no end of its first line");
        check_refused(b"1{}\n", "missing field `kind`");
        check_refused(b"1{\"kind\":\"No Kind\"}\n", "holds 'N'");
    }

    #[cfg(any(feature = "embedded", feature = "redis"))]
    #[test]
    fn only_what_a_newer_version_wrote_is_newer() {
        for (bytes, newer) in [("2{}", true), ("1{}", false), ("x", false), ("", false)] {
            assert_eq!(is_newer(bytes.as_bytes()), newer, "{bytes:?}");
        }
    }
}
