//! What the stories need: runtimes, tasks that wait to be told, and ends that do not hang.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use headcount_core::Name;
use headcount_pool::{TaskError, TaskHandle, TaskOptions, TaskPool};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{oneshot, watch};

/// Nothing here takes as long; it only keeps a test that hangs from hanging for ever.
pub(crate) const FOR_EVER: Duration = Duration::from_secs(60);

pub(crate) fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_time().build().expect("a runtime")
}

pub(crate) fn many_threads() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_time().build().expect("a runtime")
}

/// Tells the story on a runtime of one thread, then on one of several.
pub(crate) fn on_both<F: Future<Output = ()>>(story: impl Fn() -> F) {
    for runtime in [one_thread(), many_threads()] {
        runtime.block_on(async { tokio::time::timeout(FOR_EVER, story()).await.expect("in time") });
    }
}

pub(crate) fn pool_of(workers: u32) -> TaskPool {
    TaskPool::builder().workers(workers).build().expect("there is a runtime")
}

pub(crate) fn joined<T>(task: TaskHandle<T>) -> Result<T, TaskError> {
    task.join_timeout(FOR_EVER).unwrap_or_else(|_| panic!("it hangs"))
}

/// Waits until it is so: a task is counted a moment after whoever waits for it was told.
pub(crate) fn until(mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + FOR_EVER;
    while !holds() {
        assert!(Instant::now() < deadline, "it never came to be");
        std::thread::yield_now();
    }
}

/// A task that says when it began and ends when it is told to.
pub(crate) struct Gate {
    began: watch::Sender<u32>,
    open: watch::Sender<bool>,
}

impl Gate {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { began: watch::Sender::new(0), open: watch::Sender::new(false) })
    }

    pub(crate) fn pass(self: &Arc<Self>) -> impl Future<Output = ()> + Send + 'static {
        let gate = Arc::clone(self);
        async move {
            gate.began.send_modify(|began| *began += 1);
            gate.open.subscribe().wait_for(|open| *open).await.expect("the gate is there");
        }
    }

    pub(crate) async fn until_began(&self, count: u32) {
        self.began.subscribe().wait_for(|began| *began == count).await.expect("it is there");
    }

    pub(crate) fn began(&self) -> u32 {
        *self.began.borrow()
    }

    pub(crate) fn open(&self) {
        self.open.send_replace(true);
    }
}

/// How many are at it now, and the most there were.
#[derive(Clone, Default)]
pub(crate) struct Peak(Arc<[AtomicU32; 2]>);

impl Peak {
    /// Counts it among those that run, from its first poll to its end.
    pub(crate) fn count<F>(&self, task: F) -> impl Future<Output = ()> + Send + use<F> + 'static
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let peak = self.clone();
        async move {
            let at_it = peak.enter();
            task.await;
            drop(at_it);
        }
    }

    /// One more is at it, until this is dropped.
    pub(crate) fn enter(&self) -> AtIt {
        self.0[1].fetch_max(self.0[0].fetch_add(1, SeqCst) + 1, SeqCst);
        AtIt(self.clone())
    }

    pub(crate) fn most(&self) -> u32 {
        self.0[1].load(SeqCst)
    }
}

pub(crate) struct AtIt(Peak);

impl Drop for AtIt {
    fn drop(&mut self) {
        self.0.0[0].fetch_sub(1, SeqCst);
    }
}

/// Tells when it is dropped.
pub(crate) struct Tells(Option<oneshot::Sender<()>>);

impl Tells {
    pub(crate) fn new() -> (Self, oneshot::Receiver<()>) {
        let (tell, told) = oneshot::channel();
        (Self(Some(tell)), told)
    }
}

impl Drop for Tells {
    fn drop(&mut self) {
        let _ = self.0.take().map(|tell| tell.send(()));
    }
}

pub(crate) fn classed(class: &str) -> TaskOptions {
    TaskOptions::new().class(Name::new(class).expect("a name"))
}
