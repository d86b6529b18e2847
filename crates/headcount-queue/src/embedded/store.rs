//! The store as it is called.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use headcount_core::jobs::port::{
    Backend, Command, ExtendAsk, Extended, LeaseAsk, Leased, Listing, NewJob, Page, Reply, Settled,
    Settlement, StoreError, Submitted, Swept,
};
use headcount_core::jobs::{Holder, Label, QueueStats, Rules};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{Instant, timeout, timeout_at};

use super::calls::{Answer, Call, Inbox, Look};
use super::disk::{Disk, Folder};
use super::error::OpenError;
use super::load::Holders;
use super::options::EmbeddedOptions;
use super::works::Works;
use super::writer::{Bells, Writer, bell};

/// A store in a folder of this machine, for one process at a time.
///
/// What is acknowledged is on disk. Opening takes a moment for each hundred thousand jobs; what the
/// last process held when it ended is counted as crashed and handed out again. Its calls need a
/// tokio runtime with time enabled.
///
/// ```
/// use headcount_queue::embedded::{Embedded, EmbeddedOptions};
/// use headcount_queue::jobs::port::{Backend, NewJob};
/// use headcount_queue::jobs::{JobId, JobSpec, Label, State};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let dir = std::env::temp_dir().join(format!("headcount-store-{}", std::process::id()));
/// let queue: Label = "default".parse()?;
/// let store = Embedded::open(&dir, EmbeddedOptions::default())?;
/// let spec = JobSpec::new("thumbnail".parse()?, b"{}".to_vec());
/// store.enqueue(&queue, vec![NewJob { id: JobId::new(0, 1), spec }]).await?;
/// drop(store);
///
/// let store = Embedded::open(&dir, EmbeddedOptions::default())?;
/// assert_eq!(store.stats(&queue).await?.jobs[State::Ready], 1);
/// # drop(store);
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Embedded {
    inbox: Arc<Inbox>,
    bells: Arc<Bells>,
    calls: Semaphore,
    call_timeout: Duration,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The most bytes of payload that one call may submit.
const ENQUEUE_BYTES_MAX: usize = 256 << 20;

impl Embedded {
    /// Opens the store in this folder, which is made if there is none.
    ///
    /// # Errors
    ///
    /// [`OpenError`] when another process has it, or its files cannot be read or written.
    pub fn open(dir: &Path, options: EmbeddedOptions) -> Result<Self, OpenError> {
        Self::open_on(Arc::new(Folder::claim(dir)?), options)
    }

    /// Opens the store on this disk.
    ///
    /// # Errors
    ///
    /// [`OpenError`] when its files cannot be read or written.
    pub fn open_on(disk: Arc<dyn Disk>, options: EmbeddedOptions) -> Result<Self, OpenError> {
        let now = options.clock.now().as_nanos() / 1_000_000;
        let (inbox, bells) = (Arc::<Inbox>::default(), Arc::<Bells>::default());
        let len = options.journal_bytes;
        let works = Works::load(&disk, Arc::clone(&inbox), len, now, Holders::Dead)?;
        let calls = Semaphore::new(options.calls_max.clamp(1, Semaphore::MAX_PERMITS));
        let call_timeout = options.call_timeout;
        let name = disk.name();
        let writer = Writer {
            disk,
            inbox: Arc::clone(&inbox),
            bells: Arc::clone(&bells),
            options,
            last_now: now,
        };
        let thread = std::thread::Builder::new().name("headcount-store".to_owned());
        let thread = thread.spawn(move || writer.run(works));
        let thread = thread.map_err(|error| OpenError::disk(name, error))?;
        Ok(Self { inbox, bells, calls, call_timeout, thread: Mutex::new(Some(thread)) })
    }

    /// Ends the store: what was acknowledged is on disk, the folder is free, and all later calls
    /// answer [`StoreError::Closed`]. Dropping it does the same. Blocks until it is done.
    pub fn close(&self) {
        self.inbox.close();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A writer that panicked has told so already.
            let _ = thread.join();
        }
    }

    /// Makes the file as small as it can be, and answers how many bytes it has then. Nothing else
    /// is done meanwhile. The store does it by itself when it is large and nearly empty.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store is closed or its disk fails.
    pub async fn compact(&self) -> Result<u64, StoreError> {
        self.ask(Call::Compact).await
    }

    /// Lets all who wait look again. For a clock that was moved by hand: nobody sees it move.
    pub fn stir(&self) {
        for bell in self.bells.lock().unwrap_or_else(PoisonError::into_inner).values() {
            bell.notify_waiters();
        }
    }

    async fn ask<T>(&self, call: impl FnOnce(Answer<T>) -> Call) -> Result<T, StoreError> {
        let answered = timeout(self.call_timeout, async {
            let _turn = self.calls.acquire().await.map_err(|_| StoreError::Closed)?;
            let (answer, answered) = oneshot::channel();
            self.inbox.leave(call(answer));
            answered.await.unwrap_or(Err(StoreError::Closed))
        });
        answered.await.unwrap_or_else(|_| {
            let most = self.call_timeout;
            Err(StoreError::unreachable(format!("the disk has not answered within {most:?}")))
        })
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.close();
    }
}

