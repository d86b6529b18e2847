//! What runs, how many at once, and what becomes of a panic.

use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};

use headcount_core::Staffing;
use headcount_pool::{Event, TaskError, TaskPool, blocking, report_failure};
use tokio::task::yield_now;

use crate::stage::{FOR_EVER, Gate, classed, joined, many_threads, on_both, one_thread, pool_of};

#[test]
fn results_come_back() {
    on_both(|| async {
        let pool = pool_of(3);
        let tasks: Vec<_> = (0..100)
            .map(|n| {
                pool.submit(async move {
                    yield_now().await;
                    n * n
                })
            })
            .collect::<Result<_, _>>()
            .expect("it is open");
        for (n, task) in (0..).zip(tasks) {
            assert_eq!(task.await, Ok(n * n));
        }
    });
}

#[test]
fn what_is_spawned_runs_and_idle_comes_after_it() {
    on_both(|| async {
        let pool = pool_of(2);
        let ran = Arc::new(AtomicU32::new(0));
        let count = || {
            let ran = Arc::clone(&ran);
            async move {
                yield_now().await;
                ran.fetch_add(1, Ordering::Relaxed);
            }
        };
        pool.spawn(count()).expect("open");
        pool.try_spawn(count()).expect("open");
        pool.spawn_async(count()).await.expect("open");
        pool.spawn_with(classed("count"), count()).expect("open");
        assert_eq!(pool.spawn_all((0..500).map(|_| count())).expect("open"), 500);
        pool.idle().await;
        assert_eq!(ran.load(Ordering::Relaxed), 504);
        let counted = pool.snapshot().counters;
        assert_eq!((counted.submitted, counted.started, counted.completed), (504, 504, 504));
    });
}

#[test]
fn a_panic_hurts_nobody_else() {
    on_both(|| async {
        let pool = pool_of(1);
        pool.spawn(async { panic!("unheard") }).expect("open");
        let late = pool.submit(async {
            yield_now().await;
            panic!("at the second poll")
        });
        let said: Result<(), _> = late.expect("open").await;
        assert_eq!(said, Err(TaskError::Panicked("at the second poll".to_owned())));
        assert_eq!(pool.submit(async { 7 }).expect("open").await, Ok(7));
        assert_eq!(pool.snapshot().counters.panicked, 2);
        let panics = |(_, event): &&_| matches!(event, Event::TaskPanicked { .. });
        assert_eq!(pool.events().iter().filter(panics).count(), 2);
    });
}

#[test]
fn a_panic_of_a_drop_hurts_nobody_either() {
    struct Sore;
    impl Drop for Sore {
        fn drop(&mut self) {
            panic!("in a drop");
        }
    }
    on_both(|| async {
        let pool = pool_of(1);
        let gate = Gate::new();
        let (sore, pass) = (Sore, gate.pass());
        let task = pool.submit(async move {
            let _sore = sore;
            pass.await;
            pending::<()>().await;
        });
        gate.until_began(1).await;
        let task = task.expect("open");
        task.cancel();
        assert_eq!(task.await, Err(TaskError::Cancelled));
        assert_eq!(pool.submit(async { 7 }).expect("open").await, Ok(7));
    });
}

#[test]
fn no_more_are_under_way_than_there_may_be_workers() {
    on_both(|| async {
        let pool = TaskPool::builder().workers(0..=3).build().expect("a runtime");
        let [now, most] = [0, 0].map(|zero| Arc::new(AtomicU32::new(zero)));
        let tasks = (0..200).map(|n| {
            let (now, most) = (Arc::clone(&now), Arc::clone(&most));
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                for _ in 0..n % 5 {
                    yield_now().await;
                }
                now.fetch_sub(1, Ordering::SeqCst);
            }
        });
        pool.spawn_all(tasks).expect("open");
        pool.idle().await;
        let most = most.load(Ordering::SeqCst);
        assert!((1..=3).contains(&most), "{most}");
        assert!(pool.counts().live <= 3);
    });
}

