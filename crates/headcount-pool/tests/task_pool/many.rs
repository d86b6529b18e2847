//! Groups and batches where the line is full and no thread may block.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use headcount_pool::{
    CancelToken, Name, Overflow, Refusal, TaskError, TaskOptions, TaskPool, ThreadPool,
};

use crate::stage::{Gate, many_threads, on_both};

fn small_pool(workers: u32) -> TaskPool {
    let builder = TaskPool::builder().workers(workers).queue_len_max(4);
    builder.build().expect("there is a runtime")
}

fn numbers(count: u32) -> impl Iterator<Item = impl Future<Output = u32> + Send + 'static> {
    (0..count).map(|n| async move { n })
}

#[test]
fn a_group_larger_than_the_line_is_spawned_without_blocking_the_runtime() {
    on_both(|| async {
        let pool = small_pool(2);
        let mut group = pool.group();
        for task in numbers(50) {
            group.spawn_async(task).await.expect("open");
        }
        assert_eq!(group.try_join_async().await, Ok((0..50).collect()));
    });
}

#[test]
fn a_batch_larger_than_the_line_is_handed_over_without_blocking_the_runtime() {
    on_both(|| async {
        let pool = small_pool(2);
        let mut results = Vec::new();
        for task in pool.submit_all_async(numbers(50)).await.expect("open") {
            results.push(task.await.expect("it ran"));
        }
        assert_eq!(results, (0..50).collect::<Vec<_>>());
        assert_eq!(pool.spawn_all_async((0..50).map(|_| async {})).await.expect("open"), 50);
        pool.idle().await;
        assert_eq!(pool.snapshot().counters.completed, 100);
    });
}

/// A task of another runtime, which may move from thread to thread, awaits a batch whose tasks are
/// boxed. That it compiles is half of it.
#[test]
fn a_batch_of_boxed_tasks_can_be_awaited_on_any_thread() {
    many_threads().block_on(async {
        let futures = TaskPool::builder().workers(1).queue_len_max(1).build().expect("a runtime");
        let closures = ThreadPool::builder().workers(1).queue_len_max(1).build().expect("no fault");
        let (tasks, threads) = (futures.handle(), closures.handle());
        let elsewhere = tokio::spawn(async move {
            let ready = || Box::pin(async {}) as Pin<Box<dyn Future<Output = ()> + Send>>;
            let spawned = tasks.spawn_all_async([ready(), ready()]).await.expect("open");
            let heard = tasks.submit_all_async([ready(), ready()]).await.expect("open");
            let boxed = |n: u32| Box::new(move || n) as Box<dyn FnOnce() -> u32 + Send>;
            let closures = [boxed(1), boxed(2), boxed(3)];
            let mut sum = 0;
            for part in threads.submit_all_async(closures).await.expect("open") {
                sum += part.await.expect("it ran");
            }
            (spawned, heard.len(), sum)
        });
        assert_eq!(elsewhere.await.expect("no panic"), (2, 2, 6));
    });
}

#[test]
fn a_batch_hands_back_what_came_when_the_pool_closed_and_handles_to_the_rest() {
    on_both(|| async {
        let pool = small_pool(1);
        pool.pause();
        let batch = pool.submit_all_async(numbers(10));
        let (refused, ()) = tokio::join!(batch, async { pool.close() });
        let refused = refused.expect_err("it is closed");
        assert_eq!((refused.reason, refused.handles.len()), (Refusal::Closed, 4));
        let mut rest = Vec::new();
        for task in refused.tasks {
            rest.push(task.await);
        }
        assert_eq!(rest, (4..10).collect::<Vec<_>>());
    });
}

#[test]
fn a_task_spawns_a_group_and_a_batch_larger_than_its_own_line() {
    for workers in 1..=2 {
        on_both(|| async move {
            let pool = small_pool(workers);
            let own = pool.handle();
            let outer = pool.submit(async move {
                let mut group = own.group();
                for task in numbers(20) {
                    group.spawn_async(task).await.expect("open");
                }
                let batch = own.submit_all_async(numbers(20)).await.expect("open");
                let mut sum = 0;
                for task in batch {
                    sum += task.await.expect("it ran");
                }
                (group.try_join_async().await.map(|all| all.len()), sum)
            });
            assert_eq!(outer.expect("open").await, Ok((Ok(20), 190)));
        });
    }
}

