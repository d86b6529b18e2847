//! From one worker to many and back to one.
//!
//! Growing is over when as many tasks run at once as there shall be workers. Shrinking is over
//! when the threads are gone. Who is not done within three seconds is reported with three seconds.

use std::thread;
use std::time::{Duration, Instant};

use super::Elastic;
use super::contest::{Contestant, Subject, Title};
use super::process::{threads, wait_for_threads};
use super::tally::Gate;
use super::threads::{RustyPool, Threadpool, TokioBlocking};

use super::ours;

/// How long a resize may take before it is reported as that long.
const RESIZE_MAX: Duration = Duration::from_secs(3);

/// How long workers have nothing to do before they are too many. All of them sleep by then, and no
/// peer has let one go.
const AT_REST: Duration = Duration::from_millis(200);

/// What a process with a pool of one worker has at most: the thread that measures, the worker, and
/// two that may serve the pool. A pool with more has not begun with one worker.
const THREADS_SMALL_MAX: usize = 4;

/// A kind of resize.
trait Resize: Copy + 'static {
    fn titles(self) -> Vec<Title>;
    fn round<P: Elastic>(self) -> Vec<f64>;
}

/// From 1 to `workers` and back, when the one worker is busy.
pub(super) fn from_busy(workers: usize) -> Subject {
    subject(FromBusy { workers })
}

/// From 1 to `workers`, when the one worker idles, and back when all of them do. A pool that takes
/// an idle worker to be enough for all that comes before it wakes does not get that far.
pub(super) fn from_idle(workers: usize) -> Subject {
    subject(FromIdle { workers })
}

fn subject(kind: impl Resize) -> Subject {
    let contestants = vec![
        contestant::<ours::Threads>(kind),
        contestant::<Threadpool>(kind),
        contestant::<RustyPool>(kind),
        contestant::<TokioBlocking>(kind),
    ];
    Subject::between(kind.titles(), contestants)
}

fn contestant<P: Elastic>(kind: impl Resize) -> Contestant {
    Contestant::new(P::NAME, move || kind.round::<P>())
}

#[derive(Clone, Copy)]
struct FromBusy {
    workers: usize,
}

impl Resize for FromBusy {
    fn titles(self) -> Vec<Title> {
        let Self { workers } = self;
        vec![
            (format!("grow: 1 busy -> {workers} workers, 1 producer, until all run tasks"), "ms"),
            (
                format!(
                    "shrink: {workers} at the end of a task -> 1 workers, until threads are gone"
                ),
                "ms",
            ),
        ]
    }

    fn round<P: Elastic>(self) -> Vec<f64> {
        let pool = P::start_small(self.workers);
        let first = Gate::of(1);
        let kept = pool.spawn(|| first.pass());
        first.all_came(RESIZE_MAX).expect("one worker takes one task");
        wait_for_threads(THREADS_SMALL_MAX, RESIZE_MAX);
        let threads = threads();
        assert!(threads <= THREADS_SMALL_MAX, "{} has {threads} threads at first", P::NAME);
        let grown = grow(&pool, self.workers, self.workers - 1);
        first.open();
        drop(kept);

        let start = Instant::now();
        pool.resize(1);
        wait_for_threads(threads, RESIZE_MAX);
        vec![grown, milliseconds(start.elapsed())]
    }
}

#[derive(Clone, Copy)]
struct FromIdle {
    workers: usize,
}

impl Resize for FromIdle {
    fn titles(self) -> Vec<Title> {
        let Self { workers } = self;
        vec![
            (format!("grow: 1 idle -> {workers} workers, 1 producer, until all run tasks"), "ms"),
            (format!("shrink: {workers} parked -> 1 workers, until threads are gone"), "ms"),
        ]
    }

    fn round<P: Elastic>(self) -> Vec<f64> {
        let pool = P::start_small(self.workers);
        let first = Gate::of(1);
        let kept = pool.spawn(|| first.pass());
        first.open();
        drop(kept);
        wait_for_threads(THREADS_SMALL_MAX, RESIZE_MAX);
        let threads = threads();
        let grown = grow(&pool, self.workers, self.workers);
        thread::sleep(AT_REST);

        let start = Instant::now();
        pool.resize(1);
        wait_for_threads(threads, RESIZE_MAX);
        vec![grown, milliseconds(start.elapsed())]
    }
}

/// Milliseconds until so many more tasks run at once. They have ended when it returns.
fn grow<P: Elastic>(pool: &P, workers: usize, tasks: usize) -> f64 {
    let gate = Gate::of(tasks);
    let start = Instant::now();
    pool.resize(workers);
    let kept: Vec<_> = (0..tasks).map(|_| pool.spawn(|| gate.pass())).collect();
    let all_came = gate.all_came(RESIZE_MAX);
    gate.open();
    drop(kept);
    milliseconds(all_came.map_or(RESIZE_MAX, |moment| moment - start))
}

fn milliseconds(duration: Duration) -> f64 {
    duration.min(RESIZE_MAX).as_secs_f64() * 1e3
}
