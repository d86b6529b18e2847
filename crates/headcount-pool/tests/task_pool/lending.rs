//! Tasks that await others of their own pool for a moment only: the ceiling holds all the same.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Waker};

use headcount_pool::{PoolHandle, TaskError, TaskHandle, TaskPool, Tasks};
use tokio::task::yield_now;

use crate::stage::{Gate, Peak, joined, many_threads, on_both, one_thread, pool_of};

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Submits a task, awaits it until the gate is reached, and loses interest.
async fn lend(own: &PoolHandle<Tasks>, gate: &Arc<Gate>, task: Task) {
    let task = own.submit(task).expect("open");
    tokio::select! {
        biased;
        () = gate.until_began(1) => {}
        // It has lost interest as well.
        ended = task => assert_eq!(ended, Ok(())),
    }
}

/// Passes the gate, and counts as one that runs until it has.
fn held(peak: &Peak, gate: &Arc<Gate>) -> Task {
    Box::pin(peak.count(gate.pass()))
}

/// Whatever can happen before the test goes on has happened, on a runtime of one thread.
async fn settle() {
    for _ in 0..100 {
        yield_now().await;
    }
}

/// Twenty tasks that end while the ones they awaited go on.
fn leave_behind(workers: u32, levels: u32) {
    on_both(|| async move {
        let (pool, peak) = (pool_of(workers), Peak::default());
        let gates: Vec<_> = (0..20).map(|_| Gate::new()).collect();
        let outer = |gate: &Arc<Gate>| {
            let inner = held(&peak, gate);
            (0..levels).fold(inner, |inner, _| {
                let (own, gate) = (pool.handle(), Arc::clone(gate));
                Box::pin(async move { lend(&own, &gate, inner).await })
            })
        };
        let outers: Vec<_> =
            gates.iter().map(|gate| pool.submit(outer(gate)).expect("open")).collect();
        for (gate, outer) in gates.iter().zip(outers) {
            gate.until_began(1).await;
            assert_eq!(outer.await, Ok(()));
            settle().await;
            gate.open();
        }
        pool.idle().await;
        let most = peak.most();
        assert!((1..=workers).contains(&most), "{most} at once, and {workers} workers");
        let completed = pool.snapshot().counters.completed;
        assert_eq!(completed, 20 * u64::from(levels + 1));
    });
}

#[test]
fn a_worker_waits_for_its_place_before_it_takes_the_next_task() {
    for workers in 1..=3 {
        leave_behind(workers, 1);
    }
}

#[test]
fn a_place_that_was_lent_on_comes_back_when_the_last_who_had_it_has_ended() {
    leave_behind(1, 2);
    leave_behind(1, 5);
    leave_behind(2, 3);
}

/// What it awaited and has not begun is left to the workers.
#[test]
fn whoever_was_promised_the_place_of_a_task_that_ended_waits_in_line() {
    on_both(|| async {
        let (pool, peak, gate) = (pool_of(1), Peak::default(), Gate::new());
        let (own, of_tasks, first) = (pool.handle(), peak.clone(), held(&peak, &gate));
        let outer = pool.submit(async move {
            let mut tasks = vec![own.submit(first).expect("open")];
            let others = (0..9).map(|_| Box::pin(of_tasks.count(yield_now())) as Task);
            tasks.extend(own.submit_all(others).expect("open"));
            for task in &mut tasks {
                let polled = Pin::new(task).poll(&mut Context::from_waker(Waker::noop()));
                assert!(polled.is_pending());
            }
        });
        assert_eq!(outer.expect("open").await, Ok(()));
        gate.until_began(1).await;
        settle().await;
        assert_eq!(pool.snapshot().counters.completed, 1);
        gate.open();
        pool.idle().await;
        assert_eq!((peak.most(), pool.snapshot().counters.completed), (1, 11));
    });
}

