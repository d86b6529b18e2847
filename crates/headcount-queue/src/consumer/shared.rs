//! What the loops of a consumer share.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use headcount_core::jobs::port::{Backend, Settlement, StoreError};
use headcount_core::jobs::{Holder, JobId, Label, QueueStats};
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::builder::{ConsumerBuilder, Listener, Timing};
use super::events::{ConsumerEvent, Drained, Ended};
use super::gather::Gather;
use super::here::Here;
use super::slots::Slots;
use super::tally::Tally;
use super::verdict::{End, ending, told};
use crate::chance::{chance, fresh_holder};
use crate::client::Queue;
use crate::handler::{Act, Run, Stop};
use crate::sync::lock;

/// What the loops of a consumer share.
pub(super) struct Shared {
    pub(super) queue: Queue,
    pub(super) slots: Arc<dyn Slots>,
    pub(super) timing: Timing,
    /// The runtime of its own loops, for handlers that must wait on a thread of a pool.
    pub(super) runtime: Handle,
    pub(super) tally: Tally,
    pub(super) phase: watch::Sender<Phase>,
    pub(super) drained: watch::Sender<Option<Drained>>,
    /// Rung when there may be a free slot.
    pub(super) slot_bell: Notify,
    /// Rung when a run ended.
    pub(super) ended_bell: Notify,
    /// Rung when nothing is held any more.
    pub(super) empty_bell: Notify,
    /// Rung when somebody wants the lease renewed before its time.
    pub(super) renew_bell: Notify,
    /// Rung when there is an alarm before the one that is waited for.
    pub(super) alarm_bell: Notify,
    pub(super) next_alarm: Mutex<Option<Instant>>,
    pub(super) gather: Gather,
    pub(super) here: Here,
    pub(super) held: Mutex<Held>,
    pub(super) ended: Mutex<Vec<(Arc<Run>, Settlement)>>,
    pub(super) backlog: Mutex<Option<(Instant, QueueStats)>>,
    store_is_down: Mutex<bool>,
    listeners: Vec<Listener>,
}

/// What a consumer holds, and as whom.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) holder: Holder,
    /// Up to here the lease has not run out, whatever became of the calls since.
    pub(super) sure_until: Option<Instant>,
    /// A job can be here twice: lost, with a handler that goes on, and leased again.
    pub(super) runs: BTreeMap<(JobId, u64), Arc<Run>>,
}

/// How far a consumer is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It takes jobs.
    Taking,
    /// It takes no more, and is gone at this time.
    Draining { stop_at: Instant, end_at: Instant },
    /// It has ended.
    Closed,
}

impl Held {
    /// Whether the lease has certainly not run out.
    pub(super) fn is_sure(&self) -> bool {
        self.sure_until.is_none_or(|until| Instant::now() < until)
    }

    /// Whether what this holder has leased has certainly not gone to others.
    pub(super) fn is_sure_of(&self, holder: Holder) -> bool {
        self.holder == holder && self.is_sure()
    }

    /// The lease of this holder holds at least until then.
    pub(super) fn renewed(&mut self, holder: Holder, sure_until: Instant) {
        if self.holder == holder {
            self.sure_until = self.sure_until.max(Some(sure_until));
        }
    }
}

impl Shared {
    pub(super) fn new(builder: ConsumerBuilder, runtime: Handle) -> Self {
        let runs = BTreeMap::new();
        let held = Held { holder: fresh_holder(), sure_until: None, runs };
        Self {
            queue: builder.queue,
            slots: builder.slots,
            timing: builder.timing,
            runtime,
            tally: Tally::default(),
            phase: watch::Sender::new(Phase::Taking),
            drained: watch::Sender::new(None),
            slot_bell: Notify::new(),
            ended_bell: Notify::new(),
            empty_bell: Notify::new(),
            renew_bell: Notify::new(),
            alarm_bell: Notify::new(),
            next_alarm: Mutex::new(None),
            gather: Gather::default(),
            here: Here::default(),
            held: Mutex::new(held),
            ended: Mutex::default(),
            backlog: Mutex::default(),
            store_is_down: Mutex::new(false),
            listeners: builder.listeners,
        }
    }

    pub(super) fn store(&self) -> &dyn Backend {
        &**self.queue.store()
    }

    pub(super) fn name(&self) -> &Label {
        self.queue.name()
    }

    pub(super) fn is_taking(&self) -> bool {
        *self.phase.borrow() == Phase::Taking
    }

