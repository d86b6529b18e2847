//! The port through which workers are counted and resized.

use std::sync::Arc;
use std::time::Duration;

use crate::{PoolSnapshot, Staffing};

/// To be called by something that has too few workers.
pub type Poke = Arc<dyn Fn() + Send + Sync>;

/// Something whose number of workers can be read and set: a pool, a limiter, a connection pool of
/// yours.
///
/// Whoever drives it relies on this: all calls return at once, and may come from any thread;
/// counters in a snapshot only ever rise; a resize never interrupts a worker at its task. It does
/// not rely on a resize being done when the call returns: the next snapshot tells.
///
/// ```
/// use headcount_core::{PoolSnapshot, Resizable, Staffing};
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// /// So many connections may be open.
/// struct Connections(AtomicU32);
///
/// impl Resizable for Connections {
///     fn snapshot(&self) -> PoolSnapshot {
///         PoolSnapshot::of(Staffing::exactly(self.0.load(Ordering::Relaxed)))
///     }
///     fn resize(&self, staffing: Staffing) {
///         self.0.store(staffing.ceiling, Ordering::Relaxed);
///     }
/// }
///
/// let connections: &dyn Resizable = &Connections(AtomicU32::new(4));
/// connections.resize(Staffing::exactly(8));
/// assert_eq!(connections.snapshot().ceiling, 8);
/// ```
pub trait Resizable: Send + Sync {
    /// The state at this instant.
    fn snapshot(&self) -> PoolSnapshot;

    /// Keeps the number of workers within other bounds from now on.
    fn resize(&self, staffing: Staffing);

    /// Hires for a task that has waited for so long, from now on. What does not hire by itself
    /// has nothing to do here.
    fn set_wait_budget(&self, _wait_budget: Duration) {}

    /// Serves the newest first while the oldest task has waited for longer than this, from now on;
    /// `None`: the oldest first, always. What has no line of its own has nothing to do here.
    fn set_newest_first_after(&self, _after: Option<Duration>) {}

    /// Lets a worker above the floor go when it was idle for so long, from now on. What does not
    /// let go by itself has nothing to do here.
    fn set_idle_time(&self, _idle_time: Duration) {}

    /// Calls `poke` the next time that a task has to wait and nobody may be hired: once, from any
    /// thread, soon. Whoever sets another takes the place of the one before.
    ///
    /// What cannot tell does not call; it is looked at every now and then anyway.
    fn poke_when_full(&self, _poke: Poke) {}
}
