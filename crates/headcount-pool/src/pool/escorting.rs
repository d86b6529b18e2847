//! Asks policies about a task, and takes them along.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
#[cfg(feature = "tokio")]
use std::task::Poll;
use std::time::Duration;

use headcount_core::{Clock, Name, Timestamp};

use super::admission::Admission;
use super::bid::Bid;
use super::handle::PoolHandle;
use crate::CancelToken;
use crate::clock::Monotonic;
use crate::engine::Kind;
use crate::policy::{Ending, Escort, Outcome, TaskView};
use crate::sync::atomic::Ordering;
use crate::task::{Overflow, Refusal, TaskOptions, Terms, has_failed, has_timed_out, is_cancelled};

/// A task's escort, and what its policies are told of it.
#[doc(hidden)]
#[derive(Debug)]
pub struct Escorting {
    escort: Escort,
    id: u64,
    class: Option<Name>,
    submitted: Timestamp,
    clock: Monotonic,
}

impl<K: Kind> PoolHandle<K> {
    /// Asks policies and the door.
    pub(crate) fn let_in(
        &self,
        options: &TaskOptions,
        bid: Bid<'_>,
    ) -> Result<(Option<Escorting>, Admission<K>), Refusal> {
        let escorting = self.ask(options)?;
        let admission = self.engine().admit(bid)?;
        Ok((escorting, admission))
    }

    /// The same, without blocking the thread.
    pub(crate) async fn let_in_async(
        &self,
        options: &TaskOptions,
        bid: Bid<'_>,
    ) -> Result<(Option<Escorting>, Admission<K>), Refusal> {
        let escorting = self.ask(options)?;
        let admission = self.engine().admit_async(bid).await?;
        Ok((escorting, admission))
    }

    /// What a task with these options wants if the line is full; if they do not say, `overflow`.
    pub(crate) fn bid<'a>(
        options: &'a TaskOptions,
        terms: Option<&Terms>,
        overflow: Overflow,
    ) -> Bid<'a> {
        Bid {
            overflow: options.overflow.unwrap_or(overflow),
            until: terms.and_then(|terms| terms.expires_at).unwrap_or(Timestamp::MAX),
            token: options.token.as_ref(),
        }
    }

    /// Asks the task's token, then policies.
    pub(crate) fn ask(&self, options: &TaskOptions) -> Result<Option<Escorting>, Refusal> {
        if options.token.as_ref().is_some_and(CancelToken::is_cancelled) {
            return Err(Refusal::Cancelled);
        }
        let class = options.class;
        if !self.policies().any_enabled() {
            return Ok(None);
        }
        let id = self.engine().asked.fetch_add(1, Ordering::Relaxed);
        let view = TaskView { id, class: class.as_ref().map(Name::as_str), waited: None };
        let escort = self.policies().enqueue(&view).map_err(Refusal::Rejected)?;
        let clock = self.engine().floor.clock;
        Ok(Some(Escorting { escort, id, class, submitted: clock.now(), clock }))
    }

    /// What was agreed on with the submitter. `None`: nothing special.
    pub(crate) fn terms(&self, options: &TaskOptions) -> Option<Box<Terms>> {
        if options.is_plain() {
            return None;
        }
        let expires_at = options.wait_max.map(|wait_max| self.engine().now() + wait_max);
        let TaskOptions { class, run_max, .. } = *options;
        Some(Box::new(Terms::new(class, expires_at, run_max, options.token.clone())))
    }
}

impl Escorting {
    /// The task, with its escort around it. A task that never runs drops it.
    pub(crate) fn around<T>(self, task: impl FnOnce() -> T) -> impl FnOnce() -> T {
        move || {
            let mut begun = self.begin();
            let mut task = Some(task);
            let result = begun.around(|| task.take().map(|task| task()));
            begun.end(outcome(result.is_err()));
            let result = result.unwrap_or_else(|payload| resume_unwind(payload));
            result.expect("an escort runs what is inside of it exactly once")
        }
    }

    /// The same for a future: with its escort around each of its polls.
    #[cfg(feature = "tokio")]
    pub(crate) async fn around_polls<T>(self, task: impl Future<Output = T>) -> T {
        // Before the task, so that it goes after it: the task is in its care to the last.
        let mut begun = self.begin();
        let mut task = std::pin::pin!(task);
        let polls =
            std::future::poll_fn(|context| match begun.around(|| task.as_mut().poll(context)) {
                Ok(polled) => polled.map(Ok),
                Err(payload) => Poll::Ready(Err(payload)),
            });
        let result = polls.await;
        begun.end(outcome(result.is_err()));
        result.unwrap_or_else(|payload| resume_unwind(payload))
    }

    fn begin(self) -> Begun {
        let Self { mut escort, id, class, submitted, clock } = self;
        let began = clock.now();
        let waited = began.since(submitted);
        let mut begun = Begun { escort: None, id, class, waited, began, clock };
        escort.started(&begun.view());
        begun.escort = Some(escort);
        begun
    }
}

/// The escort of a task that has begun. To drop it is to say that the task was stopped.
struct Begun {
    /// `None`: it was told the end.
    escort: Option<Escort>,
    id: u64,
    class: Option<Name>,
    waited: Duration,
    began: Timestamp,
    clock: Monotonic,
}

impl Begun {
    /// Runs `inside` with the escort around it. What it throws is caught.
    fn around<R>(&mut self, mut inside: impl FnMut() -> R) -> std::thread::Result<R> {
        let escort = self.escort.as_mut().expect("the task has not ended");
        let mut result = None;
        escort.around(&mut || result = Some(catch_unwind(AssertUnwindSafe(&mut inside))));
        result.expect("an escort runs what is inside of it exactly once")
    }

    fn end(&mut self, outcome: Outcome) {
        let Some(escort) = self.escort.take() else { return };
        let ran = self.clock.now().since(self.began);
        escort.ended(&self.view(), Ending { outcome, ran });
    }

    fn view(&self) -> TaskView<'_> {
        let class = self.class.as_ref().map(Name::as_str);
        TaskView { id: self.id, class, waited: Some(self.waited) }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.end(stopped());
    }
}

fn outcome(panicked: bool) -> Outcome {
    match panicked {
        true => Outcome::Panicked,
        false if is_cancelled() => stopped(),
        false if has_failed() => Outcome::Failed,
        false => Outcome::Succeeded,
    }
}

/// Why a task that was asked to stop was.
fn stopped() -> Outcome {
    match has_timed_out() {
        true => Outcome::TimedOut,
        false => Outcome::Cancelled,
    }
}
