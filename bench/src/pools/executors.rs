//! The others that run futures, behind [`Futures`], and behind [`Pool`] with a closure in a future.
//!
//! Tokio's runtime has as many threads as the machine at hand has cores, two, whatever the number
//! of workers; workers are then the permits of the semaphore.

use std::future::Future;
use std::sync::Arc;
use std::thread;

use async_executor::Executor;
use futures_lite::future::block_on;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

use super::{Futures, Pool};

const RUNTIME_THREADS: usize = 2;

/// A runtime of two threads.
pub(super) fn runtime() -> Runtime {
    let runtime = Builder::new_multi_thread().worker_threads(RUNTIME_THREADS).build();
    runtime.expect("tokio starts its threads")
}

/// `tokio::spawn`, without a limit.
#[derive(Debug)]
pub(super) struct Tokio(Runtime);

impl Futures for Tokio {
    const NAME: &'static str = "tokio spawn (2 threads)";

    fn start(_: usize) -> Self {
        Self(runtime())
    }

    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, task: F) -> impl Send {
        drop(self.0.spawn(task));
    }
}

impl Pool for Tokio {
    const NAME: &'static str = <Self as Futures>::NAME;
    const THREADS_MAX: usize = RUNTIME_THREADS;
    const MAY_BLOCK: bool = false;

    fn start(workers: usize) -> Self {
        Futures::start(workers)
    }

    fn spawn<F: FnOnce() + Send + 'static>(&self, task: F) -> impl Send {
        Futures::spawn(self, async move { task() })
    }

    fn submit<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
        &self,
        task: F,
    ) -> impl FnOnce() -> T {
        let handle = self.0.spawn(async move { task() });
        move || block_on(handle).expect("the task ran to its end")
    }
}

/// `tokio::spawn` of a future that first takes a permit, which is how one limits it.
#[derive(Debug)]
pub(super) struct TokioSemaphore {
    runtime: Runtime,
    permits: Arc<Semaphore>,
}

/// The future, with a permit while it runs.
async fn limited<T>(permits: Arc<Semaphore>, task: impl Future<Output = T>) -> T {
    let _permit = permits.acquire().await.expect("nobody closes it");
    task.await
}

impl Futures for TokioSemaphore {
    const NAME: &'static str = "tokio spawn + Semaphore (2 threads)";

    fn start(workers: usize) -> Self {
        Self { runtime: runtime(), permits: Arc::new(Semaphore::new(workers)) }
    }

    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, task: F) -> impl Send {
        drop(self.runtime.spawn(limited(self.permits.clone(), task)));
    }
}

impl Pool for TokioSemaphore {
    const NAME: &'static str = <Self as Futures>::NAME;
    const THREADS_MAX: usize = RUNTIME_THREADS;
    const MAY_BLOCK: bool = false;

    fn start(workers: usize) -> Self {
        Futures::start(workers)
    }

    fn spawn<F: FnOnce() + Send + 'static>(&self, task: F) -> impl Send {
        Futures::spawn(self, async move { task() })
    }

    fn submit<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
        &self,
        task: F,
    ) -> impl FnOnce() -> T {
        let handle = self.runtime.spawn(limited(self.permits.clone(), async move { task() }));
        move || block_on(handle).expect("the task ran to its end")
    }
}

/// `async_executor::Executor` with as many threads as workers are asked for.
#[derive(Debug)]
pub(super) struct AsyncExecutor {
    executor: Arc<Executor<'static>>,
    /// Closing it ends the threads; a permit it never has.
    running: Arc<Semaphore>,
}

impl Futures for AsyncExecutor {
    const NAME: &'static str = "async-executor";

    fn start(workers: usize) -> Self {
        let executor = Arc::new(Executor::new());
        let running = Arc::new(Semaphore::new(0));
        for _ in 0..workers {
            let (executor, running) = (executor.clone(), running.clone());
            thread::spawn(move || drop(block_on(executor.run(running.acquire()))));
        }
        Self { executor, running }
    }

    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, task: F) -> impl Send {
        self.executor.spawn(task).detach();
    }
}

impl Pool for AsyncExecutor {
    const NAME: &'static str = <Self as Futures>::NAME;
    const MAY_BLOCK: bool = false;

    fn start(workers: usize) -> Self {
        Futures::start(workers)
    }

    fn spawn<F: FnOnce() + Send + 'static>(&self, task: F) -> impl Send {
        Futures::spawn(self, async move { task() })
    }

    fn submit<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
        &self,
        task: F,
    ) -> impl FnOnce() -> T {
        let result = self.executor.spawn(async move { task() });
        move || block_on(result)
    }
}

impl Drop for AsyncExecutor {
    fn drop(&mut self) {
        self.running.close();
    }
}
