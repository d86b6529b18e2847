//! Waits until something about a pool is so: a thread asleep, or a task that awaits.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use headcount_core::Timestamp;

use super::Kind;
use super::desk::Desk;
use super::machine::Engine;
use super::timers::Alarm;
use crate::park::Parker;
use crate::sync::atomic::Ordering;

type Condition<K> = dyn Fn(&Desk<K>, &Engine<K>) -> bool + Send + Sync;

/// Waits for a condition on the desk.
pub(crate) struct Watch<K: Kind> {
    engine: Arc<Engine<K>>,
    condition: Box<Condition<K>>,
    /// By which the desk knows it.
    number: u64,
}

impl<K: Kind> Watch<K> {
    pub(crate) fn new(
        engine: &Arc<Engine<K>>,
        condition: impl Fn(&Desk<K>, &Engine<K>) -> bool + Send + Sync + 'static,
    ) -> Self {
        let number = engine.watches.fetch_add(1, Ordering::Relaxed);
        Self { engine: Arc::clone(engine), condition: Box::new(condition), number }
    }

    /// Whether it is so now.
    pub(crate) fn holds(&self) -> bool {
        (self.condition)(&self.engine.desk(), &self.engine)
    }

    /// Waits until it is so.
    pub(crate) fn wait(&self) {
        let parker = Arc::new(Parker::default());
        let waker = Waker::from(Arc::clone(&parker));
        while !self.holds_or_watch(&waker) {
            parker.park();
        }
    }

    /// Waits until it is so, and says whether it came to be in time.
    pub(crate) fn wait_timeout(&self, timeout: Duration) -> bool {
        self.wait_until(self.engine.now() + timeout)
    }

    pub(crate) fn wait_until(&self, deadline: Timestamp) -> bool {
        let parker = Arc::new(Parker::default());
        let waker = Waker::from(Arc::clone(&parker));
        while !self.holds_or_watch(&waker) {
            if !parker.park_until(deadline, &self.engine.floor.clock) {
                return self.holds();
            }
        }
        true
    }

    /// Wakes whoever polls at `deadline`, too, and nobody who was to be woken then before.
    pub(crate) fn alarm_at(&self, deadline: Timestamp, waker: &Waker) {
        let alarm = Alarm::Wake(self.number, waker.clone());
        let before = self.engine.visit(0, |desk, _, _| {
            let before = desk.timers.forget(self.number);
            desk.timers.set(deadline, alarm);
            before
        });
        drop(before);
    }

    /// Wakes nobody at a deadline any more.
    pub(crate) fn forget_alarm(&self) {
        let before = self.engine.desk().timers.forget(self.number);
        drop(before);
    }

    pub(crate) fn engine(&self) -> &Arc<Engine<K>> {
        &self.engine
    }

    /// Whether it is so; if not, `waker` is called when something has changed.
    fn holds_or_watch(&self, waker: &Waker) -> bool {
        // Cloned before and dropped after: what a waker does then is the user's.
        let waker = waker.clone();
        let mut desk = self.engine.desk();
        let holds = (self.condition)(&desk, &self.engine);
        let before = match holds {
            true => desk.unwatch(self.number),
            false => desk.watch(self.number, waker),
        };
        let paused = desk.is_watched_paused();
        if paused {
            self.engine.floor.calm_wanted();
        }
        drop(desk);
        drop(before);
        if paused {
            // Whoever leaves a shell from here on does it; this is for those before.
            self.engine.clear_last_shells();
        }
        holds
    }
}

impl<K: Kind> Future for Watch<K> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match self.holds_or_watch(context.waker()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl<K: Kind> Drop for Watch<K> {
    fn drop(&mut self) {
        let waker = self.engine.desk().unwatch(self.number);
        drop(waker);
    }
}

impl<K: Kind> fmt::Debug for Watch<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("engine", &self.engine).finish_non_exhaustive()
    }
}
