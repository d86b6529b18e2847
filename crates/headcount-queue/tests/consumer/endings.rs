//! How runs end, and what follows from it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use headcount_queue::jobs::{Backoff, State};
use headcount_queue::{Context, JobError, Outcome, Queue};

use crate::world::{Instant, Line, MINUTE, SECOND, consumer, record, sleep, story};

/// The queue of a worker that can double numbers, and what becomes of one other job.
async fn dead_of(kind: &str, payload: &str, handle: impl FnOnce(&Queue)) -> (String, u32) {
    let queue = Line::new().queue();
    queue.handle("double", |number: u32, _ctx| async move { Ok(number * 2) }).unwrap();
    handle(&queue);
    let _consumer = consumer(&queue, 2);
    let job = queue.submit_bytes(kind, payload.into()).attempts(2);
    let id = job.backoff(Backoff::Fixed(SECOND)).await.unwrap().id();
    match queue.outcome(id, MINUTE).await.unwrap() {
        Outcome::Dead { error } => (error, record(&queue, id).await.attempts),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn check(kind: &str, payload: &str, said: &str) {
    story(async {
        let (error, attempts) = dead_of(kind, payload, |_| ()).await;
        assert!(error.contains(said), "{error}");
        assert_eq!(attempts, 2, "it was tried again like any other");
    });
}

#[test]
fn an_unknown_kind_fails_and_says_what_is_known() {
    check("halve", "1", "no handler for \"halve\"; this worker handles double");
}

#[test]
fn a_payload_of_another_shape_fails_and_says_where() {
    check("double", "\"two\"", "the payload is not what \"double\" takes: invalid type");
    check("double", "", "the payload is not what \"double\" takes: EOF");
}

#[test]
fn a_panic_is_a_failure_that_says_what_it_said() {
    story(async {
        let (error, attempts) = dead_of("boom", "null", |queue| {
            let handler = |what: Option<u32>, _ctx| async move { Ok(what.expect("a roof")) };
            queue.handle("boom", handler).unwrap();
        })
        .await;
        assert_eq!((&*error, attempts), ("it panicked: a roof", 2));
    });
}

#[test]
fn a_panic_of_code_that_blocks_is_one_too() {
    story(async {
        let (error, _) = dead_of("boom", "null", |queue| {
            let handler = |what: Option<u32>, _ctx| Ok(what.expect("air"));
            queue.handle_blocking("boom", handler).unwrap();
        })
        .await;
        assert_eq!(error, "it panicked: air");
    });
}

#[test]
fn a_failure_is_told_with_what_was_behind_it() {
    story(async {
        let queue = Line::new().queue();
        let handler = |text: String, _ctx| async move { Ok(text.parse::<u32>()?) };
        queue.handle("read", handler).unwrap();
        let consumer = consumer(&queue, 1);
        let id = queue.submit("read", "x").await.unwrap().id();
        sleep(SECOND / 2).await;
        let record = record(&queue, id).await;
        assert_eq!((record.state, record.attempts), (State::Retrying, 1));
        assert_eq!(record.error.as_deref(), Some("invalid digit found in string"));
        assert_eq!(consumer.stats().failed_total, 1);
    });
}

#[test]
fn a_timeout_ends_a_handler_that_does_not_listen_at_once() {
    story(async {
        let queue = Line::new().queue();
        queue
            .handle("sleep", |(): (), _ctx| async {
                sleep(MINUTE).await;
                Ok(())
            })
            .unwrap();
        let consumer = consumer(&queue, 1);
        let begun = Instant::now();
        let job = queue.submit("sleep", &()).attempts(1).timeout(5 * SECOND);
        let outcome = queue.outcome(job.await.unwrap().id(), MINUTE).await.unwrap();
        let error = "it ran longer than its timeout of 5 s".to_owned();
        assert_eq!(outcome, Outcome::Dead { error });
        assert!(begun.elapsed() < 6 * SECOND, "{:?}", begun.elapsed());
        assert_eq!((consumer.stats().timed_out_total, consumer.stats().running), (1, 0));
    });
}

#[test]
fn time_spent_waiting_for_a_worker_is_not_the_handlers() {
    story(async {
        let queue = Line::new().queue();
        queue
            .handle("sleep", |(): (), _ctx| async {
                sleep(4 * SECOND).await;
                Ok(())
            })
            .unwrap();
        let consumer = consumer(&queue, 1);
        for _ in 0..3 {
            queue.submit("sleep", &()).timeout(5 * SECOND).await.unwrap();
        }
        sleep(MINUTE).await;
        assert_eq!((consumer.stats().done_total, consumer.stats().timed_out_total), (3, 0));
    });
}

#[test]
fn a_handler_that_listens_has_a_moment_to_tidy_up() {
    story(async {
        let queue = Line::new().queue();
        let tidied = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&tidied);
        queue
            .handle("sleep", move |(): (), ctx: Context| {
                let count = Arc::clone(&count);
                async move {
                    ctx.cancelled().await;
                    sleep(SECOND).await;
                    count.fetch_add(1, Ordering::Relaxed);
                    Err::<(), _>(JobError::failed("stopped"))
                }
            })
            .unwrap();
        let _consumer = consumer(&queue, 1);
        let id = queue.submit("sleep", &()).await.unwrap().id();
        sleep(SECOND).await;
        assert!(queue.cancel(id).await.unwrap());
        assert_eq!(queue.outcome(id, MINUTE).await.unwrap(), Outcome::Cancelled);
        assert_eq!(tidied.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_running_job_is_cancelled_within_two_seconds() {
    story(async {
        let queue = Line::new().queue();
        queue
            .handle("sleep", |(): (), _ctx| async {
                sleep(60 * MINUTE).await;
                Ok(())
            })
            .unwrap();
        let consumer = consumer(&queue, 1);
        let id = queue.submit("sleep", &()).await.unwrap().id();
        sleep(SECOND).await;
        let begun = Instant::now();
        queue.cancel(id).await.unwrap();
        assert_eq!(queue.outcome(id, MINUTE).await.unwrap(), Outcome::Cancelled);
        assert!(begun.elapsed() <= 3 * SECOND, "{:?}", begun.elapsed());
        assert_eq!((consumer.stats().cancelled_total, consumer.stats().running), (1, 0));
    });
}

/// The states of a job that ends in this way, half a second and ten minutes later.
fn check_error(error: fn() -> JobError, soon: State, attempts: u32, later: &str) {
    story(async {
        let queue = Line::new().queue();
        let runs = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&runs);
        queue
            .handle("kind", move |(): (), _ctx| {
                let first = count.fetch_add(1, Ordering::Relaxed) == 0;
                async move { if first { Err(error()) } else { Ok(()) } }
            })
            .unwrap();
        let _consumer = consumer(&queue, 1);
        let id = queue.submit("kind", &()).keep(60 * MINUTE).await.unwrap().id();
        sleep(SECOND / 2).await;
        let then = record(&queue, id).await;
        assert_eq!((then.state, then.attempts), (soon, attempts));
        sleep(10 * MINUTE).await;
        let now = record(&queue, id).await;
        let wait = now.started_at.map(|at| at.since(then.submitted_at).as_secs());
        assert_eq!(format!("{} {wait:?}", now.state), later);
    });
}

#[test]
fn an_error_can_say_what_follows() {
    check_error(|| JobError::retry_after(300 * SECOND), State::Retrying, 1, "done Some(300)");
    check_error(|| JobError::snooze(200 * SECOND), State::Scheduled, 0, "done Some(200)");
    check_error(|| JobError::dead("no"), State::Dead, 1, "dead Some(0)");
    // Nobody asked it to stop, so it does not come straight back.
    check_error(JobError::preempted, State::Scheduled, 0, "done Some(1)");
}
