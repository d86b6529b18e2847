//! What threads share: from std, or from loom where the models run.
//!
//! Nothing else in this crate names a lock or an atomic, so that a model sees every one of them.

use std::sync::PoisonError;

#[cfg(loom)]
pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard, atomic};
#[cfg(not(loom))]
pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard, atomic};

#[cfg(loom)]
pub(crate) use loom::cell;
#[cfg(not(loom))]
pub(crate) mod cell {
    //! What loom has of cells, without loom.

    /// A cell that is reached through a call, so that a model sees by whom and when.
    #[derive(Debug)]
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        /// Hands out where the inside is. Whoever uses it answers for it.
        pub(crate) fn with_mut<R>(&self, act: impl FnOnce(*mut T) -> R) -> R {
            act(self.0.get())
        }
    }
}

#[cfg(loom)]
pub(crate) use loom::thread::yield_now;
#[cfg(not(loom))]
pub(crate) use std::thread::yield_now;

/// Std's in the models too: std makes a waker out of no other.
pub(crate) use std::sync::Arc as WakerArc;

/// Locks, even where a panic left the lock poisoned.
///
/// No code of the caller runs under our locks, and what we do under them we check before we change
/// anything. So what a panic leaves behind is whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
