//! Lets jobs wait that nobody here can run.
//!
//! Another process may have a handler for them, or a file may get one tomorrow: neither is a
//! failure of the job, so its tries are not used up.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use headcount::jobs::{Context, JobError, Middleware, Next, Queue, Running};
use headcount_core::jobs::Label;

use super::log::say;

/// How long a job waits until somebody looks at it again.
const AGAIN: Duration = Duration::from_secs(10);
/// How many kinds are told of.
const TOLD_MAX: usize = 100;

/// Has jobs without a handler wait.
#[derive(Debug)]
pub(super) struct Unhandled {
    kinds: BTreeSet<Label>,
    told: Mutex<BTreeSet<Label>>,
}

impl Unhandled {
    /// For a queue that has all its handlers.
    pub(super) fn of(queue: &Queue) -> Self {
        Self { kinds: queue.kinds().into_iter().collect(), told: Mutex::default() }
    }

    /// Tells of a kind once.
    fn tell(&self, kind: &Label) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() < TOLD_MAX && told.insert(kind.clone()) {
            say(&format!("there is no handler for the kind {kind}; its jobs wait"));
        }
    }
}

impl Middleware for Unhandled {
    fn around<'a>(&'a self, ctx: Context, next: Next<'a>) -> Running<'a> {
        if self.kinds.contains(ctx.kind()) {
            return next.run(ctx);
        }
        self.tell(ctx.kind());
        Box::pin(std::future::ready(Err(JobError::snooze(AGAIN))))
    }
}
