//! The thread on which all traffic with Redis happens.
//!
//! Its own, so that a caller's runtime which is busy with jobs cannot keep a lease from being
//! renewed, and so that the store can be called from any runtime or none.

use std::future::Future;
use std::io;

use headcount_core::jobs::port::StoreError;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A thread with a runtime. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Worker {
    handle: Handle,
    /// Dropped with this, which the thread takes as its sign to end.
    _end: oneshot::Sender<()>,
}

struct StopOnDrop(tokio::task::AbortHandle);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Worker {
    pub(super) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel::<()>();
        let run = move || drop(runtime.block_on(ended));
        std::thread::Builder::new().name("headcount-redis".into()).spawn(run)?;
        Ok(Self { handle, _end: end })
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs it on the thread, to its end even if the caller stops waiting for it.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.handle.spawn(work).await.unwrap_or(Err(StoreError::Closed))
    }

    /// Runs it on the thread for as long as the caller waits for it.
    pub(super) async fn run_while_awaited<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let task = self.handle.spawn(work);
        let _stop = StopOnDrop(task.abort_handle());
        task.await.unwrap_or(Err(StoreError::Closed))
    }
}
