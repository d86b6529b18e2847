//! Tasks that submit tasks to their own pool and wait for them.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use headcount_pool::{PoolHandle, TaskHandle, TaskPool, Tasks};
use tokio::sync::{Notify, oneshot};
use tokio::task::yield_now;

use crate::stage::{Gate, joined, many_threads, on_both, pool_of};

#[test]
fn a_task_that_fills_its_own_pool_does_not_wait_for_itself() {
    on_both(|| async {
        let pool = TaskPool::builder().workers(1).queue_len_max(1).build().expect("a runtime");
        let handle = pool.handle();
        let sum = pool.submit(async move {
            let parts = (1..=10).map(|n| handle.submit(async move { n }).expect("open"));
            let parts: Vec<TaskHandle<u32>> = parts.collect();
            let mut sum = 0;
            for part in parts {
                sum += part.await.expect("it ran");
            }
            sum
        });
        assert_eq!(sum.expect("open").await, Ok(55));
    });
}

/// Awaits a task of its own pool, so many levels deep.
fn deep(pool: &PoolHandle<Tasks>, levels: u32) -> TaskHandle<u32> {
    let own = pool.clone();
    let task = async move {
        yield_now().await;
        match levels {
            0 => 0,
            _ => deep(&own, levels - 1).await.expect("it ran") + 1,
        }
    };
    pool.submit(Box::pin(task) as Pin<Box<dyn Future<Output = u32> + Send>>).expect("open")
}

#[test]
fn tasks_that_await_tasks_of_their_own_pool_cannot_starve() {
    on_both(|| async {
        let pool = pool_of(1);
        assert_eq!(deep(&pool, 50).await, Ok(50));
        pool.idle().await;
        let counted = pool.snapshot().counters;
        assert_eq!((counted.submitted, counted.started, counted.completed), (51, 51, 51));
    });
}

#[test]
fn a_task_that_joins_a_task_of_its_own_pool_is_stood_in_for() {
    let runtime = many_threads();
    let _inside = runtime.enter();
    let pool = pool_of(1);
    let own = pool.handle();
    let outer = pool.submit(async move {
        let inner = own.submit(async {
            yield_now().await;
            7
        });
        inner.expect("open").join()
    });
    assert_eq!(joined(outer.expect("open")), Ok(Ok(7)));
}

#[test]
fn tasks_that_are_awaited_together_take_turns() {
    on_both(|| async {
        let pool = pool_of(1);
        let own = pool.handle();
        let outer = pool.submit(async move {
            let (send, receive) = oneshot::channel();
            let waits = own.submit(async { receive.await.expect("it is sent") }).expect("open");
            let sends = own.submit(async { send.send(7).expect("somebody waits") }).expect("open");
            let (got, sent) = tokio::join!(waits, sends);
            (got, sent)
        });
        assert_eq!(outer.expect("open").await, Ok((Ok(7), Ok(()))));
    });
}

#[test]
fn a_task_runs_on_when_its_awaiter_loses_interest() {
    on_both(|| async {
        let pool = pool_of(1);
        let (own, gate, done) = (pool.handle(), Gate::new(), Arc::new(Notify::new()));
        let (pass, told) = (gate.pass(), Arc::clone(&done));
        let began = Arc::clone(&gate);
        let outer = pool.submit(async move {
            let inner = own.submit(async move {
                pass.await;
                told.notify_one();
            });
            tokio::select! {
                _ = inner.expect("open") => panic!("the gate is shut"),
                () = began.until_began(1) => {}
            }
        });
        assert_eq!(outer.expect("open").await, Ok(()));
        gate.open();
        done.notified().await;
    });
}

#[test]
fn a_task_that_awaits_a_group_of_its_own_pool_cannot_starve() {
    on_both(|| async {
        let pool = pool_of(1);
        let own = pool.handle();
        let sum = pool.submit(async move {
            let mut group = own.group();
            for n in 1..=10 {
                group.spawn(async move { n }).expect("open");
            }
            group.try_join_async().await.map(|parts| parts.into_iter().sum::<u32>())
        });
        assert_eq!(sum.expect("open").await, Ok(Ok(55)));
    });
}

#[test]
fn a_task_that_waits_for_room_in_its_own_line_does_not_wait_for_itself() {
    on_both(|| async {
        let pool = TaskPool::builder().workers(1).queue_len_max(1).build().expect("a runtime");
        let own = pool.handle();
        let task = pool.submit(async move {
            for _ in 0..5 {
                own.spawn_async(async {}).await.expect("open");
            }
        });
        assert_eq!(task.expect("open").await, Ok(()));
        pool.idle().await;
        assert_eq!(pool.snapshot().counters.completed, 6, "what ran beside counts, too");
    });
}

#[test]
fn a_task_that_was_awaited_for_a_moment_runs_on() {
    on_both(|| async {
        let pool = pool_of(1);
        let own = pool.handle();
        let outer = pool.submit(async move {
            let (send, receive) = oneshot::channel();
            let mut inner = own.submit(async move {
                yield_now().await;
                send.send(7).expect("somebody waits");
            });
            let inner = inner.as_mut().expect("open");
            // Awaited, given up, and kept; then its word is waited for.
            tokio::select! {
                biased;
                _ = inner => {}
                () = yield_now() => {}
            }
            receive.await
        });
        assert_eq!(outer.expect("open").await, Ok(Ok(7)));
    });
}

#[test]
fn two_things_awaited_by_one_task_do_not_forget_each_other() {
    on_both(|| async {
        let pool = pool_of(2);
        let gate = Gate::new();
        pool.spawn(gate.pass()).expect("open");
        gate.until_began(1).await;
        let resize = pool.resize(headcount_core::Staffing::exactly(1));
        let both = async { tokio::join!(pool.idle(), resize) };
        let opened = async {
            yield_now().await;
            gate.open();
        };
        tokio::join!(both, opened);
    });
}
