//! Where tasks of a group leave word that they have ended.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;

use crate::sync::{Mutex, lock};
use crate::unhurt::quietly;

/// The indices of tasks that have ended, in that order.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// No longer than the group has tasks.
    ended: VecDeque<usize>,
    waiting: Option<Waker>,
}

impl Mailbox {
    /// Takes the next index; if there is none, `waker` is called when there is.
    pub(super) fn take_or_watch(&self, waker: &Waker) -> Option<usize> {
        let waker = waker.clone();
        let mut state = lock(&self.state);
        let index = state.ended.pop_front();
        let before = index.is_none().then(|| state.waiting.replace(waker)).flatten();
        drop(state);
        drop(before);
        index
    }

    fn leave(&self, index: usize) {
        let waiting = {
            let mut state = lock(&self.state);
            state.ended.push_back(index);
            state.waiting.take()
        };
        if let Some(waker) = waiting {
            quietly(|| waker.wake());
        }
    }
}

/// Goes with a task and leaves word when it is dropped, which is when the task has ended, whether
/// it ran, panicked or was given up.
#[derive(Debug)]
pub(crate) struct Messenger {
    mailbox: Arc<Mailbox>,
    index: usize,
}

impl Messenger {
    pub(super) fn new(mailbox: &Arc<Mailbox>, index: usize) -> Self {
        Self { mailbox: Arc::clone(mailbox), index }
    }
}

impl Drop for Messenger {
    fn drop(&mut self) {
        self.mailbox.leave(self.index);
    }
}
