//! Jobs that belong together, and the one that runs when all of them have ended.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use headcount_core::jobs::JobId;
use headcount_core::jobs::port::Submitted;
use serde::Serialize;

use super::error::SubmitError;
use super::queue::Queue;
use super::submission::Submission;

/// Jobs that belong together: say what follows when all of them have ended.
///
/// ```
/// use headcount_queue::{Queue, SubmitError};
///
/// async fn album(queue: &Queue, pictures: &[String]) -> Result<(), SubmitError> {
///     let mut batch = queue.batch();
///     for picture in pictures {
///         batch = batch.add(queue.submit("thumbnail", picture));
///     }
///     let submitted = batch.then("album-ready", &"album 17").await?;
///     assert_eq!(submitted.jobs.len(), pictures.len());
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a batch is submitted when what follows is said and awaited"]
pub struct Batch {
    queue: Queue,
    jobs: Vec<Submission>,
}

/// A batch that is about to be submitted: await it, and all of it is in the store, or none.
///
/// ```
/// use headcount_queue::{Queue, SubmitError};
///
/// async fn nothing_first(queue: &Queue) -> Result<(), SubmitError> {
///     let batch = queue.batch().then("report", &()).callback(|job| job.priority(1));
///     batch.await?;
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a batch is submitted when this is awaited"]
pub struct BatchSubmission {
    jobs: Vec<Submission>,
    callback: Submission,
}

/// What became of a batch.
///
/// ```
/// use headcount_queue::jobs::JobId;
/// use headcount_queue::port::Submitted;
/// use headcount_queue::BatchSubmitted;
///
/// let callback = Submitted::New(JobId::new(0, 1));
/// let batch = BatchSubmitted { jobs: Vec::new(), callback };
/// assert_eq!(batch.callback.id(), JobId::new(0, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchSubmitted {
    /// The jobs, in the order in which they were added.
    pub jobs: Vec<Submitted>,
    /// The job that runs when all of them have ended.
    pub callback: Submitted,
}

impl Batch {
    pub(super) fn of(queue: &Queue) -> Self {
        Self { queue: queue.clone(), jobs: Vec::new() }
    }

    /// One more, at most [`JobSpec::AFTER_MAX`](headcount_core::jobs::JobSpec::AFTER_MAX) in all.
    ///
    /// One that turns out to be another's again is not waited for.
    #[allow(clippy::should_implement_trait, reason = "a batch and a job make no sum")]
    pub fn add(mut self, job: Submission) -> Self {
        self.jobs.push(job);
        self
    }

    /// Runs a job of this kind when all have ended, however they did.
    pub fn then(self, kind: &str, payload: &(impl Serialize + ?Sized)) -> BatchSubmission {
        let ids: Vec<JobId> = self.jobs.iter().map(Submission::job_id).collect();
        let callback = self.queue.submit(kind, payload).after_end_of(ids);
        BatchSubmission { jobs: self.jobs, callback }
    }
}

impl BatchSubmission {
    /// Says more about the job that runs at the end.
    pub fn callback(mut self, change: impl FnOnce(Submission) -> Submission) -> Self {
        self.callback = change(self.callback);
        self
    }

    async fn send(self) -> Result<BatchSubmitted, SubmitError> {
        let queue = self.callback.queue().clone();
        let all = self.jobs.into_iter().chain([self.callback]);
        let all = all.map(Submission::checked).collect::<Result<Vec<_>, _>>()?;
        // One call, so that no crash can leave the jobs without what follows them.
        let mut jobs = queue.store().enqueue(queue.name(), all).await?;
        let callback = jobs.pop().expect("a store answers for each job it was given");
        Ok(BatchSubmitted { jobs, callback })
    }
}

impl IntoFuture for BatchSubmission {
    type Output = Result<BatchSubmitted, SubmitError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}
