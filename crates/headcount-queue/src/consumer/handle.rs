//! A consumer as its owner sees it, and where its loops run.

use std::io;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use headcount_core::Poke;
use headcount_core::jobs::QueueStats;
use tokio::runtime::{Builder, Handle, Runtime};

use super::builder::ConsumerBuilder;
use super::draining;
use super::events::{ConsumerStats, Drained};
use super::here::{self, watch_loop};
use super::keeping::renew_loop;
use super::leasing::lease_loop;
use super::settling::settle_loop;
use super::shared::{Phase, Shared};
use super::slots::Slots;
use super::upkeep::{schedule_loop, stats_loop, sweep_loop};
use super::warden::warden_loop;
use crate::client::Queue;
use crate::schedule::Schedule;
use crate::sync::lock;

/// Takes jobs from a queue and has them done, until it is drained or dropped.
///
/// Dropping it stops what runs and gives it back, without waiting for that.
///
/// ```
/// use headcount_queue::model::Memory;
/// use headcount_queue::{Consumer, Queue, TaskSlots};
/// use std::sync::Arc;
/// use std::time::Duration;
/// use tokio::runtime::{Builder, Handle};
///
/// # Builder::new_multi_thread().enable_all().build()?.block_on(async {
/// let queue = Queue::new(Arc::new(Memory::new()), "sums")?;
/// queue.handle("double", |number: u32, _ctx| async move { Ok(number * 2) })?;
/// let minute = Duration::from_secs(60);
/// let job = queue.submit("double", &21).keep(minute).await?.id();
///
/// let consumer = Consumer::builder(&queue, TaskSlots::new(8, Handle::current())).start()?;
/// assert_eq!(queue.outcome(job, minute).await?.result::<u32>()?, Some(42));
/// assert!(consumer.drain(Duration::from_secs(25)).await.is_clean());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Consumer {
    shared: Arc<Shared>,
}

/// How old what the store told may be, to be of use.
const BACKLOG_AGE_MAX: Duration = Duration::from_secs(10);

impl Consumer {
    /// A consumer of this queue, with these slots.
    pub fn builder(queue: &Queue, slots: impl Slots) -> ConsumerBuilder {
        ConsumerBuilder::new(queue, Arc::new(slots))
    }

    pub(super) fn start(mut builder: ConsumerBuilder) -> io::Result<Self> {
        let schedules = std::mem::take(&mut builder.schedules);
        let name = builder.queue.name().clone();
        let (sender, started) = mpsc::channel();
        on_a_thread(format!("take {name}"), move |runtime| {
            let runtime = Arc::new(runtime);
            let shared = Arc::new(Shared::new(builder, runtime.handle().clone()));
            // Whoever asked for it is waiting for it.
            let _ = sender.send((Arc::clone(&shared), Arc::downgrade(&runtime)));
            let takes = Arc::clone(&shared);
            let loops = runtime.spawn(async move { take(&takes).await });
            here::take(&runtime, &shared, loops);
        })?;
        let (shared, taker) = started.recv().map_err(io::Error::other)?;
        let consumer = Self { shared: Arc::clone(&shared) };
        on_a_thread(format!("keep {name}"), move |runtime| {
            let keeps =
                async { tokio::join!(keep(&shared, schedules), watch_loop(&shared, taker)) };
            runtime.block_on(keeps);
        })?;
        Ok(consumer)
    }

    pub(super) fn start_here(mut builder: ConsumerBuilder) -> Self {
        let schedules = std::mem::take(&mut builder.schedules);
        let runtime = Handle::current();
        let shared = Arc::new(Shared::new(builder, runtime.clone()));
        let (takes, keeps) = (Arc::clone(&shared), Arc::clone(&shared));
        runtime.spawn(async move { take(&takes).await });
        runtime.spawn(async move { keep(&keeps, schedules).await });
        Self { shared }
    }

    /// Where its jobs come from.
    #[must_use]
    pub fn queue(&self) -> &Queue {
        &self.shared.queue
    }

    /// It in numbers.
    #[must_use]
    pub fn stats(&self) -> ConsumerStats {
        let held = lock(&self.shared.held).runs.len();
        self.shared.tally.stats(held)
    }

    /// The queue in numbers, as the store last told, if it was asked for
    /// [that](ConsumerBuilder::stats_every) and has answered within ten seconds.
    #[must_use]
    pub fn backlog(&self) -> Option<QueueStats> {
        let backlog = lock(&self.shared.backlog);
        let young = backlog.as_ref().filter(|(at, _)| at.elapsed() <= BACKLOG_AGE_MAX);
        young.map(|(_, stats)| stats.clone())
    }

    /// Looks for free slots now.
    pub fn poke(&self) {
        self.shared.slot_bell.notify_one();
    }

    /// The same as a closure that can be kept, and does nothing once the consumer is gone.
    #[must_use]
    pub fn poker(&self) -> Poke {
        let shared = Arc::downgrade(&self.shared);
        Arc::new(move || {
            if let Some(shared) = shared.upgrade() {
                shared.slot_bell.notify_one();
            }
        })
    }

    /// Takes nothing more, gives back what has not begun, asks the rest to stop, and stops it when
    /// the grace is nearly over. Returns when all has ended, within the grace and a moment.
    ///
    /// What is given back counts as preempted, not as failed, even if it had not begun.
    pub async fn drain(&self, grace: Duration) -> Drained {
        draining::begin(&self.shared, grace);
        let mut drained = self.shared.drained.subscribe();
        let drained = drained.wait_for(Option::is_some).await;
        drained.ok().and_then(|drained| *drained).unwrap_or_default()
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        draining::begin(&self.shared, Duration::ZERO);
    }
}

/// Runs something on a thread of its own, with a runtime of its own.
fn on_a_thread(name: String, run: impl FnOnce(Runtime) + Send + 'static) -> io::Result<()> {
    let (sender, started) = mpsc::channel();
    thread::Builder::new().name(name).spawn(move || {
        let runtime = match Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                let _ = sender.send(Err(error));
                return;
            }
        };
        let _ = sender.send(Ok(()));
        run(runtime);
    })?;
    started.recv().map_err(io::Error::other)?
}

/// Takes jobs and says how they ended, until all is over.
async fn take(shared: &Arc<Shared>) {
    let ends = async {
        let drained = draining::see_through(shared, lease_loop(shared)).await;
        shared.phase.send_replace(Phase::Closed);
        shared.drained.send_replace(Some(drained));
    };
    tokio::join!(ends, settle_loop(shared), warden_loop(shared));
}

/// Keeps the lease and does what somebody has to do, until all is over.
async fn keep(shared: &Arc<Shared>, schedules: Vec<Schedule>) {
    tokio::join!(
        renew_loop(shared),
        sweep_loop(shared),
        stats_loop(shared),
        schedule_loop(shared, schedules),
    );
}
