//! The owner of a pool: when it goes, the pool ends.

use std::fmt;
use std::ops::Deref;
use std::thread::{self, JoinHandle};

use super::builder::{Builder, Workers};
use super::handle::PoolHandle;
use super::threads::Threads;
use crate::engine::{Kind, Watch, is_porter_of};
use crate::task::is_hired_for;

/// A pool of OS threads, for work that computes or blocks.
pub type ThreadPool = Pool<Threads>;

/// A pool of workers. There is one owner, and any number of [handles](PoolHandle), to which it
/// gives way: everything that can be done with a handle can be done with the pool.
///
/// Dropped, it takes no more tasks, runs those that wait, and returns when the last worker is gone.
/// [`drain`](PoolHandle::drain) it before to have a deadline. Dropped by one of its own workers it
/// does not wait, since it would wait for itself; nor by what such a thread drops when it ends. Nor
/// does a pool of async tasks that is dropped inside of a runtime, or whose runtime has but one
/// thread: that thread may be the one that waits. There, [`drain_async`](PoolHandle::drain_async)
/// is the way to see the last task out.
///
/// ```
/// use headcount_pool::ThreadPool;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// let done = Arc::new(AtomicU32::new(0));
/// let pool = ThreadPool::builder().workers(1..=4).build()?;
/// for _ in 0..100 {
///     let done = Arc::clone(&done);
///     pool.spawn(move || {
///         done.fetch_add(1, Ordering::Relaxed);
///     })?;
/// }
/// drop(pool);
/// assert_eq!(done.load(Ordering::Relaxed), 100, "what was taken in has run");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pool<K: Kind> {
    handle: PoolHandle<K>,
    keeper: Option<JoinHandle<()>>,
}

impl Pool<Threads> {
    /// A pool of threads with as many workers as there are cores at most, unless told otherwise.
    pub fn builder() -> Builder<Threads> {
        let cores = u32::try_from(crate::cores().get()).unwrap_or(u32::MAX);
        Builder::of(Threads::default(), Workers { min: 1, max: cores })
    }
}

impl<K: Kind> Pool<K> {
    pub(crate) fn new(handle: PoolHandle<K>, keeper: JoinHandle<()>) -> Self {
        Self { handle, keeper: Some(keeper) }
    }

    /// Whether this thread is the pool's keeper, which has let go of a task that held the pool.
    fn is_own_keeper(&self) -> bool {
        self.keeper.as_ref().is_some_and(|keeper| keeper.thread().id() == thread::current().id())
    }

    /// A handle, to be given to others.
    #[must_use]
    pub fn handle(&self) -> PoolHandle<K> {
        self.handle.clone()
    }
}

impl<K: Kind> Deref for Pool<K> {
    type Target = PoolHandle<K>;

    fn deref(&self) -> &PoolHandle<K> {
        &self.handle
    }
}

impl<K: Kind> Drop for Pool<K> {
    fn drop(&mut self) {
        let engine = self.handle.engine();
        engine.close();
        let number = engine.number();
        // A worker on its way out is none any more, and the pool waits for its thread all the same.
        let is_own = engine.is_own_worker() || is_hired_for(number) || self.is_own_keeper();
        let waits = engine.kind.may_block() && !is_own && !is_porter_of(number);
        if !waits {
            return;
        }
        let over = Watch::new(engine, |desk, engine| {
            desk.is_over(&engine.floor) || desk.is_deserted(&engine.floor)
        });
        over.wait();
        // Nobody can be hired for what still waits.
        engine.strand_all();
        if let Some(keeper) = self.keeper.take() {
            // It does not panic; if it did, there is nobody to tell who could do anything.
            let _ = keeper.join();
        }
    }
}

impl<K: Kind> fmt::Debug for Pool<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pool").field(&self.handle).finish()
    }
}
