//! The way into the line, and what happens where it is full.

use std::fmt;
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use headcount_core::Timestamp;

use super::bid::Bid;
use crate::CancelToken;
use crate::engine::{Alarm, Deadline, Engine, Fate, Kind, Shut};
use crate::park::Parker;
use crate::task::{Listener, Nudge, Overflow, Refusal, may_nest, workplace};

/// How a task comes in.
pub(crate) enum Admission<K: Kind> {
    /// Under this number; it must be pushed now.
    Enter(u64),
    /// Not at all: its submitter runs it.
    RunHere,
    /// Not at all: its submitter runs it and awaits its end.
    RunInside(K::Turn),
    /// Not at all: it is dropped.
    Drop,
}

/// What is to be done about a full line: wait, unless it is settled.
type Settled<K> = ControlFlow<Result<Admission<K>, Refusal>>;

impl<K: Kind> Engine<K> {
    /// Lets a task in, or says what becomes of it.
    pub(crate) fn admit(self: &Arc<Self>, bid: Bid<'_>) -> Result<Admission<K>, Refusal> {
        if let Ok(number) = self.floor.door.enter() {
            return Ok(Admission::Enter(number));
        }
        self.admit_slowly(bid)
    }

    #[cold]
    fn admit_slowly(self: &Arc<Self>, bid: Bid<'_>) -> Result<Admission<K>, Refusal> {
        let bid = bid.begun(|| self.now());
        loop {
            if let ControlFlow::Break(settled) = self.enter_or(bid.overflow) {
                return settled;
            }
            // Its own line may be full because it waits here.
            if self.is_own_worker() {
                return if K::RUNS_AT_ONCE { self.run_here() } else { Err(self.full()) };
            }
            bid.waits_on(|| self.now())?;
            self.wait_for_room(&bid);
        }
    }

    /// Lets a task in, or does what is to be done at a full line, unless that is to wait.
    fn enter_or(self: &Arc<Self>, overflow: Overflow) -> Settled<K> {
        loop {
            match self.enter() {
                Ok(number) => return ControlFlow::Break(Ok(Admission::Enter(number))),
                Err(Shut::Closed) => return ControlFlow::Break(Err(self.kind.refusal())),
                Err(Shut::Full) if overflow.turns_away() => self.turns_away(),
                Err(Shut::Full) => {}
            }
            return match overflow {
                Overflow::DropOldest => {
                    self.drop_oldest();
                    continue;
                }
                Overflow::Wait | Overflow::WaitFor(_) => ControlFlow::Continue(()),
                Overflow::Reject => ControlFlow::Break(Err(self.full())),
                Overflow::CallerRuns => ControlFlow::Break(self.run_here()),
                Overflow::DropNewest => ControlFlow::Break(Ok(Admission::Drop)),
            };
        }
    }

