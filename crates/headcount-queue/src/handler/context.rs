//! What a handler is told, and what it can say while it works.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use headcount_core::jobs::port::LeasedJob;
use headcount_core::jobs::{Holder, JobId, JobSpec, Label};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::JobError;
use super::run::{Grip, Run, Stop};

/// What a handler is told of its job, and where it says how far it is.
///
/// ```
/// use headcount_queue::{Context, JobError};
///
/// // Goes on where it was, and stops where it can go on.
/// async fn import(rows: u32, ctx: Context) -> Result<(), JobError> {
///     for row in ctx.last_checkpoint::<u32>()?.unwrap_or(0)..rows {
///         if ctx.stop_requested() {
///             ctx.checkpoint(&row)?;
///             return Err(JobError::preempted());
///         }
///         ctx.progress(row * 100 / rows);
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Context {
    run: Arc<Run>,
}

impl Context {
    pub(crate) const fn new(run: Arc<Run>) -> Self {
        Self { run }
    }

    /// A context without a consumer, to try a handler in a test.
    ///
    /// ```
    /// use headcount_queue::jobs::{JobId, JobSpec};
    /// use headcount_queue::port::LeasedJob;
    /// use headcount_queue::Context;
    ///
    /// let spec = JobSpec::new("thumbnail".parse()?, b"{}".to_vec());
    /// let job = LeasedJob::new(JobId::new(0, 1), spec);
    /// let ctx = Context::alone("pictures".parse()?, job);
    /// assert_eq!((ctx.kind().as_str(), ctx.attempt()), ("thumbnail", 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn alone(queue: Label, job: LeasedJob) -> Self {
        let holder = Holder::new(0);
        let bytes_max = crate::client::Queue::PAYLOAD_BYTES_MAX;
        let leased = tokio::time::Instant::now();
        let run = Run::new(Arc::new(Grip { queue, holder, epoch: 0, bytes_max, leased }), job);
        run.start();
        Self::new(Arc::new(run))
    }

    /// Which job it is.
    #[must_use]
    pub fn id(&self) -> JobId {
        self.run.id()
    }

    /// Where it came from.
    #[must_use]
    pub fn queue(&self) -> &Label {
        &self.run.grip.queue
    }

    /// Of which kind it is.
    #[must_use]
    pub fn kind(&self) -> &Label {
        &self.run.job.spec.kind
    }

    /// The bytes of its payload.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.run.job.spec.payload
    }

    /// All that was said of it when it was submitted.
    #[must_use]
    pub fn spec(&self) -> &JobSpec {
        &self.run.job.spec
    }

    /// All that the store told when it handed the job out.
    #[must_use]
    pub fn job(&self) -> &LeasedJob {
        &self.run.job
    }

    /// Which try this is, from 1 on.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.run.job.attempts.saturating_add(1)
    }

    /// How often its worker was lost before.
    #[must_use]
    pub fn crashes(&self) -> u32 {
        self.run.job.crashes
    }

    /// How often it was given back unfinished before.
    #[must_use]
    pub fn preemptions(&self) -> u32 {
        self.run.job.preemptions
    }

    /// When its time is up, where it has a timeout.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.run.deadline().map(tokio::time::Instant::into_std)
    }

    /// Says how far it is, from 0 to 100. The store hears of it when the lease is next renewed.
    pub fn progress(&self, percent: impl TryInto<u8>) {
        let percent = percent.try_into().unwrap_or(100).min(100);
        self.run.note_progress(percent);
    }

    /// Says where it could go on, as JSON. The store hears of it when the lease is next renewed,
    /// or when the handler ends, whichever is first.
    ///
    /// # Errors
    ///
    /// When it cannot be written as JSON, or has more bytes than a payload may have.
    pub fn checkpoint(&self, place: &(impl Serialize + ?Sized)) -> Result<(), JobError> {
        let bytes = serde_json::to_vec(place)?;
        let (len, len_max) = (bytes.len(), self.run.grip.bytes_max);
        if len_max < len {
            let why = format_args!("its checkpoint has {len} bytes, allowed are {len_max}");
            return Err(JobError::failed(why));
        }
        self.run.note_checkpoint(bytes);
        Ok(())
    }

    /// Where it can go on, if it ever said so.
    ///
    /// # Errors
    ///
    /// When what was written is something else.
    pub fn last_checkpoint<T: DeserializeOwned>(&self) -> Result<Option<T>, JobError> {
        let read = |bytes: Option<&[u8]>| bytes.map(serde_json::from_slice).transpose();
        Ok(self.run.with_checkpoint(read)?)
    }

    /// Whether it had better come to a stop: its worker is about to end. A job that can go on
    /// later writes a [`checkpoint`](Self::checkpoint) and ends with [`JobError::preempted`]; one
    /// that will be finished soon just goes on.
    #[must_use]
    pub fn stop_requested(&self) -> bool {
        Stop::No < self.run.told()
    }

    /// Returns when [`stop_requested`](Self::stop_requested) becomes true.
    pub async fn stop(&self) {
        self.run.until(|run| Stop::No < run.told()).await;
    }

    /// Whether nobody will use what it does: it timed out, was cancelled, was lost to another
    /// worker, or its worker ends now.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.run.heed();
        Stop::Asked < self.run.told()
    }

    /// Returns when [`is_cancelled`](Self::is_cancelled) becomes true. A handler that has asked
    /// either is given a moment then, others are dropped at once.
    pub async fn cancelled(&self) {
        self.run.heed();
        self.run.until(|run| Stop::Asked < run.told()).await;
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Context");
        shown.field("id", &self.id()).field("kind", self.kind());
        shown.field("attempt", &self.attempt()).finish_non_exhaustive()
    }
}
