//! What is asked of pools.

use std::fmt;
use std::time::Duration;

use axum::http::StatusCode;

use super::view::{DecisionView, PoolView};
use crate::answer::Refusal;
use crate::throttling::Throttling;

/// The pools of a process, to be seen and steered.
///
/// Implementations may rely on being called from a thread that may wait, and are called from
/// several at once. They must not assume that a name was checked: one that they do not know is
/// [`PoolsError::Unknown`].
///
/// ```
/// use headcount_ops::{DecisionView, PoolView, Pools, PoolsError, Scale, Throttling};
///
/// /// A process without pools.
/// #[derive(Debug)]
/// struct None;
///
/// impl Pools for None {
///     fn pools(&self) -> Vec<PoolView> {
///         Vec::new()
///     }
///     fn pool(&self, _: &str) -> Result<PoolView, PoolsError> {
///         Err(PoolsError::Unknown)
///     }
///     fn why(&self, _: &str) -> Result<String, PoolsError> {
///         Err(PoolsError::Unknown)
///     }
///     fn decisions(&self, _: &str, _: usize) -> Result<Vec<DecisionView>, PoolsError> {
///         Err(PoolsError::Unknown)
///     }
///     fn scale(&self, _: &str, _: &Scale) -> Result<PoolView, PoolsError> {
///         Err(PoolsError::Unknown)
///     }
///     fn policy(&self, _: &str) -> Result<String, PoolsError> {
///         Err(PoolsError::Unknown)
///     }
///     fn set_policy(&self, _: &str, _: &str) -> Result<(), PoolsError> {
///         Err(PoolsError::Unknown)
///     }
///     fn throttle(&self, _: &str, _: &Throttling) -> Result<(), PoolsError> {
///         Err(PoolsError::Unknown)
///     }
/// }
///
/// assert!(None.pools().is_empty());
/// ```
pub trait Pools: fmt::Debug + Send + Sync {
    /// All of them, by name.
    fn pools(&self) -> Vec<PoolView>;

    /// One of them.
    ///
    /// # Errors
    ///
    /// When it is not known.
    fn pool(&self, name: &str) -> Result<PoolView, PoolsError>;

    /// Why it has the size it has: the whole story, in several lines.
    ///
    /// # Errors
    ///
    /// When it is not known.
    fn why(&self, name: &str) -> Result<String, PoolsError>;

    /// Its last decisions, the latest first, at most so many.
    ///
    /// # Errors
    ///
    /// When it is not known.
    fn decisions(&self, name: &str, most: usize) -> Result<Vec<DecisionView>, PoolsError>;

    /// Holds it at a size, or lets it go.
    ///
    /// # Errors
    ///
    /// When it is not known, or cannot be held there.
    fn scale(&self, name: &str, scale: &Scale) -> Result<PoolView, PoolsError>;

    /// The policy it goes by, as JSON.
    ///
    /// # Errors
    ///
    /// When it is not known.
    fn policy(&self, name: &str) -> Result<String, PoolsError>;

    /// Has it go by another policy, given as JSON.
    ///
    /// # Errors
    ///
    /// When it is not known, or something is wrong with the policy: all of it. Then nothing
    /// changes.
    fn set_policy(&self, name: &str, policy: &str) -> Result<(), PoolsError>;

    /// Has it throttled by the machine's health, or not, within the bounds that go with that.
    ///
    /// # Errors
    ///
    /// When it is not known, or cannot live with these bounds. Then nothing changes.
    fn throttle(&self, name: &str, throttling: &Throttling) -> Result<(), PoolsError>;
}

/// A size that somebody wants by hand.
///
/// ```
/// use headcount_ops::Scale;
/// use std::time::Duration;
///
/// let span = Some(Duration::from_secs(600));
/// let scale = Scale { workers: Some(8), span, reason: Some("the sale begins".to_owned()) };
/// assert_ne!(scale, Scale::default(), "which lets the pool go");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scale {
    /// How many workers. `None`: as many as the policy says again.
    pub workers: Option<u32>,
    /// For how long. `None`: until somebody says otherwise.
    pub span: Option<Duration>,
    /// Why, for those who look later.
    pub reason: Option<String>,
}

/// Why a pool did not do what was asked.
///
/// ```
/// use headcount_ops::PoolsError;
///
/// let error = PoolsError::Refused(vec!["workers_min is 0".to_owned()]);
/// assert_eq!(error.to_string(), "workers_min is 0");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoolsError {
    /// There is no pool of that name.
    Unknown,
    /// It cannot be done; each sentence says one thing that is wrong.
    Refused(Vec<String>),
}

impl fmt::Display for PoolsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("there is no pool of that name"),
            Self::Refused(faults) => f.write_str(&faults.join("; ")),
        }
    }
}

impl std::error::Error for PoolsError {}

impl From<PoolsError> for Refusal {
    fn from(error: PoolsError) -> Self {
        match error {
            PoolsError::Unknown => Self::new(StatusCode::NOT_FOUND, error.to_string()),
            PoolsError::Refused(faults) => Self::faulty(faults),
        }
    }
}
