//! How a pool begins and ends, and how its runtime ends before it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use headcount_core::Staffing;
use headcount_pool::{BuildFault, Event, Refusal, TaskError, TaskPool};
use tokio::runtime::Runtime;
use tokio::task::yield_now;

use crate::stage::{Gate, joined, many_threads, on_both, one_thread, pool_of, until};

#[test]
fn a_pool_needs_a_runtime() {
    let error = TaskPool::builder().workers(0).build().expect_err("two faults");
    assert!(matches!(error.faults(), [BuildFault::NoRuntime, BuildFault::NoWorkers]), "{error}");
}

#[test]
fn a_pool_dropped_inside_of_a_runtime_does_not_wait_and_its_tasks_run() {
    on_both(|| async {
        let pool = pool_of(2);
        let gate = Gate::new();
        let tasks: Vec<_> = (0..6).map(|_| pool.submit(gate.pass()).expect("open")).collect();
        drop(pool);
        gate.open();
        for task in tasks {
            assert_eq!(task.await, Ok(()));
        }
    });
}

#[test]
fn a_pool_dropped_outside_of_a_runtime_waits_for_its_tasks() {
    let runtime = many_threads();
    let pool = TaskPool::builder().workers(2).runtime(runtime.handle().clone()).build();
    let pool = pool.expect("there is one");
    let ran = Arc::new(AtomicU32::new(0));
    for _ in 0..100 {
        let ran = Arc::clone(&ran);
        let task = async move {
            yield_now().await;
            ran.fetch_add(1, Ordering::Relaxed);
        };
        pool.spawn(task).expect("open");
    }
    drop(pool);
    assert_eq!(ran.load(Ordering::Relaxed), 100);
}

/// One task runs, two wait, and the runtime goes.
fn outlive(runtime: Runtime) {
    let stopped = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&stopped);
    let builder = TaskPool::builder().workers(1).on_worker_stop(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let pool = builder.runtime(runtime.handle().clone()).build().expect("there is one");
    let gate = Gate::new();
    let running = pool.submit(gate.pass()).expect("open");
    pool.spawn(async {}).expect("open");
    let waiting = pool.submit(async {}).expect("open");
    runtime.block_on(gate.until_began(1));
    drop(runtime);
    assert_eq!(joined(running), Err(TaskError::Cancelled));
    assert_eq!(joined(waiting), Err(TaskError::Returned));
    let late = pool.submit(async { 7 }).expect_err("it has no runtime");
    assert_eq!(late.reason, Refusal::RuntimeGone);
    assert_eq!(one_thread().block_on(late.task), 7);
    let gone = |(_, event): &_| matches!(event, Event::HireFailed { stranded: true, .. });
    assert!(pool.events().iter().any(gone), "{:?}", pool.events());
    let handle = pool.handle();
    drop(pool);
    assert_eq!(stopped.load(Ordering::Relaxed), 1, "the one that had started");
    until(|| handle.snapshot().counters.started == 1);
    let counted = handle.snapshot().counters;
    assert_eq!((counted.submitted, counted.completed), (4, 1));
}

#[test]
fn a_pool_outlives_its_runtime() {
    outlive(one_thread());
    outlive(many_threads());
}

#[test]
fn whoever_waits_for_room_gets_the_task_back_when_the_runtime_goes() {
    let runtime = many_threads();
    let builder = TaskPool::builder().workers(1).queue_len_max(1);
    let pool = builder.runtime(runtime.handle().clone()).build().expect("there is one");
    let gate = Gate::new();
    pool.spawn(gate.pass()).expect("open");
    runtime.block_on(gate.until_began(1));
    pool.spawn(async {}).expect("there is room for one");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| pool.spawn(async {}).expect_err("nobody will run it").reason);
        drop(runtime);
        until(|| waits.is_finished());
        assert_eq!(waits.join().expect("no panic"), Refusal::RuntimeGone);
    });
    let refused = pool.spawn_all((0..3).map(|_| async {})).expect_err("nor any of these");
    assert_eq!((refused.reason, refused.task.len()), (Refusal::RuntimeGone, 3));
}

#[test]
fn a_pool_without_workers_learns_of_the_end_of_its_runtime_with_the_next_task() {
    let runtime = many_threads();
    let pool = TaskPool::builder().workers(0..=1).runtime(runtime.handle().clone()).build();
    let pool = pool.expect("there is one");
    drop(runtime);
    let first = pool.submit(async {}).expect("nobody knows yet");
    assert_eq!(joined(first), Err(TaskError::Returned));
    assert_eq!(pool.spawn(async {}).expect_err("it is known").reason, Refusal::RuntimeGone);
}

#[test]
fn a_pool_that_is_left_to_itself_ends_with_its_runtime() {
    let runtime = one_thread();
    let pool = TaskPool::builder().workers(1).runtime(runtime.handle().clone()).build();
    let pool = pool.expect("there is one");
    let gate = Gate::new();
    let running = pool.submit(gate.pass()).expect("open");
    let waiting = pool.submit(async {}).expect("open");
    runtime.block_on(gate.until_began(1));
    drop(pool);
    drop(runtime);
    assert_eq!(joined(running), Err(TaskError::Cancelled));
    assert_eq!(joined(waiting), Err(TaskError::Returned));
}

#[test]
fn hooks_run_on_every_worker() {
    on_both(|| async {
        let [started, stopped] = [0, 0].map(|zero| Arc::new(AtomicU32::new(zero)));
        let (starts, stops) = (Arc::clone(&started), Arc::clone(&stopped));
        let builder = TaskPool::builder().workers(3).on_worker_start(move |_| {
            starts.fetch_add(1, Ordering::Relaxed);
        });
        let builder = builder.on_worker_stop(move |_| {
            stops.fetch_add(1, Ordering::Relaxed);
        });
        let pool = builder.build().expect("a runtime");
        pool.resize(Staffing::exactly(3)).await;
        pool.resize(Staffing::exactly(0)).await;
        let seen = (started.load(Ordering::Relaxed), stopped.load(Ordering::Relaxed));
        assert_eq!(seen, (3, 3));
    });
}
