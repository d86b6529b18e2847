//! Why a store did not do what it was asked.

use std::fmt;
use std::sync::Arc;

/// Why a store did not do what it was asked.
///
/// ```
/// use headcount_core::jobs::port::StoreError;
///
/// let error = StoreError::full(10, 10);
/// assert_eq!(
///     error.to_string(),
///     "the queue is full: 10 jobs wait, allowed are 10; submit again later or raise waiting_max",
/// );
/// assert!(!error.is_passing());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The queue has this many jobs that have not ended, and may have only so many.
    Full {
        /// How many there are.
        waiting: u64,
        /// How many there may be.
        waiting_max: u64,
    },
    /// What was asked makes no sense; the text says why.
    Refused(String),
    /// The store could not be reached, or did not answer in time. It may pass.
    Unreachable(Arc<dyn std::error::Error + Send + Sync>),
    /// The store cannot write: full disk, no memory, read-only. It may pass, once somebody acts.
    Unwritable(Arc<dyn std::error::Error + Send + Sync>),
    /// What is stored is not what this version writes; the text says what was found.
    Format(String),
    /// The store was closed by its owner.
    Closed,
}

impl StoreError {
    /// The queue is full.
    #[must_use]
    pub const fn full(waiting: u64, waiting_max: u64) -> Self {
        Self::Full { waiting, waiting_max }
    }

    /// The store could not be reached because of this.
    pub fn unreachable(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unreachable(why.into().into())
    }

    /// The store could not write because of this.
    pub fn unwritable(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unwritable(why.into().into())
    }

    /// Whether the same call may succeed later without anybody changing anything.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Unwritable(_))
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { waiting, waiting_max } => write!(
                f,
                "the queue is full: {waiting} jobs wait, allowed are {waiting_max}; submit again \
                 later or raise waiting_max",
            ),
            Self::Refused(why) => f.write_str(why),
            Self::Unreachable(why) => write!(f, "the store does not answer: {why}"),
            Self::Unwritable(why) => write!(f, "the store cannot write: {why}"),
            Self::Format(what) => {
                write!(f, "the store holds what this version cannot read: {what}")
            }
            Self::Closed => f.write_str("the store is closed"),
        }
    }
}

impl std::error::Error for StoreError {}
