//! What is submitted, and what is refused.

use std::sync::{Arc, Mutex};

use headcount_queue::jobs::{SpecError, State};
use headcount_queue::port::Submitted;
use headcount_queue::{JobError, Outcome, Queue, SubmitError};

use crate::world::{Instant, Line, MINUTE, SECOND, consumer, record, sleep, story};

#[test]
fn a_unique_job_is_taken_once() {
    story(async {
        let queue = Line::new().queue();
        queue.handle("work", |(): (), _ctx| async { Ok(()) }).unwrap();
        let first = queue.submit("work", &()).unique("a").await.unwrap();
        let second = queue.submit("work", &()).unique("a").await.unwrap();
        assert_eq!(second, Submitted::Existing(first.id()));
        let consumer = consumer(&queue, 1);
        queue.outcome(first.id(), MINUTE).await.unwrap();
        let third = queue.submit("work", &()).unique("a").await.unwrap();
        assert!(matches!(third, Submitted::New(_)), "the first has ended");
        sleep(SECOND).await;
        assert_eq!(consumer.stats().done_total, 2);
    });
}

#[test]
fn a_submit_can_be_repeated() {
    story(async {
        let line = Line::new();
        let queue = line.queue();
        let job = queue.submit("work", &());
        line.cut();
        let error = job.clone().await.expect_err("the store is away");
        assert!(matches!(error, SubmitError::Store(_)), "{error}");
        line.mend();
        let (first, again) = (job.clone().await.unwrap(), job.clone().await.unwrap());
        assert_eq!((first.id(), again), (job.job_id(), Submitted::Existing(job.job_id())));
    });
}

/// What is wrong with a job is told before anything reaches the store.
#[track_caller]
fn check_refused(job: impl FnOnce(&Queue) -> headcount_queue::Submission, said: &str) {
    story(async {
        let queue = Line::new().queue();
        let error = job(&queue).await.expect_err("it is refused").to_string();
        assert!(error.contains(said), "{error}");
        assert_eq!(queue.stats().await.unwrap().totals.submitted, 0);
    });
}

#[test]
fn what_makes_no_sense_is_refused_with_a_reason() {
    check_refused(|queue| queue.submit("Two Words", &()), "\"Two Words\" holds 'T'");
    check_refused(|queue| queue.submit("work", &()).priority(10), "priority 10 is beyond 9");
    check_refused(|queue| queue.submit("work", &()).tenant(""), "a name");
    check_refused(|queue| queue.submit("work", &()).key("a\nb"), "control character");
    check_refused(|queue| queue.submit("work", &()).attempts(0), "attempts_max is 0");
    let map = std::collections::BTreeMap::from([((1, 2), 3)]);
    check_refused(|queue| queue.submit("work", &map), "cannot be written as JSON: key must be");
    let megabyte = "x".repeat(1 << 20);
    check_refused(|queue| queue.submit("work", &megabyte), "1048578 bytes, allowed are 1048576");
}

#[test]
fn one_bad_job_keeps_all_out() {
    story(async {
        let queue = Line::new().queue();
        let jobs = [queue.submit("work", &()), queue.submit("work", &()).attempts(0)];
        let error = queue.submit_many(jobs).await.expect_err("the second is wrong");
        assert!(matches!(error, SubmitError::Spec(SpecError::NoAttempts)), "{error}");
        assert_eq!(queue.stats().await.unwrap().totals.submitted, 0);
        assert_eq!(queue.submit_many([]).await.unwrap(), []);
    });
}

#[test]
fn a_batch_calls_when_all_of_it_has_ended() {
    story(async {
        let queue = Line::new().queue();
        let order = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&order);
        queue
            .handle("part", move |seconds: u32, _ctx| {
                let seen = Arc::clone(&seen);
                async move {
                    sleep(seconds * SECOND).await;
                    seen.lock().unwrap().push(seconds);
                    if seconds == 2 { Err(JobError::dead("two is bad luck")) } else { Ok(()) }
                }
            })
            .unwrap();
        let seen = Arc::clone(&order);
        queue
            .handle("whole", move |number: u32, _ctx| {
                seen.lock().unwrap().push(number);
                async { Ok(()) }
            })
            .unwrap();
        let _consumer = consumer(&queue, 8);
        let batch = [3, 1, 2]
            .iter()
            .fold(queue.batch(), |batch, seconds| batch.add(queue.submit("part", seconds)));
        let batch = batch.then("whole", &99).callback(|job| job.keep(MINUTE)).await.unwrap();
        assert_eq!(record(&queue, batch.callback.id()).await.state, State::Blocked);
        let outcome = queue.outcome(batch.callback.id(), MINUTE).await.unwrap();
        assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
        assert_eq!(*order.lock().unwrap(), [1, 2, 3, 99]);
    });
}

#[test]
fn a_job_waits_for_those_before_it() {
    story(async {
        let queue = Line::new().queue();
        queue.handle("fail", |(): (), _| async { Err::<(), _>(JobError::dead("no")) }).unwrap();
        let _consumer = consumer(&queue, 2);
        let first = queue.submit("fail", &()).delay(SECOND).await.unwrap().id();
        let second = queue.submit("fail", &()).after([first]).await.unwrap().id();
        let outcome = queue.outcome(second, MINUTE).await.unwrap();
        assert_eq!(outcome, Outcome::Dead { error: format!("dependency {first} ended dead") });
    });
}

#[test]
fn an_outcome_is_not_waited_for_longer_than_asked() {
    story(async {
        let queue = Line::new().queue();
        let id = queue.submit("nobody", &()).await.unwrap().id();
        let begun = Instant::now();
        let outcome = queue.outcome(id, 5 * SECOND).await.unwrap();
        assert_eq!(outcome, Outcome::Pending(State::Ready));
        assert_eq!(begun.elapsed(), 5 * SECOND);
        let unknown = headcount_queue::jobs::JobId::new(0, 7);
        assert_eq!(queue.outcome(unknown, MINUTE).await.unwrap(), Outcome::Unknown);
    });
}
