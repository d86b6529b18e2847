//! Policies: what a pool asks before it takes a task, and tells as the task goes on.
//!
#![doc = include_str!("README.md")]

use std::any::Any;

mod hook;
mod set;

mod escort;

mod breaker;
mod rate;
#[cfg(feature = "tracing")]
mod trace_context;

pub use breaker::{
    BreakerConfig, BreakerCounts, BreakerOpen, BreakerPermit, CircuitBreaker, FAILURES_MAX, Trip,
};
pub use escort::Escort;
pub use hook::{Baggage, Ending, Outcome, Rejection, TaskView, Verdict};
pub use rate::{Rate, RateLimit, TakeError};
pub(crate) use set::Witness;
pub use set::{AddError, AddRefusal, POLICIES_MAX, Policies, UnknownPolicy};
#[cfg(feature = "tracing")]
pub use trace_context::TraceContext;

/// Has a say in which tasks a pool takes, and is told what becomes of those it let in.
///
/// A policy may rely on this:
///
/// - [`on_enqueue`](Self::on_enqueue) is called once for each task, by the thread that submits it,
///   before the task counts as accepted. Policies are asked in the order in which they were added,
///   and none after the first that rejects. A task that is rejected goes back to its submitter; one
///   of a [`scope`](crate::PoolHandle::scope) is then run by whoever opened that.
/// - The other hooks are called only for tasks that it accepted itself, on the thread that runs the
///   task: [`on_start`](Self::on_start), then [`around`](Self::around) once for a closure and once
///   for each poll of a future, then [`on_complete`](Self::on_complete). That holds even if it was
///   disabled or removed in between.
/// - What it gave the task as [`Baggage`] comes back with every hook and to nobody else. Where the
///   task never runs (another policy rejects it, it is cancelled or handed back while it waits),
///   there is no further call: the baggage is dropped, and that is all the notice there is.
/// - No lock of the pool is held during a call, and a panic in it is caught, counted and told as an
///   event.
///
/// A policy may not rely on being called by one thread at a time, nor on the order of two tasks.
///
/// The pool relies on this: hooks are quick and never wait, for they run on the way of every task;
/// the name stays the same; `around` calls what it is given. If it does not, or panics before, the
/// pool runs the task all the same.
///
/// ```
/// use headcount_pool::policy::{Policies, PoolPolicy, TaskView, Verdict};
/// use std::sync::Arc;
///
/// /// Takes only tasks that say what they are.
/// struct Classified;
///
/// impl PoolPolicy for Classified {
///     fn name(&self) -> &str {
///         "classified"
///     }
///
///     fn on_enqueue(&self, task: &TaskView<'_>) -> Verdict {
///         match task.class {
///             Some(_) => Verdict::accept(),
///             None => Verdict::reject("the task has no class; give it one"),
///         }
///     }
/// }
///
/// let policies = Policies::new();
/// policies.add(Arc::new(Classified)).expect("the only one of its name");
/// let rejection = policies.enqueue(&TaskView::default()).expect_err("it has no class");
/// assert_eq!(rejection.to_string(), "classified: the task has no class; give it one");
/// let task = TaskView { class: Some("resize"), ..TaskView::default() };
/// assert!(policies.enqueue(&task).is_ok());
/// ```
pub trait PoolPolicy: Any + Send + Sync {
    /// What it is called, as a [`headcount_core::Name`]. It is asked once, when it is added.
    fn name(&self) -> &str;

    /// Takes a task or rejects it, and may give it something to take along.
    fn on_enqueue(&self, task: &TaskView<'_>) -> Verdict {
        let _ = task;
        Verdict::accept()
    }

    /// The task begins. How long it waited stands in `task`.
    fn on_start(&self, task: &TaskView<'_>, baggage: Option<&mut (dyn Any + Send)>) {
        let _ = (task, baggage);
    }

    /// Runs `inside`, which is the task or one poll of it, amid whatever it needs around it.
    fn around(&self, baggage: Option<&mut (dyn Any + Send)>, inside: &mut dyn FnMut()) {
        let _ = baggage;
        inside();
    }

    /// The task has ended. This is the last call for it, and the baggage is the policy's again.
    fn on_complete(&self, task: &TaskView<'_>, ending: Ending, baggage: Option<Baggage>) {
        let _ = (task, ending, baggage);
    }

    /// It was enabled or disabled.
    fn on_switch(&self, enabled: bool) {
        let _ = enabled;
    }
}

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod policies_tests;
