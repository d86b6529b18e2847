//! Tasks that borrow: all of them have ended when their scope has, whatever else happens.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use headcount_pool::{PoolHandle, ThreadPool, Threads};

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
        // Hints that came too late: to run them is to find nothing.
        for hint in drained.unrun {
            hint.run();
        }
    });
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
