//! Why there is no permit: one reason, or two, by what was asked for.

use std::error::Error;
use std::fmt;

/// The limiter was closed, and lets nobody in any more.
///
/// ```
/// use headcount_pool::{Closed, Limiter};
///
/// let limiter = Limiter::new(1);
/// limiter.close();
/// assert_eq!(limiter.acquire().expect_err("it is closed"), Closed);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the limiter is closed; make a new one to go on")
    }
}

impl Error for Closed {}

/// Why somebody who would not wait got no permit.
///
/// ```
/// use headcount_pool::{Limiter, TryAcquireError};
///
/// let limiter = Limiter::new(0);
/// assert_eq!(limiter.try_acquire().expect_err("no place"), TryAcquireError::Full);
/// limiter.close();
/// assert_eq!(limiter.try_acquire().expect_err("no hope"), TryAcquireError::Closed);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TryAcquireError {
    /// As many are in as the limit allows. Later there may be room.
    Full,
    /// The limiter was closed. There will never be room.
    Closed,
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("no permit is free; try later, or wait for one"),
            Self::Closed => Closed.fmt(f),
        }
    }
}

impl Error for TryAcquireError {}

impl From<Closed> for TryAcquireError {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

/// Why somebody who would wait for so long got no permit.
///
/// ```
/// use headcount_pool::{AcquireTimeoutError, Limiter};
/// use std::time::Duration;
///
/// let limiter = Limiter::new(0);
/// let error = limiter.acquire_timeout(Duration::from_millis(1)).expect_err("no place");
/// assert_eq!(error, AcquireTimeoutError::TimedOut);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AcquireTimeoutError {
    /// Its turn did not come in time. Later it may.
    TimedOut,
    /// The limiter was closed. Its turn will never come.
    Closed,
}

impl fmt::Display for AcquireTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("no permit came free in time; wait longer, or try later"),
            Self::Closed => Closed.fmt(f),
        }
    }
}

impl Error for AcquireTimeoutError {}

impl From<Closed> for AcquireTimeoutError {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}
