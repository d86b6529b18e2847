//! The others that are made of threads, each behind [`Pool`].
//!
//! Those that give no handle for a result send it through a channel with room for one, which is
//! what their users write.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Sender, unbounded};
use futures_lite::future::block_on;
use tokio::runtime::{Builder, Runtime};

use super::{Elastic, Pool};

/// How long a surplus worker stays where that can be set.
const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// A task that sends its result, and where it arrives.
fn with_receiver<T: Send + 'static>(
    task: impl FnOnce() -> T + Send + 'static,
) -> (impl FnOnce() + Send + 'static, Receiver<T>) {
    let (sender, receiver) = sync_channel(1);
    (move || drop(sender.send(task())), receiver)
}

fn received<T>(receiver: Receiver<T>) -> impl FnOnce() -> T {
    move || receiver.recv().expect("the task ran and sent its result")
}

/// `rayon::ThreadPool::spawn`.
#[derive(Debug)]
pub(super) struct Rayon(rayon::ThreadPool);

impl Pool for Rayon {
    const NAME: &'static str = "rayon";

    fn start(workers: usize) -> Self {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build();
        Self(pool.expect("rayon starts its threads"))
    }

    fn spawn<F: FnOnce() + Send + 'static>(&self, task: F) -> impl Send {
        self.0.spawn(task);
    }

    fn submit<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
        &self,
        task: F,
    ) -> impl FnOnce() -> T {
        let (task, receiver) = with_receiver(task);
        self.0.spawn(task);
        received(receiver)
    }
}

/// `threadpool::ThreadPool::execute`.
#[derive(Debug)]
pub(super) struct Threadpool(threadpool::ThreadPool);

impl Pool for Threadpool {
    const NAME: &'static str = "threadpool";

    fn start(workers: usize) -> Self {
        Self(threadpool::ThreadPool::new(workers))
    }

    fn spawn<F: FnOnce() + Send + 'static>(&self, task: F) -> impl Send {
        self.0.execute(task);
    }

    fn submit<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
        &self,
        task: F,
    ) -> impl FnOnce() -> T {
        let (task, receiver) = with_receiver(task);
        self.0.execute(task);
        received(receiver)
    }
}

impl Elastic for Threadpool {
    fn start_small(_: usize) -> Self {
        Self::start(1)
    }

    fn resize(&self, workers: usize) {
        // It takes itself mutably for this; a clone is the same pool.
        self.0.clone().set_num_threads(workers);
    }
}

/// `rusty_pool::ThreadPool::execute`, and `evaluate` for results.
pub(super) struct RustyPool(rusty_pool::ThreadPool);

impl Pool for RustyPool {
    const NAME: &'static str = "rusty_pool";

    fn start(workers: usize) -> Self {
        Self(rusty_pool::ThreadPool::new(workers, workers, KEEP_ALIVE))
    }

    fn spawn<F: FnOnce() + Send + 'static>(&self, task: F) -> impl Send {
        self.0.execute(task);
    }

    fn submit<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
        &self,
        task: F,
    ) -> impl FnOnce() -> T {
        let handle = self.0.evaluate(task);
        move || handle.await_complete()
    }
}

impl Elastic for RustyPool {
    fn start_small(workers_max: usize) -> Self {
        Self(rusty_pool::ThreadPool::new(1, workers_max, KEEP_ALIVE))
    }

    fn resize(&self, _: usize) {}
}

/// `tokio::task::spawn_blocking`, with as many blocking threads as workers are asked for.
#[derive(Debug)]
pub(super) struct TokioBlocking(Runtime);

impl TokioBlocking {
    fn with(builder: &mut Builder, workers: usize) -> Self {
        let runtime = builder.worker_threads(1).max_blocking_threads(workers).build();
        Self(runtime.expect("tokio starts its threads"))
    }
}

impl Pool for TokioBlocking {
    const NAME: &'static str = "tokio spawn_blocking";

    fn start(workers: usize) -> Self {
        Self::with(&mut Builder::new_multi_thread(), workers)
    }

    fn spawn<F: FnOnce() + Send + 'static>(&self, task: F) -> impl Send {
        drop(self.0.spawn_blocking(task));
    }

    fn submit<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
        &self,
        task: F,
    ) -> impl FnOnce() -> T {
        let handle = self.0.spawn_blocking(task);
        move || block_on(handle).expect("the task ran to its end")
    }
}

impl Elastic for TokioBlocking {
    fn start_small(workers_max: usize) -> Self {
        Self::with(Builder::new_multi_thread().thread_keep_alive(KEEP_ALIVE), workers_max)
    }

    fn resize(&self, _: usize) {}
}

/// `affinitypool::Threadpool::spawn`. Its handle is a future that cancels when it is dropped.
pub(super) struct Affinitypool(affinitypool::Threadpool);

impl Pool for Affinitypool {
    const NAME: &'static str = "affinitypool";
    const THREADS_MAX: usize = affinitypool::MAX_THREADS;

    fn start(workers: usize) -> Self {
        Self(affinitypool::Threadpool::new(workers))
    }

    fn spawn<F: FnOnce() + Send + 'static>(&self, task: F) -> impl Send {
        self.0.spawn(task)
    }

    fn submit<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
        &self,
        task: F,
    ) -> impl FnOnce() -> T {
        let result = self.0.spawn(task);
        move || block_on(result)
    }
}

type Boxed = Box<dyn FnOnce() + Send>;

/// What one writes by hand: boxed closures in an unbounded channel, and threads that take them.
#[derive(Debug)]
pub(super) struct Crossbeam(Sender<Boxed>);

impl Pool for Crossbeam {
    const NAME: &'static str = "crossbeam-channel by hand";

    fn start(workers: usize) -> Self {
        let (sender, receiver) = unbounded::<Boxed>();
        for _ in 0..workers {
            let receiver = receiver.clone();
            thread::spawn(move || receiver.into_iter().for_each(|task| task()));
        }
        Self(sender)
    }

    fn spawn<F: FnOnce() + Send + 'static>(&self, task: F) -> impl Send {
        self.0.send(Box::new(task)).expect("its threads live as long as it does");
    }

    fn submit<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
        &self,
        task: F,
    ) -> impl FnOnce() -> T {
        let (task, receiver) = with_receiver(task);
        self.0.send(Box::new(task)).expect("its threads live as long as it does");
        received(receiver)
    }
}
