//! A job as somebody submits it.

use std::time::Duration;

use headcount_core::Timestamp;
use headcount_core::jobs::port::NewJob;
use headcount_core::jobs::{
    Dependence, JobId, JobSpec, Key, Label, Priority, Retry, Start, Unique, UniqueSpan,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A job as somebody submits it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Submission {
    id: Option<String>,
    kind: Label,
    payload: Option<Box<RawValue>>,
    priority: Option<Priority>,
    tenant: Option<Label>,
    key: Option<Key>,
    delay_ms: Option<u64>,
    at_ms: Option<u64>,
    unique: Option<UniqueSubmission>,
    #[serde(default)]
    after: Vec<String>,
    dependence: Option<Dependence>,
    attempts_max: Option<u32>,
    timeout_ms: Option<u64>,
    keep_ms: Option<u64>,
    crashes_max: Option<u32>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct UniqueSubmission {
    key: Key,
    for_ms: Option<u64>,
}

impl Submission {
    /// The job, or everything that is wrong with it. `fresh` is the id of one that has none, and
    /// `usual` says what it is like where nothing is said of that.
    pub(super) fn job(
        self,
        fresh: JobId,
        usual: Option<&JobSpec>,
        payload_bytes_max: usize,
    ) -> Result<NewJob, Vec<String>> {
        let mut faults = Vec::new();
        let mut id_of = |text: &str| match text.parse::<JobId>() {
            Ok(id) => id,
            Err(error) => {
                faults.push(error.to_string());
                fresh
            }
        };
        let id = self.id.as_deref().map_or(fresh, &mut id_of);
        let after = self.after.iter().map(|text| id_of(text)).collect();
        if self.delay_ms.is_some() && self.at_ms.is_some() {
            faults.push("delay_ms and at_ms exclude each other; say one of them".to_owned());
        }
        let payload = self.payload.as_deref().map_or("null", RawValue::get);
        // What is nested deeper than handlers can read would only fail later.
        if let Err(error) = serde_json::from_str::<serde_json::Value>(payload) {
            faults.push(format!("the payload cannot be read back: {error}"));
        }
        let bare = JobSpec::new(self.kind, payload.as_bytes().to_vec());
        let usual = usual.unwrap_or(&bare);
        let spec = JobSpec {
            priority: self.priority.unwrap_or_default(),
            tenant: self.tenant,
            key: self.key,
            start: start(self.delay_ms, self.at_ms),
            unique: self.unique.map(UniqueSubmission::unique),
            after,
            dependence: self.dependence.unwrap_or_default(),
            retry: Retry {
                attempts_max: self.attempts_max.unwrap_or(usual.retry.attempts_max),
                ..usual.retry
            },
            crashes_max: self.crashes_max.unwrap_or(usual.crashes_max),
            timeout: self.timeout_ms.map(Duration::from_millis).or(usual.timeout),
            keep: self.keep_ms.map_or(usual.keep, Duration::from_millis),
            ..bare
        };
        faults.extend(spec.check(payload_bytes_max).err().map(|error| error.to_string()));
        if faults.is_empty() { Ok(NewJob { id, spec }) } else { Err(faults) }
    }
}

impl UniqueSubmission {
    fn unique(self) -> Unique {
        let span = match self.for_ms {
            Some(millis) => UniqueSpan::For(Duration::from_millis(millis)),
            None => UniqueSpan::UntilEnded,
        };
        Unique { key: self.key, span }
    }
}

fn start(delay_ms: Option<u64>, at_ms: Option<u64>) -> Start {
    match (delay_ms, at_ms) {
        (Some(delay), _) => Start::After(Duration::from_millis(delay)),
        (None, Some(at)) => Start::At(Timestamp::from_millis(at)),
        (None, None) => Start::Now,
    }
}