impl Backend for Embedded {
    fn enqueue<'a>(&'a self, queue: &'a Label, jobs: Vec<NewJob>) -> Reply<'a, Vec<Submitted>> {
        Box::pin(async move {
            let bytes: usize = jobs.iter().map(|job| job.spec.payload.len()).sum();
            if ENQUEUE_BYTES_MAX < bytes {
                return Err(StoreError::Refused(format!(
                    "the jobs have {bytes} bytes of payload, allowed are {ENQUEUE_BYTES_MAX} a \
                     call; submit fewer at once",
                )));
            }
            if jobs.is_empty() {
                return Ok(Vec::new());
            }
            self.ask(|answer| Call::Enqueue(queue.clone(), jobs, answer)).await
        })
    }

    fn lease<'a>(&'a self, queue: &'a Label, ask: LeaseAsk) -> Reply<'a, Leased> {
        Box::pin(self.ask(move |answer| Call::Lease(queue.clone(), ask, answer)))
    }

    fn extend<'a>(&'a self, queue: &'a Label, ask: ExtendAsk) -> Reply<'a, Extended> {
        Box::pin(self.ask(move |answer| Call::Extend(queue.clone(), ask, answer)))
    }

    fn settle<'a>(
        &'a self,
        queue: &'a Label,
        holder: Holder,
        settlements: Vec<Settlement>,
    ) -> Reply<'a, Vec<Settled>> {
        let settled = (holder, settlements);
        Box::pin(self.ask(move |answer| Call::Settle(queue.clone(), settled, answer)))
    }

    fn sweep<'a>(&'a self, queue: &'a Label, limit: usize) -> Reply<'a, Swept> {
        Box::pin(self.ask(move |answer| Call::Sweep(queue.clone(), limit, answer)))
    }

    fn stats<'a>(&'a self, queue: &'a Label) -> Reply<'a, QueueStats> {
        Box::pin(self.ask(|answer| Call::Stats(queue.clone(), answer)))
    }

    fn list<'a>(&'a self, queue: &'a Label, listing: Listing) -> Reply<'a, Page> {
        Box::pin(self.ask(move |answer| Call::List(queue.clone(), listing, answer)))
    }

    fn steer<'a>(&'a self, queue: &'a Label, command: Command) -> Reply<'a, u64> {
        Box::pin(self.ask(move |answer| Call::Steer(queue.clone(), command, answer)))
    }

    fn rules<'a>(&'a self, queue: &'a Label) -> Reply<'a, Rules> {
        Box::pin(self.ask(|answer| Call::Rules(queue.clone(), answer)))
    }

    fn queues(&self) -> Reply<'_, Vec<Label>> {
        Box::pin(self.ask(Call::Queues))
    }

    fn wait<'a>(&'a self, queue: &'a Label, most: Duration) -> Reply<'a, ()> {
        Box::pin(async move {
            let end = Instant::now().checked_add(most);
            let bell = bell(&self.bells, queue);
            loop {
                let look = self.ask(|answer| Call::Look(queue.clone(), answer)).await?;
                let Look::Nothing(due) = look else { return Ok(()) };
                let due = due.map(Duration::from_millis);
                let due = due.and_then(|due| Instant::now().checked_add(due));
                let Some(until) = end.into_iter().chain(due).min() else {
                    bell.notified().await;
                    return Ok(());
                };
                if timeout_at(until, bell.notified()).await.is_ok() || Some(until) == end {
                    return Ok(());
                }
            }
        })
    }
}
