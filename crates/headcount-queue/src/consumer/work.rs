//! A leased job on its way to a worker, and how its handler is driven.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context as Wakeup, Poll, Waker};

use headcount_core::jobs::{JobId, Label};

use super::events::Ended;
use super::shared::Shared;
use super::verdict::End;
use crate::handler::{Context, Counted, Known, Next, Place, Run, Running};
use crate::sync::lock;

/// A leased job on its way to a worker. Dropped before it has ended, it is given back.
///
/// ```
/// use headcount_queue::Work;
///
/// async fn on_a_task(work: Work) {
///     work.run().await;
/// }
///
/// fn on_a_thread(work: Work) {
///     work.run_blocking();
/// }
/// ```
#[derive(Debug)]
#[must_use = "work that is dropped is given back to the store"]
pub struct Work {
    shared: Arc<Shared>,
    known: Arc<Known>,
    run: Arc<Run>,
}

impl Work {
    pub(super) const fn new(shared: Arc<Shared>, known: Arc<Known>, run: Arc<Run>) -> Self {
        Self { shared, known, run }
    }

    /// Which job it is.
    #[must_use]
    pub fn id(&self) -> JobId {
        self.run.id()
    }

    /// Of which kind it is.
    #[must_use]
    pub fn kind(&self) -> &Label {
        &self.run.job.spec.kind
    }

    /// Whether its handler blocks the thread that it runs on.
    #[must_use]
    pub fn is_blocking(&self) -> bool {
        self.known.is_blocking(self.kind())
    }

    /// Does the job, as part of a task. A handler that blocks gets a thread of the runtime.
    ///
    /// Returns how it ended, or `None` when it did not begin or was settled without its handler.
    pub async fn run(self) -> Option<Ended> {
        self.run_in(()).await
    }

    /// The same in a slot, which is given back when the job is over and before the consumer looks
    /// for free ones.
    pub async fn run_in<S: Send>(self, slot: S) -> Option<Ended> {
        let slot = FreedFirst { slot: Some(slot), shared: Arc::clone(&self.shared) };
        if !self.begin() {
            return None;
        }
        let listens = !self.is_blocking();
        let end = drive(&self.run, &self.known, Place::Task, listens).await;
        let ended = self.shared.finish(&self.run, end);
        drop(slot);
        ended
    }

    /// Does the job on this thread, which must not be one of a runtime.
    #[allow(clippy::must_use_candidate, reason = "most want it done and no more")]
    pub fn run_blocking(self) -> Option<Ended> {
        self.run_blocking_in(())
    }

    /// The same in a slot, which is given back when the job is over and before the consumer looks
    /// for free ones.
    #[allow(clippy::must_use_candidate, reason = "most want it done and no more")]
    pub fn run_blocking_in<S>(self, slot: S) -> Option<Ended> {
        let slot = FreedFirst { slot: Some(slot), shared: Arc::clone(&self.shared) };
        if !self.begin() {
            return None;
        }
        let listens = !self.is_blocking();
        let driven = drive(&self.run, &self.known, Place::Thread, listens);
        let end = on_this_thread(&self.shared, driven);
        let ended = self.shared.finish(&self.run, end);
        drop(slot);
        ended
    }

    /// Whether it is still to be done. In a process that slept, others may have done it: then it
    /// goes back, and the store decides.
    fn begin(&self) -> bool {
        let is_ours = lock(&self.shared.held).is_sure_of(self.run.grip.holder);
        let begins = is_ours && self.run.claim_beginning();
        if begins {
            self.shared.tally.running.add(1);
            self.run.start();
            if let Some(deadline) = self.run.deadline() {
                self.shared.wake_by(deadline);
            }
        }
        begins
    }
}

impl Drop for Work {
    /// Who lets go of it before its end gives it back.
    fn drop(&mut self) {
        if self.run.claim_beginning() {
            self.shared.finish(&self.run, End::Stopped);
            return;
        }
        match self.run.leave_count() {
            Counted::No => return,
            Counted::AtWork => self.shared.tally.running.subtract(1),
            Counted::Stuck => self.shared.tally.stuck.subtract(1),
        }
        self.shared.finish(&self.run, End::Stopped);
    }
}

/// A slot that is free before the consumer is told to look.
struct FreedFirst<S> {
    slot: Option<S>,
    shared: Arc<Shared>,
}

impl<S> Drop for FreedFirst<S> {
    fn drop(&mut self) {
        drop(self.slot.take());
        self.shared.slot_freed();
    }
}

/// Has the handler do the job, until it ends or is to be dropped.
async fn drive(run: &Arc<Run>, known: &Known, place: Place, listens: bool) -> End {
    let ctx = Context::new(Arc::clone(run));
    let first = Next::first(known, place);
    let mut running = match catch_unwind(AssertUnwindSafe(|| first.run(ctx))) {
        Ok(running) => running,
        Err(panic) => return End::Panicked(said(panic)),
    };
    let mut aborted = pin!(run.until(Run::is_aborted));
    let end = poll_fn(|wakeup| match poll(&mut running, wakeup) {
        Poll::Ready(end) => Poll::Ready(end),
        // Most handlers that end at once never come here.
        Poll::Pending if listens => aborted.as_mut().poll(wakeup).map(|()| End::Stopped),
        Poll::Pending => Poll::Pending,
    })
    .await;
    match catch_unwind(AssertUnwindSafe(|| drop(running))) {
        Ok(()) => end,
        Err(panic) => End::Panicked(said(panic)),
    }
}

fn poll(running: &mut Running<'_>, wakeup: &mut Wakeup<'_>) -> Poll<End> {
    match catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(wakeup))) {
        Ok(Poll::Ready(outcome)) => Poll::Ready(End::Itself(outcome)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(panic) => Poll::Ready(End::Panicked(said(panic))),
    }
}

/// What a panic said.
fn said(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("nothing that is a text").to_owned();
    // What it was thrown with may panic in its turn when it goes.
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(another);
    }
    text
}

/// Drives a future on this thread. Most end at their first poll and need nobody to wake them.
fn on_this_thread<T>(shared: &Shared, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let guard = shared.runtime.enter();
    let first = future.as_mut().poll(&mut Wakeup::from_waker(Waker::noop()));
    drop(guard);
    match first {
        Poll::Ready(value) => value,
        Poll::Pending => shared.runtime.block_on(Pin::as_mut(&mut future)),
    }
}
