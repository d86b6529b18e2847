//! Waiting for a job to end.

use std::time::Duration;

use headcount_core::jobs::port::{Listing, StoreError};
use headcount_core::jobs::{JobId, JobRecord, State};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep};

use super::queue::Queue;

/// What became of a job.
///
/// ```
/// use headcount_queue::Outcome;
///
/// let outcome = Outcome::Done { result: Some(b"42".to_vec()) };
/// assert_eq!(outcome.result::<u32>().expect("a number"), Some(42));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// It ended well.
    Done {
        /// What its handler gave, where it was kept.
        result: Option<Vec<u8>>,
    },
    /// It failed for good.
    Dead {
        /// Why it failed last.
        error: String,
    },
    /// It took too many workers with it.
    Quarantined {
        /// What is known of that.
        error: String,
    },
    /// Somebody did not want it any more.
    Cancelled,
    /// It has not ended yet.
    Pending(State),
    /// The store does not know it: it never did, or it ended and was not kept. Submit with
    /// [`keep`](super::Submission::keep) what you want to know the outcome of.
    Unknown,
}

impl Outcome {
    fn of(record: Option<JobRecord>) -> Self {
        let Some(record) = record else { return Self::Unknown };
        let error = record.error.unwrap_or_default();
        match record.state {
            State::Done => Self::Done { result: record.result },
            State::Dead => Self::Dead { error },
            State::Quarantined => Self::Quarantined { error },
            State::Cancelled => Self::Cancelled,
            state => Self::Pending(state),
        }
    }

    /// What its handler gave, read as JSON. `None` when it gave nothing or has not ended well.
    ///
    /// # Errors
    ///
    /// When the result is something else.
    pub fn result<T: DeserializeOwned>(&self) -> Result<Option<T>, serde_json::Error> {
        match self {
            Self::Done { result: Some(bytes) } => serde_json::from_slice(bytes).map(Some),
            _ => Ok(None),
        }
    }
}

/// How long between two looks at first, and at most.
const LOOK_AFTER: Duration = Duration::from_millis(5);
const LOOK_AFTER_MAX: Duration = Duration::from_millis(500);

/// What has become of the job when it has ended, or after `most`.
pub(super) async fn outcome(
    queue: &Queue,
    id: JobId,
    most: Duration,
) -> Result<Outcome, StoreError> {
    let deadline = Instant::now() + most;
    let mut pause = LOOK_AFTER;
    loop {
        let page = queue.store().list(queue.name(), Listing::Ids(vec![id])).await?;
        let outcome = Outcome::of(page.jobs.into_iter().next());
        let left = deadline.saturating_duration_since(Instant::now());
        if !matches!(outcome, Outcome::Pending(_)) || left.is_zero() {
            return Ok(outcome);
        }
        sleep(pause.min(left)).await;
        pause = (pause * 2).min(LOOK_AFTER_MAX);
    }
}