    /// Returns when no more jobs are taken.
    pub(super) async fn until_draining(&self) {
        let mut phase = self.phase.subscribe();
        // The sender lives as long as this does.
        let _ = phase.wait_for(|phase| *phase != Phase::Taking).await;
    }

    /// Returns when all is over.
    pub(super) async fn until_closed(&self) {
        let mut phase = self.phase.subscribe();
        let _ = phase.wait_for(|phase| *phase == Phase::Closed).await;
    }

    /// How many more jobs could begin now.
    pub(super) fn free(&self) -> usize {
        self.slots.free()
    }

    /// All runs that are held.
    pub(super) fn runs(&self) -> Vec<Arc<Run>> {
        lock(&self.held).runs.values().cloned().collect()
    }

    /// A run has ended in this way, unless somebody said so before. Returns what was said of it.
    pub(super) fn finish(&self, run: &Arc<Run>, end: End) -> Option<Ended> {
        if !run.claim_ending() {
            return None;
        }
        self.tally.panicked.add(usize::from(matches!(end, End::Panicked(_))));
        let timed_out = run.told() == Stop::TimedOut && !matches!(end, End::Itself(Ok(_)));
        self.tally.timed_out.add(usize::from(timed_out));
        let Some(ending) = ending(run, end, chance()) else {
            self.forget(run);
            return None;
        };
        let (how, error) = told(&ending);
        let now = Instant::now();
        let took = now.duration_since(run.grip.leased);
        self.gather.ended(took);
        if let Some(started) = run.started() {
            self.here.ended(now.duration_since(started));
        }
        self.tally.ended(how);
        self.tell_with(|| ConsumerEvent::Ended {
            id: run.id(),
            kind: run.job.spec.kind.clone(),
            how,
            took,
            error: error.map(str::to_owned),
        });
        self.tally.unsettled.add(1);
        let settlement = Settlement { id: run.id(), epoch: run.grip.epoch, ending };
        lock(&self.ended).push((Arc::clone(run), settlement));
        if !self.gather.is_on() {
            self.ended_bell.notify_one();
        }
        Some(how)
    }

    /// There may be a free slot more.
    pub(super) fn slot_freed(&self) {
        if self.gather.is_enough(|| self.free()) {
            self.slot_bell.notify_one();
        }
    }

    /// The store needs to hear nothing of it: somebody else has it by now.
    fn forget(&self, run: &Run) {
        let mut held = lock(&self.held);
        held.runs.remove(&(run.id(), run.grip.epoch));
        let is_empty = held.runs.is_empty();
        drop(held);
        self.tally.stale.add(1);
        self.tell_with(|| ConsumerEvent::Stale { id: run.id() });
        if is_empty {
            self.empty_bell.notify_waiters();
        }
    }

    /// Has a run end: at once where it has not begun, after a moment where it heeds it.
    pub(super) fn stop(&self, run: &Arc<Run>, stop: Stop, grace: Duration) {
        run.tell(stop);
        if run.claim_beginning() {
            self.finish(run, End::Stopped);
            return;
        }
        let now = Instant::now();
        match run.heeds() {
            true => run.set_alarm(now + grace, Act::Abort),
            false => run.set_alarm(now, Act::Abort),
        }
        self.alarm_bell.notify_one();
    }

    /// Sees to it that nobody sleeps past this.
    pub(super) fn wake_by(&self, at: Instant) {
        let mut next = lock(&self.next_alarm);
        if next.is_none_or(|next| at < next) {
            *next = Some(at);
            self.alarm_bell.notify_one();
        }
    }

    pub(super) fn tell_with(&self, event: impl FnOnce() -> ConsumerEvent) {
        if self.listeners.is_empty() {
            return;
        }
        let event = event();
        for listener in &self.listeners {
            // A listener's panic is its own affair: jobs go on.
            let _ = catch_unwind(AssertUnwindSafe(|| listener(&event)));
        }
    }

    /// The store did not do what it was asked. Said once, not for each time that it is asked again.
    pub(super) fn store_failed(&self, what: &'static str, error: StoreError) {
        self.tally.store_errors.add(1);
        if !std::mem::replace(&mut *lock(&self.store_is_down), true) {
            self.tell_with(|| ConsumerEvent::StoreFailed { what, error });
        }
    }

    pub(super) fn store_answered(&self) {
        if std::mem::take(&mut *lock(&self.store_is_down)) {
            self.tell_with(|| ConsumerEvent::StoreBack);
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Consumer");
        shown.field("queue", self.queue.name()).field("phase", &*self.phase.borrow());
        shown.field("slots", &self.slots).finish_non_exhaustive()
    }
}
