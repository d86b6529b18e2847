//! Calls that come at the same time travel together.
//!
//! The first call is sent at once. Those that come while it is on its way gather, and are sent
//! as one when it is back: one caller alone waits for nobody, and a hundred need few round trips.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use headcount_core::jobs::port::StoreError;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// The most of what one script call carries; a single call that is larger travels alone.
const PARTS_MAX: usize = 1000;
const BYTES_MAX: usize = 4 << 20;

/// A call on its way: its parts, and who waits for their answers.
pub(super) struct Call<P, A> {
    pub(super) parts: Vec<P>,
    bytes: usize,
    answer: oneshot::Sender<Result<Vec<A>, StoreError>>,
}

/// Gathers the calls of one kind for one queue.
pub(super) struct Batcher<P, A> {
    gathered: Mutex<Gathered<P, A>>,
}

struct Gathered<P, A> {
    calls: VecDeque<Call<P, A>>,
    busy: bool,
}

impl<P, A> Call<P, A> {
    /// Whoever waited may have gone; that is its own affair.
    pub(super) fn answer(self, answer: Result<Vec<A>, StoreError>) {
        drop(self.answer.send(answer));
    }
}

impl<P, A> Default for Batcher<P, A> {
    fn default() -> Self {
        Self { gathered: Mutex::new(Gathered { calls: VecDeque::new(), busy: false }) }
    }
}

impl<P: Send + 'static, A: Send + 'static> Batcher<P, A> {
    /// Sends the parts, with whatever others send meanwhile, and gives their answers.
    ///
    /// `send` answers every call that it is given.
    pub(super) async fn join<F>(
        self: &Arc<Self>,
        handle: &Handle,
        parts: Vec<P>,
        bytes: usize,
        send: impl Fn(Vec<Call<P, A>>) -> F + Send + 'static,
    ) -> Result<Vec<A>, StoreError>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let begins = {
            let mut gathered = self.lock();
            gathered.calls.push_back(Call { parts, bytes, answer });
            !std::mem::replace(&mut gathered.busy, true)
        };
        if begins {
            let batcher = Arc::clone(self);
            drop(handle.spawn(async move {
                while let Some(calls) = batcher.next_load() {
                    send(calls).await;
                }
            }));
        }
        answered.await.unwrap_or(Err(StoreError::Closed))
    }

    /// What travels next, or nothing: then the next call begins anew.
    fn next_load(&self) -> Option<Vec<Call<P, A>>> {
        let mut gathered = self.lock();
        let mut load: Vec<Call<P, A>> = Vec::new();
        let (mut parts, mut bytes) = (0, 0);
        while let Some(call) = gathered.calls.front() {
            parts += call.parts.len();
            bytes += call.bytes;
            if !load.is_empty() && (PARTS_MAX < parts || BYTES_MAX < bytes) {
                break;
            }
            load.extend(gathered.calls.pop_front());
        }
        if load.is_empty() {
            gathered.busy = false;
            return None;
        }
        Some(load)
    }

    fn lock(&self) -> MutexGuard<'_, Gathered<P, A>> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
