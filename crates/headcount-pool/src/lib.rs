//! Elastic pools, and limits that can be resized while they work.
//!
//! - [`ThreadPool`]: closures on OS threads, to compute or to block. With the feature `tokio` there
//!   is `TaskPool`, the same for futures. Both hire when a task would wait for too long, let go who
//!   has been idle for too long, and can be resized at any time.
//! - [`Group`], [`Scope`]: tasks that belong together, and tasks that borrow.
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
#[cfg(test)]
mod dice;
mod park;
mod spans;
mod sync;
mod unhurt;

mod engine;
mod event;
mod limiter;
mod pool;
mod task;

mod group;
mod scope;

mod blocking;

pub mod policy;

pub use blocking::blocking;
#[doc(hidden)]
pub use engine::Kind;
pub use event::Event;
pub use group::Group;
pub use pool::{
    Bottleneck, BuildError, BuildFault, Builder, Diagnosis, Doing, Drained, Idle, PanicPolicy,
    Pool, PoolHandle, Resize, ResizeProgress, SubmitAllError, ThreadPool, Threads, Unrun,
    WorkerReport, Workers,
};
#[cfg(feature = "tokio")]
pub use pool::{TaskPool, Tasks};
pub use scope::Scope;
pub use task::{
    CancelToken, Overflow, Refusal, SubmitError, TaskError, TaskHandle, TaskOptions, is_cancelled,
    report_failure,
};

pub use headcount_core::{Name, Staffing};
pub use limiter::{Acquire, AcquireTimeoutError, Closed, Limiter, Permit, TryAcquireError};

#[cfg(all(test, loom))]
mod loom_tests;

/// How many threads can run at once.
fn cores() -> std::num::NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(std::num::NonZeroUsize::MIN)
}
