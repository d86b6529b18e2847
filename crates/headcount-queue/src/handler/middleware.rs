//! What goes around every handler.

use std::sync::Arc;

use super::Running;
use super::context::Context;
use super::error::JobError;
use super::registry::{Entry, Known};

/// A step around every handler of a queue: it sees each job before and after, and may answer
/// in the handler's place.
///
/// What was added first is outermost.
///
/// ```
/// use headcount_queue::{Context, Middleware, Next, Running};
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// /// Counts the jobs that failed.
/// #[derive(Default)]
/// struct Failures(AtomicU64);
///
/// impl Middleware for Failures {
///     fn around<'a>(&'a self, ctx: Context, next: Next<'a>) -> Running<'a> {
///         Box::pin(async move {
///             let outcome = next.run(ctx).await;
///             self.0.fetch_add(u64::from(outcome.is_err()), Ordering::Relaxed);
///             outcome
///         })
///     }
/// }
/// ```
pub trait Middleware: Send + Sync + 'static {
    /// Does something, usually has `next` do the job, and does something more.
    fn around<'a>(&'a self, ctx: Context, next: Next<'a>) -> Running<'a>;
}

/// What is inside of a [`Middleware`]: the next one, or the handler.
///
/// ```
/// use headcount_queue::{Context, Middleware, Next, Running};
///
/// struct Nothing;
///
/// impl Middleware for Nothing {
///     fn around<'a>(&'a self, ctx: Context, next: Next<'a>) -> Running<'a> {
///         next.run(ctx)
///     }
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Next<'a> {
    known: &'a Known,
    /// How many of the steps are outside of this.
    passed: usize,
    place: Place,
}

/// Where a job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// As a task of a runtime, which must not block.
    Task,
    /// On a thread, which may.
    Thread,
}

impl<'a> Next<'a> {
    pub(crate) const fn first(known: &'a Known, place: Place) -> Self {
        Self { known, passed: 0, place }
    }

    /// Does the job.
    #[must_use = "nothing is done until this is awaited"]
    pub fn run(self, ctx: Context) -> Running<'a> {
        if let Some(step) = self.known.middleware.get(self.passed) {
            return step.around(ctx, Self { passed: self.passed + 1, ..self });
        }
        match self.known.kinds.get(ctx.kind()) {
            Some(Entry::Async(handler)) => handler.run(ctx),
            Some(Entry::Blocking(apply)) if self.place == Place::Thread => {
                Box::pin(async move { apply(&ctx) })
            }
            Some(Entry::Blocking(apply)) => on_a_thread(Arc::clone(apply), ctx),
            None => {
                let error = JobError::failed(self.known.unknown(ctx.kind()));
                Box::pin(std::future::ready(Err(error)))
            }
        }
    }
}

fn on_a_thread<'a>(apply: super::registry::Blocking, ctx: Context) -> Running<'a> {
    Box::pin(async move {
        match tokio::task::spawn_blocking(move || apply(&ctx)).await {
            Ok(outcome) => outcome,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(JobError::failed("the runtime ended before the job had begun")),
            },
        }
    })
}

impl std::fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let left = self.known.middleware.len().saturating_sub(self.passed);
        f.debug_struct("Next").field("steps_left", &left).finish_non_exhaustive()
    }
}
