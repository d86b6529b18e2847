//! The benchmark `pools`: what a pool is here, who takes part, and what is measured.
//!
//! Each pool that we compare ourselves with does the same work behind [`Pool`], [`Futures`] or
//! [`Elastic`]. A scenario is written once, generic over the pool, so that no call is dynamic that
//! would not be in a real program.

mod contest;
mod subjects;

mod throughput;
mod latency;
mod standing;
mod resize;
mod memory;

mod threads;
mod executors;
mod ours;

mod tally;
mod process;
mod allocator;

pub use allocator::CountingAllocator;
pub use memory::print_memory_if_asked;
pub use subjects::measure;

use std::future::Future;

/// Something that runs closures on threads of its own. Dropping it ends the threads, if not at
/// once.
pub trait Pool: Sync + Sized + 'static {
    /// Its name in a report.
    const NAME: &'static str;
    /// It never has more threads than this, however many workers it is asked for.
    const THREADS_MAX: usize = usize::MAX;
    /// Whether its users would let a task block.
    const MAY_BLOCK: bool = true;

    /// A pool of so many workers.
    fn start(workers: usize) -> Self;

    /// Submits a task whose result nobody wants. What it returns is kept until the task has run:
    /// for most that is nothing, but some cancel a task when its handle is dropped.
    fn spawn<F: FnOnce() + Send + 'static>(&self, task: F) -> impl Send;

    /// Submits a task whose result is wanted. What it returns waits for that result.
    fn submit<T, F>(&self, task: F) -> impl FnOnce() -> T
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static;
}

/// Something that runs futures.
pub trait Futures: Sync + Sized + 'static {
    /// Its name in a report.
    const NAME: &'static str;

    /// Room for so many at a time.
    fn start(workers: usize) -> Self;

    /// Submits a future whose result nobody wants.
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, task: F) -> impl Send;
}

/// A pool whose number of workers can change while it works, or changes by itself.
pub trait Elastic: Pool {
    /// A pool of one worker that may come to have `workers_max`, and whose surplus workers, where
    /// they leave by themselves, leave after a second.
    fn start_small(workers_max: usize) -> Self;

    /// Asks for so many workers. Does nothing where the number follows the load.
    fn resize(&self, workers: usize);
}
