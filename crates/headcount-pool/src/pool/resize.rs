//! A resize that can be watched.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use headcount_core::Staffing;

use crate::engine::{Desk, Engine, Kind, Watch};

/// A resize under way: look at it, wait for it, or await it. Dropped, it goes on by itself.
///
/// ```
/// use headcount_core::Staffing;
/// use headcount_pool::ThreadPool;
/// use std::time::Duration;
///
/// let pool = ThreadPool::builder().workers(1).build()?;
/// assert!(pool.resize(Staffing::exactly(4)).wait_timeout(Duration::from_secs(10)));
/// assert_eq!(pool.counts().live, 4);
/// assert!(pool.resize(Staffing::exactly(1)).wait_timeout(Duration::from_secs(10)));
/// assert_eq!(pool.counts().live, 1);
/// # Ok::<(), headcount_pool::BuildError>(())
/// ```
#[must_use = "a resize goes on by itself; drop it with `let _ =` if that is meant"]
pub struct Resize<K: Kind> {
    target: Staffing,
    watch: Watch<K>,
}

/// How far a resize is.
///
/// ```
/// use headcount_core::Staffing;
/// use headcount_pool::ThreadPool;
///
/// let pool = ThreadPool::builder().workers(2).build()?;
/// let progress = pool.resize(Staffing::exactly(2)).progress();
/// assert_eq!(progress.target, Staffing::exactly(2));
/// assert_eq!(progress.unreachable_for, None, "workers can be started");
/// # Ok::<(), headcount_pool::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResizeProgress {
    /// The bounds that were asked for, within what the pool was built for.
    pub target: Staffing,
    /// Whether another resize has taken its place.
    pub superseded: bool,
    /// Workers that hold a place.
    pub live: u32,
    /// Of those, workers that have not started yet.
    pub starting: u32,
    /// Of those, workers that will leave.
    pub retiring: u32,
    /// For how long nobody is hired, because the last start failed. `None`: it went well.
    pub unreachable_for: Option<Duration>,
    /// What the system said when that start failed. `None`: it went well.
    pub unreachable_because: Option<String>,
}

impl<K: Kind> Resize<K> {
    pub(crate) fn new(engine: &Arc<Engine<K>>, target: Staffing) -> Self {
        let watch = Watch::new(engine, move |desk, _| is_done(desk, target));
        Self { target, watch }
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> ResizeProgress {
        let engine = self.watch.engine();
        let now = engine.now();
        let desk = engine.desk();
        let counts = desk.roster.counts();
        let unreachable_until = desk.roster.unreachable_until();
        ResizeProgress {
            target: self.target,
            superseded: desk.roster.config().staffing != self.target,
            live: counts.live,
            starting: counts.starting,
            retiring: counts.retiring + counts.leaving,
            unreachable_for: unreachable_until.map(|at| at.since(now)),
            unreachable_because: unreachable_until.and_then(|_| desk.hire_error.clone()),
        }
    }

    /// Whether there are as many workers as it asked for, or another resize has taken its place.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.watch.holds()
    }

    /// Waits until it is done.
    pub fn wait(&self) {
        self.watch.wait();
    }

    /// Waits until it is done, but no longer than `timeout`, and says whether it is.
    /// [`progress`](Self::progress) tells what is missing.
    #[must_use = "it may not be done"]
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        self.watch.wait_timeout(timeout)
    }
}

fn is_done<K: Kind>(desk: &Desk<K>, target: Staffing) -> bool {
    let counts = desk.roster.counts();
    let settled = counts.starting == 0 && target.floor <= counts.live;
    let superseded = desk.roster.config().staffing != target;
    superseded || (settled && counts.live <= target.ceiling)
}

impl<K: Kind> Future for Resize<K> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.watch).poll(context)
    }
}

impl<K: Kind> fmt::Debug for Resize<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Resize").field(&self.progress()).finish()
    }
}
