//! Elastic pools, and limits that can be resized while they work.
//!
//! - [`Limiter`]: a gate that lets so many in at once, for threads and tasks alike, without a
//!   pool. Its limit can rise and fall at any time, also while others wait.
//!
//! ```
//! use headcount_pool::Limiter;
//!
//! let limiter = Limiter::new(2);
//! let first = limiter.acquire()?;
//! let second = limiter.acquire()?;
//! assert!(limiter.try_acquire().is_err(), "two are in");
//!
//! limiter.resize(1);
//! drop(first);
//! assert!(limiter.try_acquire().is_err(), "one is in, and one is the limit now");
//! drop(second);
//! assert!(limiter.try_acquire().is_ok());
//! # Ok::<(), headcount_pool::Closed>(())
//! ```

mod clock;
mod park;
mod spans;
mod sync;

mod limiter;

pub use limiter::{Acquire, AcquireTimeoutError, Closed, Limiter, Permit, TryAcquireError};

#[cfg(all(test, loom))]
mod loom_tests;
