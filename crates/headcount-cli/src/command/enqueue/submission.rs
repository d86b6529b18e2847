//! A job as the API takes it.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use headcount_core::jobs::{JobId, Priority};
use serde_json::{Map, Value, json};

use super::arguments::Arguments;

/// How long a job whose result somebody waits for is kept.
const KEEP_WAITED: Duration = Duration::from_secs(3600);

/// All that is the same for every job of one command.
#[derive(Debug)]
pub(super) struct Form(Map<String, Value>);

impl Form {
    pub(super) fn of(arguments: &Arguments) -> Self {
        let kept = arguments.wait.is_some().then_some(KEEP_WAITED);
        let unique = arguments.unique.as_ref().map(|key| {
            let mut unique = json!({"key": key.as_str()});
            if let Some(span) = arguments.unique_for {
                unique["for_ms"] = millis(span).into();
            }
            unique
        });
        let after: Vec<String> = arguments.after.iter().map(JobId::to_string).collect();
        let fields = [
            ("kind", Some(arguments.kind.as_str().into())),
            ("priority", arguments.priority.map(|priority: Priority| priority.get().into())),
            ("tenant", arguments.tenant.as_ref().map(|tenant| tenant.as_str().into())),
            ("key", arguments.key.as_ref().map(|key| key.as_str().into())),
            ("delay_ms", arguments.delay.map(|delay| millis(delay).into())),
            ("at_ms", arguments.at.map(Value::from)),
            ("unique", unique),
            ("after", (!after.is_empty()).then(|| after.into())),
            ("dependence", arguments.after_any.then(|| "end".into())),
            ("attempts_max", arguments.attempts.map(Value::from)),
            ("crashes_max", arguments.crashes.map(Value::from)),
            ("timeout_ms", arguments.timeout.map(|timeout| millis(timeout).into())),
            ("keep_ms", arguments.keep.or(kept).map(|keep| millis(keep).into())),
        ];
        let said = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Self(said.collect())
    }

    /// The job with this id and this payload.
    pub(super) fn filled(&self, id: JobId, payload: Value) -> Value {
        let mut job = self.0.clone();
        job.insert("id".to_owned(), id.to_string().into());
        job.insert("payload".to_owned(), payload);
        Value::Object(job)
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Makes ids that nobody else makes.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// Keyed by chance of the system, once for each process.
    chance: RandomState,
    count: u64,
}

impl Ids {
    pub(super) fn next(&mut self) -> JobId {
        self.count += 1;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let chance = |half: u64| u128::from(self.chance.hash_one((self.count, half)));
        JobId::new(millis(now), chance(0) << 64 | chance(1))
    }
}
