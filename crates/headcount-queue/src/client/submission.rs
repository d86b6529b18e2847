//! A job that is about to be submitted.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::Duration;

use headcount_core::Timestamp;
use headcount_core::jobs::port::{NewJob, Submitted};
use headcount_core::jobs::{
    Backoff, Dependence, JobId, JobSpec, Label, Priority, Start, Unique, UniqueSpan,
};
use serde::Serialize;

use super::error::SubmitError;
use super::queue::Queue;
use crate::chance::fresh_id;

/// A job that is about to be submitted: await it, and it is in the store.
///
/// It has its id from the beginning, so one whose answer was lost can be sent again as a clone and
/// is taken once. What is wrong with any part of it is told when it is awaited.
///
/// ```
/// use headcount_queue::{Queue, SubmitError};
/// use std::time::Duration;
///
/// async fn remind(queue: &Queue) -> Result<(), SubmitError> {
///     let job = queue.submit("mail", &"wake up").delay(Duration::from_secs(3600));
///     job.unique("reminder of account 17").attempts(5).await?;
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a job is submitted when this is awaited"]
pub struct Submission {
    queue: Queue,
    id: JobId,
    job: Result<JobSpec, SubmitError>,
}

impl Submission {
    pub(super) fn of(queue: &Queue, kind: &str, payload: &(impl Serialize + ?Sized)) -> Self {
        let bytes = serde_json::to_vec(payload);
        match bytes {
            Ok(bytes) => Self::of_bytes(queue, kind, bytes),
            Err(error) => {
                let job = Err(SubmitError::Payload(error.to_string()));
                Self { queue: queue.clone(), id: fresh_id(), job }
            }
        }
    }

    pub(super) fn of_bytes(queue: &Queue, kind: &str, payload: Vec<u8>) -> Self {
        let kind = kind.parse::<Label>().map_err(SubmitError::from);
        let job = kind.map(|kind| JobSpec::new(kind, payload));
        Self { queue: queue.clone(), id: fresh_id(), job }
    }

    pub(super) fn of_spec(queue: &Queue, spec: JobSpec) -> Self {
        Self { queue: queue.clone(), id: fresh_id(), job: Ok(spec) }
    }

    /// The id that it has, or will have.
    #[must_use]
    pub const fn job_id(&self) -> JobId {
        self.id
    }

    /// Has this id: one that follows from your own data makes a repeated submit the same job.
    pub const fn id(mut self, id: JobId) -> Self {
        self.id = id;
        self
    }

    /// How urgent it is: 0 is the most urgent, 9 the least, 5 the default.
    pub fn priority(self, priority: u8) -> Self {
        self.with(|spec| {
            spec.priority = Priority::try_from(priority)?;
            Ok(())
        })
    }

    /// On whose behalf it runs: tenants take turns.
    pub fn tenant(self, tenant: &str) -> Self {
        self.with(|spec| {
            spec.tenant = Some(tenant.parse()?);
            Ok(())
        })
    }

    /// Of jobs with one key only so many run at once as the queue's rules say.
    pub fn key(self, key: &str) -> Self {
        self.with(|spec| {
            spec.key = Some(key.parse()?);
            Ok(())
        })
    }

    /// Starts no earlier than this long after the store took it.
    pub fn delay(self, delay: Duration) -> Self {
        self.set(|spec| spec.start = Start::After(delay))
    }

    /// Starts no earlier than this time since 1970, by the store's clock.
    pub fn at(self, at: Timestamp) -> Self {
        self.set(|spec| spec.start = Start::At(at))
    }

    /// Counts as the job that has this key and has not ended yet, if there is one.
    pub fn unique(self, key: &str) -> Self {
        self.unique_span(key, UniqueSpan::UntilEnded)
    }

    /// Counts as the job that was submitted with this key less than `span` ago, if there is one.
    pub fn unique_for(self, key: &str, span: Duration) -> Self {
        self.unique_span(key, UniqueSpan::For(span))
    }

    /// Counts as the job of this key whose number was not below `number`, if there was one.
    pub fn unique_above(self, key: &str, number: u64) -> Self {
        self.unique_span(key, UniqueSpan::Above(number))
    }

    /// Starts when these have ended well; is dead at once when one of them ends otherwise.
    pub fn after(self, ids: impl IntoIterator<Item = JobId>) -> Self {
        self.set(|spec| spec.after.extend(ids))
    }

    /// Starts when these have ended, however they did.
    pub fn after_end_of(self, ids: impl IntoIterator<Item = JobId>) -> Self {
        self.after(ids).set(|spec| spec.dependence = Dependence::End)
    }

    /// How often its handler may fail in all. The default is 20.
    pub fn attempts(self, attempts_max: u32) -> Self {
        self.set(|spec| spec.retry.attempts_max = attempts_max)
    }

    /// How long it waits before it is tried again. By default from a second to an hour.
    pub fn backoff(self, backoff: Backoff) -> Self {
        self.set(|spec| spec.retry.backoff = backoff)
    }

    /// No try begins later than this after it was submitted.
    pub fn retry_for(self, budget: Duration) -> Self {
        self.set(|spec| spec.retry.budget = Some(budget))
    }

    /// How many lost workers make it a suspect that is put aside. The default is 3.
    pub fn crashes(self, crashes_max: u32) -> Self {
        self.set(|spec| spec.crashes_max = crashes_max)
    }

    /// How long its handler may run. By default as long as it likes.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.set(|spec| spec.timeout = Some(timeout))
    }

    /// How long it is kept with its result once it is done. By default not at all.
    pub fn keep(self, keep: Duration) -> Self {
        self.set(|spec| spec.keep = keep)
    }

    pub(super) const fn queue(&self) -> &Queue {
        &self.queue
    }

    /// What is to be done, without who it is.
    pub(crate) fn into_spec(self) -> Result<JobSpec, SubmitError> {
        self.checked().map(|job| job.spec)
    }

    /// What is wrong with it, or what is to be sent.
    pub(super) fn checked(self) -> Result<NewJob, SubmitError> {
        let spec = self.job?;
        spec.check(self.queue.payload_bytes_max())?;
        Ok(NewJob { id: self.id, spec })
    }

    fn unique_span(self, key: &str, span: UniqueSpan) -> Self {
        self.with(|spec| {
            spec.unique = Some(Unique { key: key.parse()?, span });
            Ok(())
        })
    }

    fn set(self, change: impl FnOnce(&mut JobSpec)) -> Self {
        self.with(|spec| {
            change(spec);
            Ok(())
        })
    }

    /// The first fault is the one that is told.
    fn with(mut self, change: impl FnOnce(&mut JobSpec) -> Result<(), SubmitError>) -> Self {
        self.job = self.job.and_then(|mut spec| change(&mut spec).map(|()| spec));
        self
    }

    async fn send(self) -> Result<Submitted, SubmitError> {
        let queue = self.queue.clone();
        let job = self.checked()?;
        let submitted = queue.store().enqueue(queue.name(), vec![job]).await?;
        Ok(*submitted.first().expect("a store answers for each job it was given"))
    }
}

impl IntoFuture for Submission {
    type Output = Result<Submitted, SubmitError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}
