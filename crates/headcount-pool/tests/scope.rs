//! Tasks that borrow: all of them have ended when their scope has, whatever else happens.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{env, thread};

use headcount_core::{Breaker, Counters};
use headcount_pool::policy::{BreakerConfig, CircuitBreaker, PoolPolicy, TaskView, Trip, Verdict};
use headcount_pool::{
    Event, Overflow, PanicPolicy, PoolHandle, TaskOptions, ThreadPool, Threads, report_failure,
};

fn pool(workers: u32) -> ThreadPool {
    ThreadPool::builder().workers(workers).build().expect("no fault")
}

#[test]
fn what_tasks_write_is_there_when_the_scope_has_ended() {
    let pool = pool(2);
    let mut rows = vec![String::new(); 100];
    for _ in 0..50 {
        pool.scope(|scope| {
            for (n, row) in rows.iter_mut().enumerate() {
                scope.spawn(move || *row = format!("row {n}"));
            }
        });
        assert_eq!((rows[0].as_str(), rows[99].as_str()), ("row 0", "row 99"));
        rows.iter_mut().for_each(String::clear);
    }
}

#[test]
fn results_of_a_map_are_in_the_order_of_the_items() {
    let pool = pool(2);
    let items: Vec<u64> = (0..1_000).collect();
    let squares = pool.map(&items, |n| n * n);
    assert!(squares.iter().zip(&items).all(|(square, n)| *square == n * n));
}

/// A pool of one worker that is kept until what is sent to is dropped.
fn kept(queue_len_max: u64) -> (ThreadPool, mpsc::Sender<()>) {
    let pool = ThreadPool::builder().workers(1).queue_len_max(queue_len_max);
    let pool = pool.overflow(Overflow::Reject).build().expect("no fault");
    let (begins, begun) = mpsc::channel();
    let (go, gate) = mpsc::channel::<()>();
    let keeps = move || {
        begins.send(()).expect("somebody waits");
        let _ = gate.recv();
    };
    pool.spawn(keeps).expect("open");
    begun.recv().expect("it begins");
    (pool, go)
}

#[test]
fn what_a_scope_has_run_by_itself_leaves_the_line_to_others() {
    let (pool, go) = kept(4);
    assert_eq!(pool.map(0..10, |n| n).len(), 10);
    assert_eq!(pool.snapshot().queued, 0, "all of them have run");
    let others = (0..5).take_while(|_| pool.try_spawn(|| ()).is_ok()).count();
    assert_eq!((others, pool.snapshot().queued), (4, 4));
    // In a full line none of them has a hint.
    assert_eq!(pool.map(0..10, |n| n).len(), 10);
    assert_eq!(pool.snapshot().queued, 4);
    drop(go);
    pool.await_idle();
    assert_eq!(pool.snapshot().counters.completed, 25);
}

#[test]
fn a_paused_pool_whose_scope_has_ended_is_idle() {
    let pool = pool(1);
    pool.pause();
    pool.scope(|scope| (0..3).for_each(|_| scope.spawn(|| ())));
    assert!(pool.idle().wait_timeout(Duration::from_secs(20)));
    pool.resume();
}

/// Hints are taken by workers, dropped for others, cleared out and left behind by all at once.
#[test]
fn whatever_becomes_of_hints_none_is_counted_for_ever() {
    let pool = ThreadPool::builder().workers(2).queue_len_max(4).build().expect("no fault");
    thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                for round in 0..1_000_u32 {
                    let sum: u32 = pool.map(0..round % 7, |n| n).into_iter().sum();
                    assert_eq!(sum, (0..round % 7).sum());
                }
            });
        }
        threads.spawn(|| {
            let oldest = TaskOptions::new().overflow(Overflow::DropOldest);
            (0..3_000).for_each(|_| pool.spawn_with(oldest.clone(), || ()).expect("open"));
        });
    });
    pool.await_idle();
    pool.pause();
    let waiting = (0..5).take_while(|_| pool.try_spawn(|| ()).is_ok()).count();
    assert_eq!((waiting, pool.snapshot().queued), (4, 4));
    pool.resume();
}

/// The sum of all numbers below, each half by a scope of its own.
fn sum(pool: &PoolHandle<Threads>, numbers: &[u64]) -> u64 {
    if numbers.len() < 4 {
        return numbers.iter().sum();
    }
    let (left, right) = numbers.split_at(numbers.len() / 2);
    let (mut left_sum, mut right_sum) = (0, 0);
    pool.scope(|scope| {
        scope.spawn(|| left_sum = sum(pool, left));
        scope.spawn(|| right_sum = sum(pool, right));
    });
    left_sum + right_sum
}

