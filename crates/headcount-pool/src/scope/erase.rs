//! One of two places in this crate with unsafe code: a closure forgets how long its borrows live.
//!
//! Workers live longer than any scope, so what they run has to be `'static`. A scope's tasks are
//! not; but they are all gone when the scope's call returns, and only that makes it sound:
//!
//! 1. An erased task lies in the queue of its scope or is being run, nowhere else. Both are private
//!    to `scope`: what goes into the pool's line holds only the queue.
//! 2. `PoolHandle::scope` ends with `Queue::finish`, also when the body panics. It returns when the
//!    queue is empty and nothing taken from it runs, and a task counts as running until it has been
//!    called and dropped. If it panicked, which it does not, the process would be aborted.
//! 3. Nothing is pushed after that: `Scope::spawn` needs a `&Scope`, which only lives during the
//!    body, and a task cannot hold one, because `'scope` is invariant and a `Scope` lives shorter
//!    than `'scope`.
//! 4. A thread that aborts or a process that exits runs nothing any more.

#![allow(unsafe_code)]

/// A task that may borrow, although its type does not say so.
pub(super) type Erased = Box<dyn FnOnce() + Send + 'static>;

/// Takes the lifetime of what it borrows off a task.
pub(super) fn erase<'scope>(task: Box<dyn FnOnce() + Send + 'scope>) -> Erased {
    // SAFETY: both types are the same but for the lifetime, and by the rules above the task is
    // called and dropped before 'scope ends.
    unsafe { std::mem::transmute::<Box<dyn FnOnce() + Send + 'scope>, Erased>(task) }
}
