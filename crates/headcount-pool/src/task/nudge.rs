//! Wakes somebody who waits for room when the task is cancelled, or its time is up.

use std::sync::Arc;
use std::task::Waker;

use headcount_core::Timestamp;

use super::token::Listener;
use crate::engine::Deadline;
use crate::sync::{Mutex, lock};
use crate::unhurt::quietly;

/// Who is woken. What there was to hear is looked up by whoever is: this only says when to look.
#[derive(Debug)]
pub(crate) struct Nudge {
    waker: Mutex<Option<Waker>>,
}

impl Nudge {
    pub(crate) fn new(waker: &Waker) -> Arc<Self> {
        Arc::new(Self { waker: Mutex::new(Some(waker.clone())) })
    }

    /// From here on it is this one who is woken.
    pub(crate) fn set(&self, waker: &Waker) {
        // Cloned before and dropped after: what a waker does then is the user's.
        let waker = waker.clone();
        let before = lock(&self.waker).replace(waker);
        drop(before);
    }

    fn wake(&self) {
        let waker = lock(&self.waker).take();
        if let Some(waker) = waker {
            quietly(|| waker.wake());
        }
    }
}

impl Listener for Nudge {
    fn cancelled(&self) {
        self.wake();
    }
}

impl Deadline for Nudge {
    fn passed(&self, _now: Timestamp) {
        self.wake();
    }
}
