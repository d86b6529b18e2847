//! The model as a store, for tests and for trying things out.

use std::collections::BTreeMap;
use std::fmt;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use headcount_core::jobs::port::{
    Backend, Command, ExtendAsk, Extended, LeaseAsk, Leased, Listing, NewJob, Page, Reply, Settled,
    Settlement, Submitted, Swept,
};
use headcount_core::jobs::{Holder, Label, QueueStats, Rules, State};
use headcount_core::{Clock, Timestamp};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::store::Model;

/// A store in memory: every rule is kept, and nothing survives the process.
///
/// For tests and for trying things out. It is the reference model behind a lock, so it is slow
/// with many thousands of jobs.
///
/// ```
/// use headcount_queue::jobs::port::{Backend, NewJob};
/// use headcount_queue::jobs::{JobId, JobSpec, Label, State};
/// use headcount_queue::model::Memory;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let (store, queue): (_, Label) = (Memory::new(), "default".parse()?);
/// let spec = JobSpec::new("thumbnail".parse()?, b"{}".to_vec());
/// store.enqueue(&queue, vec![NewJob { id: JobId::new(0, 1), spec }]).await?;
/// assert_eq!(store.stats(&queue).await?.jobs[State::Ready], 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Memory {
    inside: Mutex<Inside>,
    clock: Arc<dyn Clock>,
}

#[derive(Default)]
struct Inside {
    model: Model,
    /// Who waits at each queue.
    bells: BTreeMap<Label, Arc<Notify>>,
}

struct SinceEpoch;

impl Clock for SinceEpoch {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        // A machine whose clock stands before 1970 has other worries.
        Timestamp::ORIGIN + since.unwrap_or_default()
    }
}

impl Memory {
    /// An empty store with the machine's clock.
    #[must_use]
    pub fn new() -> Self {
        Self::with_clock(Arc::new(SinceEpoch))
    }

    /// An empty store with this clock, which tells the time since 1970.
    #[must_use]
    pub fn with_clock(clock: Arc<dyn Clock>) -> Self {
        Self { inside: Mutex::default(), clock }
    }

    /// Lets all who wait look again. For a clock that was moved by hand: nobody sees it move.
    pub fn stir(&self) {
        for bell in self.lock().bells.values() {
            bell.notify_waiters();
        }
    }

    /// A panic while the lock was held is a defect of the model; going on would hide it no better
    /// than stopping does.
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the model, and rings for as many as may find something that was not there before.
    fn write<T>(&self, queue: &Label, change: impl FnOnce(&mut Model, Timestamp) -> T) -> T {
        let now = self.clock.now();
        let mut inside = self.lock();
        let ready = |model: &Model| model.stats(queue, now).jobs[State::Ready];
        let before = ready(&inside.model);
        let answer = change(&mut inside.model, now);
        if inside.model.has_work(queue, now) {
            let more = ready(&inside.model).saturating_sub(before);
            let bell = inside.bell(queue);
            // At least one, for a call that left jobs behind or raised a limit.
            (0..more.max(1)).for_each(|_| bell.notify_one());
        }
        answer
    }

    /// What there is to wait for, or nothing when there is work already.
    fn reason_to_wait(&self, queue: &Label) -> Option<(Arc<Notify>, Option<Duration>)> {
        let now = self.clock.now();
        let mut inside = self.lock();
        if inside.model.has_work(queue, now) {
            return None;
        }
        let next = inside.model.next_due_at(queue).map(|due_at| due_at.since(now));
        Some((inside.bell(queue), next.filter(|wait| !wait.is_zero())))
    }
}

impl Inside {
    fn bell(&mut self, queue: &Label) -> Arc<Notify> {
        Arc::clone(self.bells.entry(queue.clone()).or_default())
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queues = self.lock().model.queues();
        f.debug_struct("Memory").field("queues", &queues).finish_non_exhaustive()
    }
}

impl Backend for Memory {
    fn enqueue<'a>(&'a self, queue: &'a Label, jobs: Vec<NewJob>) -> Reply<'a, Vec<Submitted>> {
        let submitted = self.write(queue, |model, now| model.enqueue(queue, jobs, now));
        Box::pin(ready(submitted))
    }

    fn lease<'a>(&'a self, queue: &'a Label, ask: LeaseAsk) -> Reply<'a, Leased> {
        let leased = self.write(queue, |model, now| model.lease(queue, ask, now));
        Box::pin(ready(Ok(leased)))
    }

    fn extend<'a>(&'a self, queue: &'a Label, ask: ExtendAsk) -> Reply<'a, Extended> {
        let extended = self.write(queue, |model, now| model.extend(queue, ask, now));
        Box::pin(ready(Ok(extended)))
    }

    fn settle<'a>(
        &'a self,
        queue: &'a Label,
        holder: Holder,
        settlements: Vec<Settlement>,
    ) -> Reply<'a, Vec<Settled>> {
        let settle = |model: &mut Model, now| model.settle(queue, holder, settlements, now);
        let settled = self.write(queue, settle);
        Box::pin(ready(Ok(settled)))
    }

    fn sweep<'a>(&'a self, queue: &'a Label, limit: usize) -> Reply<'a, Swept> {
        let swept = self.write(queue, |model, now| model.sweep(queue, limit, now));
        Box::pin(ready(Ok(swept)))
    }

    fn stats<'a>(&'a self, queue: &'a Label) -> Reply<'a, QueueStats> {
        let stats = self.lock().model.stats(queue, self.clock.now());
        Box::pin(ready(Ok(stats)))
    }

    fn list<'a>(&'a self, queue: &'a Label, listing: Listing) -> Reply<'a, Page> {
        let page = self.lock().model.list(queue, listing);
        Box::pin(ready(page))
    }

    fn steer<'a>(&'a self, queue: &'a Label, command: Command) -> Reply<'a, u64> {
        let concerned = self.write(queue, |model, now| model.steer(queue, command, now));
        Box::pin(ready(concerned))
    }

    fn rules<'a>(&'a self, queue: &'a Label) -> Reply<'a, Rules> {
        let rules = self.lock().model.rules(queue);
        Box::pin(ready(Ok(rules)))
    }

    fn queues(&self) -> Reply<'_, Vec<Label>> {
        let queues = self.lock().model.queues();
        Box::pin(ready(Ok(queues)))
    }

    fn wait<'a>(&'a self, queue: &'a Label, most: Duration) -> Reply<'a, ()> {
        Box::pin(async move {
            let begun = Instant::now();
            let end = begun.checked_add(most);
            while let Some((bell, next)) = self.reason_to_wait(queue) {
                let due = next.and_then(|next| Instant::now().checked_add(next));
                let Some(until) = end.into_iter().chain(due).min() else {
                    bell.notified().await;
                    return Ok(());
                };
                if timeout_at(until, bell.notified()).await.is_ok() || Some(until) == end {
                    return Ok(());
                }
            }
            Ok(())
        })
    }
}
