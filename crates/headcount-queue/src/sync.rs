//! Locks that outlive a panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the lock guards is whole even if its last holder panicked: nobody runs foreign code inside.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
