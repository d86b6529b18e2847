//! Where jobs are done, as far as a consumer needs to know.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::runtime::Handle;

use super::work::Work;

/// Where jobs are done: a pool, as far as a consumer needs to know it.
///
/// A consumer leases no more jobs than `free` says, and hands each over at once. It asks again
/// whenever a job of its own has ended; who has more room for another reason calls
/// [`Consumer::poke`](super::Consumer::poke).
///
/// ```
/// use headcount_queue::{Slots, Work};
/// use tokio::runtime::Handle;
///
/// /// As many as there are, all at once.
/// #[derive(Debug)]
/// struct Unbounded(Handle);
///
/// impl Slots for Unbounded {
///     fn free(&self) -> usize {
///         1000
///     }
///
///     fn run(&self, work: Work) {
///         self.0.spawn(work.run());
///     }
/// }
/// ```
pub trait Slots: fmt::Debug + Send + Sync + 'static {
    /// How many more jobs could begin now.
    fn free(&self) -> usize;

    /// Has the job done, soon, without waiting for it. Work that is dropped instead is given back
    /// to the store.
    fn run(&self, work: Work);

    /// Has several jobs done. A consumer hands over what it leased at once; override it where that
    /// is cheaper than one by one.
    fn run_all(&self, works: Vec<Work>) {
        for work in works {
            self.run(work);
        }
    }

    /// How jobs are done on the consumer's own thread, where they may be.
    ///
    /// A consumer with threads of its own does jobs there that have proved to take a microsecond or
    /// two, as it costs more to hand them over. Such jobs are not handed to
    /// [`run_all`](Self::run_all): allow it only where nobody else has to see them.
    fn own_thread(&self) -> Option<OwnThread> {
        None
    }
}

/// How a consumer does quick jobs on its own thread.
///
/// ```
/// use headcount_queue::{OwnThread, Slots, Work};
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use tokio::runtime::Handle;
///
/// /// Whatever runs in them is counted, wherever it does.
/// #[derive(Debug)]
/// struct Ten(OwnThread);
///
/// impl Slots for Ten {
///     fn free(&self) -> usize {
///         10_usize.saturating_sub(self.0.busy.load(Ordering::Acquire))
///     }
///     fn run(&self, work: Work) {
///         let busy = Arc::clone(&self.0.busy);
///         busy.fetch_add(1, Ordering::AcqRel);
///         self.0.runtime.spawn(async move {
///             work.run().await;
///             busy.fetch_sub(1, Ordering::AcqRel);
///         });
///     }
///     fn own_thread(&self) -> Option<OwnThread> {
///         Some(self.0.clone())
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct OwnThread {
    /// Jobs are done as if they were part of this runtime, and what does not end at once goes on in
    /// it. When it shuts down, nothing more is done on the consumer's own thread.
    pub runtime: Handle,
    /// How many jobs are done there now is counted in this, among others that
    /// [`free`](Slots::free) goes by.
    pub busy: Arc<AtomicUsize>,
}

/// A fixed number of slots, each job a task of a tokio runtime.
///
/// Jobs that have proved to end within microseconds are done on the consumer's own thread instead,
/// as if they were part of that runtime, unless they are to be [apart](Self::apart) from it. What
/// differs there is the thread: its stack is of the usual size, hooks of the runtime do not run on
/// it, and what is done has no [id](tokio::task::id) of a task.
///
/// ```
/// use headcount_queue::{Slots, TaskSlots};
///
/// let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// let slots = TaskSlots::new(8, runtime.handle().clone());
/// assert_eq!(slots.free(), 8);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TaskSlots {
    runtime: Handle,
    slots_max: usize,
    busy: Arc<AtomicUsize>,
    is_apart: bool,
}

impl TaskSlots {
    /// This many slots, in this runtime.
    #[must_use]
    pub fn new(slots_max: usize, runtime: Handle) -> Self {
        Self { runtime, slots_max, busy: Arc::default(), is_apart: false }
    }

    /// Every job is done on a thread of the runtime, however quick it is: for handlers that need
    /// something of those threads.
    #[must_use]
    pub const fn apart(mut self) -> Self {
        self.is_apart = true;
        self
    }
}

/// A slot that is in use, given back when dropped.
pub(super) struct Slot(pub(super) Arc<AtomicUsize>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Slots for TaskSlots {
    fn free(&self) -> usize {
        self.slots_max.saturating_sub(self.busy.load(Ordering::Acquire))
    }

    fn run(&self, work: Work) {
        self.run_all(vec![work]);
    }

    /// One task begins the others: a runtime is woken once from outside, and passes on from within
    /// what its threads have no time for.
    fn run_all(&self, works: Vec<Work>) {
        self.busy.fetch_add(works.len(), Ordering::AcqRel);
        let works = works.into_iter().map(|work| (work, Slot(Arc::clone(&self.busy))));
        let works: Vec<(Work, Slot)> = works.collect();
        self.runtime.spawn(async move {
            for (work, slot) in works {
                tokio::spawn(work.run_in(slot));
            }
        });
    }

    fn own_thread(&self) -> Option<OwnThread> {
        let own = || OwnThread { runtime: self.runtime.clone(), busy: Arc::clone(&self.busy) };
        (!self.is_apart).then(own)
    }
}
