//! Why a configuration cannot be put to work.

use std::fmt;

use crate::config::{Report, WatchError};

/// Why a configuration cannot be put to work.
///
/// ```
/// use headcount::config::{Config, Registry};
/// use headcount::{System, SystemError};
///
/// let config = Config::parse("a.yaml", "pools: {a: {type: tasks}}", &Registry::new());
/// let error = System::of(config.expect("no fault")).start().expect_err("there is no runtime");
/// assert!(matches!(&error, SystemError::Pool { pool, .. } if pool == "a"), "{error}");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum SystemError {
    /// The file has faults.
    Faults(Report),
    /// One pool cannot be made.
    Pool {
        /// Which.
        pool: String,
        /// Why.
        why: String,
    },
    /// Something that all pools need cannot be had.
    Shared(String),
    /// The system has been drained, and takes nothing up any more.
    Drained,
}

impl SystemError {
    pub(super) fn of(pool: &str, why: impl fmt::Display) -> Self {
        Self::Pool { pool: pool.to_owned(), why: why.to_string() }
    }
}

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Faults(report) => report.fmt(f),
            Self::Pool { pool, why } => write!(f, "pools.{pool}: {why}"),
            Self::Shared(why) => f.write_str(why),
            Self::Drained => f.write_str("the system has been drained; start another one"),
        }
    }
}

impl std::error::Error for SystemError {}

impl From<WatchError> for SystemError {
    fn from(error: WatchError) -> Self {
        match error {
            WatchError::Refused(report) => Self::Faults(report),
            other => Self::Shared(other.to_string()),
        }
    }
}
