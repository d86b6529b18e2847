//! Ours: the pool of threads behind [`Pool`] and [`Elastic`], the pool of tasks behind [`Futures`].

use std::future::Future;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use headcount_core::Staffing;
use headcount_pool::{TaskPool, ThreadPool};
use tokio::runtime::Runtime;

use super::contest::{Contestant, OURS};
use super::executors::runtime;
use super::tally::warm;
use super::throughput::tiny;
use super::{Elastic, Futures, Pool};

/// How often whoever watches the pool reads its snapshot: far more often than an autoscaler does.
const LOOK_EVERY: Duration = Duration::from_millis(1);

fn count(workers: usize) -> u32 {
    u32::try_from(workers).expect("a benchmark has few workers")
}

/// `headcount_pool::ThreadPool`.
pub(super) struct Threads(ThreadPool);

impl Pool for Threads {
    const NAME: &'static str = OURS;

    fn start(workers: usize) -> Self {
        let workers = count(workers);
        let pool = ThreadPool::builder().name("ours").workers(workers..=workers).build();
        Self(pool.unwrap_or_else(|_| panic!("{workers} workers are a valid number")))
    }

    fn spawn<F: FnOnce() + Send + 'static>(&self, task: F) -> impl Send {
        assert!(self.0.spawn(task).is_ok(), "it is open, and waits while it is full");
    }

    fn submit<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
        &self,
        task: F,
    ) -> impl FnOnce() -> T {
        let handle = self.0.submit(task);
        move || match handle.map(|handle| handle.join()) {
            Ok(Ok(result)) => result,
            _ => panic!("it is open, and the task does not panic"),
        }
    }
}

impl Elastic for Threads {
    fn start_small(workers_max: usize) -> Self {
        let pool = ThreadPool::builder().name("ours").workers(1..=count(workers_max)).build();
        let pool = Self(pool.unwrap_or_else(|_| panic!("up to {workers_max} workers are valid")));
        pool.resize(1);
        pool
    }

    fn resize(&self, workers: usize) {
        let _ = self.0.resize(Staffing::exactly(count(workers)));
    }
}

/// `headcount_pool::TaskPool`, on a runtime like the one that tokio's own spawn has here.
pub(super) struct Tasks {
    pool: TaskPool,
    /// After the pool, which needs it to its end.
    _runtime: Runtime,
}

impl Futures for Tasks {
    const NAME: &'static str = OURS;

    fn start(workers: usize) -> Self {
        let runtime = runtime();
        let workers = count(workers);
        let builder = TaskPool::builder().name("ours").workers(workers..=workers);
        let pool = builder.runtime(runtime.handle().clone()).build();
        let pool = pool.unwrap_or_else(|_| panic!("{workers} workers are a valid number"));
        Self { pool, _runtime: runtime }
    }

    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, task: F) -> impl Send {
        assert!(self.pool.spawn(task).is_ok(), "it is open, and waits while it is full");
    }
}

/// Tasks that do nothing, while somebody reads the metrics of the pool, and beside it while nobody
/// does.
pub(super) fn watched_and_not(tasks: usize) -> Vec<Contestant> {
    vec![
        Contestant::new(OURS, move || vec![tiny_while_watched(tasks)]),
        Contestant::new("ours, not watched", move || vec![tiny(&warm::<Threads>(2), 1, tasks)]),
    ]
}

fn tiny_while_watched(tasks: usize) -> f64 {
    let pool: Threads = warm(2);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let _ = black_box(pool.0.snapshot());
                thread::sleep(LOOK_EVERY);
            }
        });
        let figure = tiny(&pool, 1, tasks);
        done.store(true, Ordering::Relaxed);
        figure
    })
}
