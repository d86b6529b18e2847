//! rusty-sidekiq. It takes a job out of Redis before it runs it.

use std::sync::Arc;

use async_trait::async_trait;
use sidekiq::{Processor, ProcessorConfig, RedisConnectionManager, RedisPool, Worker, WorkerOpts};

use crate::queues::{Fault, Place, Subject, Tally};

const QUEUE: &str = "bench";
/// Beside those that its workers block: for its books, and for what it looks at now and then.
const SPARE_CONNECTIONS: u32 = 10;

#[derive(Clone)]
pub(in crate::queues) struct Sidekiq {
    manager: RedisConnectionManager,
    /// As large as it is by default, for the producer.
    pool: RedisPool,
}

struct NoOp {
    tally: Arc<Tally>,
}

#[async_trait]
impl Worker<String> for NoOp {
    fn opts() -> WorkerOpts<String, Self> {
        WorkerOpts::new().queue(QUEUE)
    }

    async fn perform(&self, payload: String) -> sidekiq::Result<()> {
        self.tally.run(&payload).await;
        Ok(())
    }
}

impl Subject for Sidekiq {
    async fn connect(place: &Place) -> Result<Self, Fault> {
        let manager = RedisConnectionManager::new(place.redis()?)?;
        let pool = RedisPool::builder().build(manager.clone()).await?;
        Ok(Self { manager, pool })
    }

    async fn enqueue_one(&mut self, payload: String) -> Result<(), Fault> {
        Ok(NoOp::perform_async(&self.pool, payload).await?)
    }

    async fn enqueue_bulk(&mut self, _payloads: Vec<String>) -> Result<(), Fault> {
        Err("it has no call for many jobs".into())
    }

    async fn consume(self, concurrency: usize, tally: Arc<Tally>) -> Result<(), Fault> {
        let connections = u32::try_from(concurrency)? + SPARE_CONNECTIONS;
        let pool = RedisPool::builder().max_size(connections).build(self.manager).await?;
        let config = ProcessorConfig::default().num_workers(concurrency);
        let mut processor = Processor::new(pool, vec![QUEUE.to_owned()]).with_config(config);
        processor.register(NoOp { tally });
        processor.run().await;
        Ok(())
    }
}
