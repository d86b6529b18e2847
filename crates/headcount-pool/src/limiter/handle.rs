//! The limiter itself: what its users hold.
//!
//! Who can passes the wicket. Who cannot goes to the desk, and calls whom it is told to when it has
//! left it. Whatever is a caller's, its wakers above all, is cloned before the desk and called or
//! dropped after it.

use std::fmt;
use std::num::NonZeroU32;
use std::task::{Poll, Waker};
use std::time::Duration;

use headcount_core::{Clock, PoolSnapshot, Resizable, Staffing, Timestamp};

use super::acquire::{Acquire, Asked, Blocked};
use super::desk::{Desk, Gatehouse};
use super::error::{AcquireTimeoutError, Closed, TryAcquireError};
use super::gate::{Abandoned, Entry, Request, Ticket};
use super::ledger::Outcome;
use super::permit::Permit;
use super::state::{Look, Waiter};
use super::stopwatch::{Stopwatch, Timing};
use super::wicket::Passage;
use crate::clock::Monotonic;
use crate::sync::Arc;
use crate::unhurt::quietly;

/// Lets so many in at once, and can be resized at any time.
///
/// Threads and tasks wait in one queue: first come, first served. Clones are the same limiter.
///
/// The limit holds at every admission: nobody is let in while as many are in as it allows. When it
/// falls nobody is thrown out, so for a while more may be in than it says; it does fall, also while
/// others wait.
///
/// ```
/// use headcount_pool::Limiter;
/// use std::thread;
///
/// let limiter = Limiter::new(2);
/// thread::scope(|scope| {
///     for _ in 0..8 {
///         scope.spawn(|| {
///             let permit = limiter.acquire().expect("nobody closes it");
///             assert!(limiter.in_use() <= 2);
///             permit.success();
///         });
///     }
/// });
/// let snapshot = limiter.snapshot();
/// assert_eq!((snapshot.busy, snapshot.counters.completed), (0, 8));
/// ```
#[derive(Clone)]
pub struct Limiter {
    shared: Arc<Shared>,
}

struct Shared {
    gatehouse: Gatehouse,
    stopwatch: Stopwatch,
    clock: Monotonic,
}

impl Limiter {
    /// A limiter that lets `limit` in at once. With 0 it lets nobody in until it is resized.
    #[must_use]
    pub fn new(limit: u32) -> Self {
        let clock = Monotonic::new();
        let gatehouse = Gatehouse::new(limit, clock.now());
        Self { shared: Arc::new(Shared { gatehouse, stopwatch: Stopwatch::default(), clock }) }
    }

    /// A permit, if there is room now.
    ///
    /// Nobody is overtaken: while others wait there is no room.
    ///
    /// # Errors
    ///
    /// When there is no room, or the limiter is closed.
    pub fn try_acquire(&self) -> Result<Permit, TryAcquireError> {
        let entry = match self.shared.gatehouse.pass() {
            Passage::Passed => Entry::Admitted,
            Passage::Full => self.shared.gatehouse.refuse(),
            Passage::Shut => self.desk().try_enter(),
        };
        match entry {
            Entry::Admitted => Ok(self.permit()),
            Entry::Full => Err(TryAcquireError::Full),
            Entry::Closed => Err(TryAcquireError::Closed),
        }
    }

    /// A permit, for which the calling thread waits as long as it takes.
    ///
    /// A thread that holds one permit and waits for another may wait for itself.
    ///
    /// # Errors
    ///
    /// When the limiter is closed, before or meanwhile.
    pub fn acquire(&self) -> Result<Permit, Closed> {
        match self.enter() {
            Some(permit) => Ok(permit),
            None => Blocked::new(self.acquire_async()).wait(),
        }
    }

    /// A permit, for which the calling thread waits, but no longer than `timeout`.
    ///
    /// # Errors
    ///
    /// When its turn does not come in time, or the limiter is closed, before or meanwhile.
    pub fn acquire_timeout(&self, timeout: Duration) -> Result<Permit, AcquireTimeoutError> {
        match self.enter() {
            Some(permit) => Ok(permit),
            None => Blocked::new(self.acquire_async()).wait_for(timeout, self.shared.clock),
        }
    }

    /// A permit, for which the task waits that awaits this, on whichever runtime.
    ///
    /// It ends in [`Closed`] when the limiter is closed, before or meanwhile.
    pub fn acquire_async(&self) -> Acquire {
        Acquire::new(self.clone())
    }

    /// Lets `limit` in at once from now on. It returns at once.
    ///
    /// Growing lets in as many of those who wait as there is room for. Shrinking takes no permit
    /// from anybody: those above the limit are not replaced when they come back.
    pub fn resize(&self, limit: u32) {
        let admitted = self.desk().resize(limit);
        call(admitted);
    }

    /// Lets nobody in any more, for ever. Everybody who waits is released with [`Closed`].
    ///
    /// Permits that are held stay good.
    pub fn close(&self) {
        let turned_away = self.desk().close();
        call(turned_away);
    }