#[test]
fn tasks_of_a_group_have_options() {
    on_both(|| async {
        let pool = small_pool(1);
        let gate = Gate::new();
        pool.spawn(gate.pass()).expect("open");
        gate.until_began(1).await;
        let mut group = pool.group();
        let (new, token) = (TaskOptions::new, CancelToken::new());
        let class = Name::new("mail").expect("a name");
        group.spawn_with(new().class(class), async { 0 }).expect("open");
        group.spawn_with(new().token(token.clone()), async { 1 }).expect("open");
        group.spawn_with(new(), async { 2 }).expect("open");
        group.spawn_async_with(new(), async { 3 }).await.expect("open");
        let reject = new().overflow(Overflow::Reject);
        let refused = group.spawn_with(reject.clone(), async { 4 }).expect_err("four wait");
        assert_eq!(refused.reason, Refusal::Full { queue_len_max: 4 });
        assert!(group.spawn_async_with(reject, async { 4 }).await.is_err());
        let a_while = new().overflow(Overflow::WaitFor(Duration::from_millis(1)));
        let refused = group.spawn_async_with(a_while, async { 4 }).await.expect_err("four wait");
        assert_eq!(refused.reason, Refusal::TimedOut);
        token.cancel();
        let late = new().wait_max(Duration::from_millis(1));
        group.spawn_with(late, async { 4 }).expect("one has left its place");
        let ended = [group.next_ended_async().await, group.next_ended_async().await];
        let outcomes = [Err(TaskError::Cancelled), Err(TaskError::Expired)];
        assert_eq!(ended.map(|ended| ended.map(|(_, outcome)| outcome)), outcomes.map(Some));
        gate.open();
        assert_eq!(group.join_all_async().await, [Ok(0), Ok(2), Ok(3)]);
    });
}

#[test]
fn a_group_stops_tasks_that_have_a_token_of_their_own() {
    on_both(|| async {
        let pool = small_pool(1);
        let (gate, own) = (Gate::new(), TaskOptions::new().token(CancelToken::new()));
        let mut group = pool.group();
        group.spawn_with(own.clone(), gate.pass()).expect("open");
        gate.until_began(1).await;
        group.cancel();
        let refused = group.spawn_with(own, gate.pass()).expect_err("it was cancelled");
        assert_eq!(refused.reason, Refusal::Cancelled);
        assert_eq!(group.try_join_async().await, Err(TaskError::Cancelled));
    });
}

/// The task began inside of the await and is dropped with it; the group does not wait for it.
#[test]
fn a_group_is_whole_when_a_spawn_is_dropped() {
    on_both(|| async {
        let pool = TaskPool::builder().workers(1).queue_len_max(1).build().expect("a runtime");
        let (own, gate) = (pool.handle(), Gate::new());
        let outer = pool.submit(async move {
            let mut group = own.group();
            group.spawn(async {}).expect("there is room");
            tokio::select! {
                biased;
                _ = group.spawn_async(gate.pass()) => panic!("the gate is shut"),
                () = gate.until_began(1) => {}
            }
            group.spawn_async(async {}).await.expect("open");
            let mut ended = Vec::new();
            while let Some((index, outcome)) = group.next_ended_async().await {
                ended.push((index, outcome));
            }
            ended.sort_unstable_by_key(|(index, _)| *index);
            ended
        });
        assert_eq!(outer.expect("open").await, Ok(vec![(0, Ok(())), (2, Ok(()))]));
    });
}

/// All that is awaited can be awaited by a task of a runtime of many threads.
#[test]
fn futures_of_submitters_can_be_sent() {
    fn is_send(future: impl Future + Send) {
        drop(future);
    }
    on_both(|| async {
        let (tasks, threads) = (small_pool(1), ThreadPool::builder().workers(1).build());
        let threads = threads.expect("no fault");
        is_send(tasks.spawn_async(async {}));
        is_send(threads.spawn_async(|| ()));
        is_send(tasks.submit_async(TaskOptions::new(), async {}));
        is_send(threads.submit_async(TaskOptions::new(), || ()));
        let not_send = std::rc::Rc::new(0);
        is_send(tasks.submit_all_async(numbers(2).inspect(|_| drop(not_send.clone()))));
        is_send(threads.spawn_all_async([|| (), || ()].into_iter().inspect(|_| ())));
        is_send(tasks.group().spawn_async(async {}));
        is_send(threads.group().spawn_async(|| ()));
    });
}
