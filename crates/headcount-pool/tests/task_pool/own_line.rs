//! Tasks that hand tasks to their own pool and find its line full.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use headcount_pool::{
    Overflow, PoolHandle, Refusal, SubmitError, TaskError, TaskHandle, TaskOptions, TaskPool,
    Tasks, report_failure,
};
use tokio::task::yield_now;

use crate::stage::{Gate, Peak, on_both};

fn pool_of(workers: u32, queue_len_max: u64) -> TaskPool {
    let builder = TaskPool::builder().workers(workers).queue_len_max(queue_len_max);
    builder.build().expect("there is a runtime")
}

const FULL: Refusal = Refusal::Full { queue_len_max: 1 };

/// Runs `story` as a task of a pool of one worker, whose line is full.
fn in_a_full_pool<F>(story: impl Fn(PoolHandle<Tasks>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    on_both(|| async {
        let pool = pool_of(1, 1);
        let own = pool.handle();
        let story = story(own.clone());
        let outer = pool.submit(async move {
            own.spawn(async {}).expect("there is room for one");
            story.await;
        });
        assert_eq!(outer.expect("open").await, Ok(()));
        pool.idle().await;
    });
}

/// A task that counts as one that runs for so many polls more.
fn counted(peak: &Peak, yields: u32) -> impl Future<Output = ()> + Send + use<> + 'static {
    peak.count(async move {
        for _ in 0..yields {
            yield_now().await;
        }
    })
}