    /// How many may be in at once.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.desk().gate().limit()
    }

    /// How many places are taken. For a while after a shrink that may be more than the limit.
    #[must_use]
    pub fn in_use(&self) -> u32 {
        self.desk().gate().in_use()
    }

    /// How many wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.desk().gate().waiting()
    }

    /// Whether it was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.desk().gate().is_closed()
    }

    /// What an autoscaler wants to know of it, in the words of a pool.
    ///
    /// A place under the limit is a worker: busy if it is taken, parked if not, retiring if it is
    /// taken and above the limit. To acquire is to submit a task and to start it, to give back is
    /// to complete it. `expired` counts those who gave up, by a timeout or a dropped future. Waits
    /// and times held are those of the last one to two seconds, or since the reading before if
    /// that is longer ago.
    ///
    /// What is counted is exact, and so are waits. Times held are, too, until 32 permits in a row
    /// were held for less than a microsecond: from there on one in 64 is timed and stands for 64,
    /// until one of those was held for longer, or until the next snapshot.
    /// `longest_idle` begins with the first snapshot that finds room after all places were taken.
    #[must_use]
    pub fn snapshot(&self) -> PoolSnapshot {
        let now = self.now();
        let mut desk = self.desk();
        // At the desk, so that no later reading is put into the books before this one.
        let held = self.shared.stopwatch.read();
        desk.refused(self.shared.gatehouse.take_refused());
        desk.snapshot(&held, now)
    }

    /// A permit, if there is room now. If there is not, nothing was asked yet.
    fn enter(&self) -> Option<Permit> {
        self.passes().then(|| self.permit())
    }

    fn passes(&self) -> bool {
        self.shared.gatehouse.pass() == Passage::Passed
    }

    /// Asks for the first time: enters, or leaves `waker` and joins the queue.
    pub(super) fn ask(&self, waker: &Waker) -> Asked {
        if self.passes() {
            return Asked::Admitted(self.timing());
        }
        let since = self.now();
        let waiter = Waiter { since, waker: waker.clone() };
        let request = self.desk().request(waiter);
        match request {
            Request::Admitted(_) => Asked::Admitted(self.timing()),
            Request::Closed(_) => Asked::Closed,
            Request::Waiting(ticket) => Asked::Waiting(ticket, since),
        }
    }

    /// Asks again: collects, or leaves a newer `waker` and waits on.
    pub(super) fn look(
        &self,
        ticket: &Ticket,
        since: Timestamp,
        waker: &Waker,
    ) -> Poll<Result<Option<Timing>, Closed>> {
        let now = self.now();
        let mut waiter = Waiter { since, waker: waker.clone() };
        let look = self.desk().look(ticket, &mut waiter, now);
        match look {
            Look::Waiting => Poll::Pending,
            Look::Admitted => Poll::Ready(Ok(self.timing_from(now))),
            Look::TurnedAway => Poll::Ready(Err(Closed)),
        }
    }

    /// Hands back a ticket for which nothing was collected.
    pub(super) fn give_up(&self, ticket: Ticket) {
        let abandoned = self.desk().abandon(ticket);
        if let Abandoned::Admitted(next) = abandoned {
            call(next);
        }
    }

    pub(super) fn give_back(&self, outcome: Outcome, timing: Option<Timing>) {
        let timing = timing.filter(|_| outcome != Outcome::Ignored);
        let ended = timing.map(|timing| (timing, self.now()));
        // Failures are counted together with what they completed.
        if outcome.is_failure() || !self.shared.gatehouse.leave() {
            let next = self.desk().release(outcome);
            call(next);
        }
        if let Some((timing, now)) = ended {
            self.shared.stopwatch.ended(timing, now);
        }
    }

    fn permit(&self) -> Permit {
        Permit::new(self.clone(), self.timing())
    }

    /// Times somebody who is in from now on, if it is its turn to be timed.
    fn timing(&self) -> Option<Timing> {
        let begin = |stands_for: NonZeroU32| Timing { since: self.now(), stands_for };
        self.shared.stopwatch.next().map(begin)
    }

    /// The same, from when a wait has ended.
    fn timing_from(&self, since: Timestamp) -> Option<Timing> {
        self.shared.stopwatch.next().map(|stands_for| Timing { since, stands_for })
    }

    fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    fn desk(&self) -> Desk<'_> {
        self.shared.gatehouse.desk()
    }
}

/// Calls them in the order of their turns. One whose waker panics keeps nobody else from its own.
fn call(waiters: impl IntoIterator<Item = Waiter>) {
    waiters.into_iter().for_each(|waiter| quietly(|| waiter.waker.wake()));
}

impl Resizable for Limiter {
    fn snapshot(&self) -> PoolSnapshot {
        Limiter::snapshot(self)
    }

    /// Its limit is the ceiling; nobody has to be kept for a floor.
    fn resize(&self, staffing: Staffing) {
        Limiter::resize(self, staffing.ceiling);
    }
}

impl fmt::Debug for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let desk = self.desk();
        let gate = desk.gate();
        f.debug_struct("Limiter")
            .field("limit", &gate.limit())
            .field("in_use", &gate.in_use())
            .field("waiting", &gate.waiting())
            .field("closed", &gate.is_closed())
            .finish()
    }
}
