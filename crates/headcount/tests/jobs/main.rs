//! Workers of jobs on real pools, by effect.
#![allow(clippy::unwrap_used, reason = "in a story, what fails is the test")]

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use headcount::Preset;
use headcount::jobs::model::Memory;
use headcount::jobs::{Context, JobError, Outcome, Queue, Worker};
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Tells a story in a runtime of its own. What hangs in it must not hang the test.
fn in_runtime<F: Future>(story: F) {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(story);
    runtime.shutdown_background();
}

const MINUTE: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_secs(20);

fn queue() -> Queue {
    Queue::new(Arc::new(Memory::new()), "default").expect("a name")
}

/// Returns when it is so; a worker that never gets there fails the test.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "waited {PATIENCE:?} until {what}");
        tokio::task::yield_now().await;
    }
}

/// Jobs that hold their worker until the gate opens.
fn gated(queue: &Queue) -> Arc<Semaphore> {
    let gate = Arc::new(Semaphore::new(0));
    let handle = Arc::clone(&gate);
    let handler = move |(): (), _ctx: Context| {
        let gate = Arc::clone(&handle);
        async move {
            gate.acquire().await?.forget();
            Ok(())
        }
    };
    queue.handle("gated", handler).expect("a new kind");
    gate
}

#[test]
fn slo_grows_with_the_line_in_the_store_and_shrinks_when_it_is_gone() {
    in_runtime(async {
        let queue = queue();
        let gate = gated(&queue);
        let slo = Preset::slo(Duration::from_millis(20));
        let worker = Worker::builder(&queue).workers(1..=8).autoscale(slo).start().unwrap();
        assert_eq!(worker.snapshot().live, 1);
        queue.submit_many((0..30).map(|_| queue.submit("gated", &()))).await.unwrap();
        until("all eight are at work", || worker.stats().running == 8).await;
        until("the line is counted", || worker.snapshot().queued == 22).await;
        assert!(worker.snapshot().oldest_wait.is_some());
        assert_eq!(worker.snapshot().live, 8, "and never more than eight");
        gate.add_permits(30);
        until("all are done", || worker.stats().done_total == 30).await;
        until("the line is gone", || worker.snapshot().queued == 0).await;
        until("one is left", || worker.snapshot().live == 1).await;
        assert!(worker.drain(Worker::GRACE).await.is_clean());
    });
}

#[test]
fn two_workers_count_half_of_the_line_each() {
    in_runtime(async {
        let queue = queue();
        let gate = gated(&queue);
        let worker = || Worker::builder(&queue).workers(4..=4).start().unwrap();
        let (first, second) = (worker(), worker());
        queue.submit_many((0..41).map(|_| queue.submit("gated", &()))).await.unwrap();
        let running = || first.stats().running + second.stats().running;
        until("all eight are at work", || running() == 8).await;
        until("33 are shared", || first.snapshot().queued == 17 && second.snapshot().queued == 17)
            .await;
        gate.add_permits(41);
        until("all are done", || first.stats().done_total + second.stats().done_total == 41).await;
    });
}

#[test]
fn a_policy_that_names_the_size_looks_at_the_line_in_the_store() {
    in_runtime(async {
        let queue = queue();
        let gate = gated(&queue);
        let spool = Preset::spool();
        let worker = Worker::builder(&queue).workers(1..=6).autoscale(spool).start().unwrap();
        queue.submit_many((0..200).map(|_| queue.submit("gated", &()))).await.unwrap();
        until("it has grown", || 2 <= worker.stats().running).await;
        let why = worker.scaler().why();
        assert!(why.contains("queue"), "{why}");
        gate.add_permits(200);
        until("all are done", || worker.stats().done_total == 200).await;
    });
}

#[test]
fn jobs_that_block_run_on_threads() {
    in_runtime(async {
        let queue = queue();
        let name = || std::thread::current().name().unwrap_or_default().to_owned();
        queue.handle_blocking("where", move |(): (), _ctx| Ok(name())).unwrap();
        let worker = Worker::builder(&queue).name("cruncher").workers(1..=2).threads();
        let worker = worker.start().unwrap();
        let id = queue.submit("where", &()).keep(MINUTE).await.unwrap().id();
        let outcome = queue.outcome(id, PATIENCE).await.unwrap();
        let thread = outcome.result::<String>().unwrap().expect("a name");
        assert!(thread.contains("cruncher"), "{thread}");
        assert!(worker.drain(Worker::GRACE).await.is_clean());
    });
}

#[test]
fn an_async_handler_runs_on_a_thread_too() {
    in_runtime(async {
        let queue = queue();
        queue
            .handle("wait", |(): (), _ctx| async {
                let timer = timeout(Duration::from_millis(5), std::future::pending::<()>());
                Ok(timer.await.map_or(42, |()| 0))
            })
            .unwrap();
        let _worker = Worker::builder(&queue).workers(1..=2).threads().start().unwrap();
        let id = queue.submit("wait", &()).keep(MINUTE).await.unwrap().id();
        let outcome = queue.outcome(id, PATIENCE).await.unwrap();
        assert_eq!(outcome.result::<u32>().unwrap(), Some(42));
    });
}

#[test]
fn a_blocking_handler_beyond_its_time_is_stuck_and_keeps_its_slot() {
    in_runtime(async {
        let queue = queue();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let released = std::sync::Mutex::new(released);
        queue
            .handle_blocking("stuck", move |(): (), _ctx| {
                // Ends when the sender is dropped.
                let _ = released.lock().map(|released| released.recv());
                Ok(())
            })
            .unwrap();
        let worker = Worker::builder(&queue).workers(1).threads().start().unwrap();
        let job = queue.submit("stuck", &()).attempts(1).timeout(Duration::from_millis(20));
        let id = job.await.unwrap().id();
        let error = "it ran longer than its timeout of 0.02 s".to_owned();
        assert_eq!(queue.outcome(id, PATIENCE).await.unwrap(), Outcome::Dead { error });
        assert_eq!((worker.stats().stuck, worker.stats().running), (1, 0));
        assert_eq!(worker.snapshot().busy, 1, "its thread is not free");
        drop(release);
        until("it is gone", || worker.stats().stuck == 0).await;
        assert_eq!(worker.stats().done_total, 0, "what it said came too late");
    });
}

#[test]
fn failures_are_the_pools_failures() {
    in_runtime(async {
        let queue = queue();
        queue.handle("fail", |(): (), _| async { Err::<(), _>(JobError::dead("no")) }).unwrap();
        let worker = Worker::builder(&queue).workers(1..=2).start().unwrap();
        queue.submit("fail", &()).await.unwrap();
        until("it has failed", || worker.snapshot().counters.failed == 1).await;
    });
}

#[test]
fn a_worker_needs_a_runtime() {
    let error = Worker::builder(&queue()).start().expect_err("there is none");
    assert_eq!(error.to_string(), "jobs need a runtime; call start inside of one, or say which");
}
