//! Calls that come at the same time travel together.
//!
//! The first call is sent at once, by its caller. Those that come while it is on its way gather,
//! and are sent as one when it is back, by a task of their own: one caller alone waits for nobody
//! and needs no task, and a hundred need few round trips.

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

/// Those that gathered behind a call. When it is back, or given up, they are sent.
struct Rest<'a, P, A, S, F>
where
    P: Send + 'static,
    A: Send + 'static,
    S: Fn(Vec<Call<P, A>>) -> F + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    batcher: &'a Arc<Batcher<P, A>>,
    send: Option<S>,
    runtime: Handle,
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

impl<P, A, S, F> Drop for Rest<'_, P, A, S, F>
where
    P: Send + 'static,
    A: Send + 'static,
    S: Fn(Vec<Call<P, A>>) -> F + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    fn drop(&mut self) {
        let (Some(send), Some(first)) = (self.send.take(), self.batcher.next_load()) else {
            return;
        };
        let batcher = Arc::clone(self.batcher);
        drop(self.runtime.spawn(async move {
            let mut load = Some(first);
            while let Some(calls) = load {
                send(calls).await;
                load = batcher.next_load();
            }
        }));
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
    pub(super) async fn join<S, F>(
        self: &Arc<Self>,
        parts: Vec<P>,
        bytes: usize,
        send: S,
    ) -> Result<Vec<A>, StoreError>
    where
        S: Fn(Vec<Call<P, A>>) -> F + Send + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let call = Call { parts, bytes, answer };
        if let Some(call) = self.gather(call) {
            let own = send(vec![call]);
            let _rest = Rest { batcher: self, send: Some(send), runtime: Handle::current() };
            own.await;
        }
        answered.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Has the call wait for the one that is on its way. Gives it back when there is none.
    fn gather(&self, call: Call<P, A>) -> Option<Call<P, A>> {
        let mut gathered = self.lock();
        if !std::mem::replace(&mut gathered.busy, true) {
            return Some(call);
        }
        gathered.calls.push_back(call);
        None
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

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::pin::pin;

    use tokio::runtime::Builder;

    use super::*;

    #[test]
    fn a_caller_that_goes_away_leaves_nobody_waiting() {
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let batcher = Arc::<Batcher<u32, u32>>::default();
            let doubled = |calls: Vec<Call<u32, u32>>| async move {
                for call in calls {
                    if call.parts == [1] {
                        pending::<()>().await;
                    }
                    let answers = call.parts.iter().map(|part| part * 2).collect();
                    call.answer(Ok(answers));
                }
            };
            let mut stuck = Box::pin(batcher.join(vec![1], 0, doubled));
            let mut others = pin!(async {
                tokio::join!(batcher.join(vec![2], 0, doubled), batcher.join(vec![3], 0, doubled))
            });
            tokio::select! {
                biased;
                _ = &mut stuck => panic!("it is never answered"),
                _ = &mut others => panic!("they wait for the one before"),
                () = tokio::task::yield_now() => {}
            }
            drop(stuck);
            let (two, three) = others.await;
            assert_eq!((two.expect("sent"), three.expect("sent")), (vec![4], vec![6]));
        });
    }
}
