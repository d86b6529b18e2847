//! Why a task was not taken in, and why one that was has no result.

use std::any::Any;
use std::fmt;

use crate::policy::Rejection;
use crate::unhurt::drop_quietly;

/// Why a pool did not take a task in.
///
/// ```
/// use headcount_pool::{Refusal, ThreadPool};
///
/// let pool = ThreadPool::builder().workers(1).build()?;
/// pool.close();
/// let refused = pool.spawn(|| ()).expect_err("it is closed");
/// assert_eq!(refused.reason, Refusal::Closed);
/// # Ok::<(), headcount_pool::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// As many tasks wait as may, and the submitter does not wait: it was told not to, or it is a
    /// worker of the pool and cannot run the task by itself.
    Full {
        /// How many may.
        queue_len_max: u64,
    },
    /// The pool takes no tasks any more.
    Closed,
    /// The runtime of a pool of async tasks has shut down.
    RuntimeGone,
    /// There was no room for as long as the submitter was ready to wait, or the task.
    TimedOut,
    /// The task's token was cancelled before it was taken in.
    Cancelled,
    /// A policy rejected it.
    Rejected(Rejection),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { queue_len_max } => write!(
                f,
                "the line is full (queue_len_max is {queue_len_max}); wait, submit less, or let \
                 an overflow rule decide"
            ),
            Self::Closed => write!(f, "the pool is closed and takes no tasks any more"),
            Self::RuntimeGone => {
                write!(f, "the runtime of the pool has shut down; build a pool on another one")
            }
            Self::TimedOut => write!(f, "there was no room in the line in time"),
            Self::Cancelled => write!(f, "the task was cancelled before it was taken in"),
            Self::Rejected(rejection) => rejection.fmt(f),
        }
    }
}

impl std::error::Error for Refusal {}

/// A task that was not taken in, and why.
///
/// ```
/// use headcount_pool::{Overflow, TaskOptions, ThreadPool};
///
/// let pool = ThreadPool::builder().workers(1).queue_len_max(1).build()?;
/// pool.pause();
/// pool.spawn(|| ())?;
/// let refused = pool
///     .submit_with(TaskOptions::new().overflow(Overflow::Reject), || 6 * 7)
///     .expect_err("one waits, and no more may");
/// assert_eq!((refused.task)(), 42, "it was handed back");
/// # pool.resume();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the task was not taken in"]
pub struct SubmitError<F> {
    /// Why.
    pub reason: Refusal,
    /// The task, as it was.
    pub task: F,
}

impl<F> fmt::Debug for SubmitError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubmitError").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl<F> fmt::Display for SubmitError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl<F> std::error::Error for SubmitError<F> {}

/// Why a task that was taken in has no result.
///
/// ```
/// use headcount_pool::{TaskError, ThreadPool};
///
/// let pool = ThreadPool::builder().workers(1).build()?;
/// let task = pool.submit(|| -> u32 { panic!("out of paper") })?;
/// assert_eq!(task.join(), Err(TaskError::Panicked("out of paper".to_owned())));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskError {
    /// It panicked, and said this.
    Panicked(String),
    /// It was cancelled before it had ended.
    Cancelled,
    /// It waited for longer than it was allowed to, and did not run.
    Expired,
    /// It ran for longer than it was allowed to.
    TimedOut,
    /// It made room for another task, or was not let in by the rule for a full line.
    Dropped,
    /// It did not run before the pool was drained, or before its runtime was gone.
    Returned,
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked(message) => write!(f, "the task panicked: {message}"),
            Self::Cancelled => write!(f, "the task was cancelled"),
            Self::Expired => write!(f, "the task waited for too long and did not run"),
            Self::TimedOut => write!(f, "the task ran for too long"),
            Self::Dropped => write!(f, "the task was dropped because the line was full"),
            Self::Returned => write!(f, "the task did not run before the pool was drained"),
        }
    }
}

impl std::error::Error for TaskError {}

/// What a panic said.
pub(crate) fn message_of(payload: Box<dyn Any + Send>) -> String {
    let message = message_in(&*payload);
    // Its drop is the user's code as well, and may panic once more.
    drop_quietly(payload);
    message
}

/// The same of one that is passed on.
pub(crate) fn message_in(payload: &(dyn Any + Send)) -> String {
    if let Some(message) = payload.downcast_ref::<String>() {
        return message.clone();
    }
    let message = payload.downcast_ref::<&'static str>();
    (*message.unwrap_or(&"it said nothing that can be told")).to_owned()
}
