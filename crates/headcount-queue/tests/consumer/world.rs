//! A store whose every call is seen and can be made to fail, in virtual time.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use headcount_core::{Clock, Timestamp};
use headcount_queue::jobs::{Holder, JobId, JobRecord, Label, QueueStats, Rules};
use headcount_queue::model::Memory;
use headcount_queue::port::{
    Backend, Command, ExtendAsk, Extended, LeaseAsk, Leased, Listing, NewJob, Page, Reply, Settled,
    Settlement, StoreError, Submitted, Swept, Turned,
};
use headcount_queue::{Consumer, ConsumerBuilder, Queue, TaskSlots};
use tokio::runtime::{Builder, Handle};
/// Time is virtual: it passes when nobody has anything to do.
pub(crate) use tokio::time::{Instant, sleep};

/// Tells a story in virtual time.
pub(crate) fn story<F: Future>(story: F) {
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("a runtime").block_on(story);
}

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const MINUTE: Duration = Duration::from_secs(60);
/// When every story begins: midnight of a day in 2033.
pub(crate) const BEGIN: Timestamp = Timestamp::from_secs(2_000_073_600);

/// The store's clock: the runtime's, so that both pass together.
struct RuntimeClock(Instant);

impl Clock for RuntimeClock {
    fn now(&self) -> Timestamp {
        BEGIN + self.0.elapsed()
    }
}

/// A line to a store: what goes over it is counted, and it can be cut.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    memory: Arc<Memory>,
    is_cut: Arc<AtomicBool>,
    is_mute: Arc<AtomicBool>,
    /// How many milliseconds the next lease is on its way.
    lease_delay_ms: Arc<AtomicU64>,
    /// How many milliseconds its answer is on its way back.
    answer_delay_ms: Arc<AtomicU64>,
    /// Whether the answer to the next lease is lost on its way back, or that to the next turn.
    loses_next_lease: Arc<AtomicBool>,
    loses_next_turn: Arc<AtomicBool>,
    calls: Arc<Calls>,
}

#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub(crate) leases: AtomicUsize,
    pub(crate) waits: AtomicUsize,
    pub(crate) settles: AtomicUsize,
    pub(crate) turns: AtomicUsize,
    pub(crate) extends: AtomicUsize,
    /// How many jobs were asked for in each lease.
    pub(crate) asked: Mutex<Vec<usize>>,
}

impl Line {
    pub(crate) fn new() -> Self {
        let memory = Memory::with_clock(Arc::new(RuntimeClock(Instant::now())));
        Self::to(Arc::new(memory))
    }

    fn to(memory: Arc<Memory>) -> Self {
        let (is_cut, is_mute, calls) = Default::default();
        let (lease_delay_ms, answer_delay_ms) = Default::default();
        let (loses_next_lease, loses_next_turn) = Default::default();
        Self {
            memory,
            is_cut,
            is_mute,
            lease_delay_ms,
            answer_delay_ms,
            loses_next_lease,
            loses_next_turn,
            calls,
        }
    }

    /// Another line to the same store.
    pub(crate) fn another(&self) -> Self {
        Self::to(Arc::clone(&self.memory))
    }

    pub(crate) fn cut(&self) {
        self.is_cut.store(true, Ordering::Relaxed);
    }

    /// The next lease takes so long to reach the store.
    pub(crate) fn hold_up_next_lease(&self, span: Duration) {
        let millis = u64::try_from(span.as_millis()).expect("a short while");
        self.lease_delay_ms.store(millis, Ordering::Relaxed);
    }

    /// The next lease is carried out at once, and its answer takes so long.
    pub(crate) fn hold_up_next_answer(&self, span: Duration) {
        let millis = u64::try_from(span.as_millis()).expect("a short while");
        self.answer_delay_ms.store(millis, Ordering::Relaxed);
    }

    /// The next lease is carried out, and nobody hears of it.
    pub(crate) fn lose_next_lease(&self) {
        self.loses_next_lease.store(true, Ordering::Relaxed);
    }

    /// The next turn is carried out, and nobody hears of it.
    pub(crate) fn lose_next_turn(&self) {
        self.loses_next_turn.store(true, Ordering::Relaxed);
    }

    /// No renewal comes through any more.
    pub(crate) fn mute_renewals(&self) {
        self.is_mute.store(true, Ordering::Relaxed);
    }

    pub(crate) fn mend(&self) {
        self.is_cut.store(false, Ordering::Relaxed);
    }

    pub(crate) fn calls(&self) -> &Calls {
        &self.calls
    }

    pub(crate) fn queue(&self) -> Queue {
        Queue::new(Arc::new(self.clone()), "default").expect("a name")
    }

