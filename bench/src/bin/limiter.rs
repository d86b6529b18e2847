//! What a permit costs: ours beside those of tokio's semaphore, in the same rounds.
//!
//! Ours are owned, can be resized and keep books (every permit is counted; of those that are held
//! for a moment, as here, one in 64 is timed); tokio's keep none, and come both borrowed and owned.
//! Tokio has nothing for a thread that waits, so there a runtime of one thread waits for it.

use std::future::Future;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::{Arc, Barrier};
use std::task::{Context, Waker};
use std::thread;
use std::time::Instant;

use bench::{Row, measure_and_report, median_and_spread, nanoseconds_each};
use headcount_pool::Limiter;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, yield_now};

const ROUNDS: usize = 15;
const CALLS: u32 = 50_000;
const THREADS: u32 = 4;
const CALLS_EACH: u32 = 2_000;
const WAITERS: u32 = 1_000;

/// One round of one of them.
type Round = fn() -> f64;

/// A row: what it measures, and who takes part in it, ours first.
struct Subject {
    row: &'static str,
    unit: &'static str,
    ours: Round,
    peers: &'static [(&'static str, Round)],
}

const SUBJECTS: [Subject; 6] = [
    Subject {
        row: "try_acquire and drop, alone",
        unit: "ns",
        ours: ours_try,
        peers: &[("tokio borrowed", tokio_try), ("tokio owned", tokio_try_owned)],
    },
    Subject {
        row: "acquire and drop, 4 threads that block, limit 2",
        unit: "ns",
        ours: ours_threads,
        peers: &[("tokio in a runtime each", tokio_threads)],
    },
    Subject {
        row: "acquire and drop, async, alone",
        unit: "ns",
        ours: ours_async,
        peers: &[("tokio borrowed", tokio_async), ("tokio owned", tokio_async_owned)],
    },
    Subject {
        row: "acquire, yield and drop, 4 tasks, limit 2",
        unit: "ns",
        ours: ours_tasks,
        peers: &[("tokio owned", tokio_tasks)],
    },
    Subject {
        row: "resize 1 -> 1000 -> 1 while 1000 wait",
        unit: "ns",
        ours: || ours_resize().0,
        peers: &[("tokio add and forget", || tokio_resize().0)],
    },
    Subject {
        row: "how many it then lets in, of 1",
        unit: "",
        ours: || ours_resize().1,
        peers: &[("tokio add and forget", || tokio_resize().1)],
    },
];

fn main() -> ExitCode {
    measure_and_report(measure)
}

fn measure() -> Vec<Row> {
    let mut rounds = SUBJECTS.map(|subject| vec![Vec::new(); 1 + subject.peers.len()]);
    for _ in 0..ROUNDS {
        for (subject, rounds) in SUBJECTS.iter().zip(&mut rounds) {
            rounds[0].push((subject.ours)());
            for (index, (_, peer)) in subject.peers.iter().enumerate() {
                rounds[1 + index].push(peer());
            }
        }
    }
    SUBJECTS.iter().zip(&rounds).map(|(s, rounds)| row(s, rounds)).collect()
}

fn row(subject: &Subject, rounds: &[Vec<f64>]) -> Row {
    let median = |rounds: &Vec<f64>| median_and_spread(rounds).0;
    let names = subject.peers.iter().map(|(name, _)| (*name).to_owned());
    let peers = names.zip(rounds[1..].iter().map(median)).collect();
    Row { peers, ..Row::alone(subject.row, subject.unit, &rounds[0]) }
}

fn ours_try() -> f64 {
    let limiter = Limiter::new(2);
    nanoseconds_each(CALLS, || drop(black_box(limiter.try_acquire())))
}

fn tokio_try() -> f64 {
    let semaphore = Semaphore::new(2);
    nanoseconds_each(CALLS, || drop(black_box(semaphore.try_acquire())))
}

fn tokio_try_owned() -> f64 {
    let semaphore = Arc::new(Semaphore::new(2));
    nanoseconds_each(CALLS, || drop(black_box(semaphore.clone().try_acquire_owned())))
}

fn ours_threads() -> f64 {
    let limiter = Limiter::new(2);
    on_threads(|| {
        (0..CALLS_EACH).for_each(|_| drop(black_box(limiter.acquire().expect("it is open"))));
    })
}

