//! Jobs that wait for others.

use headcount_core::jobs::port::{Command, NewJob, Which};
use headcount_core::jobs::{Dependence, Start, State};

use crate::conformance::stage::{Stage, dead, done, id, plain, release, retry, secs, special};

fn after(others: &[u128], number: u128) -> NewJob {
    special(number, |spec| spec.after = others.iter().copied().map(id).collect())
}

fn after_the_end(others: &[u128], number: u128) -> NewJob {
    let mut job = after(others, number);
    job.spec.dependence = Dependence::End;
    job
}

fn kept(number: u128) -> NewJob {
    special(number, |spec| spec.keep = secs(100))
}

pub(in crate::conformance) async fn a_job_waits_for_all_it_needs(on: &Stage<'_>) {
    on.enqueue(vec![plain(1), plain(2), after(&[1, 2, 1], 3)]).await;
    assert_eq!(on.counts().await, "blocked 1, ready 2");
    assert_eq!(on.take(1, 9).await, "1 2");
    on.settle(1, done()).await;
    assert_eq!(on.state(3).await, State::Blocked);
    on.settle(2, retry(secs(1))).await;
    assert_eq!(on.state(3).await, State::Blocked);
    on.advance(secs(1));
    assert_eq!(on.take(1, 9).await, "2");
    on.settle(2, release()).await;
    assert_eq!(on.take(1, 9).await, "2");
    on.settle(2, done()).await;
    assert_eq!(on.take(1, 9).await, "3");
    assert_eq!(on.record(3).await.due_at, on.stats().await.now, "it could not start before");
}

pub(in crate::conformance) async fn a_bad_end_orphans_those_that_need_success(on: &Stage<'_>) {
    on.enqueue(vec![plain(1), plain(2), after(&[1, 2], 3), after(&[3], 4)]).await;
    assert_eq!(on.take(1, 1).await, "1");
    on.settle(1, dead()).await;
    assert_eq!(on.counts().await, "ready 1, dead 3", "and those that need them");
    let error = |number: u128| format!("dependency {} ended dead", id(number));
    let orphan = on.record(3).await;
    assert_eq!(orphan.error, Some(error(1)));
    assert_eq!(orphan.ended_at, Some(on.stats().await.now));
    assert_eq!(orphan.attempts, 0);
    assert_eq!(on.record(4).await.error, Some(error(3)));
    assert_eq!(on.stats().await.totals.died, 3);
}

pub(in crate::conformance) async fn a_batch_calls_back_when_all_have_ended(on: &Stage<'_>) {
    on.enqueue(vec![plain(1), plain(2), plain(3), after_the_end(&[1, 2, 3], 4)]).await;
    assert_eq!(on.take(1, 9).await, "1 2 3");
    on.settle(1, done()).await;
    on.settle(2, dead()).await;
    assert_eq!(on.state(4).await, State::Blocked);
    on.steer(Command::Cancel(Which::Ids(vec![id(3)]))).await;
    on.settle(3, release()).await;
    assert_eq!(on.take(1, 9).await, "4");
}

pub(in crate::conformance) async fn what_the_store_does_not_know_has_ended_well(on: &Stage<'_>) {
    on.enqueue(vec![after(&[77], 1), after(&[2], 2)]).await;
    assert_eq!(on.counts().await, "ready 2");
    // One that comes later by that name is another story.
    on.enqueue(vec![plain(77)]).await;
    assert_eq!(on.take(1, 9).await, "1 2 77");
    on.settle(77, done()).await;
    on.enqueue(vec![after(&[77], 3)]).await;
    assert_eq!(on.take(1, 9).await, "3", "done and forgotten");
}

pub(in crate::conformance) async fn what_has_ended_before_counts(on: &Stage<'_>) {
    on.enqueue(vec![kept(1), plain(2)]).await;
    assert_eq!(on.take(1, 9).await, "1 2");
    on.settle(1, done()).await;
    on.settle(2, dead()).await;
    on.enqueue(vec![after(&[1], 3), after(&[1, 2], 4), after_the_end(&[2], 5)]).await;
    assert_eq!(on.state(3).await, State::Ready);
    assert_eq!(on.state(4).await, State::Dead, "at once");
    assert_eq!(on.record(4).await.error, Some(format!("dependency {} ended dead", id(2))));
    assert_eq!(on.take(1, 9).await, "3 5");
    assert_eq!(on.stats().await.totals.submitted, 5);
}

pub(in crate::conformance) async fn one_call_may_hold_a_chain(on: &Stage<'_>) {
    // The last one names a job that comes after it, which is not known yet.
    on.enqueue(vec![plain(1), after(&[1], 2), after(&[2], 3), after(&[5], 4), plain(5)]).await;
    assert_eq!(on.listed(State::Blocked).await, "2 3");
    assert_eq!(on.take(1, 9).await, "1 4 5");
    on.settle(1, done()).await;
    assert_eq!(on.take(1, 9).await, "2");
    on.settle(2, done()).await;
    assert_eq!(on.take(1, 9).await, "3");
}

pub(in crate::conformance) async fn those_told_together_go_by_their_ids(on: &Stage<'_>) {
    on.enqueue(vec![plain(1), after(&[1], 9), after(&[1], 4), after(&[1], 7)]).await;
    assert_eq!(on.take(1, 9).await, "1");
    on.settle(1, done()).await;
    assert_eq!(on.take(1, 9).await, "4 7 9");
}

pub(in crate::conformance) async fn an_unblocked_job_still_waits_for_its_time(on: &Stage<'_>) {
    let mut later = after(&[1], 2);
    later.spec.start = Start::After(secs(10));
    on.enqueue(vec![plain(1), later]).await;
    assert_eq!(on.take(1, 9).await, "1");
    assert_eq!(on.stats().await.next_due_at, None, "it waits for another, not for its time");
    on.settle(1, done()).await;
    assert_eq!(on.counts().await, "scheduled 1");
    on.advance(secs(10));
    assert_eq!(on.take(1, 9).await, "2");
}

pub(in crate::conformance) async fn a_deleted_job_orphans_those_that_need_it(on: &Stage<'_>) {
    on.enqueue(vec![plain(1), after(&[1], 2), after_the_end(&[1], 3)]).await;
    on.steer(Command::Delete(Which::Ids(vec![id(1)]))).await;
    assert_eq!(on.find(1).await, None);
    assert_eq!(on.state(2).await, State::Dead);
    assert_eq!(on.record(2).await.error, Some(format!("dependency {} was deleted", id(1))));
    assert_eq!(on.take(1, 9).await, "3");
}

pub(in crate::conformance) async fn a_cancelled_job_waits_no_more(on: &Stage<'_>) {
    on.enqueue(vec![plain(1), after(&[1], 2), after_the_end(&[2], 3)]).await;
    assert_eq!(on.steer(Command::Cancel(Which::Ids(vec![id(2)]))).await, 1);
    assert_eq!(on.counts().await, "ready 2, cancelled 1");
    assert_eq!(on.take(1, 9).await, "1 3");
    on.settle(1, done()).await;
    assert_eq!(on.state(2).await, State::Cancelled);
}

pub(in crate::conformance) async fn a_poisoned_job_orphans_too(on: &Stage<'_>) {
    let fragile = special(1, |spec| spec.crashes_max = 1);
    on.enqueue(vec![fragile, after(&[1], 2)]).await;
    on.take(1, 9).await;
    on.lose_all().await;
    let expected = format!("dependency {} ended quarantined", id(1));
    assert_eq!(on.record(2).await.error, Some(expected));
}
