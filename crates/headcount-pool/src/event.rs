//! What a pool tells of itself, beside its figures.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use headcount_core::{Name, Timestamp};

use crate::engine::carried;
use crate::sync::{Mutex, lock};

/// Something that happened in a pool and that somebody may want to know.
///
/// ```
/// use headcount_pool::{Event, ThreadPool};
///
/// let pool = ThreadPool::builder().workers(1).build()?;
/// pool.submit(|| panic!("no such file"))?.join().expect_err("it panicked");
/// let told: Vec<String> = pool.events().iter().map(|(_, event)| event.to_string()).collect();
/// assert!(told.contains(&"a task panicked: no such file".to_owned()), "{told:?}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A worker could not be started.
    HireFailed {
        /// What the system said.
        error: String,
        /// Nobody is hired before this much later.
        retry_in: Duration,
        /// Whether there is no worker at all, so that submitters run tasks themselves, or in a
        /// pool of async tasks, whose runtime is gone then, hear that theirs do not run. Where a
        /// submitter counted on the worker, a thread of the pool's own runs its task.
        stranded: bool,
    },
    /// A task panicked. Its worker goes on.
    TaskPanicked {
        /// The task's class, if it had one.
        class: Option<Name>,
        /// What it said.
        message: String,
    },
    /// A task waited for longer than it was allowed to, and did not run.
    TaskExpired {
        /// The task's class, if it had one.
        class: Option<Name>,
    },
    /// A task was dropped because the line was full, and did not run: the one that waited longest,
    /// or the one that came, as the pool or the task was told by its `Overflow`.
    TaskDropped {
        /// The task's class, if it had one.
        class: Option<Name>,
    },
    /// A task runs for longer than a task may.
    TaskStuck {
        /// The slot of its worker.
        worker: usize,
        /// The task's class, if it had one.
        class: Option<Name>,
        /// For how long it has been running.
        running_for: Duration,
        /// Whether its worker was counted out, so that another can be hired in its place.
        written_off: bool,
    },
    /// A worker that blocks was counted out, so that another can work in its place.
    Compensated {
        /// How many workers block now.
        blocked: u32,
    },
    /// Every worker is busy, tasks wait, and nothing has moved for as long as the pool's
    /// `stuck_after` says; or for a second, where every worker blocks on a task of this very pool.
    SuspectedDeadlock {
        /// How many workers there are.
        workers: u32,
        /// How many tasks wait.
        queued: u64,
        /// For how long nothing has moved.
        stood_for: Duration,
    },
    /// A hook of the user panicked. It was ignored.
    HookPanicked {
        /// Which hook. `drop`: what a policy gave a task to take along, or the policy itself, as
        /// it was dropped.
        hook: &'static str,
        /// The policy that it is of. `None`: it is one of the pool's own.
        policy: Option<Name>,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |class: &Option<Name>| class.map_or(String::new(), |class| format!(" {class}"));
        match self {
            Self::HireFailed { error, retry_in, stranded } => {
                let rest = if *stranded { "; there is none, so tasks do not wait" } else { "" };
                write!(f, "a worker could not be started ({error}), next try in {retry_in:?}{rest}")
            }
            Self::TaskPanicked { class, message } => {
                write!(f, "a task{} panicked: {message}", of(class))
            }
            Self::TaskExpired { class } => {
                write!(f, "a task{} waited for too long and did not run", of(class))
            }
            Self::TaskDropped { class } => {
                write!(f, "a task{} was dropped because the line was full", of(class))
            }
            Self::TaskStuck { worker, class, running_for, written_off } => {
                let rest = if *written_off { "; its worker was counted out" } else { "" };
                let class = of(class);
                write!(f, "the task{class} of worker {worker} runs for {running_for:?}{rest}")
            }
            Self::Compensated { blocked } => {
                write!(f, "a worker blocks and another may work in its place; {blocked} block now")
            }
            Self::SuspectedDeadlock { workers, queued, stood_for } => write!(
                f,
                "suspected deadlock: all {workers} workers are busy, {queued} tasks wait, and \
                 nothing has moved for {stood_for:?}"
            ),
            Self::HookPanicked { hook, policy } => {
                let of = policy.map_or(String::new(), |policy| format!(" of the policy {policy}"));
                write!(f, "the hook {hook}{of} panicked and was ignored")
            }
        }
    }
}

/// Who hears of events.
pub(crate) type Listener = Arc<dyn Fn(&Event) + Send + Sync>;

/// The events of a pool: the latest are kept, and one listener hears of each.
#[derive(Default)]
pub(crate) struct Events {
    latest: Mutex<VecDeque<(Timestamp, Event)>>,
    listener: Option<Listener>,
}

impl Events {
    /// How many are kept.
    const KEPT_MAX: usize = 256;

    pub(crate) fn new(listener: Option<Listener>) -> Self {
        Self { latest: Mutex::default(), listener }
    }

    pub(crate) fn tell(&self, at: Timestamp, event: Event) {
        if let Some(listener) = &self.listener {
            let (listener, event) = (Arc::clone(listener), event.clone());
            // A listener that panics misses this one; the pool goes on.
            carried(move || listener(&event));
        }
        let mut latest = lock(&self.latest);
        if latest.len() == Self::KEPT_MAX {
            latest.pop_front();
        }
        latest.push_back((at, event));
    }

    pub(crate) fn latest(&self) -> Vec<(Timestamp, Event)> {
        lock(&self.latest).iter().cloned().collect()
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}
