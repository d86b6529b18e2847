//! Lets a thread wait like a task: asleep until its waker is called.
//!
//! Not `std::thread::park`: that has one token for each thread, which other code on the same
//! thread may take or leave.

use std::sync::PoisonError;
use std::task::Wake;

use headcount_core::{Clock, Timestamp};

use crate::sync::{Condvar, Mutex, WakerArc, lock};

/// Where one thread waits. A call of the waker is remembered until the thread has seen it.
#[derive(Debug, Default)]
pub(crate) struct Parker {
    called: Mutex<bool>,
    bell: Condvar,
}

impl Parker {
    /// Waits for a call.
    pub(crate) fn park(&self) {
        let mut called = lock(&self.called);
        while !*called {
            called = self.bell.wait(called).unwrap_or_else(PoisonError::into_inner);
        }
        *called = false;
    }

    /// Waits for a call, and says whether it came before `deadline`.
    pub(crate) fn park_until(&self, deadline: Timestamp, clock: &dyn Clock) -> bool {
        let mut called = lock(&self.called);
        while !*called {
            let left = deadline.since(clock.now());
            if left.is_zero() {
                return false;
            }
            let waited = self.bell.wait_timeout(called, left);
            called = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *called = false;
        true
    }
}

impl Parker {
    /// Calls whoever waits here, or will.
    pub(crate) fn call(&self) {
        let called_before = std::mem::replace(&mut *lock(&self.called), true);
        if !called_before {
            self.bell.notify_one();
        }
    }
}

impl Wake for Parker {
    fn wake(self: WakerArc<Self>) {
        self.call();
    }
}
