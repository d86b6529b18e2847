//! One thread that looks after many scalers.
//!
//! The thread exists while there is somebody to look after, and only once, however often scalers
//! come and go. It holds no scaler: one that nobody holds any more is forgotten.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use headcount_core::{Clock, Timestamp};

use super::agenda::{Agenda, Member};
use super::inner::Inner;
use crate::clock::SystemClock;
use crate::sync::lock;

/// Looks after scalers: whenever one is due, it observes, decides, resizes and records.
///
/// One thread serves any number of them. Clones are the same driver. Everybody shares
/// [`Driver::shared`] who does not ask for another.
///
/// ```
/// use headcount::{Driver, Preset, Scaler, ThreadPool};
///
/// let driver = Driver::new();
/// let pool = ThreadPool::builder().workers(1..=8).build()?;
/// let scaler = Scaler::of(pool.handle()).policy(Preset::gopipe()).driver(&driver).start()?;
/// assert_eq!(driver.len(), 1);
/// drop(scaler);
/// assert!(driver.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Driver {
    shared: Arc<Shared>,
}

struct Shared {
    clock: Arc<dyn Clock>,
    desk: Mutex<Desk>,
    bell: Condvar,
    /// Whether a thread is to be started, or whoever made it calls [`Driver::run_due`].
    has_thread: bool,
}

struct Desk {
    agenda: Agenda<Weak<Inner>>,
    is_running: bool,
}

impl Driver {
    /// A driver with a thread of its own.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Arc::new(SystemClock), true)
    }

    /// The driver of this process.
    #[must_use]
    pub fn shared() -> Self {
        static SHARED: LazyLock<Driver> = LazyLock::new(Driver::new);
        SHARED.clone()
    }

    /// A driver without a thread: somebody calls [`run_due`](Self::run_due), and `clock` says what
    /// time it is. For tests, and for those who have a loop of their own.
    ///
    /// ```
    /// use headcount::{Driver, Preset, Scaler, SystemClock, ThreadPool};
    /// use std::sync::Arc;
    ///
    /// let driver = Driver::by_hand(Arc::new(SystemClock));
    /// let pool = ThreadPool::builder().workers(1..=8).build()?;
    /// let scaler = Scaler::of(pool.handle()).policy(Preset::gopipe()).driver(&driver).start()?;
    /// assert_eq!(scaler.stats().evaluations, 0);
    /// let next = driver.run_due().expect("somebody is looked after");
    /// assert_eq!(scaler.stats().evaluations, 1);
    /// assert!(driver.now() < next);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn by_hand(clock: Arc<dyn Clock>) -> Self {
        Self::with(clock, false)
    }

    fn with(clock: Arc<dyn Clock>, has_thread: bool) -> Self {
        let desk = Mutex::new(Desk { agenda: Agenda::new(), is_running: false });
        Self { shared: Arc::new(Shared { clock, desk, bell: Condvar::new(), has_thread }) }
    }

    /// The present, by the driver's clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// How many scalers it looks after.
    #[must_use]
    pub fn len(&self) -> usize {
        lock(&self.shared.desk).agenda.len()
    }

    /// Whether there is nobody to look after.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        lock(&self.shared.desk).agenda.is_empty()
    }

    /// Looks at everybody who is due, and says when the next is.
    #[expect(clippy::must_use_candidate, reason = "it is called for what it does")]
    pub fn run_due(&self) -> Option<Timestamp> {
        let due = lock(&self.shared.desk).agenda.take_due(self.now());
        for (member, one) in due {
            self.attend(member, &one);
        }
        lock(&self.shared.desk).agenda.next_due()
    }

    /// Looks at one. Whatever it does, the others have their turn.
    fn attend(&self, member: Member, one: &Weak<Inner>) {
        // What it holds may be dropped here, too, where it was let go meanwhile.
        let turn = || one.upgrade().and_then(|inner| inner.turn(member));
        let next = catch_unwind(AssertUnwindSafe(turn)).unwrap_or_else(|panic| {
            let said = said(&*panic);
            // What was thrown may throw again when it is dropped.
            std::mem::forget(panic);
            let tell = || one.upgrade().map(|inner| inner.panicked(said));
            catch_unwind(AssertUnwindSafe(tell)).unwrap_or_else(|panic| {
                std::mem::forget(panic);
                None
            })
        });
        let mut desk = lock(&self.shared.desk);
        match next {
            Some(next) => desk.agenda.looked(member, next),
            None => desk.agenda.remove(member),
        }
        drop(desk);
        // Whoever sleeps until the next is due may have looked while nobody was.
        self.shared.bell.notify_one();
    }

    /// Whether somebody looks after those that were added: its thread, or whoever runs it by hand.
    pub(super) fn is_running(&self) -> bool {
        !self.shared.has_thread || lock(&self.shared.desk).is_running
    }

    /// Looks after one from now on.
    pub(super) fn add(&self, one: Weak<Inner>) -> Member {
        let mut desk = lock(&self.shared.desk);
        let member = desk.agenda.add(one);
        if self.shared.has_thread && !desk.is_running {
            let driver = self.clone();
            let thread = thread::Builder::new().name("headcount-driver".to_owned());
            // Without a thread nobody is looked after until one can be had: the next to be added
            // tries again, and the age of the last tick tells.
            desk.is_running = thread.spawn(move || driver.run()).is_ok();
        }
        drop(desk);
        self.shared.bell.notify_one();
        member
    }

    /// Does not look after it any more.
    pub(super) fn remove(&self, member: Member) {
        lock(&self.shared.desk).agenda.remove(member);
        self.shared.bell.notify_one();
    }

    /// It calls: it is to be looked at soon.
    pub(super) fn call(&self, member: Member) {
        if lock(&self.shared.desk).agenda.call(member) {
            self.shared.bell.notify_one();
        }
    }

    /// It is to be looked at now.
    pub(super) fn hasten(&self, member: Member) {
        lock(&self.shared.desk).agenda.hasten(member);
        self.shared.bell.notify_one();
    }

    fn run(&self) {
        // Whatever ends this thread, the next to be added starts another.
        let _running = Running(self);
        loop {
            self.run_due();
            let mut desk = lock(&self.shared.desk);
            if desk.agenda.is_empty() {
                // Under the same lock: whoever is added later finds no thread.
                desk.is_running = false;
                return;
            }
            let now = self.now();
            let rest = desk.agenda.next_due().map_or(Duration::MAX, |due| due.since(now));
            if !rest.is_zero() {
                let woken = self.shared.bell.wait_timeout(desk, rest);
                drop(woken.unwrap_or_else(PoisonError::into_inner));
            }
        }
    }
}

/// The thread of a driver, as long as it runs.
struct Running<'a>(&'a Driver);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            lock(&self.0.shared.desk).is_running = false;
        }
    }
}

/// What a panic said.
fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "nothing".to_owned())
}

impl Default for Driver {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("len", &self.len()).finish_non_exhaustive()
    }
}
