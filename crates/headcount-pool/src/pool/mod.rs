//! The two kinds of pool, and what can be done with both.

mod admission;
mod batch;
mod bid;
mod builder;
mod diagnosis;
mod drained;
mod escorting;
mod exit;
mod handle;
mod idle;
mod owner;
mod resize;
mod sampling;
mod submit;

mod shift;
#[cfg(feature = "tokio")]
mod task_shift;
#[cfg(feature = "tokio")]
mod tasks;
mod threads;
mod workplace;

pub(crate) use admission::Admission;
pub use batch::SubmitAllError;
pub(crate) use bid::Bid;
pub use builder::{BuildError, BuildFault, Builder, PanicPolicy, Workers};
pub use diagnosis::{Bottleneck, Diagnosis, Doing, WorkerReport};
pub use drained::{Drained, Unrun};
pub use handle::PoolHandle;
pub use idle::Idle;
pub use owner::{Pool, ThreadPool};
pub use resize::{Resize, ResizeProgress};
pub(crate) use sampling::BlockedShare;
pub(crate) use submit::Runs;
#[cfg(feature = "tokio")]
pub use tasks::{TaskPool, Tasks};
pub use threads::Threads;
