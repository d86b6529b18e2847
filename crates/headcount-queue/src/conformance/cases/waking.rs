//! Whoever waits for work is told, and not everybody at once.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use headcount_core::jobs::Start;
use headcount_core::jobs::port::{Command, Reply};

use crate::conformance::stage::{Stage, release, secs, special, within};

/// Longer than the patience of any case: whoever returns was woken.
const LONG: Duration = Duration::from_secs(300);

/// Waits and looks until there is something to take, as a consumer does.
async fn take_when_woken(on: &Stage<'_>, holder: u128) -> String {
    let take = async {
        loop {
            on.store().wait(&on.queue, LONG).await.expect("waiting is possible");
            let taken = on.take(holder, 1).await;
            if !taken.is_empty() {
                return taken;
            }
        }
    };
    within(take).await
}

/// Gives those who wait the time to do so. They may also be late, and then find work at once.
async fn a_little_later(on: &Stage<'_>) {
    for _ in 0..10 {
        on.stats().await;
        tokio::task::yield_now().await;
    }
}

pub(in crate::conformance) async fn whoever_waits_is_woken_by_a_job(on: &Stage<'_>) {
    let submits = async {
        a_little_later(on).await;
        on.add([1]).await;
    };
    let (taken, ()) = tokio::join!(take_when_woken(on, 1), submits);
    assert_eq!(taken, "1");
}

pub(in crate::conformance) async fn nobody_waits_where_there_is_work(on: &Stage<'_>) {
    on.add([1]).await;
    within(on.store().wait(&on.queue, LONG)).await.expect("waiting is possible");
    assert_eq!(on.take(1, 1).await, "1");
}

pub(in crate::conformance) async fn waiting_ends_after_its_time(on: &Stage<'_>) {
    let most = Duration::from_millis(1);
    within(on.store().wait(&on.queue, most)).await.expect("waiting is possible");
}

pub(in crate::conformance) async fn a_lease_that_leaves_jobs_wakes_the_next(on: &Stage<'_>) {
    let submits = async {
        a_little_later(on).await;
        on.add(1..=2).await;
    };
    let (first, second) = (take_when_woken(on, 1), take_when_woken(on, 2));
    let (first, second, ()) = tokio::join!(first, second, submits);
    let mut taken = [first, second];
    taken.sort();
    assert_eq!(taken, ["1", "2"]);
}

pub(in crate::conformance) async fn what_comes_back_wakes_somebody(on: &Stage<'_>) {
    on.add([1]).await;
    on.take(1, 1).await;
    let gives_back = async {
        a_little_later(on).await;
        on.settle(1, release()).await;
    };
    let (taken, ()) = tokio::join!(take_when_woken(on, 2), gives_back);
    assert_eq!(taken, "1");
}

pub(in crate::conformance) async fn what_is_recovered_wakes_somebody(on: &Stage<'_>) {
    on.add([1]).await;
    on.take(1, 1).await;
    let recovers = async {
        a_little_later(on).await;
        on.lose_all().await;
    };
    let (taken, ()) = tokio::join!(take_when_woken(on, 2), recovers);
    assert_eq!(taken, "1");
}

pub(in crate::conformance) async fn what_a_sweep_finds_due_wakes_somebody(on: &Stage<'_>) {
    on.enqueue(vec![special(1, |spec| spec.start = Start::After(secs(100)))]).await;
    let sweeps = async {
        a_little_later(on).await;
        on.advance(secs(100));
        on.sweep().await;
    };
    let (taken, ()) = tokio::join!(take_when_woken(on, 2), sweeps);
    assert_eq!(taken, "1");
}

pub(in crate::conformance) async fn a_queue_that_goes_on_wakes_somebody(on: &Stage<'_>) {
    on.steer(Command::Pause).await;
    on.add([1]).await;
    // The job may have rung for somebody who then found the queue paused.
    on.lease(1, 1).await;
    let resumes = async {
        a_little_later(on).await;
        on.steer(Command::Resume).await;
    };
    let (taken, ()) = tokio::join!(take_when_woken(on, 1), resumes);
    assert_eq!(taken, "1");
}

pub(in crate::conformance) async fn one_job_does_not_wake_everybody(on: &Stage<'_>) {
    let mut waiting: Vec<Reply<'_, ()>> =
        (0..8).map(|_| on.store().wait(&on.queue, LONG)).collect();
    for _ in 0..20 {
        look(&mut waiting).await;
        on.stats().await;
    }
    assert_eq!(waiting.len(), 8, "there is nothing to be woken for");
    on.add([1]).await;
    within(poll_fn(|context| {
        waiting.retain_mut(|wait| wait.as_mut().poll(context).is_pending());
        if waiting.len() < 8 { Poll::Ready(()) } else { Poll::Pending }
    }))
    .await;
    for _ in 0..20 {
        on.stats().await;
        look(&mut waiting).await;
    }
    assert!(6 <= waiting.len(), "one job woke {} of 8", 8 - waiting.len());
}

/// Lets all who wait go on, and forgets those who were woken.
async fn look(waiting: &mut Vec<Reply<'_, ()>>) {
    poll_fn(|context| {
        waiting.retain_mut(|wait| wait.as_mut().poll(context).is_pending());
        Poll::Ready(())
    })
    .await;
}
