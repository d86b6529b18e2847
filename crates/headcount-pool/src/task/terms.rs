//! What was agreed on about a task, and the pool that keeps to it.

use std::sync::{Arc, Weak};
use std::time::Duration;

use headcount_core::{Name, Timestamp};

use super::token::CancelToken;
use crate::engine::{Deadline, Fate};
use crate::sync::atomic::{AtomicU64, Ordering};

/// The pool of a promise, as far as it needs one.
pub(crate) trait Home: Send + Sync {
    /// The pool, told from others by a number.
    fn pool(&self) -> usize;

    fn now(&self) -> Timestamp;

    /// A task ended without a worker having counted it.
    fn ended(&self, fate: Fate);

    /// A task has ended in the line, or somebody runs it who did not take it out. Its shell is
    /// counted until it is taken out. Told under the task's lock.
    fn shell_left(&self);

    /// Somebody has taken a shell out of the line that was counted.
    fn shell_taken(&self);

    /// A shell was counted, and its place may be wanted. Told without a lock.
    fn shell_was_left(self: Arc<Self>);

    /// A task runs beside the workers until what this returns is dropped.
    #[cfg(feature = "tokio")]
    fn beside(self: Arc<Self>) -> Box<dyn Send + Sync>;

    /// A task waited for too long.
    fn expired(&self, class: Option<Name>);

    /// A task panicked.
    fn panicked(&self, class: Option<Name>, message: &str);

    /// Tells `deadline` when it is that late.
    fn remind(&self, at: Timestamp, deadline: Weak<dyn Deadline>);
}

/// What was agreed on with the submitter. Few tasks have terms, so they lie in a box.
#[derive(Debug)]
pub(crate) struct Terms {
    pub(crate) class: Option<Name>,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) run_max: Option<Duration>,
    pub(crate) token: Option<CancelToken>,
    /// When the task will have run for too long, in nanoseconds. 0: it has not begun, or may take
    /// its time.
    run_until: AtomicU64,
}

impl Terms {
    pub(crate) fn new(
        class: Option<Name>,
        expires_at: Option<Timestamp>,
        run_max: Option<Duration>,
        token: Option<CancelToken>,
    ) -> Self {
        Self { class, expires_at, run_max, token, run_until: AtomicU64::new(0) }
    }

    /// It begins now. When it will have run for too long, if there is such a time.
    pub(super) fn begin(&self, now: impl FnOnce() -> Timestamp) -> Option<Timestamp> {
        let run_max = self.run_max?;
        let at = now() + run_max;
        self.run_until.store(at.as_nanos(), Ordering::Release);
        Some(at)
    }

    /// Whether the task has begun and run for too long.
    pub(super) fn has_run_out(&self, now: Timestamp) -> bool {
        let at = self.run_until.load(Ordering::Acquire);
        at != 0 && Timestamp::from_nanos(at) <= now
    }

    /// Whether it has to be told of its token or its deadline.
    pub(crate) fn are_armed(&self) -> bool {
        self.token.is_some() || self.expires_at.is_some()
    }
}
