//! How a consumer is made.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::events::ConsumerEvent;
use super::handle::Consumer;
use super::slots::Slots;
use crate::client::Queue;
use crate::schedule::Schedule;

pub(super) type Listener = Arc<dyn Fn(&ConsumerEvent) + Send + Sync>;

/// The settings of a consumer that is about to be started.
///
/// ```
/// use headcount_queue::{Consumer, Queue, TaskSlots};
/// use std::time::Duration;
/// use tokio::runtime::Handle;
///
/// fn begin(queue: &Queue, runtime: Handle) -> std::io::Result<Consumer> {
///     let slots = TaskSlots::new(8, runtime);
///     Consumer::builder(queue, slots).cancel_grace(Duration::from_secs(5)).start()
/// }
/// ```
#[derive(Clone)]
#[must_use = "a consumer takes nothing until it is started"]
pub struct ConsumerBuilder {
    pub(super) queue: Queue,
    pub(super) slots: Arc<dyn Slots>,
    pub(super) timing: Timing,
    pub(super) schedules: Vec<Schedule>,
    pub(super) listeners: Vec<Listener>,
}

/// How long things take in a consumer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub(super) lease_ttl: Duration,
    pub(super) renew_every: Duration,
    pub(super) sweep_every: Duration,
    pub(super) stats_every: Option<Duration>,
    pub(super) cancel_grace: Duration,
}

impl ConsumerBuilder {
    pub(super) fn new(queue: &Queue, slots: Arc<dyn Slots>) -> Self {
        let timing = Timing {
            lease_ttl: Duration::from_secs(8),
            renew_every: Duration::from_secs(2),
            sweep_every: Duration::from_millis(1500),
            stats_every: None,
            cancel_grace: Duration::from_secs(2),
        };
        let (schedules, listeners) = (Vec::new(), Vec::new());
        Self { queue: queue.clone(), slots, timing, schedules, listeners }
    }

    /// How long after its last sign of life others take its jobs, and how often it gives one.
    /// 8 s and 2 s by default, so that a killed worker's jobs run again within 12 s.
    pub const fn lease(mut self, ttl: Duration, renew_every: Duration) -> Self {
        self.timing.lease_ttl = ttl;
        self.timing.renew_every = renew_every;
        self
    }

    /// How often it puts right what time and lost workers have changed; about 1.5 s by default.
    pub const fn sweep_every(mut self, span: Duration) -> Self {
        self.timing.sweep_every = span;
        self
    }

    /// Asks the store this often for the queue in numbers, for [`Consumer::backlog`]. By default
    /// it does not.
    pub const fn stats_every(mut self, span: Duration) -> Self {
        self.timing.stats_every = Some(span);
        self
    }

    /// How long a handler that heeds its cancellation is left to end by itself; 2 s by default.
    pub const fn cancel_grace(mut self, grace: Duration) -> Self {
        self.timing.cancel_grace = grace;
        self
    }

    /// Submits this by the calendar, together with all other consumers that know it.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedules.push(schedule);
        self
    }

    /// Calls `listener` for everything that happens. It is called where it happens, so it must be
    /// quick.
    pub fn on_event(mut self, listener: impl Fn(&ConsumerEvent) + Send + Sync + 'static) -> Self {
        self.listeners.push(Arc::new(listener));
        self
    }

    /// Begins to take jobs, on two threads of its own.
    ///
    /// # Errors
    ///
    /// When there is no thread to be had.
    pub fn start(self) -> io::Result<Consumer> {
        Consumer::start(self)
    }

    /// Begins to take jobs as tasks of the runtime that this is called in.
    ///
    /// For tests in a runtime whose clock is paused, and for programs that cannot have threads: a
    /// handler that blocks this runtime can make the lease run out.
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
    #[must_use = "a consumer that is dropped takes nothing more"]
    pub fn start_here(self) -> Consumer {
        Consumer::start_here(self)
    }
}

impl fmt::Debug for ConsumerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ConsumerBuilder");
        shown.field("queue", &self.queue).field("slots", &self.slots);
        shown.field("timing", &self.timing).finish_non_exhaustive()
    }
}
