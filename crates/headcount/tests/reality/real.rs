//! A slice on a real pool.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use headcount::{Autoscale, Autoscaled, ThreadPool, Threads};
use headcount_core::Timestamp;
use headcount_sim::load::Job;

use crate::gate::Gate;
use crate::{BUDGET, GRACE, START_COST, Slice};

/// How often workers are counted.
const SAMPLE: Duration = Duration::from_millis(5);

/// What came of a slice, real or simulated.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) late_percent: f64,
    pub(crate) cost_per_work: f64,
    #[allow(dead_code, reason = "for people, where it does not agree")]
    pub(crate) spawns: u64,
    #[allow(dead_code, reason = "for people, where it does not agree")]
    pub(crate) wait_p50: Duration,
    #[allow(dead_code, reason = "for people, where it does not agree")]
    pub(crate) wait_p99: Duration,
    /// How long a worker needs to start.
    pub(crate) spawn_delay: Duration,
}

/// Runs the jobs on a pool of threads, in real time.
pub(crate) fn run(slice: &Slice, jobs: &[Job]) -> Measured {
    let spawns = Arc::new(AtomicU64::new(0));
    let pool = pool(slice, &spawns);
    let waits = Arc::new(Mutex::new(Vec::with_capacity(jobs.len())));
    let gate = slice.downstream.clone().map(|downstream| Arc::new(Gate::new(downstream)));
    let began = Instant::now();
    let over = AtomicBool::new(false);
    let (worker_seconds, spawn_delay) = thread::scope(|scope| {
        let counting = scope.spawn(|| count(&pool, began, &over));
        for job in jobs {
            wait_until(began + job.at.since(Timestamp::ORIGIN));
            let (came, size) = (Instant::now(), job.size);
            let (waits, gate) = (Arc::clone(&waits), gate.clone());
            let task = move || {
                let wait = came.elapsed();
                waits.lock().unwrap_or_else(PoisonError::into_inner).push(wait);
                match gate {
                    Some(gate) => gate.call(size),
                    None => wait_until(Instant::now() + size),
                }
            };
            pool.spawn(task).expect("there is room");
        }
        wait_until(began + Slice::span() + GRACE);
        over.store(true, Ordering::Relaxed);
        counting.join().expect("it only counts")
    });
    pool.await_idle();
    let mut waits = std::mem::take(&mut *waits.lock().unwrap_or_else(PoisonError::into_inner));
    waits.sort_unstable();
    let late = waits.iter().filter(|wait| BUDGET < **wait).count();
    let work: f64 = jobs.iter().map(|job| job.size.as_secs_f64()).sum();
    let spawns = spawns.load(Ordering::Relaxed);
    let starts = spawns as f64 * START_COST.as_secs_f64();
    Measured {
        late_percent: 100.0 * late as f64 / jobs.len() as f64,
        cost_per_work: (worker_seconds + starts) / work,
        spawns,
        wait_p50: waits[waits.len() / 2],
        wait_p99: waits[waits.len() * 99 / 100],
        spawn_delay,
    }
}

fn pool(slice: &Slice, spawns: &Arc<AtomicU64>) -> Autoscaled<Threads> {
    let (spawned, (min, max)) = (Arc::clone(spawns), slice.workers);
    let builder = ThreadPool::builder().name("slice").workers(min..=max).idle_time(START_COST);
    let builder = builder.on_worker_start(move |_| {
        spawned.fetch_add(1, Ordering::Relaxed);
    });
    builder.autoscale(slice.policy()).expect("no fault")
}

/// Until it is over: the time of all workers together, and how long a start took, by what the pool
/// went by when it hired.
fn count(pool: &Autoscaled<Threads>, began: Instant, over: &AtomicBool) -> (f64, Duration) {
    let (mut sum, mut last) = (0.0, began);
    let (mut delays, mut looks) = (Duration::ZERO, 0);
    while !over.load(Ordering::Relaxed) {
        let pool = pool.snapshot();
        delays += pool.spawn_delay.unwrap_or_default();
        looks += 1;
        wait_until(Instant::now() + SAMPLE);
        let now = Instant::now();
        sum += f64::from(pool.live) * now.duration_since(last).as_secs_f64();
        last = now;
    }
    (sum, delays / looks)
}

/// Nothing comes; the time passes. For tasks this is their work.
fn wait_until(at: Instant) {
    let (_nobody_tells, never) = mpsc::channel::<()>();
    while let Some(left) = at.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    {
        let _ = never.recv_timeout(left);
    }
}
