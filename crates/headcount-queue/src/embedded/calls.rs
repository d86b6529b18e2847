//! What is asked of the writer, and the box in which it is left.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use headcount_core::jobs::port::{
    Command, ExtendAsk, Extended, LeaseAsk, Leased, Listing, NewJob, Page, Settled, Settlement,
    StoreError, Submitted, Swept,
};
use headcount_core::jobs::{Holder, Label, QueueStats, Rules};
use tokio::sync::oneshot;

/// Where an answer goes.
pub(crate) type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

/// One call.
#[derive(Debug)]
pub(crate) enum Call {
    Enqueue(Label, Vec<NewJob>, Answer<Vec<Submitted>>),
    Lease(Label, LeaseAsk, Answer<Leased>),
    Extend(Label, ExtendAsk, Answer<Extended>),
    Settle(Label, (Holder, Vec<Settlement>), Answer<Vec<Settled>>),
    Sweep(Label, usize, Answer<Swept>),
    Stats(Label, Answer<QueueStats>),
    List(Label, Listing, Answer<Page>),
    Steer(Label, Command, Answer<u64>),
    Rules(Label, Answer<Rules>),
    Queues(Answer<Vec<Label>>),
    /// Whether there is work, and if not, how many milliseconds until some is due.
    Look(Label, Answer<Look>),
    /// Makes the file as small as it can be. Answers how many bytes it has.
    Compact(Answer<u64>),
}

/// What somebody who waits learns first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// There may be something to lease.
    Work,
    /// There is nothing, and perhaps something is due in so many milliseconds.
    Nothing(Option<u64>),
}

impl Call {
    /// Answers that it cannot be done.
    pub(crate) fn refuse(self, error: StoreError) {
        // Whoever does not listen any more need not know.
        match self {
            Self::Enqueue(_, _, answer) => _ = answer.send(Err(error)),
            Self::Lease(_, _, answer) => _ = answer.send(Err(error)),
            Self::Extend(_, _, answer) => _ = answer.send(Err(error)),
            Self::Settle(_, _, answer) => _ = answer.send(Err(error)),
            Self::Sweep(_, _, answer) => _ = answer.send(Err(error)),
            Self::Stats(_, answer) => _ = answer.send(Err(error)),
            Self::List(_, _, answer) => _ = answer.send(Err(error)),
            Self::Steer(_, _, answer) | Self::Compact(answer) => _ = answer.send(Err(error)),
            Self::Rules(_, answer) => _ = answer.send(Err(error)),
            Self::Queues(answer) => _ = answer.send(Err(error)),
            Self::Look(_, answer) => _ = answer.send(Err(error)),
        }
    }
}

/// The box in which calls are left. All that lie in it are taken at once; those that come while
/// they are written to disk are the next lot.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    lot: Mutex<Lot>,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Lot {
    calls: Vec<Call>,
    closed: bool,
    /// Somebody wants the writer to look around.
    poked: bool,
}

impl Inbox {
    fn lot(&self) -> MutexGuard<'_, Lot> {
        self.lot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves a call.
    pub(crate) fn leave(&self, call: Call) {
        let mut lot = self.lot();
        if lot.closed {
            drop(lot);
            call.refuse(StoreError::Closed);
            return;
        }
        lot.calls.push(call);
        drop(lot);
        self.bell.notify_one();
    }

    /// No more calls are taken.
    pub(crate) fn close(&self) {
        self.lot().closed = true;
        self.bell.notify_one();
    }

    /// Lets the writer look around.
    pub(crate) fn poke(&self) {
        self.lot().poked = true;
        self.bell.notify_one();
    }

    /// All calls that there are, as soon as there are any, it is closed, or it is time. Tells
    /// also whether it is closed.
    pub(crate) fn take(&self, until: Option<Instant>) -> (Vec<Call>, bool) {
        let mut lot = self.lot();
        while lot.calls.is_empty() && !lot.closed && !lot.poked {
            let Some(until) = until else {
                lot = self.bell.wait(lot).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let Some(left) = until.checked_duration_since(Instant::now()) else { break };
            let waited = self.bell.wait_timeout(lot, left);
            lot = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        lot.poked = false;
        (std::mem::take(&mut lot.calls), lot.closed)
    }
}
