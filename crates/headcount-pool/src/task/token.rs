//! A signal to stop, shared by whoever sends it and all who should hear it.

use std::fmt;
use std::sync::{Arc, Weak};

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, lock};
use crate::unhurt::quietly;

/// Hears of a cancellation.
pub(crate) trait Listener: Send + Sync {
    /// The token was cancelled. Called once, without a lock held.
    fn cancelled(&self);
}

/// A signal to stop that can be given to many tasks and kept by many hands.
///
/// ```
/// use headcount_pool::{CancelToken, TaskError, TaskOptions, ThreadPool};
///
/// let pool = ThreadPool::builder().workers(1).build()?;
/// let token = CancelToken::new();
/// pool.pause();
/// let options = TaskOptions::new().token(token.clone());
/// let tasks: Vec<_> =
///     (0..3).map(|n| pool.submit_with(options.clone(), move || n)).collect::<Result<_, _>>()?;
/// token.cancel();
/// pool.resume();
/// for task in tasks {
///     assert_eq!(task.join(), Err(TaskError::Cancelled), "none of them has run");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct CancelToken {
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    cancelled: AtomicBool,
    listeners: Mutex<Listeners>,
}

#[derive(Default)]
struct Listeners {
    list: Vec<Weak<dyn Listener>>,
    /// At this length those that are gone are thrown out, so the list stays within twice of those
    /// that are not.
    sweep_at: usize,
}

impl CancelToken {
    /// A token that nobody has cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells everybody to stop. Tasks that have not begun do not run.
    pub fn cancel(&self) {
        let listeners = {
            let mut listeners = lock(&self.state.listeners);
            self.state.cancelled.store(true, Ordering::Release);
            std::mem::take(&mut listeners.list)
        };
        listeners
            .iter()
            .filter_map(Weak::upgrade)
            .for_each(|listener| quietly(|| listener.cancelled()));
    }

    /// Whether somebody has cancelled it.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.state.cancelled.load(Ordering::Acquire)
    }

    /// Lets `listener` hear of it; at once, if it has been cancelled already.
    pub(crate) fn listen(&self, listener: &Arc<dyn Listener>) {
        let late = {
            let mut listeners = lock(&self.state.listeners);
            let late = self.is_cancelled();
            if !late {
                listeners.add(Arc::downgrade(listener));
            }
            late
        };
        if late {
            listener.cancelled();
        }
    }
}

impl Listeners {
    const SWEEP_MIN: usize = 32;

    fn add(&mut self, listener: Weak<dyn Listener>) {
        if self.sweep_at.max(Self::SWEEP_MIN) <= self.list.len() {
            self.list.retain(|known| 0 < known.strong_count());
            self.sweep_at = self.list.len() * 2;
        }
        self.list.push(listener);
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelToken").field("cancelled", &self.is_cancelled()).finish()
    }
}