#[test]
fn tasks_that_wait_for_each_other_get_a_worker_each() {
    on_both(|| async {
        let pool = TaskPool::builder().workers(0..=20).build().expect("a runtime");
        let gate = Gate::new();
        pool.spawn_all((0..20).map(|_| gate.pass())).expect("open");
        gate.until_began(20).await;
        gate.open();
        pool.idle().await;
    });
}

#[test]
fn a_resize_takes_hold_while_tasks_run() {
    on_both(|| async {
        let pool = pool_of(2);
        let gate = Gate::new();
        pool.spawn_all((0..6).map(|_| gate.pass())).expect("open");
        gate.until_began(2).await;
        assert_eq!(pool.snapshot().queued, 4);
        pool.resize(Staffing::exactly(5)).await;
        gate.until_began(5).await;
        let shrink = pool.resize(Staffing::exactly(1));
        assert!(!shrink.is_done(), "five are at their tasks");
        gate.open();
        shrink.await;
        pool.idle().await;
        assert_eq!((pool.counts().live, pool.snapshot().counters.completed), (1, 6));
        assert_eq!(pool.submit(async { 7 }).expect("open").await, Ok(7));
    });
}

#[test]
fn a_failure_is_told_of_the_task_that_reports_it() {
    on_both(|| async {
        let pool = pool_of(2);
        let told = [true, false].map(|fails| {
            pool.submit(async move {
                yield_now().await;
                if fails {
                    report_failure();
                }
                yield_now().await;
            })
        });
        for task in told {
            assert_eq!(task.expect("open").await, Ok(()));
        }
        let fails = async {
            report_failure();
            yield_now().await;
        };
        pool.spawn(fails).expect("open");
        pool.spawn(async { yield_now().await }).expect("open");
        pool.idle().await;
        let counted = pool.snapshot().counters;
        assert_eq!((counted.completed, counted.failed), (4, 2));
    });
}

#[test]
fn a_worker_that_blocks_is_stood_in_for() {
    let runtime = many_threads();
    let _inside = runtime.enter();
    let pool = TaskPool::builder().workers(1).compensate_max(1).build().expect("a runtime");
    let (send, receive) = mpsc::channel();
    let waits = pool.submit(async move { blocking(|| receive.recv_timeout(FOR_EVER)) });
    pool.spawn(async move { send.send(7).expect("somebody waits") }).expect("open");
    assert_eq!(joined(waits.expect("open")), Ok(Ok(7)));
}

#[test]
fn ready_tasks_let_others_of_the_runtime_run() {
    one_thread().block_on(async {
        let pool = pool_of(1);
        pool.idle().await;
        pool.spawn_all((0..10_000).map(|_| async {})).expect("open");
        let handle = pool.handle();
        let seen = tokio::spawn(async move { handle.snapshot().queued });
        assert_ne!(seen.await.expect("no panic"), 0, "it came between");
        pool.idle().await;
    });
}

#[test]
fn nothing_is_lost_while_the_pool_is_resized_under_load() {
    on_both(|| async {
        for round in 0..20 {
            let pool = TaskPool::builder().workers(0..=4).queue_len_max(16).build();
            let pool = pool.expect("a runtime");
            let ran = Arc::new(AtomicU32::new(0));
            for n in 0..200_u32 {
                let ran = Arc::clone(&ran);
                let task = async move {
                    for _ in 0..n % 3 {
                        yield_now().await;
                    }
                    ran.fetch_add(1, Ordering::Relaxed);
                };
                pool.spawn_async(task).await.expect("open");
                if n % 10 == 0 {
                    drop(pool.resize(Staffing::between(0, 1 + (n + round) % 7)));
                }
            }
            assert!(pool.drain_async(FOR_EVER).await.unrun.is_empty());
            assert_eq!(ran.load(Ordering::Relaxed), 200);
            assert_eq!(pool.snapshot().counters.completed, 200);
        }
    });
}
