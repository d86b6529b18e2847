//! apalis-redis.
//!
//! Every job it takes in goes to the set of scheduled ones, due at once. Its next fetch moves all
//! that is due with one call of `unpack`, which Redis refuses beyond some 8,000, and the worker
//! ends; the notification that would wake an idle worker is not sent for scheduled jobs.

use std::sync::Arc;
use std::time::Duration;

use apalis::prelude::{BackendExt, TaskSink, WorkerBuilder, WorkerBuilderExt};
use apalis_redis::{Config, RedisStorage, connect};

use crate::queues::{Fault, Place, Subject, Tally};

/// How many jobs are fetched at a time: the fastest of those tried.
const BATCH: usize = 100;
/// How often an idle worker looks. At 5 ms it stalls.
const POLL: Duration = Duration::from_millis(100);

#[derive(Clone)]
pub(in crate::queues) struct Apalis {
    storage: RedisStorage<String>,
}

impl Subject for Apalis {
    async fn connect(place: &Place) -> Result<Self, Fault> {
        let config = Config::default().queue("bench").batch_size(BATCH);
        let storage = RedisStorage::new(connect(place.redis()?).await?).with_config(config);
        Ok(Self { storage })
    }

    async fn enqueue_one(&mut self, payload: String) -> Result<(), Fault> {
        Ok(self.storage.push(payload).await?)
    }

    async fn enqueue_bulk(&mut self, payloads: Vec<String>) -> Result<(), Fault> {
        Ok(self.storage.push_bulk(payloads).await?)
    }

    async fn consume(self, concurrency: usize, tally: Arc<Tally>) -> Result<(), Fault> {
        let name = format!("bench-{}", std::process::id());
        let worker = WorkerBuilder::new(name)
            .backend(self.storage.poll_with_interval(POLL))
            .concurrency(concurrency)
            .build(move |payload: String| {
                let tally = Arc::clone(&tally);
                async move { tally.run(&payload).await }
            });
        Ok(worker.run().await?)
    }
}
