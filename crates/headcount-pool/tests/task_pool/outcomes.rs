//! Tasks that are refused, cancelled, late or handed back.

use std::future::pending;
use std::sync::mpsc;
use std::time::Duration;

use headcount_pool::{
    CancelToken, Overflow, Refusal, TaskError, TaskOptions, TaskPool, is_cancelled,
};
use tokio::task::yield_now;

use crate::stage::{FOR_EVER, Gate, Tells, joined, many_threads, on_both, pool_of, until};

#[test]
fn a_refusal_hands_the_future_back() {
    on_both(|| async {
        let pool = TaskPool::builder().workers(1).queue_len_max(1).build().expect("a runtime");
        pool.pause();
        pool.spawn(async {}).expect("there is room");
        let options = TaskOptions::new().overflow(Overflow::Reject);
        let refused = pool.submit_with(options, async { 6 * 7 }).expect_err("it is full");
        assert_eq!(refused.reason, Refusal::Full { queue_len_max: 1 });
        assert_eq!(refused.task.await, 42);
        let token = CancelToken::new();
        token.cancel();
        let refused = pool.spawn_with(TaskOptions::new().token(token), async {});
        assert_eq!(refused.expect_err("cancelled").reason, Refusal::Cancelled);
        pool.close();
        let refused = pool.spawn_all((0..3).map(|_| async {})).expect_err("it is closed");
        assert_eq!((refused.reason, refused.task.len()), (Refusal::Closed, 3));
        assert_eq!(pool.snapshot().counters.rejected, 5);
    });
}

#[test]
fn an_async_submitter_waits_for_room_without_its_thread() {
    on_both(|| async {
        let pool = TaskPool::builder().workers(1).queue_len_max(1).build().expect("a runtime");
        let gate = Gate::new();
        let mut tasks = Vec::new();
        for _ in 0..3 {
            let task = pool.submit_async(TaskOptions::new(), gate.pass());
            tokio::select! {
                task = task => tasks.push(task.expect("open")),
                () = async { gate.until_began(1).await; gate.open(); pending().await } => {}
            }
        }
        for task in tasks {
            assert_eq!(task.await, Ok(()));
        }
    });
}

#[test]
fn a_task_is_cancelled_before_it_runs_and_while_it_does() {
    on_both(|| async {
        let pool = pool_of(1);
        let (gate, (tells, told)) = (Gate::new(), Tells::new());
        let pass = gate.pass();
        let running = pool.submit(async move {
            let _tells = tells;
            pass.await;
        });
        let waiting = pool.submit(async { 1 }).expect("open");
        gate.until_began(1).await;
        waiting.cancel();
        assert_eq!(waiting.await, Err(TaskError::Cancelled));
        let running = running.expect("open");
        running.cancel();
        assert_eq!(running.await, Err(TaskError::Cancelled));
        told.await.expect("it was dropped");
        pool.idle().await;
        let counted = pool.snapshot().counters;
        assert_eq!((counted.submitted, counted.started, counted.completed), (2, 1, 1));
    });
}

#[test]
fn a_task_learns_in_its_poll_that_it_is_cancelled() {
    let runtime = many_threads();
    let _inside = runtime.enter();
    let pool = pool_of(1);
    let (send, receive) = mpsc::channel();
    let task = pool.submit(async move {
        send.send(()).expect("somebody waits");
        while !is_cancelled() {
            std::thread::yield_now();
        }
        "seen"
    });
    receive.recv_timeout(FOR_EVER).expect("it began");
    let task = task.expect("open");
    task.cancel();
    assert_eq!(joined(task), Ok("seen"), "it was ready before it could be dropped");
}

#[test]
fn a_task_may_wait_and_run_only_for_so_long() {
    on_both(|| async {
        let pool = pool_of(1);
        let moment = Duration::from_millis(5);
        let (tells, told) = Tells::new();
        let slow = pool.submit_with(TaskOptions::new().run_max(moment), async move {
            let _tells = tells;
            pending::<()>().await;
        });
        assert_eq!(slow.expect("open").await, Err(TaskError::TimedOut));
        told.await.expect("it was dropped");
        pool.pause();
        let late = pool.submit_with(TaskOptions::new().wait_max(moment), async { 1 });
        assert_eq!(late.expect("open").await, Err(TaskError::Expired));
        pool.resume();
        pool.idle().await;
        until(|| pool.snapshot().counters.expired == 1);
        assert_eq!(pool.snapshot().counters.completed, 1);
    });
}

#[test]
fn a_drained_pool_hands_back_what_has_not_begun() {
    on_both(|| async {
        let pool = pool_of(1);
        let gate = Gate::new();
        let running = pool.submit(gate.pass()).expect("open");
        gate.until_began(1).await;
        let [kept, dropped] = [1, 2].map(|n| pool.submit(async move { n }).expect("open"));
        let drained = pool.drain_async(Duration::from_millis(5)).await;
        assert_eq!((drained.unrun.len(), drained.still_running), (2, 1));
        let mut unrun = drained.unrun.into_iter();
        unrun.next().expect("two").run().await;
        drop(unrun);
        assert_eq!(kept.await, Ok(1));
        assert_eq!(dropped.await, Err(TaskError::Returned));
        gate.open();
        assert_eq!(running.await, Ok(()));
        assert!(pool.drain_async(FOR_EVER).await.unrun.is_empty());
    });
}

#[test]
fn the_oldest_makes_room_and_the_newest_is_dropped() {
    on_both(|| async {
        let pool = TaskPool::builder().workers(1).queue_len_max(1).build().expect("a runtime");
        pool.pause();
        let with = |overflow| TaskOptions::new().overflow(overflow);
        let first = pool.submit(async { 1 }).expect("room");
        let second = pool.submit_with(with(Overflow::DropOldest), async { 2 }).expect("made room");
        let third = pool.submit_with(with(Overflow::DropNewest), async { 3 }).expect("taken");
        assert_eq!(first.await, Err(TaskError::Dropped));
        assert_eq!(third.await, Err(TaskError::Dropped));
        pool.resume();
        assert_eq!(second.await, Ok(2));
    });
}

#[test]
fn a_submitter_outside_of_the_runtime_runs_what_finds_no_room() {
    let runtime = many_threads();
    let builder = TaskPool::builder().workers(1).queue_len_max(1).overflow(Overflow::CallerRuns);
    let pool = builder.runtime(runtime.handle().clone()).build().expect("there is one");
    pool.pause();
    pool.spawn(async {}).expect("room");
    let here = std::thread::current().id();
    let ran_on = pool.submit(async {
        yield_now().await;
        std::thread::current().id()
    });
    assert_eq!(joined(ran_on.expect("run")), Ok(here));
    pool.resume();
}