#[test]
fn scopes_inside_of_scopes_need_one_worker() {
    let numbers: Vec<u64> = (0..500).collect();
    for workers in [1, 3] {
        let pool = pool(workers);
        assert_eq!(sum(&pool, &numbers), 499 * 500 / 2);
        let handle = pool.handle();
        let numbers = numbers.clone();
        let inside = pool.submit(move || sum(&handle, &numbers)).expect("open");
        assert_eq!(inside.join(), Ok(499 * 500 / 2));
    }
}

#[test]
fn a_panic_is_told_when_all_the_others_have_ended() {
    let pool = pool(2);
    let ended = AtomicU32::new(0);
    let told = catch_unwind(AssertUnwindSafe(|| {
        pool.scope(|scope| {
            scope.spawn(|| panic!("one of them"));
            for _ in 0..100 {
                scope.spawn(|| {
                    ended.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
    }));
    let message = told.expect_err("one panicked");
    assert_eq!(message.downcast_ref(), Some(&"one of them"));
    assert_eq!(ended.load(Ordering::Relaxed), 100);
}

#[test]
fn a_body_that_panics_still_waits_for_its_tasks() {
    let pool = pool(1);
    let ended = AtomicU32::new(0);
    let told = catch_unwind(AssertUnwindSafe(|| {
        pool.scope(|scope| {
            for _ in 0..10 {
                scope.spawn(|| {
                    ended.fetch_add(1, Ordering::Relaxed);
                });
            }
            panic!("the body");
        });
    }));
    assert!(told.is_err());
    assert_eq!(ended.load(Ordering::Relaxed), 10);
}

#[test]
fn a_scope_on_a_closed_pool_is_run_by_its_caller() {
    let pool = pool(1);
    pool.close();
    let caller = std::thread::current().id();
    assert_eq!(pool.map([1, 2], |_| std::thread::current().id()), [caller, caller]);
}

#[test]
fn a_drain_hands_nothing_out_that_is_borrowed() {
    let pool = pool(1);
    pool.pause();
    let words = [String::from("one"), String::from("two")];
    let (spawned, wait) = mpsc::channel();
    std::thread::scope(|threads| {
        let lengths = threads.spawn(|| {
            let mut lengths = [0; 2];
            pool.scope(|scope| {
                for (word, length) in words.iter().zip(&mut lengths) {
                    scope.spawn(|| *length = word.len());
                }
                spawned.send(()).expect("somebody waits");
            });
            lengths
        });
        wait.recv().expect("they are spawned");
        let drained = pool.drain(Duration::ZERO);
        assert_eq!(lengths.join().expect("no panic"), [3, 3]);
        assert!(drained.unrun.is_empty(), "they are run by whoever opened the scope");
    });
    let Counters { submitted, completed, rejected, .. } = pool.snapshot().counters;
    assert_eq!((submitted, completed, rejected), (2, 2, 0));
}

/// Panics once more where it is dropped.
struct Sore;

impl Drop for Sore {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[test]
fn what_was_thrown_and_what_the_body_returned_may_panic_where_they_are_dropped() {
    let pool = pool(1);
    let told = catch_unwind(AssertUnwindSafe(|| {
        pool.scope(|scope| {
            scope.spawn(|| panic_any(Sore));
            panic!("the body");
        });
    }));
    assert_eq!(told.expect_err("the body panicked").downcast_ref(), Some(&"the body"));
    let told = catch_unwind(AssertUnwindSafe(|| {
        let sore = pool.scope(|scope| {
            scope.spawn(|| panic!("the task"));
            Sore
        });
        std::mem::forget(sore);
    }));
    assert_eq!(told.expect_err("the task panicked").downcast_ref(), Some(&"the task"));
}

type Run = fn(&PoolHandle<Threads>, fn()) -> thread::Result<()>;

/// Runs `task` in a scope, on a worker: whoever opened the scope waits until it has begun.
fn on_a_worker(pool: &PoolHandle<Threads>, task: fn()) -> thread::Result<()> {
    let scope = AssertUnwindSafe(|| {
        pool.scope(|scope| {
            let (begun, begins) = mpsc::channel();
            scope.spawn(move || {
                begun.send(()).expect("somebody waits");
                task();
            });
            begins.recv().expect("a worker begins it");
        });
    });
    catch_unwind(scope)
}

/// Runs `task` in a scope, on the thread that opened it: the pool takes no more tasks.
fn on_the_caller(pool: &PoolHandle<Threads>, task: fn()) -> thread::Result<()> {
    pool.close();
    catch_unwind(AssertUnwindSafe(|| pool.scope(|scope| scope.spawn(task))))
}

fn breaker_that_opens_at_once(pool: &PoolHandle<Threads>) -> CircuitBreaker {
    let config = BreakerConfig { trip: Some(Trip::Failures(1)), ..BreakerConfig::default() };
    let breaker = CircuitBreaker::new(&config).expect("no fault");
    pool.policies().add(Arc::new(breaker.clone())).expect("the only one");
    breaker
}

#[test]
fn a_panic_is_counted_and_told_wherever_it_happens() {
    for run in [on_a_worker as Run, on_the_caller] {
        let pool = pool(1);
        let breaker = breaker_that_opens_at_once(&pool);
        run(&pool, || panic!("inner")).expect_err("it panicked");
        let told = Event::TaskPanicked { class: None, message: "inner".into() };
        assert!(pool.events().into_iter().any(|(_, event)| event == told), "{:?}", pool.events());
        pool.await_idle();
        let Counters { submitted, completed, failed, panicked, .. } = pool.snapshot().counters;
        assert_eq!((submitted, completed, failed, panicked), (1, 1, 1, 1));
        assert_eq!(breaker.state(), Breaker::Open);
    }
}

#[test]
fn a_failure_is_that_of_the_task_that_reports_it() {
    for run in [on_a_worker as Run, on_the_caller] {
        let pool = pool(1);
        let breaker = breaker_that_opens_at_once(&pool);
        run(&pool, report_failure).expect("no panic");
        pool.await_idle();
        let Counters { submitted, completed, failed, panicked, .. } = pool.snapshot().counters;
        assert_eq!((submitted, completed, failed, panicked), (1, 1, 1, 0));
        assert_eq!(breaker.state(), Breaker::Open);
    }
    // A scope inside of a task: the inner one has failed, and the outer one has not.
    let pool = pool(1);
    let inside = pool.handle();
    let outer = pool.submit(move || inside.map([1, 2], |_| report_failure()));
    outer.expect("open").join().expect("no panic");
    pool.await_idle();
    let Counters { submitted, completed, failed, .. } = pool.snapshot().counters;
    assert_eq!((submitted, completed, failed), (3, 3, 2));
}

#[test]
fn a_panic_aborts_the_process_where_the_pool_was_built_so() {
    const CHILD: &str = "HEADCOUNT_SCOPE_ABORTS";
    if let Ok(how) = env::var(CHILD) {
        let pool = ThreadPool::builder().workers(1).panic_policy(PanicPolicy::Abort).build();
        let pool = pool.expect("no fault");
        let run = if how == "worker" { on_a_worker } else { on_the_caller };
        drop(run(&pool, || panic!("inner")));
        return;
    }
    for how in ["worker", "caller"] {
        let name = "a_panic_aborts_the_process_where_the_pool_was_built_so";
        let mut child = Command::new(env::current_exe().expect("this test"));
        let status =
            child.args(["--exact", name]).env(CHILD, how).output().expect("it runs").status;
        assert_eq!(status.code(), None, "on the {how}: {status:?}");
    }
}

#[test]
fn a_map_over_a_short_line_rejects_nothing() {
    let pool = ThreadPool::builder().workers(2).queue_len_max(4).build().expect("no fault");
    assert_eq!(pool.map(0..1_000, |n| n).len(), 1_000);
    pool.await_idle();
    let counters = pool.snapshot().counters;
    assert_eq!((counters.submitted, counters.rejected), (1_000, 0));
    assert_eq!((counters.started, counters.completed), (1_000, 1_000));
}

/// Rejects every second task, and counts what it is told of the others.
#[derive(Default)]
struct Half {
    asked: AtomicU32,
    started: AtomicU32,
}

impl PoolPolicy for Half {
    fn name(&self) -> &'static str {
        "half"
    }

    fn on_enqueue(&self, _: &TaskView<'_>) -> Verdict {
        match self.asked.fetch_add(1, Ordering::Relaxed) % 2 {
            0 => Verdict::reject("every second one"),
            _ => Verdict::accept(),
        }
    }

    fn on_start(&self, _: &TaskView<'_>, _: Option<&mut (dyn Any + Send)>) {
        self.started.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn what_a_policy_rejects_is_run_by_whoever_opened_the_scope() {
    let (pool, half) = (pool(1), Arc::new(Half::default()));
    pool.policies().add(Arc::clone(&half) as _).expect("the only one");
    let here = thread::current().id();
    let (send, ran_on) = mpsc::channel();
    let accepted = pool.scope(|scope| {
        for send in [send.clone(), send] {
            scope.spawn(move || send.send(thread::current().id()).expect("somebody waits"));
        }
        ran_on.recv().expect("a worker runs what was accepted")
    });
    assert_ne!(accepted, here);
    assert_eq!(ran_on.recv(), Ok(here), "the first one was rejected");
    assert_eq!(pool.map([1, 2, 3, 4], |n| n * n), [1, 4, 9, 16]);
    pool.await_idle();
    assert_eq!((half.asked.load(Ordering::Relaxed), half.started.load(Ordering::Relaxed)), (6, 3));
    let Counters { submitted, completed, rejected, .. } = pool.snapshot().counters;
    assert_eq!((submitted, completed, rejected), (6, 6, 0));
}
