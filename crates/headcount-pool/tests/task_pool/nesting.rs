//! Tasks that submit tasks to their own pool and wait for them.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll, Waker};

use headcount_pool::{Overflow, PoolHandle, Refusal, TaskHandle, TaskOptions, TaskPool, Tasks};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::yield_now;

use crate::stage::{FOR_EVER, Gate, joined, many_threads, on_both, one_thread, pool_of};

#[test]
fn a_task_that_fills_its_own_pool_does_not_wait_for_itself() {
    on_both(|| async {
        let pool = TaskPool::builder().workers(1).queue_len_max(1).build().expect("a runtime");
        let own = pool.handle();
        let sum = pool.submit(async move {
            let mut parts: Vec<TaskHandle<u32>> = Vec::new();
            for n in 1..=10 {
                let part = own.submit_async(TaskOptions::new(), async move { n });
                parts.push(part.await.expect("open"));
            }
            all(parts).await.into_iter().sum::<u32>()
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

/// The place of the one that awaits both, and a worker.
#[test]
fn tasks_that_are_awaited_together_take_turns() {
    on_both(|| async {
        let pool = pool_of(2);
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

/// Awaits all of them at once, and polls each whenever it is woken.
async fn all<T>(mut tasks: Vec<TaskHandle<T>>) -> Vec<T> {
    let mut results: Vec<Option<T>> = tasks.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (task, result) in tasks.iter_mut().zip(&mut results).filter(|(_, r)| r.is_none()) {
            if let Poll::Ready(outcome) = Pin::new(task).poll(context) {
                *result = Some(outcome.expect("it ran"));
            }
        }
        match results.iter().all(Option::is_some) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    results.into_iter().flatten().collect()
}

/// Tasks that await many lend their places, and no more than those: as many compute at once as
/// there are workers.
#[test]
fn a_task_that_awaits_many_does_not_let_more_run_than_the_ceiling_allows() {
    for workers in 1..=3 {
        on_both(|| async move {
            let pool = pool_of(workers);
            let (own, [now, most]) = (pool.handle(), [0, 0].map(|n| Arc::new(AtomicU32::new(n))));
            let seen = Arc::clone(&most);
            let outer = pool.submit(async move {
                let parts = (0..40).map(|n| {
                    let (now, most) = (Arc::clone(&now), Arc::clone(&most));
                    async move {
                        most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                        for _ in 0..n % 4 {
                            yield_now().await;
                        }
                        now.fetch_sub(1, SeqCst);
                        n
                    }
                });
                all(own.submit_all(parts).expect("open")).await
            });
            assert_eq!(outer.expect("open").await, Ok((0..40).collect()));
            let most = seen.load(SeqCst);
            assert!((1..=workers).contains(&most), "{most} at once, and {workers} workers");
            pool.idle().await;
            assert_eq!(pool.snapshot().counters.completed, 41);
        });
    }
}

/// Whoever awaits many at once may poll only the one that woke it; the others run all the same.
#[test]
fn tasks_that_were_polled_once_run_in_turn() {
    on_both(|| async {
        let pool = pool_of(1);
        let own = pool.handle();
        let outer = pool.submit(async move {
            let (send, mut receive) = mpsc::unbounded_channel();
            let told = |n| {
                let send = send.clone();
                async move { send.send(n).expect("somebody waits") }
            };
            let mut tasks = own.submit_all((0..20).map(told)).expect("open");
            for task in &mut tasks {
                let _ = Pin::new(task).poll(&mut Context::from_waker(Waker::noop()));
            }
            let mut heard = Vec::new();
            while heard.len() < 20 {
                heard.push(receive.recv().await.expect("twenty are told"));
            }
            heard
        });
        assert_eq!(outer.expect("open").await, Ok((0..20).collect()));
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

/// All that a task has awaited has left the line to others, though nobody has come to it there.
#[test]
fn what_a_task_has_awaited_leaves_its_place_to_others() {
    on_both(|| async {
        let pool = TaskPool::builder().workers(1).queue_len_max(4).build().expect("a runtime");
        let own = pool.handle();
        let outer = pool.submit(async move {
            let tasks = own.submit_all((0..4).map(|n| async move { n })).expect("there is room");
            for task in tasks {
                task.await.expect("it ran");
            }
            let queued = own.snapshot().queued;
            let room = (0..5).take_while(|_| own.try_spawn(async {}).is_ok()).count();
            (queued, room, own.snapshot().queued)
        });
        assert_eq!(outer.expect("open").await, Ok((0, 4, 4)));
        pool.idle().await;
        assert_eq!(pool.snapshot().counters.completed, 9);
    });
}

/// Run by its submitter it is a task of the pool all the same: it is refused where the line is
/// full, and does not block the thread that its runtime needs.
#[test]
fn a_task_that_its_async_submitter_runs_does_not_wait_for_room_in_its_own_line() {
    let (tell, told) = std::sync::mpsc::channel();
    // On a thread of its own: one that hangs is a failure and not a silence.
    let story = std::thread::spawn(move || {
        one_thread().block_on(async {
            let pool = TaskPool::builder().workers(1).queue_len_max(1).build().expect("a runtime");
            let (gate, own) = (Gate::new(), pool.handle());
            pool.spawn(gate.pass()).expect("open");
            gate.until_began(1).await;
            pool.spawn(async {}).expect("there is room for one");
            let by_caller = TaskOptions::new().overflow(Overflow::CallerRuns);
            let task = pool.submit_async(by_caller, async move {
                // What it awaits of its own pool runs in its place.
                let before = own.spawn(async {}).map_err(|refused| refused.reason);
                own.spawn_async(async {}).await.expect("it runs inside");
                before
            });
            tell.send(task.await.expect("it ran").await).expect("somebody waits");
            gate.open();
            pool.idle().await;
            assert_eq!(pool.snapshot().counters.completed, 4);
        });
    });
    let refused = told.recv_timeout(FOR_EVER).expect("it hangs");
    assert_eq!(refused, Ok(Err(Refusal::Full { queue_len_max: 1 })));
    story.join().expect("no panic");
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