/// Hands over all of them at once.
async fn hand_over<F>(own: &PoolHandle<Tasks>, tasks: impl Iterator<Item = F>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut awaited: Vec<_> = tasks.map(|task| Box::pin(own.spawn_async(task))).collect();
    poll_fn(|context| {
        awaited.retain_mut(|handed_over| match handed_over.as_mut().poll(context) {
            Poll::Ready(answer) => answer.is_err_and(|_| panic!("it is open")),
            Poll::Pending => true,
        });
        if awaited.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Sixty tasks from one, singly or six at a time; no more run at once than there are workers.
#[test]
fn a_task_that_hands_over_more_than_the_line_holds_keeps_to_the_ceiling() {
    for (workers, at_once) in [(1, 1), (2, 1), (3, 1), (1, 6), (2, 6)] {
        on_both(|| async move {
            let pool = pool_of(workers, 2);
            let (own, peak) = (pool.handle(), Peak::default());
            let of_tasks = peak.clone();
            let outer = pool.submit(async move {
                for round in 0..60 / at_once {
                    hand_over(&own, (0..at_once).map(|n| counted(&of_tasks, (round + n) % 4)))
                        .await;
                }
            });
            assert_eq!(outer.expect("open").await, Ok(()));
            pool.idle().await;
            let most = peak.most();
            assert!((1..=workers).contains(&most), "{most} at once, and {workers} workers");
            let counters = pool.snapshot().counters;
            assert_eq!((counters.submitted, counters.completed, counters.rejected), (61, 61, 0));
        });
    }
}

#[test]
fn what_cannot_await_is_handed_back() {
    async fn ran<R>(refused: SubmitError<impl Future<Output = R>>) -> (Refusal, R) {
        (refused.reason, refused.task.await)
    }
    in_a_full_pool(|own| async move {
        assert_eq!(ran(own.spawn(async {}).expect_err("full")).await, (FULL, ()));
        assert_eq!(ran(own.submit(async { 5 }).expect_err("full")).await, (FULL, 5));
        for overflow in [Overflow::Wait, Overflow::WaitFor(Duration::from_secs(60))] {
            let options = TaskOptions::new().overflow(overflow);
            let refused = own.spawn_with(options.clone(), async {}).expect_err("full");
            assert_eq!(ran(refused).await, (FULL, ()));
            let refused = own.submit_with(options, async { 6 }).expect_err("full");
            assert_eq!(ran(refused).await, (FULL, 6));
        }
        let refused = own.submit_all((0..3).map(|n| async move { n })).expect_err("full");
        assert_eq!((refused.reason, refused.tasks.len()), (FULL, 3));
        assert_eq!(own.snapshot().counters.rejected, 9);
    });
}

#[test]
fn what_is_awaited_has_run_when_it_is_handed_over() {
    in_a_full_pool(|own| async move {
        let task = async {
            yield_now().await;
            5
        };
        let task = own.submit_async(TaskOptions::new(), task).await.expect("open");
        assert!(task.is_done());
        assert_eq!(task.await, Ok(5));
        let counters = own.snapshot().counters;
        assert_eq!((counters.submitted, counters.completed), (3, 1));
    });
}

/// Hands over itself until it is refused, and says why and by how many it was run.
fn descend(
    own: PoolHandle<Tasks>,
    depth: u32,
) -> Pin<Box<dyn Future<Output = (u32, Refusal)> + Send>> {
    Box::pin(async move {
        if depth == 100 {
            return (depth, Refusal::Closed);
        }
        yield_now().await;
        let deeper = descend(own.clone(), depth + 1);
        match own.submit_async(TaskOptions::new(), deeper).await {
            Ok(task) => task.await.expect("no panic"),
            Err(refused) => (depth, refused.reason),
        }
    })
}

#[test]
fn tasks_that_run_inside_of_one_another_are_nested_only_so_deep() {
    in_a_full_pool(|own| async move {
        assert_eq!(descend(own.clone(), 0).await, (16, FULL));
        assert_eq!(descend(own, 0).await, (16, FULL), "whoever came back may go down again");
    });
}

/// Whatever had become of it: it waits for room or has begun.
#[test]
fn a_task_is_dropped_with_the_await_that_runs_it() {
    in_a_full_pool(|own| async move {
        let gate = Gate::new();
        tokio::select! {
            biased;
            _ = own.spawn_async(gate.pass()) => panic!("the gate is shut"),
            () = gate.until_began(1) => {}
        }
        // The place is free again.
        let next = own.submit_async(TaskOptions::new(), async { 5 });
        assert_eq!(next.await.expect("open").await, Ok(5));
        assert_eq!(own.snapshot().counters.completed, 2);
    });
}

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

#[test]
fn a_task_that_runs_inside_of_another_fails_and_panics_for_itself() {
    in_a_full_pool(|own| async move {
        report_failure();
        let submit = |task| own.submit_async(TaskOptions::new(), task);
        let panics: Task = Box::pin(async { panic!("no luck") });
        let panicked = submit(panics).await.expect("open");
        assert_eq!(panicked.await, Err(TaskError::Panicked("no luck".to_owned())));
        let succeeds: Task = Box::pin(async {});
        submit(succeeds).await.expect("open").await.expect("it ran");
        let counters = own.snapshot().counters;
        assert_eq!((counters.completed, counters.failed, counters.panicked), (2, 1, 1));
    });
}

/// A task that the other awaits has its place; whoever wants to run there waits for it to end.
#[test]
fn a_place_that_is_lent_is_lent_to_nobody_else() {
    on_both(|| async {
        let pool = pool_of(1, 1);
        let (own, gate) = (pool.handle(), Gate::new());
        let outer = pool.submit(async move {
            let mut held: TaskHandle<()> = own.submit(gate.pass()).expect("there is room");
            tokio::select! {
                biased;
                _ = &mut held => panic!("the gate is shut"),
                () = gate.until_began(1) => {}
            }
            own.try_spawn(async {}).expect("who runs has left its place in the line");
            let peak = Peak::default();
            let second = own.spawn_async(counted(&peak, 0));
            tokio::select! {
                biased;
                _ = second => panic!("nobody has room for it"),
                () = yield_now() => {}
            }
            assert_eq!(peak.most(), 0);
            gate.open();
            own.spawn_async(counted(&peak, 0)).await.expect("open");
            assert_eq!((peak.most(), held.await), (1, Ok(())));
        });
        assert_eq!(outer.expect("open").await, Ok(()));
        pool.idle().await;
    });
}
