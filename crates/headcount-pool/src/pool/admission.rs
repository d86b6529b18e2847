//! The way into the line, and what happens where it is full.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use headcount_core::Timestamp;

use crate::engine::{Engine, Fate, Kind, Shut};
use crate::park::Parker;
use crate::task::{Overflow, Refusal, workplace};

/// How a task comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Under this number; it must be pushed now.
    Enter(u64),
    /// Not at all: its submitter runs it.
    RunHere,
    /// Not at all: it is dropped.
    Drop,
}

impl<K: Kind> Engine<K> {
    /// Lets a task in, or says what becomes of it.
    pub(crate) fn admit(self: &Arc<Self>, overflow: Overflow) -> Result<Admission, Refusal> {
        if let Ok(number) = self.floor.door.enter() {
            return Ok(Admission::Enter(number));
        }
        self.admit_slowly(overflow)
    }

    #[cold]
    fn admit_slowly(self: &Arc<Self>, overflow: Overflow) -> Result<Admission, Refusal> {
        let deadline = match overflow {
            Overflow::WaitFor(timeout) => self.now() + timeout,
            _ => Timestamp::MAX,
        };
        loop {
            match self.enter() {
                Ok(number) => return Ok(Admission::Enter(number)),
                Err(Shut::Closed) => return Err(self.kind.refusal()),
                Err(Shut::Full) => {}
            }
            match overflow {
                Overflow::Reject => return Err(self.full()),
                Overflow::CallerRuns => return Ok(Admission::RunHere),
                Overflow::DropNewest => return Ok(Admission::Drop),
                Overflow::DropOldest => self.drop_oldest(),
                // Its own line may be full because it waits here.
                Overflow::Wait | Overflow::WaitFor(_) if self.is_own_worker() => {
                    return Ok(Admission::RunHere);
                }
                Overflow::Wait | Overflow::WaitFor(_) => self.wait_for_room(deadline)?,
            }
        }
    }

    fn full(&self) -> Refusal {
        Refusal::Full { queue_len_max: self.floor.door.len_max() }
    }

    fn drop_oldest(self: &Arc<Self>) {
        if let Some(entry) = self.floor.take_out() {
            self.abandon(entry.work, Fate::Dropped);
        }
    }

    /// Whether this thread is a worker of this pool.
    pub(crate) fn is_own_worker(self: &Arc<Self>) -> bool {
        workplace().is_some_and(|place| place.pool() == self.number())
    }

    /// The pool, told from others.
    pub(crate) fn number(self: &Arc<Self>) -> usize {
        Arc::as_ptr(self).addr()
    }

    /// Waits until there may be room.
    fn wait_for_room(self: &Arc<Self>, deadline: Timestamp) -> Result<(), Refusal> {
        let parker = Arc::new(Parker::default());
        let waker = Waker::from(Arc::clone(&parker));
        let Some(ticket) = self.queue_for_room(&waker) else { return Ok(()) };
        let called = match deadline {
            Timestamp::MAX => {
                parker.park();
                true
            }
            _ => parker.park_until(deadline, &self.floor.clock),
        };
        match called {
            true => Ok(()),
            // Called at the very moment in which its time was up: then somebody counts on it.
            false if !self.leave_room_queue(ticket) => Ok(()),
            false => Err(Refusal::TimedOut),
        }
    }

    /// Lets a task in, and waits without blocking the thread while the line is full.
    pub(crate) async fn admit_async(self: &Arc<Self>) -> Result<Admission, Refusal> {
        let mut queued = Queued { engine: self, ticket: None };
        poll_fn(|context| queued.poll(context)).await
    }

    /// Queues for room. `None`: there is some by now, or there never will be.
    fn queue_for_room(self: &Arc<Self>, waker: &Waker) -> Option<u64> {
        // Cloned before and dropped after: what a waker does then is the user's.
        let waker = waker.clone();
        let (ticket, left) = self.visit(0, |desk, _, errands| {
            let ticket = desk.queue_for_room(waker);
            self.floor.room_wanted();
            desk.serve_room(&self.floor, errands);
            let in_time = self.floor.door.is_closed() || self.floor.door.has_room();
            let served = in_time || !desk.queues_for_room(ticket);
            let left = served.then(|| desk.leave_queue_for_room(ticket)).flatten();
            ((!served).then_some(ticket), left)
        });
        drop(left);
        ticket
    }

    /// Whether it still queued, and does not any more.
    fn leave_room_queue(self: &Arc<Self>, ticket: u64) -> bool {
        let left = self.visit(0, |desk, _, _| desk.leave_queue_for_room(ticket));
        left.is_some()
    }
}

/// An async submitter that waits for room. Dropped, it does not queue any more.
struct Queued<'a, K: Kind> {
    engine: &'a Arc<Engine<K>>,
    ticket: Option<u64>,
}

impl<K: Kind> Queued<'_, K> {
    fn poll(&mut self, context: &Context<'_>) -> Poll<Result<Admission, Refusal>> {
        self.leave();
        loop {
            match self.engine.enter() {
                Ok(number) => return Poll::Ready(Ok(Admission::Enter(number))),
                Err(Shut::Closed) => {
                    return Poll::Ready(Err(self.engine.kind.refusal()));
                }
                // Its own line may be full because it waits here.
                Err(Shut::Full) if self.engine.is_own_worker() => {
                    return Poll::Ready(Ok(Admission::RunHere));
                }
                Err(Shut::Full) => self.ticket = self.engine.queue_for_room(context.waker()),
            }
            if self.ticket.is_some() {
                return Poll::Pending;
            }
        }
    }

    fn leave(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.engine.leave_room_queue(ticket);
        }
    }
}

impl<K: Kind> Drop for Queued<'_, K> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take()
            && !self.engine.leave_room_queue(ticket)
        {
            // It was called and goes without taking the place: the next one gets it.
            self.engine.visit(0, |desk, _, errands| desk.serve_room(&self.engine.floor, errands));
        }
    }
}
