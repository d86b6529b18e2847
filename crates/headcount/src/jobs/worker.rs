//! A worker of jobs as its owner sees it.

use std::time::Duration;

use headcount_core::{PoolSnapshot, Resizable as _};
use headcount_pool::{Builder, Kind, Pool, TaskPool, ThreadPool};
use headcount_queue::{Consumer, ConsumerBuilder, ConsumerEvent, ConsumerStats, Drained, Queue};
use tokio::runtime::Handle;

use super::builder::{WorkerBuilder, WorkerError};
use super::crew::Crew;
use super::hands::{Hands, Owner, bury};
use crate::live::Scaler;

/// Takes jobs from a queue and runs as many at once as its policy says.
///
/// Dropping it stops what runs and gives it back to the store, without waiting for that;
/// [`drain`](Self::drain) it to see them out.
///
/// ```
/// use headcount::jobs::model::Memory;
/// use headcount::jobs::{Queue, Worker};
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// # let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
/// # runtime.block_on(async {
/// let queue = Queue::new(Arc::new(Memory::new()), "sums")?;
/// queue.handle("double", |number: u32, _ctx| async move { Ok(number * 2) })?;
/// let worker = Worker::builder(&queue).workers(1..=16).start()?;
///
/// let minute = Duration::from_secs(60);
/// let job = queue.submit("double", &21).keep(minute).await?.id();
/// assert_eq!(queue.outcome(job, minute).await?.result::<u32>()?, Some(42));
/// println!("{}", worker.scaler().why());
/// assert!(worker.drain(Worker::GRACE).await.is_clean());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Worker {
    // Dropped first: nothing is decided about a pool that is on its way out.
    scaler: Scaler,
    consumer: Consumer,
    crew: Crew,
    pool: Option<Owner>,
}

/// How often the store is asked how many jobs wait.
const COUNT_EVERY: Duration = Duration::from_millis(250);

impl Worker {
    /// How long a drain takes at most, where nobody says otherwise: it fits into the 30 s that
    /// most supervisors wait between their polite and their last word.
    pub const GRACE: Duration = Duration::from_secs(25);

    /// A worker for this queue.
    pub fn builder(queue: &Queue) -> WorkerBuilder {
        WorkerBuilder::new(queue)
    }

    pub(super) fn start(builder: WorkerBuilder) -> Result<Self, WorkerError> {
        let (hands, owner) = pool(&builder)?;
        let crew = Crew::new(hands);
        let consumer = consumer(&builder, &crew).start().map_err(WorkerError::NoThread)?;
        crew.tell(consumer.poker());
        let scaler = Scaler::of(crew.clone()).name(&builder.name).policy(builder.policy);
        let scaler = builder.more.into_iter().fold(scaler, |scaler, more| more(scaler));
        let scaler = scaler.start().map_err(WorkerError::Policy)?;
        Ok(Self { scaler, consumer, crew, pool: Some(owner) })
    }

    /// Where its jobs come from.
    #[must_use]
    pub fn queue(&self) -> &Queue {
        self.consumer.queue()
    }

    /// What sizes it.
    pub fn scaler(&self) -> &Scaler {
        &self.scaler
    }

    /// What takes its jobs.
    #[must_use]
    pub fn consumer(&self) -> &Consumer {
        &self.consumer
    }

    /// What is known of its jobs.
    #[must_use]
    pub fn stats(&self) -> ConsumerStats {
        self.consumer.stats()
    }

    /// Its pool, with the jobs that wait in the store counted among those that wait.
    #[must_use]
    pub fn snapshot(&self) -> PoolSnapshot {
        self.crew.snapshot()
    }

    /// Takes nothing more, gives back what has not begun, asks the rest to stop, and stops it when
    /// the grace is nearly over. [`Worker::GRACE`] is a good one.
    pub async fn drain(&self, grace: Duration) -> Drained {
        let drained = self.consumer.drain(grace).await;
        self.crew.close();
        drained
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(owner) = self.pool.take() {
            bury(owner);
        }
    }
}

/// The pool that the jobs run on.
fn pool(builder: &WorkerBuilder) -> Result<(Box<dyn Hands>, Owner), WorkerError> {
    if builder.threads {
        let pool = built(builder, ThreadPool::builder())?;
        return Ok((Box::new(pool.handle()), Box::new(pool)));
    }
    let runtime = builder.runtime.clone().or_else(|| Handle::try_current().ok());
    let runtime = runtime.ok_or(WorkerError::NoRuntime)?;
    let pool = built(builder, TaskPool::builder().runtime(runtime))?;
    Ok((Box::new(pool.handle()), Box::new(pool)))
}

/// No more is handed over than there may be workers, so the line is never full.
fn built<K: Kind>(builder: &WorkerBuilder, pool: Builder<K>) -> Result<Pool<K>, WorkerError> {
    let pool = pool.name(&*builder.name).workers(builder.workers);
    let pool = pool.queue_len_max(u64::from(builder.workers.max).max(1) * 2);
    pool.build().map_err(WorkerError::Pool)
}

fn consumer(builder: &WorkerBuilder, crew: &Crew) -> ConsumerBuilder {
    let counts = crew.clone();
    let mut consumer = Consumer::builder(&builder.queue, crew.clone()).stats_every(COUNT_EVERY);
    consumer = consumer.on_event(move |event| {
        if let ConsumerEvent::Counted(stats) = event {
            counts.counted(stats);
        }
    });
    for listener in &builder.listeners {
        let listener = std::sync::Arc::clone(listener);
        consumer = consumer.on_event(move |event| listener(event));
    }
    builder.schedules.iter().cloned().fold(consumer, ConsumerBuilder::schedule)
}
