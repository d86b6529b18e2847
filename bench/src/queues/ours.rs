//! Ours, on Redis and in a folder. As safe as it is by default: a job leaves the store when its
//! end is written there, and every change of the folder is synced before it is acknowledged.

use std::future::pending;
use std::sync::Arc;

use headcount_queue::embedded::{Embedded, EmbeddedOptions};
use headcount_queue::port::Backend;
use headcount_queue::redis::{RedisOptions, RedisStore};
use headcount_queue::{Consumer, Queue, TaskSlots};
use tokio::runtime::Handle;

use super::{Fault, Place, Subject, Tally};

const QUEUE: &str = "bench";
const KIND: &str = "no-op";

#[derive(Clone)]
pub(super) struct Ours {
    queue: Queue,
}

impl Subject for Ours {
    async fn connect(place: &Place) -> Result<Self, Fault> {
        let store: Arc<dyn Backend> = match place {
            Place::Redis(url) => Arc::new(RedisStore::connect(url, RedisOptions::default()).await?),
            Place::Folder(folder) => Arc::new(Embedded::open(folder, EmbeddedOptions::default())?),
        };
        Ok(Self { queue: Queue::new(store, QUEUE)? })
    }

    async fn enqueue_one(&mut self, payload: String) -> Result<(), Fault> {
        self.queue.submit(KIND, &payload).await?;
        Ok(())
    }

    async fn enqueue_bulk(&mut self, payloads: Vec<String>) -> Result<(), Fault> {
        let jobs = payloads.iter().map(|payload| self.queue.submit(KIND, payload));
        self.queue.submit_many(jobs).await?;
        Ok(())
    }

    async fn consume(self, concurrency: usize, tally: Arc<Tally>) -> Result<(), Fault> {
        self.queue.handle(KIND, move |payload: String, _ctx| {
            let tally = Arc::clone(&tally);
            async move {
                tally.run(&payload).await;
                Ok(())
            }
        })?;
        let slots = TaskSlots::new(concurrency, Handle::current());
        // Held for as long as the process lives, as it takes nothing once it is dropped.
        let _consumer = Consumer::builder(&self.queue, slots).start()?;
        pending().await
    }
}