    fn over<'a, T: Send + 'a>(&'a self, call: Reply<'a, T>) -> Reply<'a, T> {
        match self.is_cut.load(Ordering::Relaxed) {
            true => Box::pin(async { Err(StoreError::unreachable("the line is cut")) }),
            false => call,
        }
    }
}

/// A consumer of this queue with so many slots, in this runtime.
pub(crate) fn consumer(queue: &Queue, slots: usize) -> Consumer {
    builder(queue, slots).start_here()
}

pub(crate) fn builder(queue: &Queue, slots: usize) -> ConsumerBuilder {
    Consumer::builder(queue, TaskSlots::new(slots, Handle::current()))
}

/// What the store knows of a job.
pub(crate) async fn record(queue: &Queue, id: JobId) -> JobRecord {
    queue.job(id).await.expect("the store answers").expect("the job is known")
}

impl Backend for Line {
    fn enqueue<'a>(&'a self, queue: &'a Label, jobs: Vec<NewJob>) -> Reply<'a, Vec<Submitted>> {
        self.over(Box::pin(async move { self.memory.enqueue(queue, jobs).await }))
    }

    fn lease<'a>(&'a self, queue: &'a Label, ask: LeaseAsk) -> Reply<'a, Leased> {
        self.calls.leases.fetch_add(1, Ordering::Relaxed);
        self.calls.asked.lock().unwrap().push(ask.jobs_max);
        let delay = Duration::from_millis(self.lease_delay_ms.swap(0, Ordering::Relaxed));
        self.over(Box::pin(async move {
            sleep(delay).await;
            let leased = self.memory.lease(queue, ask).await;
            let delay = self.answer_delay_ms.swap(0, Ordering::Relaxed);
            sleep(Duration::from_millis(delay)).await;
            match self.loses_next_lease.swap(false, Ordering::Relaxed) {
                true => Err(StoreError::unreachable("the answer was lost")),
                false => leased,
            }
        }))
    }

    fn extend<'a>(&'a self, queue: &'a Label, ask: ExtendAsk) -> Reply<'a, Extended> {
        self.calls.extends.fetch_add(1, Ordering::Relaxed);
        if self.is_mute.load(Ordering::Relaxed) {
            return Box::pin(async { Err(StoreError::unreachable("not a word")) });
        }
        self.over(Box::pin(async move { self.memory.extend(queue, ask).await }))
    }

    fn settle<'a>(
        &'a self,
        queue: &'a Label,
        holder: Holder,
        settlements: Vec<Settlement>,
    ) -> Reply<'a, Vec<Settled>> {
        self.calls.settles.fetch_add(1, Ordering::Relaxed);
        self.over(Box::pin(async move { self.memory.settle(queue, holder, settlements).await }))
    }

    fn turn<'a>(
        &'a self,
        queue: &'a Label,
        settlements: Vec<Settlement>,
        ask: LeaseAsk,
    ) -> Reply<'a, Turned> {
        self.calls.turns.fetch_add(1, Ordering::Relaxed);
        self.calls.asked.lock().unwrap().push(ask.jobs_max);
        self.over(Box::pin(async move {
            let turned = self.memory.turn(queue, settlements, ask).await;
            match self.loses_next_turn.swap(false, Ordering::Relaxed) {
                true => Err(StoreError::unreachable("the answer was lost")),
                false => turned,
            }
        }))
    }

    fn turns_in_one_step(&self) -> bool {
        true
    }

    fn sweep<'a>(&'a self, queue: &'a Label, limit: usize) -> Reply<'a, Swept> {
        self.over(Box::pin(async move { self.memory.sweep(queue, limit).await }))
    }

    fn stats<'a>(&'a self, queue: &'a Label) -> Reply<'a, QueueStats> {
        self.over(Box::pin(async move { self.memory.stats(queue).await }))
    }

    fn list<'a>(&'a self, queue: &'a Label, listing: Listing) -> Reply<'a, Page> {
        self.over(Box::pin(async move { self.memory.list(queue, listing).await }))
    }

    fn steer<'a>(&'a self, queue: &'a Label, command: Command) -> Reply<'a, u64> {
        self.over(Box::pin(async move { self.memory.steer(queue, command).await }))
    }

    fn rules<'a>(&'a self, queue: &'a Label) -> Reply<'a, Rules> {
        self.over(self.memory.rules(queue))
    }

    fn queues(&self) -> Reply<'_, Vec<Label>> {
        self.over(self.memory.queues())
    }

    fn wait<'a>(&'a self, queue: &'a Label, most: Duration) -> Reply<'a, ()> {
        self.calls.waits.fetch_add(1, Ordering::Relaxed);
        self.over(self.memory.wait(queue, most))
    }
}
