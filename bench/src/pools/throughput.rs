//! Many tasks at once: how long until all have run.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use super::contest::{Contestant, Scenario, Subject, Title};
use super::executors::{AsyncExecutor, Tokio, TokioSemaphore};
use super::tally::{Tally, warm};
use super::{Futures, Pool};

use super::ours;

/// Nanoseconds from the first submit until all have run, for all tasks together. Each producer is
/// a thread outside the pool.
pub(super) fn flood<K: Send>(
    producers: usize,
    tasks: usize,
    submit: impl Fn(usize, &'static Tally) -> K + Sync,
) -> f64 {
    assert_eq!(tasks % producers, 0, "every producer submits as many as the others");
    let each = tasks / producers;
    let tally = Tally::of(tasks);
    let barrier = Barrier::new(producers);
    let produce = |first: usize| {
        let mut kept = Vec::with_capacity(each);
        barrier.wait();
        let start = Instant::now();
        kept.extend((first..first + each).map(|index| submit(index, tally)));
        (start, kept)
    };
    thread::scope(|scope| {
        let produce = &produce;
        let threads: Vec<_> =
            (0..producers).map(|p| scope.spawn(move || produce(p * each))).collect();
        let produced = threads.into_iter().map(|thread| thread.join().expect("it submits"));
        let produced: Vec<_> = produced.collect();
        let start = produced.iter().map(|(start, _)| *start).min().expect("there is a producer");
        (tally.wait() - start).as_nanos() as f64
    })
}

fn producers(count: usize) -> String {
    if count == 1 { "1 producer".to_owned() } else { format!("{count} producers") }
}

/// Tasks that do nothing but count, each with its number.
pub(super) struct Tiny {
    pub(super) workers: usize,
    pub(super) producers: usize,
    pub(super) tasks: usize,
}

impl Scenario for Tiny {
    fn titles(&self) -> Vec<Title> {
        let Self { workers, producers: count, .. } = self;
        vec![(format!("tiny task: {workers} workers, {}, no-op", producers(*count)), "ns")]
    }

    fn takes<P: Pool>(&self) -> bool {
        true
    }

    fn round<P: Pool>(&self) -> Vec<f64> {
        let pool: P = warm(self.workers);
        vec![tiny(&pool, self.producers, self.tasks)]
    }
}

/// Nanoseconds for each task that does nothing.
pub(super) fn tiny<P: Pool>(pool: &P, producers: usize, tasks: usize) -> f64 {
    let nanoseconds = flood(producers, tasks, |index, tally| {
        pool.spawn(move || {
            black_box(index);
            tally.count();
        })
    });
    nanoseconds / tasks as f64
}

/// Futures that do nothing but count, each with its number.
pub(super) fn tiny_futures(workers: usize, count: usize, tasks: usize) -> Subject {
    let title = format!("tiny future: {workers} workers, {}, no-op", producers(count));
    let contestants = vec![
        runs_futures::<ours::Tasks>(workers, count, tasks),
        runs_futures::<Tokio>(workers, count, tasks),
        runs_futures::<TokioSemaphore>(workers, count, tasks),
        runs_futures::<AsyncExecutor>(workers, count, tasks),
    ];
    Subject::between(vec![(title, "ns")], contestants)
}

fn runs_futures<P: Futures>(workers: usize, producers: usize, tasks: usize) -> Contestant {
    Contestant::new(P::NAME, move || {
        let pool = P::start(workers);
        let nanoseconds = flood(producers, tasks, |index, tally| {
            pool.spawn(async move {
                black_box(index);
                tally.count();
            })
        });
        vec![nanoseconds / tasks as f64]
    })
}

/// Tasks that keep a processor busy for a while. The same work by two bare threads, half of it
/// before and half after, says what it would take without a pool.
pub(super) struct Spin {
    pub(super) workers: usize,
    pub(super) microseconds: u64,
    pub(super) tasks: usize,
}

const BARE_THREADS: usize = 2;

/// For how long a bare thread works before it takes more. With a fixed half for each, a
/// thread that another program holds up would make two bare threads slower than a pool.
const SHARE_MICROSECONDS: u64 = 20;

impl Spin {
    /// Nanoseconds for so many of the tasks on two threads without a pool.
    fn bare(&self, tasks: usize) -> f64 {
        let turns = turns(self.microseconds);
        let share = usize::try_from(SHARE_MICROSECONDS / self.microseconds).unwrap_or(1).max(1);
        let taken = AtomicUsize::new(0);
        let barrier = Barrier::new(BARE_THREADS);
        let work = || {
            barrier.wait();
            let start = Instant::now();
            while taken.fetch_add(share, Ordering::Relaxed) < tasks {
                (0..share).for_each(|_| spin(turns));
            }
            (start, Instant::now())
        };
        let spans = thread::scope(|scope| {
            let threads: Vec<_> = (0..BARE_THREADS).map(|_| scope.spawn(work)).collect();
            let spans = threads.into_iter().map(|thread| thread.join().expect("it only spins"));
            spans.collect::<Vec<_>>()
        });
        let start = spans.iter().map(|(start, _)| *start).min().expect("there are two");
        let end = spans.iter().map(|(_, end)| *end).max().expect("there are two");
        (end - start).as_nanos() as f64
    }
}

impl Scenario for Spin {
    fn titles(&self) -> Vec<Title> {
        let what = format!("{} us spin: {} workers, 1 producer", self.microseconds, self.workers);
        vec![
            (format!("{what}, wall for each task"), "ns"),
            (format!("{what}, time over that of 2 bare threads"), "x"),
        ]
    }

    fn takes<P: Pool>(&self) -> bool {
        true
    }

    fn round<P: Pool>(&self) -> Vec<f64> {
        let turns = turns(self.microseconds);
        let pool: P = warm(self.workers);
        let before = self.bare(self.tasks / 2);
        let nanoseconds = flood(1, self.tasks, |index, tally| {
            pool.spawn(move || {
                black_box(index);
                spin(turns);
                tally.count();
            })
        });
        let after = self.bare(self.tasks / 2);
        // The better of the two: one in which the bare threads were held up, or shared a core,
        // would flatter whichever pool happened to be measured beside it.
        vec![nanoseconds / self.tasks as f64, nanoseconds / (2.0 * before.min(after))]
    }
}

/// Tiny tasks, and a long one now and then: whoever takes the tiny ones for all there is leaves the
/// long ones to one worker.
pub(super) struct Mixed {
    pub(super) workers: usize,
    /// A long one is one of so many.
    pub(super) one_in: usize,
    pub(super) microseconds: u64,
    pub(super) tasks: usize,
}

impl Scenario for Mixed {
    fn titles(&self) -> Vec<Title> {
        let Self { workers, one_in, microseconds, .. } = self;
        let what = format!(
            "mixture: {workers} workers, 1 producer, no-op but for a spin of {microseconds} us in \
             {one_in}, wall for each task"
        );
        vec![(what, "ns")]
    }

    fn takes<P: Pool>(&self) -> bool {
        true
    }

    fn round<P: Pool>(&self) -> Vec<f64> {
        let (turns, one_in) = (turns(self.microseconds), self.one_in);
        let pool: P = warm(self.workers);
        let nanoseconds = flood(1, self.tasks, |index, tally| {
            pool.spawn(move || {
                if index % one_in == 0 {
                    spin(turns);
                }
                tally.count();
            })
        });
        vec![nanoseconds / self.tasks as f64]
    }
}

/// Never inlined, so that a turn is the same code in a task, on a bare thread and in calibration.
#[inline(never)]
fn spin(turns: u64) {
    for turn in 0..turns {
        black_box(turn);
    }
}

/// How many turns take so many microseconds, when nothing else runs.
fn turns(microseconds: u64) -> u64 {
    const TRIES: usize = 50;
    const TURNS: u64 = 200_000;
    static EACH_MICROSECOND: OnceLock<u64> = OnceLock::new();
    microseconds
        * EACH_MICROSECOND.get_or_init(|| {
            let tries = (0..TRIES).map(|_| {
                let start = Instant::now();
                spin(TURNS);
                start.elapsed()
            });
            let best = tries.min().expect("there are some tries").as_nanos() as u64;
            TURNS * 1_000 / best
        })
}

/// Tasks whose results are waited for, a batch at a time.
pub(super) struct Results {
    pub(super) workers: usize,
    pub(super) batch: u64,
    pub(super) batches: u64,
}

impl Scenario for Results {
    fn titles(&self) -> Vec<Title> {
        let Self { workers, batch, .. } = self;
        let what = format!("task with result: {workers} workers, 1 producer, batches of {batch}");
        vec![(what, "ns")]
    }

    fn takes<P: Pool>(&self) -> bool {
        true
    }

    fn round<P: Pool>(&self) -> Vec<f64> {
        let pool: P = warm(self.workers);
        let start = Instant::now();
        for _ in 0..self.batches {
            let waiting: Vec<_> = (0..self.batch).map(|n| pool.submit(move || n + 1)).collect();
            let sum: u64 = waiting.into_iter().map(|result| result()).sum();
            assert_eq!(sum, self.batch * (self.batch + 1) / 2, "every result came once");
        }
        vec![start.elapsed().as_nanos() as f64 / (self.batch * self.batches) as f64]
    }
}

/// Tasks that block, on a pool with all of its many workers up.
pub(super) struct Blocking {
    pub(super) workers: usize,
    pub(super) tasks: usize,
    pub(super) milliseconds: u64,
}

impl Scenario for Blocking {
    fn titles(&self) -> Vec<Title> {
        let Self { workers, tasks, milliseconds } = self;
        let what = format!(
            "blocking tasks: {workers} workers, 1 producer, {tasks} of {milliseconds} ms, in all"
        );
        vec![(what, "ms")]
    }

    fn takes<P: Pool>(&self) -> bool {
        P::MAY_BLOCK && self.workers <= P::THREADS_MAX
    }

    fn round<P: Pool>(&self) -> Vec<f64> {
        let pause = Duration::from_millis(self.milliseconds);
        let pool: P = warm(self.workers);
        let nanoseconds = flood(1, self.tasks, |index, tally| {
            pool.spawn(move || {
                black_box(index);
                thread::sleep(pause);
                tally.count();
            })
        });
        vec![nanoseconds / 1e6]
    }
}