fn tokio_threads() -> f64 {
    let semaphore = Semaphore::new(2);
    on_threads(|| {
        let runtime = runtime();
        for _ in 0..CALLS_EACH {
            drop(black_box(runtime.block_on(semaphore.acquire()).expect("it is open")));
        }
    })
}

fn ours_async() -> f64 {
    let limiter = Limiter::new(2);
    awaited(async || drop(black_box(limiter.acquire_async().await)))
}

fn tokio_async() -> f64 {
    let semaphore = Semaphore::new(2);
    awaited(async || drop(black_box(semaphore.acquire().await)))
}

fn tokio_async_owned() -> f64 {
    let semaphore = Arc::new(Semaphore::new(2));
    awaited(async || drop(black_box(semaphore.clone().acquire_owned().await)))
}

fn ours_tasks() -> f64 {
    let limiter = Limiter::new(2);
    in_tasks(|| {
        let limiter = limiter.clone();
        async move {
            for _ in 0..CALLS_EACH {
                let permit = limiter.acquire_async().await;
                yield_now().await;
                drop(permit);
            }
        }
    })
}

fn tokio_tasks() -> f64 {
    let semaphore = Arc::new(Semaphore::new(2));
    in_tasks(|| {
        let semaphore = semaphore.clone();
        async move {
            for _ in 0..CALLS_EACH {
                let permit = semaphore.clone().acquire_owned().await;
                yield_now().await;
                drop(permit);
            }
        }
    })
}

/// The time for both resizes, and how many are let in when all who waited have gone.
fn ours_resize() -> (f64, f64) {
    let limiter = Limiter::new(1);
    let held = limiter.try_acquire();
    let waiters = polled(|| limiter.acquire_async());
    let nanoseconds = nanoseconds_each(1, || {
        limiter.resize(WAITERS);
        limiter.resize(1);
    });
    drop((held, waiters));
    let let_in: Vec<_> = (0..2 * WAITERS).map_while(|_| limiter.try_acquire().ok()).collect();
    (nanoseconds, let_in.len() as f64)
}

fn tokio_resize() -> (f64, f64) {
    let semaphore = Arc::new(Semaphore::new(1));
    let held = semaphore.try_acquire();
    let waiters = polled(|| semaphore.clone().acquire_owned());
    let nanoseconds = nanoseconds_each(1, || {
        semaphore.add_permits(WAITERS as usize - 1);
        black_box(semaphore.forget_permits(WAITERS as usize - 1));
    });
    drop((held, waiters));
    let let_in: Vec<_> = (0..2 * WAITERS).map_while(|_| semaphore.try_acquire().ok()).collect();
    (nanoseconds, let_in.len() as f64)
}

/// So many futures that have each been polled once, and wait.
fn polled<F: Future>(make: impl Fn() -> F) -> Vec<std::pin::Pin<Box<F>>> {
    let mut futures: Vec<_> = (0..WAITERS).map(|_| Box::pin(make())).collect();
    for future in &mut futures {
        assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    futures
}

/// Nanoseconds for each call of all threads, from when all are ready.
fn on_threads(work: impl Fn() + Sync) -> f64 {
    let barrier = Barrier::new(THREADS as usize + 1);
    let start = thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                barrier.wait();
                work();
            });
        }
        barrier.wait();
        Instant::now()
    });
    start.elapsed().as_nanos() as f64 / f64::from(THREADS * CALLS_EACH)
}

/// Nanoseconds for each call that one task awaits.
fn awaited(call: impl AsyncFn()) -> f64 {
    runtime().block_on(async {
        let start = Instant::now();
        for _ in 0..CALLS {
            call().await;
        }
        start.elapsed().as_nanos() as f64 / f64::from(CALLS)
    })
}

/// Nanoseconds for each call of all tasks, on one thread.
fn in_tasks<F: Future<Output = ()> + Send + 'static>(task: impl Fn() -> F) -> f64 {
    runtime().block_on(async {
        let start = Instant::now();
        let tasks: JoinSet<()> = (0..THREADS).map(|_| task()).collect();
        tasks.join_all().await;
        start.elapsed().as_nanos() as f64 / f64::from(THREADS * CALLS_EACH)
    })
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime of one thread")
}
