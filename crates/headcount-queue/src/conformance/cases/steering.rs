//! What operators do.

use headcount_core::jobs::port::{Command, Ending, Which};
use headcount_core::jobs::{Start, State};

use crate::conformance::stage::{Stage, dead, done, id, plain, retry, secs, special};

pub(in crate::conformance) async fn a_purge_forgets_all_that_wait(on: &Stage<'_>) {
    let later = special(3, |spec| spec.start = Start::After(secs(9)));
    let blocked = special(4, |spec| spec.after = vec![id(1)]);
    on.enqueue(vec![plain(1), plain(2), later, blocked, plain(5), plain(6)]).await;
    assert_eq!(on.take(1, 3).await, "1 2 5");
    on.settle(2, retry(secs(9))).await;
    on.settle(5, dead()).await;
    assert_eq!(on.steer(Command::Purge).await, 4);
    assert_eq!(on.counts().await, "running 1, dead 1", "what runs goes on");
    on.settle(1, done()).await;
    assert_eq!(on.take(1, 9).await, "");
    on.advance(secs(9));
    assert_eq!(on.take(1, 9).await, "");
    assert_eq!(on.stats().await.next_due_at, None);
    on.add([7]).await;
    assert_eq!(on.take(1, 9).await, "7");
}

pub(in crate::conformance) async fn dead_jobs_are_tried_again_afresh(on: &Stage<'_>) {
    on.enqueue(vec![special(1, |spec| spec.crashes_max = 2), plain(2), plain(3)]).await;
    on.take(1, 1).await;
    on.lose_all().await;
    on.take(1, 2).await;
    on.settle_all(&[1, 2], &dead()).await;
    on.advance(secs(5));
    assert_eq!(on.steer(Command::Revive(Which::In(State::Dead))).await, 2);
    assert_eq!(on.steer(Command::Revive(Which::In(State::Dead))).await, 0);
    let record = on.record(1).await;
    assert_eq!((record.state, record.attempts, record.crashes), (State::Ready, 0, 0));
    assert_eq!(record.due_at, on.stats().await.now);
    assert_eq!(record.ended_at, None);
    assert_eq!(on.take(1, 9).await, "3 1 2", "at the tail");
}

pub(in crate::conformance) async fn only_what_can_be_revived_is(on: &Stage<'_>) {
    let later = special(3, |spec| spec.start = Start::After(secs(99)));
    let blocked = special(4, |spec| spec.after = vec![id(1)]);
    let kept = special(5, |spec| spec.keep = secs(99));
    on.enqueue(vec![plain(1), kept, plain(2), later, blocked, plain(6)]).await;
    assert_eq!(on.take(1, 3).await, "1 5 2");
    on.settle(5, done()).await;
    on.settle(2, retry(secs(99))).await;
    let all = Which::Ids([1, 2, 3, 4, 5, 6, 77].map(id).to_vec());
    assert_eq!(on.steer(Command::Revive(all)).await, 2);
    assert_eq!(on.counts().await, "blocked 1, ready 3, running 1, done 1");
    assert_eq!(on.take(1, 9).await, "6 2 3", "what waited for its time need not");
}

pub(in crate::conformance) async fn waiting_jobs_are_cancelled_at_once(on: &Stage<'_>) {
    let later = special(2, |spec| spec.start = Start::After(secs(9)));
    on.enqueue(vec![plain(1), later, plain(3), plain(4)]).await;
    assert_eq!(on.take(1, 1).await, "1");
    on.settle(1, retry(secs(9))).await;
    let some = Which::Ids([1, 2, 3, 77].map(id).to_vec());
    assert_eq!(on.steer(Command::Cancel(some.clone())).await, 3);
    assert_eq!(on.steer(Command::Cancel(some)).await, 0);
    assert_eq!(on.counts().await, "ready 1, cancelled 3");
    assert_eq!(on.record(3).await.ended_at, Some(on.stats().await.now));
    assert_eq!(on.stats().await.totals.cancelled, 3);
    on.advance(secs(9));
    assert_eq!(on.take(1, 9).await, "4");
}

pub(in crate::conformance) async fn a_running_job_cannot_be_deleted(on: &Stage<'_>) {
    on.add(1..=3).await;
    on.take(1, 1).await;
    assert_eq!(on.steer(Command::Delete(Which::In(State::Running))).await, 0);
    assert_eq!(on.steer(Command::Delete(Which::Ids(vec![id(1), id(2)]))).await, 1);
    assert_eq!(on.counts().await, "ready 1, running 1");
    on.settle(1, dead()).await;
    assert_eq!(on.steer(Command::Delete(Which::In(State::Dead))).await, 1);
    assert_eq!(on.counts().await, "ready 1");
    assert_eq!(on.take(1, 9).await, "3");
}

pub(in crate::conformance) async fn a_command_concerns_a_thousand_at_once(on: &Stage<'_>) {
    on.add(1..=1500).await;
    assert_eq!(on.lease(1, 1500).await.jobs.len(), 1500);
    let cancel = Command::Cancel(Which::In(State::Running));
    assert_eq!(on.steer(cancel.clone()).await, 1000);
    assert_eq!(on.steer(cancel.clone()).await, 500);
    assert_eq!(on.steer(cancel).await, 0);
    let numbers: Vec<u128> = (1..=1500).collect();
    on.settle_all(&numbers, &Ending::Cancelled).await;
    let delete = Command::Delete(Which::In(State::Cancelled));
    assert_eq!(on.steer(delete.clone()).await, 1000);
    assert_eq!(on.steer(delete.clone()).await, 500);
    assert_eq!(on.steer(delete).await, 0);
}

pub(in crate::conformance) async fn a_revived_job_can_be_lost_as_often_as_a_new_one(
    on: &Stage<'_>,
) {
    on.enqueue(vec![special(1, |spec| spec.crashes_max = 2)]).await;
    for _ in 0..2 {
        on.take(1, 1).await;
        on.lose_all().await;
        assert_eq!(on.state(1).await, State::Ready);
        on.take(1, 1).await;
        on.lose_all().await;
        assert_eq!(on.state(1).await, State::Quarantined);
        on.steer(Command::Revive(Which::Ids(vec![id(1)]))).await;
    }
}
