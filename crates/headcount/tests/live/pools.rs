//! Real pools under real load.

use std::sync::mpsc;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use headcount::{Autoscale, Preset, Scaler, ThreadPool};

use crate::support::by_hand;

/// Nothing here takes so long.
const DEADLINE: Duration = Duration::from_secs(30);

/// How many workers of the pool of this name there are, as the system has it: its other threads
/// have no number.
fn workers(name: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("the system's list of threads");
    let comms =
        tasks.flatten().filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    let number = |comm: String| comm.trim_end().strip_prefix(name)?.parse::<u32>().ok();
    comms.filter_map(number).count()
}

/// Waits until `so` is so.
fn until(what: &str, so: impl Fn() -> bool) {
    let since = Instant::now();
    while !so() {
        assert!(since.elapsed() < DEADLINE, "{what}: not within {DEADLINE:?}");
        std::thread::yield_now();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_burst_makes_the_threads_rise_to_what_is_needed_and_fall_back() {
    let slo = Preset::slo(Duration::from_millis(20));
    let builder = ThreadPool::builder().name("burst").workers(1..=16);
    let pool = builder.idle_time(Duration::from_millis(50)).autoscale(slo).expect("no fault");
    // Twelve tasks that can only go on together, and with us, need twelve workers.
    let together = Arc::new(Barrier::new(13));
    for _ in 0..12 {
        let together = Arc::clone(&together);
        pool.spawn(move || {
            together.wait();
        })
        .expect("there is room");
    }
    until("twelve workers", || workers("burst-") == 12);
    together.wait();
    pool.await_idle();
    until("one worker", || workers("burst-") == 1);
    assert!(pool.scaler().panics() == 0 && pool.scaler().is_active());
}

#[test]
#[cfg(target_os = "linux")]
fn a_policy_that_says_how_long_workers_idle_is_obeyed() {
    // The pool itself would keep them for an hour; pond lets them go at once.
    let builder = ThreadPool::builder().name("pond").workers(1..=8);
    let pool = builder.idle_time(Duration::from_secs(3600)).autoscale(Preset::pond());
    let pool = pool.expect("no fault");
    let together = Arc::new(Barrier::new(7));
    for _ in 0..6 {
        let together = Arc::clone(&together);
        pool.spawn(move || {
            together.wait();
        })
        .expect("there is room");
    }
    until("six workers", || workers("pond-") == 6);
    together.wait();
    until("one worker", || workers("pond-") == 1);
}

/// In which order a pool of one worker serves three tasks that have waited for longer than 5 ms.
fn served(pool: &ThreadPool) -> Vec<u32> {
    let (told, heard) = mpsc::channel();
    let gate = Arc::new(Barrier::new(2));
    let at_gate = Arc::clone(&gate);
    pool.spawn(move || {
        at_gate.wait();
    })
    .expect("there is room");
    until("the worker is at the gate", || pool.snapshot().busy == 1);
    for number in 1..=3 {
        let told = told.clone();
        pool.spawn(move || told.send(number).expect("somebody listens")).expect("there is room");
    }
    let late = Duration::from_millis(10);
    until("they are late", || pool.snapshot().oldest_wait.is_some_and(|wait| late < wait));
    gate.wait();
    heard.iter().take(3).collect()
}

#[test]
fn the_newest_go_first_where_a_policy_promised_less_and_not_under_another() {
    let (driver, _clock) = by_hand();
    let pool = ThreadPool::builder().workers(1).build().expect("no fault");
    let one = headcount::PolicyConfig {
        workers_min: Some(1),
        workers_max: Some(1),
        ..Default::default()
    };
    let policy = |preset: Preset| one.clone().or(preset.config());
    let slo = policy(Preset::slo(Duration::from_millis(5)));
    let scaler = Scaler::of(pool.handle()).policy(slo).driver(&driver).start().expect("no fault");
    assert_eq!(served(&pool), [1, 3, 2], "that the first is late is seen when it is taken");
    scaler.set_policy(policy(Preset::gopipe())).expect("no fault");
    assert_eq!(served(&pool), [1, 2, 3]);
}

#[test]
fn a_full_pool_calls_the_driver_before_its_time() {
    let (driver, clock) = by_hand();
    let pool = ThreadPool::builder().workers(1).build().expect("no fault");
    let policy =
        headcount::PolicyConfig { workers_max: Some(4), ..Preset::slo(Duration::ZERO).config() };
    let scaler = Scaler::of(pool.handle()).policy(policy).driver(&driver).start();
    let scaler = scaler.expect("no fault");
    scaler.hold_at(1, None);
    until("its worker has started", || pool.snapshot().parked == 1);
    for _ in 0..20 {
        clock.pass(Duration::from_secs(2));
        driver.run_due();
    }
    let rest = driver.run_due().expect("it is looked after").since(driver.now());
    assert_eq!(rest, Duration::from_secs(2), "at rest");

    let (release, blocked) = mpsc::channel::<()>();
    let (started, begun) = mpsc::channel();
    pool.spawn(move || {
        started.send(()).expect("somebody listens");
        blocked.recv().expect("released");
    })
    .expect("there is room");
    begun.recv().expect("it has begun");
    pool.spawn(|| ()).expect("it waits");
    let due = driver.run_due().expect("it is looked after").since(driver.now());
    assert_eq!(due, Duration::from_millis(50), "it called");
    release.send(()).expect("it waits for that");
}