    /// Its submitter runs it, unless too many run inside of one another there.
    fn run_here(&self) -> Result<Admission<K>, Refusal> {
        match !K::RUNS_AT_ONCE || may_nest() {
            true => Ok(Admission::RunHere),
            false => Err(self.full()),
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

    /// Waits until there may be room, or something has ended the waiting. Whoever was called as its
    /// time was up is counted on, so the caller tries the door once more in any case.
    fn wait_for_room(self: &Arc<Self>, bid: &Bid<'_>) {
        let parker = Arc::new(Parker::default());
        let waker = Waker::from(Arc::clone(&parker));
        let _nudge = bid.token.map(|token| nudged_by(token, &waker));
        let Some(ticket) = self.queue_for_room(&waker) else { return };
        let called = match bid.until {
            Timestamp::MAX => {
                parker.park();
                true
            }
            until => parker.park_until(until, &self.floor.clock),
        };
        // Called by its token, it still queues.
        if !called || bid.token.is_some() {
            self.leave_room_queue(ticket);
        }
    }

    /// Lets a task in, and waits without blocking the thread where it is to wait.
    pub(crate) async fn admit_async(
        self: &Arc<Self>,
        bid: Bid<'_>,
    ) -> Result<Admission<K>, Refusal> {
        let mut queued =
            Queued { engine: self, bid, ticket: None, nudge: None, turn: K::Turn::default() };
        poll_fn(|context| queued.poll(context)).await
    }

    /// Queues for room. `None`: there is some by now, or there never will be.
    fn queue_for_room(self: &Arc<Self>, waker: &Waker) -> Option<u64> {
        // Cloned before and dropped after: what a waker does then is the user's.
        let waker = waker.clone();
        let (ticket, left) = self.visit(0, |desk, _, errands| {
            let ticket = desk.room.join(waker);
            self.floor.room_wanted();
            desk.serve_room(&self.floor, errands);
            let in_time = self.floor.door.is_closed() || self.floor.door.has_room();
            let served = in_time || !desk.room.has(ticket);
            let left = served.then(|| desk.room.leave(ticket)).flatten();
            ((!served).then_some(ticket), left)
        });
        drop(left);
        if ticket.is_some() {
            // Whoever leaves a shell from here on does it; this is for those before.
            self.clear_shells();
        }
        ticket
    }

    /// Whether it still queued, and does not any more.
    fn leave_room_queue(self: &Arc<Self>, ticket: u64) -> bool {
        let left = self.visit(0, |desk, _, _| desk.room.leave(ticket));
        left.is_some()
    }
}

/// Wakes `waker` when the token is cancelled, as long as what this returns is there.
fn nudged_by(token: &CancelToken, waker: &Waker) -> Arc<dyn Listener> {
    let nudge: Arc<dyn Listener> = Nudge::new(waker);
    token.listen(&nudge);
    nudge
}

/// An async submitter that waits for room. Dropped, it does not queue any more.
struct Queued<'a, K: Kind> {
    engine: &'a Arc<Engine<K>>,
    bid: Bid<'a>,
    ticket: Option<u64>,
    /// By which it hears of its token and of its time. `None`: it has not had to wait.
    nudge: Option<Arc<Nudge>>,
    turn: K::Turn,
}

impl<K: Kind> Queued<'_, K> {
    fn poll(&mut self, context: &Context<'_>) -> Poll<Result<Admission<K>, Refusal>> {
        self.leave();
        loop {
            let own = self.engine.is_own_worker();
            match self.engine.enter_or(self.bid.overflow) {
                // It is awaited: no need to run it beside whoever awaits.
                ControlFlow::Break(Ok(Admission::RunHere)) if !own => {
                    return Poll::Ready(self.run_inside());
                }
                ControlFlow::Break(Ok(Admission::RunHere)) | ControlFlow::Continue(()) => {}
                ControlFlow::Break(settled) => return Poll::Ready(settled),
            }
            if own && let Poll::Ready(settled) = self.poll_own(context) {
                return Poll::Ready(settled);
            }
            if let Err(refusal) = self.is_nudged(context) {
                return Poll::Ready(Err(refusal));
            }
            self.ticket = self.engine.queue_for_room(context.waker());
            if self.ticket.is_some() {
                return Poll::Pending;
            }
        }
    }

    /// A task of the pool itself does not wait for room alone, for its waiting may be what keeps
    /// the line full. It has the task run in its place, as soon as nobody else has that.
    fn poll_own(&mut self, context: &Context<'_>) -> Poll<Result<Admission<K>, Refusal>> {
        match may_nest() {
            true => K::poll_turn(&mut self.turn, context).map(|()| self.run_inside()),
            false => Poll::Ready(Err(self.engine.full())),
        }
    }

    fn run_inside(&mut self) -> Result<Admission<K>, Refusal> {
        match may_nest() {
            true => Ok(Admission::RunInside(std::mem::take(&mut self.turn))),
            false => Err(self.engine.full()),
        }
    }

    /// Sees to it that it is polled when its waiting is to end, and says whether that is so.
    fn is_nudged(&mut self, context: &Context<'_>) -> Result<(), Refusal> {
        if !self.bid.can_end() {
            return Ok(());
        }
        match &self.nudge {
            Some(nudge) => nudge.set(context.waker()),
            None => self.listen(Nudge::new(context.waker())),
        }
        // After that: what happens from here on is heard.
        self.bid.waits_on(|| self.engine.now())
    }

    fn listen(&mut self, nudge: Arc<Nudge>) {
        self.bid = self.bid.begun(|| self.engine.now());
        if let Some(token) = self.bid.token {
            token.listen(&(Arc::clone(&nudge) as _));
        }
        if self.bid.until < Timestamp::MAX {
            let deadline: Arc<dyn Deadline> = Arc::clone(&nudge) as _;
            self.engine.remind_at(self.bid.until, Alarm::Tell(Arc::downgrade(&deadline)));
        }
        self.nudge = Some(nudge);
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

impl<K: Kind> Admission<K> {
    /// Whether its submitter runs it, and does not come back before that is done.
    pub(super) fn is_to_run(&self) -> bool {
        matches!(self, Self::RunHere | Self::RunInside(_))
    }
}

impl<K: Kind> fmt::Debug for Admission<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Enter(number) => f.debug_tuple("Enter").field(number).finish(),
            Self::RunHere => f.write_str("RunHere"),
            Self::RunInside(_) => f.write_str("RunInside"),
            Self::Drop => f.write_str("Drop"),
        }
    }
}