#[test]
fn a_task_that_gave_up_can_still_stop_the_one_that_has_its_place() {
    on_both(|| async {
        let (pool, gate) = (pool_of(1), Gate::new());
        let own = pool.handle();
        let outer = pool.submit(async move {
            let mut task: TaskHandle<()> = own.submit(gate.pass()).expect("open");
            tokio::select! {
                biased;
                _ = &mut task => panic!("the gate is shut"),
                () = gate.until_began(1) => {}
            }
            task.cancel();
            task.await
        });
        assert_eq!(outer.expect("open").await, Ok(Err(TaskError::Cancelled)));
        assert_eq!(pool.submit(async { 5 }).expect("open").await, Ok(5), "the place is back");
    });
}

/// It runs on beside the one that has its place; but that is one, however many it awaits.
#[test]
fn a_task_that_gave_up_and_goes_on_lets_no_second_one_run() {
    on_both(|| async {
        let (pool, peak) = (pool_of(1), Peak::default());
        let (own, of_tasks) = (pool.handle(), peak.clone());
        let outer = pool.submit(async move {
            let gates: Vec<_> = (0..10).map(|_| Gate::new()).collect();
            lend(&own, &gates[0], held(&of_tasks, &gates[0])).await;
            let others = gates[1..].iter().map(|gate| held(&of_tasks, gate));
            let mut others = own.submit_all(others).expect("open");
            for task in &mut others {
                let polled = Pin::new(task).poll(&mut Context::from_waker(Waker::noop()));
                assert!(polled.is_pending());
            }
            settle().await;
            assert!(gates[1..].iter().all(|gate| gate.began() == 0));
            for gate in &gates {
                gate.open();
            }
            for task in others {
                assert_eq!(task.await, Ok(()));
            }
        });
        assert_eq!(outer.expect("open").await, Ok(()));
        pool.idle().await;
        assert_eq!((peak.most(), pool.snapshot().counters.completed), (1, 11));
    });
}

/// A task that was handed over inside of an await, and ended before the one it awaited.
#[test]
fn a_place_that_was_lent_inside_of_an_await_is_not_lent_again() {
    on_both(|| async {
        let pool = TaskPool::builder().workers(1).queue_len_max(1).build().expect("a runtime");
        let (own, peak, gate) = (pool.handle(), Peak::default(), Gate::new());
        let (most, shut) = (peak.clone(), Arc::clone(&gate));
        let outer = pool.submit(async move {
            let task = own.submit(held(&peak, &shut)).expect("there is room");
            let began = Arc::clone(&shut);
            let inside = async move {
                tokio::select! {
                    biased;
                    () = began.until_began(1) => {}
                    _ = task => panic!("the gate is shut"),
                }
            };
            own.spawn_async(inside).await.expect("open");
            own.try_spawn(async {}).expect("who runs has left its place in the line");
            let mut next = pin!(own.spawn_async(peak.count(async {})));
            let polled = next.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending(), "the place is not back");
            shut.open();
            next.await.expect("open");
        });
        assert_eq!(outer.expect("open").await, Ok(()));
        pool.idle().await;
        assert_eq!((most.most(), pool.snapshot().counters.completed), (1, 5));
    });
}

/// Neither the worker, nor who waits in line, nor the pool waits for a place that never comes back.
#[test]
fn a_worker_that_waits_for_its_place_goes_with_its_runtime() {
    for runtime in [one_thread(), many_threads()] {
        let pool = TaskPool::builder().workers(1).runtime(runtime.handle().clone()).build();
        let (pool, gate) = (pool.expect("there is a runtime"), Gate::new());
        let (own, inner) = (pool.handle(), Arc::clone(&gate));
        let outer = pool.submit(async move { lend(&own, &inner, Box::pin(inner.pass())).await });
        let waiting = pool.submit(async {}).expect("open");
        runtime.block_on(async {
            assert_eq!(outer.expect("open").await, Ok(()));
            settle().await;
        });
        drop(runtime);
        assert_eq!(joined(waiting), Err(TaskError::Returned));
        drop(pool);
    }
}
