//! Waits until a pool has nothing to do.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use headcount_core::Timestamp;

use crate::engine::{Engine, Kind, Watch};

/// The moment in which no task waits and none runs: wait for it, or await it.
///
/// ```
/// use headcount_pool::ThreadPool;
/// use std::time::Duration;
///
/// let pool = ThreadPool::builder().workers(2).build()?;
/// for _ in 0..10 {
///     pool.spawn(|| ())?;
/// }
/// pool.idle().wait();
/// assert_eq!(pool.snapshot().counters.completed, 10);
/// assert!(pool.idle().wait_timeout(Duration::ZERO), "it still is, and goes on taking tasks");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "it does nothing unless it is waited for or awaited"]
pub struct Idle<K: Kind> {
    watch: Watch<K>,
    deadline: Option<Timestamp>,
    /// Who is called at the deadline.
    alarmed: Option<Waker>,
}

impl<K: Kind> Idle<K> {
    pub(crate) fn new(engine: &Arc<Engine<K>>) -> Self {
        let watch = Watch::new(engine, |desk, engine| desk.is_idle(&engine.floor));
        Self { watch, deadline: None, alarmed: None }
    }

    /// Ready at `deadline` at the latest.
    pub(crate) fn or_deadline(mut self, deadline: Timestamp) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Whether it is so now.
    #[must_use]
    pub fn is_now(&self) -> bool {
        self.watch.holds()
    }

    /// Waits for it.
    pub fn wait(&self) {
        self.watch.wait();
    }

    /// Waits for it, but no longer than `timeout`, and says whether it came.
    #[must_use = "it may not have come"]
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        self.watch.wait_timeout(timeout)
    }

    pub(crate) fn wait_until(&self, deadline: Timestamp) -> bool {
        self.watch.wait_until(deadline)
    }
}

impl<K: Kind> Future for Idle<K> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if let Some(deadline) = self.deadline {
            if deadline <= self.watch.engine().now() {
                return Poll::Ready(());
            }
            let known = self.alarmed.as_ref().is_some_and(|w| w.will_wake(context.waker()));
            if !known {
                self.watch.alarm_at(deadline, context.waker());
                self.alarmed = Some(context.waker().clone());
            }
        }
        Pin::new(&mut self.watch).poll(context)
    }
}

impl<K: Kind> Drop for Idle<K> {
    fn drop(&mut self) {
        if self.alarmed.is_some() {
            self.watch.forget_alarm();
        }
    }
}

impl<K: Kind> fmt::Debug for Idle<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Idle").field("is_now", &self.is_now()).finish_non_exhaustive()
    }
}
