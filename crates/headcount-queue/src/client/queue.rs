//! A queue as those see it who submit and who handle.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use headcount_core::jobs::port::{Backend, Command, Listing, StoreError, Submitted, Which};
use headcount_core::jobs::{JobId, JobRecord, JobSpec, Label, LabelError, QueueStats};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::batch::Batch;
use super::error::SubmitError;
use super::outcome::{Outcome, outcome};
use super::submission::Submission;
use crate::handler::{Context, HandleError, Handler, Handlers, JobError, Middleware};

/// A queue in a store: jobs are submitted to it, and handlers say how its jobs are done.
///
/// Cloning it is cheap, and all clones know the same handlers.
///
/// ```
/// use headcount_queue::port::Backend;
/// use headcount_queue::{Context, Queue};
/// use std::sync::Arc;
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Thumbnail { width: u32 }
///
/// async fn begin(store: Arc<dyn Backend>) -> Result<(), Box<dyn std::error::Error>> {
///     let queue = Queue::new(store, "pictures")?;
///     queue.handle("thumbnail", |job: Thumbnail, _ctx| async move {
///         Ok(job.width / 2)
///     })?;
///     queue.submit("thumbnail", &Thumbnail { width: 200 }).await?;
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Queue {
    store: Arc<dyn Backend>,
    name: Label,
    handlers: Handlers,
    payload_bytes_max: usize,
}

impl Queue {
    /// How many bytes a payload may have, unless [`Queue::with_payload_bytes_max`] says otherwise.
    pub const PAYLOAD_BYTES_MAX: usize = 1 << 20;

    /// The queue of this name in this store. It need not exist: a queue begins with its first job.
    ///
    /// # Errors
    ///
    /// When that is no name.
    pub fn new(store: Arc<dyn Backend>, name: &str) -> Result<Self, LabelError> {
        let handlers = Handlers::default();
        let payload_bytes_max = Self::PAYLOAD_BYTES_MAX;
        Ok(Self { store, name: name.parse()?, handlers, payload_bytes_max })
    }

    /// The same queue, for payloads of at most this many bytes.
    #[must_use]
    pub const fn with_payload_bytes_max(mut self, payload_bytes_max: usize) -> Self {
        self.payload_bytes_max = payload_bytes_max;
        self
    }

    /// What it is called.
    #[must_use]
    pub const fn name(&self) -> &Label {
        &self.name
    }

    /// Where its jobs are.
    #[must_use]
    pub const fn store(&self) -> &Arc<dyn Backend> {
        &self.store
    }

    /// How many bytes a payload may have.
    #[must_use]
    pub const fn payload_bytes_max(&self) -> usize {
        self.payload_bytes_max
    }

    /// A job of this kind, with this payload as JSON: await it, and it is in the store.
    pub fn submit(&self, kind: &str, payload: &(impl Serialize + ?Sized)) -> Submission {
        Submission::of(self, kind, payload)
    }

    /// A job of this kind, with these bytes as its payload.
    pub fn submit_bytes(&self, kind: &str, payload: Vec<u8>) -> Submission {
        Submission::of_bytes(self, kind, payload)
    }

    /// A job of which all is said already.
    pub fn submit_spec(&self, spec: JobSpec) -> Submission {
        Submission::of_spec(self, spec)
    }

    /// Submits jobs of this queue, in one call of the store: all of them or none.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with any of them.
    pub async fn submit_many(
        &self,
        jobs: impl IntoIterator<Item = Submission>,
    ) -> Result<Vec<Submitted>, SubmitError> {
        let jobs = jobs.into_iter().map(Submission::checked);
        let jobs = jobs.collect::<Result<Vec<_>, _>>()?;
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.store.enqueue(&self.name, jobs).await?)
    }

    /// Jobs that belong together, with one that runs when all of them have ended.
    pub fn batch(&self) -> Batch {
        Batch::of(self)
    }

    /// What has become of a job when it has ended, or after `most`.
    ///
    /// Needs a runtime with a timer.
    ///
    /// # Errors
    ///
    /// When the store does not say.
    pub async fn outcome(&self, id: JobId, most: Duration) -> Result<Outcome, StoreError> {
        outcome(self, id, most).await
    }

    /// All that the store knows of a job.
    ///
    /// # Errors
    ///
    /// When the store does not say.
    pub async fn job(&self, id: JobId) -> Result<Option<JobRecord>, StoreError> {
        let page = self.store.list(&self.name, Listing::Ids(vec![id])).await?;
        Ok(page.jobs.into_iter().next())
    }

    /// Says that a job is not wanted any more. One that runs is told within two seconds.
    ///
    /// # Errors
    ///
    /// When the store does not say that it heard.
    pub async fn cancel(&self, id: JobId) -> Result<bool, StoreError> {
        let command = Command::Cancel(Which::Ids(vec![id]));
        Ok(self.store.steer(&self.name, command).await? == 1)
    }

    /// The queue in numbers.
    ///
    /// # Errors
    ///
    /// When the store does not say.
    pub async fn stats(&self) -> Result<QueueStats, StoreError> {
        self.store.stats(&self.name).await
    }

    /// Jobs of this kind are done by this: their payload is read from JSON, what it gives is
    /// written as JSON and kept as long as the job says.
    ///
    /// # Errors
    ///
    /// When that is no name of a kind, or it has a handler already.
    pub fn handle<T, R, F, Fut>(&self, kind: &str, handler: F) -> Result<(), HandleError>
    where
        T: DeserializeOwned + Send + 'static,
        R: Serialize + Send + 'static,
        F: Fn(T, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, JobError>> + Send + 'static,
    {
        self.handlers.add_typed(kind, handler)
    }

    /// The same for code that blocks: it runs on a thread of its own, or of a pool of threads.
    ///
    /// Nothing can stop it from outside: let a long one ask
    /// [`is_cancelled`](Context::is_cancelled) every now and then.
    ///
    /// # Errors
    ///
    /// When that is no name of a kind, or it has a handler already.
    pub fn handle_blocking<T, R, F>(&self, kind: &str, handler: F) -> Result<(), HandleError>
    where
        T: DeserializeOwned + Send + 'static,
        R: Serialize + Send + 'static,
        F: Fn(T, Context) -> Result<R, JobError> + Send + Sync + 'static,
    {
        self.handlers.add_blocking(kind, handler)
    }

    /// The same with a [`Handler`] of yours, which sees the bytes.
    ///
    /// # Errors
    ///
    /// When that is no name of a kind, or it has a handler already.
    pub fn handle_with(&self, kind: &str, handler: impl Handler) -> Result<(), HandleError> {
        self.handlers.add(kind, Arc::new(handler))
    }

    /// Every job of this queue goes through this from now on, inside of what was added before.
    pub fn middleware(&self, middleware: impl Middleware) {
        self.handlers.add_middleware(Arc::new(middleware));
    }

    /// The kinds that have a handler, by name.
    #[must_use]
    pub fn kinds(&self) -> Vec<Label> {
        self.handlers.kinds()
    }

    pub(crate) const fn handlers(&self) -> &Handlers {
        &self.handlers
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Queue");
        shown.field("name", &self.name).field("kinds", &self.kinds());
        shown.finish_non_exhaustive()
    }
}
