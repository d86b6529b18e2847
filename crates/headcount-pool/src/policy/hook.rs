//! What a pool and its policies say to each other.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use headcount_core::Name;

/// What a policy gives a task to take along: a permit, a span.
///
/// It is dropped with the task, wherever that ends.
pub type Baggage = Box<dyn Any + Send>;

/// What a policy may know of a task.
///
/// ```
/// use headcount_pool::policy::TaskView;
///
/// let task = TaskView { id: 7, class: Some("resize"), ..TaskView::default() };
/// assert_eq!(task.waited, None, "it has not begun");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskView<'a> {
    /// Its number, which no other task of the pool has.
    pub id: u64,
    /// Of which kind it is, if it was said.
    pub class: Option<&'a str>,
    /// How long it waited until it began. `None`: it has not begun.
    pub waited: Option<Duration>,
}

/// What a policy says when it is asked about a task.
///
/// ```
/// use headcount_pool::policy::Verdict;
/// use std::time::Duration;
///
/// assert!(matches!(Verdict::accept(), Verdict::Accept(None)));
/// assert!(matches!(Verdict::accept_with("a permit"), Verdict::Accept(Some(_))));
/// let verdict = Verdict::reject_for("the night is for sleeping", Duration::from_secs(3600));
/// assert!(matches!(verdict, Verdict::Reject { retry_after: Some(_), .. }));
/// ```
#[derive(Debug)]
#[must_use = "a task that was rejected must not run"]
pub enum Verdict {
    /// The task may come in, and takes this along.
    Accept(Option<Baggage>),
    /// The task is handed back to whoever submitted it.
    Reject {
        /// What is wrong, with its values, and what to do.
        reason: String,
        /// When another attempt may succeed. `None`: waiting will not help, or nobody knows.
        retry_after: Option<Duration>,
    },
}

impl Verdict {
    /// The task may come in.
    pub const fn accept() -> Self {
        Self::Accept(None)
    }

    /// The task may come in, and takes `baggage` along.
    pub fn accept_with(baggage: impl Any + Send) -> Self {
        Self::Accept(Some(Box::new(baggage)))
    }

    /// The task may not come in.
    pub fn reject(reason: impl Into<String>) -> Self {
        Self::Reject { reason: reason.into(), retry_after: None }
    }

    /// The task may not come in, but after this long another attempt may succeed.
    pub fn reject_for(reason: impl Into<String>, retry_after: Duration) -> Self {
        Self::Reject { reason: reason.into(), retry_after: Some(retry_after) }
    }
}

/// Why a task may not come in, and who says so.
///
/// ```
/// use headcount_pool::policy::{Policies, Rate, RateLimit, TaskView};
/// use std::sync::Arc;
///
/// let policies = Policies::new();
/// let hourly = Rate { per: std::time::Duration::from_secs(3600), ..Rate::per_second(1) };
/// let limit = RateLimit::new(hourly).expect("no fault");
/// policies.add(Arc::new(limit)).expect("the only one of its name");
/// let _escort = policies.enqueue(&TaskView::default()).expect("the first one");
/// let rejection = policies.enqueue(&TaskView::default()).expect_err("one an hour");
/// assert_eq!(rejection.policy.as_str(), "rate_limit");
/// assert!(rejection.retry_after.is_some());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The policy that rejected it.
    pub policy: Name,
    /// What is wrong, with its values, and what to do.
    pub reason: String,
    /// When another attempt may succeed. `None`: waiting will not help, or nobody knows.
    pub retry_after: Option<Duration>,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.policy, self.reason)
    }
}

impl Error for Rejection {}

/// How a task that began has ended, and after how long.
///
/// ```
/// use headcount_pool::policy::{Ending, Outcome};
/// use std::time::Duration;
///
/// let ending = Ending { outcome: Outcome::TimedOut, ran: Duration::from_secs(30) };
/// assert_eq!(ending.outcome.as_str(), "timed_out");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// In which way.
    pub outcome: Outcome,
    /// How long it ran.
    pub ran: Duration,
}

/// In which way a task ended.
///
/// ```
/// use headcount_pool::policy::Outcome;
///
/// assert_eq!(Outcome::Panicked.as_str(), "panicked");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It did what it was for.
    Succeeded,
    /// It said that it could not.
    Failed,
    /// It panicked.
    Panicked,
    /// Somebody asked it to stop.
    Cancelled,
    /// It was stopped because it took too long.
    TimedOut,
}

impl Outcome {
    /// The word for it, as metrics and traces write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Panicked => "panicked",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
        }
    }
}
