//! A store that can be made to fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use headcount_core::Timestamp;
use headcount_queue::jobs::port::{
    Backend, Command, ExtendAsk, Extended, LeaseAsk, Leased, Listing, NewJob, Page, Reply, Settled,
    Settlement, StoreError, Submitted, Swept,
};
use headcount_queue::jobs::{Holder, Label, QueueStats, Rules};
use headcount_queue::model::{HandClock, Memory};
use tokio::sync::Semaphore;

/// How a store behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// It does what it should.
    Fine,
    /// It says that it cannot be reached.
    Away,
    /// It never answers.
    Mute,
    /// It panics.
    Mad,
}

/// A store in memory that can be made to fail.
#[derive(Debug)]
pub struct Flaky {
    pub memory: Memory,
    mood: AtomicU8,
    /// One for each call that will never be answered.
    unanswered: Semaphore,
}

impl Default for Flaky {
    /// Its clock stands still, so that what is shown changes only where something was changed.
    fn default() -> Self {
        let clock = HandClock::at(Timestamp::from_secs(1_800_000_000));
        Self {
            memory: Memory::with_clock(Arc::new(clock)),
            mood: AtomicU8::new(0),
            unanswered: Semaphore::new(0),
        }
    }
}

impl Flaky {
    pub fn be(&self, mood: Mood) {
        self.mood.store(mood as u8, Ordering::SeqCst);
    }

    /// Returns when so many calls wait for an answer that will not come.
    pub async fn unanswered(&self, calls: u32) {
        drop(self.unanswered.acquire_many(calls).await.expect("nobody closes it"));
    }

    fn or<'a, T: 'a>(&'a self, answer: impl FnOnce(&'a Memory) -> Reply<'a, T>) -> Reply<'a, T> {
        match self.mood.load(Ordering::SeqCst) {
            0 => answer(&self.memory),
            1 => Box::pin(async { Err(StoreError::unreachable("the cable is out")) }),
            2 => {
                self.unanswered.add_permits(1);
                Box::pin(std::future::pending())
            }
            _ => panic!("a store that panics"),
        }
    }
}

impl Backend for Flaky {
    fn enqueue<'a>(&'a self, queue: &'a Label, jobs: Vec<NewJob>) -> Reply<'a, Vec<Submitted>> {
        self.or(|memory| memory.enqueue(queue, jobs))
    }

    fn lease<'a>(&'a self, queue: &'a Label, ask: LeaseAsk) -> Reply<'a, Leased> {
        self.or(|memory| memory.lease(queue, ask))
    }

    fn extend<'a>(&'a self, queue: &'a Label, ask: ExtendAsk) -> Reply<'a, Extended> {
        self.or(|memory| memory.extend(queue, ask))
    }

    fn settle<'a>(
        &'a self,
        queue: &'a Label,
        holder: Holder,
        settlements: Vec<Settlement>,
    ) -> Reply<'a, Vec<Settled>> {
        self.or(|memory| memory.settle(queue, holder, settlements))
    }

    fn sweep<'a>(&'a self, queue: &'a Label, limit: usize) -> Reply<'a, Swept> {
        self.or(|memory| memory.sweep(queue, limit))
    }

    fn stats<'a>(&'a self, queue: &'a Label) -> Reply<'a, QueueStats> {
        self.or(|memory| memory.stats(queue))
    }

    fn list<'a>(&'a self, queue: &'a Label, listing: Listing) -> Reply<'a, Page> {
        self.or(|memory| memory.list(queue, listing))
    }

    fn steer<'a>(&'a self, queue: &'a Label, command: Command) -> Reply<'a, u64> {
        self.or(|memory| memory.steer(queue, command))
    }

    fn rules<'a>(&'a self, queue: &'a Label) -> Reply<'a, Rules> {
        self.or(|memory| memory.rules(queue))
    }

    fn queues(&self) -> Reply<'_, Vec<Label>> {
        self.or(Backend::queues)
    }

    fn wait<'a>(&'a self, queue: &'a Label, most: Duration) -> Reply<'a, ()> {
        self.or(|memory| memory.wait(queue, most))
    }
}
