//! Submits that count as another: the same id, or a key that is taken.

use headcount_core::jobs::port::{Command, Ending, NewJob, Submitted, Which};
use headcount_core::jobs::{State, Unique, UniqueSpan};

use crate::conformance::stage::{
    Stage, dead, done, id, millis, plain, release, retry, secs, special,
};

fn unique(key: &str, span: UniqueSpan, number: u128) -> NewJob {
    let key = key.parse().expect("a key");
    special(number, |spec| spec.unique = Some(Unique { key, span }))
}

pub(in crate::conformance) fn until_ended(key: &str, number: u128) -> NewJob {
    unique(key, UniqueSpan::UntilEnded, number)
}

/// Submits it, and tells which job it counts as.
async fn submit(on: &Stage<'_>, job: NewJob) -> u128 {
    let new = job.id;
    let submitted = on.enqueue(vec![job]).await[0];
    assert_eq!(submitted == Submitted::New(new), submitted.id() == new);
    submitted.id().as_u128()
}

pub(in crate::conformance) async fn a_repeated_submit_is_the_same_job(on: &Stage<'_>) {
    assert_eq!(on.enqueue(vec![plain(1)]).await, [Submitted::New(id(1))]);
    let again = special(1, |spec| spec.payload = b"other".to_vec());
    assert_eq!(on.enqueue(vec![again]).await, [Submitted::Existing(id(1))]);
    assert_eq!(on.record(1).await.spec, plain(1).spec, "nothing of it changed");
    assert_eq!(on.take(1, 9).await, "1");
    assert_eq!(on.enqueue(vec![plain(1)]).await, [Submitted::Existing(id(1))]);
    let totals = on.stats().await.totals;
    assert_eq!((totals.submitted, totals.existing), (1, 2));
}

pub(in crate::conformance) async fn a_key_is_taken_until_its_job_ends(on: &Stage<'_>) {
    let endings = [done(), dead(), Ending::Cancelled];
    for (round, ending) in (0_u128..).zip(endings) {
        let first = round * 10 + 1;
        assert_eq!(submit(on, until_ended("u", first)).await, first);
        assert_eq!(submit(on, until_ended("u", first + 1)).await, first);
        assert_eq!(on.take(1, 9).await, first.to_string());
        on.settle(first, retry(secs(1))).await;
        assert_eq!(submit(on, until_ended("u", first + 1)).await, first, "it has not ended");
        on.advance(secs(1));
        on.take(1, 9).await;
        on.settle(first, release()).await;
        on.take(1, 9).await;
        assert_eq!(submit(on, until_ended("u", first + 1)).await, first);
        on.settle(first, ending).await;
    }
    assert_eq!(submit(on, until_ended("u", 99)).await, 99);
}

pub(in crate::conformance) async fn other_keys_do_not_stand_in_the_way(on: &Stage<'_>) {
    assert_eq!(submit(on, until_ended("u", 1)).await, 1);
    assert_eq!(submit(on, until_ended("v", 2)).await, 2);
    assert_eq!(submit(on, plain(3)).await, 3);
}

pub(in crate::conformance) async fn a_key_may_be_taken_for_a_time(on: &Stage<'_>) {
    let for_a_second = |number| unique("u", UniqueSpan::For(secs(1)), number);
    assert_eq!(submit(on, for_a_second(1)).await, 1);
    assert_eq!(on.take(1, 9).await, "1");
    on.settle(1, done()).await;
    on.advance(millis(999));
    on.sweep().await;
    assert_eq!(submit(on, for_a_second(2)).await, 1, "ended or not, and long forgotten");
    on.advance(millis(1));
    assert_eq!(submit(on, for_a_second(3)).await, 3);
    on.advance(secs(1));
    on.sweep().await;
    assert_eq!(submit(on, until_ended("u", 4)).await, 4);
}

pub(in crate::conformance) async fn a_schedule_ticks_each_number_once(on: &Stage<'_>) {
    let tick = |tick, number| unique("cron", UniqueSpan::Above(tick), number);
    assert_eq!(submit(on, tick(10, 1)).await, 1);
    assert_eq!(submit(on, tick(10, 2)).await, 1);
    assert_eq!(submit(on, tick(9, 3)).await, 1);
    assert_eq!(on.take(1, 9).await, "1");
    on.settle(1, done()).await;
    on.advance(secs(100 * 24 * 3600));
    on.sweep().await;
    assert_eq!(submit(on, tick(10, 4)).await, 1, "for ever");
    assert_eq!(submit(on, tick(11, 5)).await, 5);
    assert_eq!(submit(on, tick(11, 6)).await, 5);
    assert_eq!(submit(on, until_ended("cron", 7)).await, 5, "what has no number is not above");
}

pub(in crate::conformance) async fn one_call_sees_its_own_keys(on: &Stage<'_>) {
    let jobs = vec![until_ended("u", 1), until_ended("u", 2), plain(3), plain(3)];
    let expected = [
        Submitted::New(id(1)),
        Submitted::Existing(id(1)),
        Submitted::New(id(3)),
        Submitted::Existing(id(3)),
    ];
    assert_eq!(on.enqueue(jobs).await, expected);
    assert_eq!(on.listed(State::Ready).await, "1 3");
}

pub(in crate::conformance) async fn no_key_is_taken_without_an_owner(on: &Stage<'_>) {
    on.add([1]).await;
    // Its id is known, so it is another's submit, and its key stays free.
    assert_eq!(on.enqueue(vec![until_ended("u", 1)]).await, [Submitted::Existing(id(1))]);
    assert_eq!(submit(on, until_ended("u", 2)).await, 2);
    on.steer(Command::Delete(Which::Ids(vec![id(2)]))).await;
    assert_eq!(submit(on, until_ended("u", 3)).await, 3, "deleted");
    on.steer(Command::Purge).await;
    assert_eq!(submit(on, until_ended("u", 4)).await, 4, "purged");
    on.steer(Command::Cancel(Which::In(State::Ready))).await;
    assert_eq!(submit(on, until_ended("u", 5)).await, 5, "cancelled");
}

pub(in crate::conformance) async fn a_key_is_freed_only_by_its_owner(on: &Stage<'_>) {
    assert_eq!(submit(on, until_ended("u", 1)).await, 1);
    on.steer(Command::Cancel(Which::Ids(vec![id(1)]))).await;
    assert_eq!(submit(on, until_ended("u", 2)).await, 2);
    // The first comes back without its key, and ends without freeing the other's.
    on.steer(Command::Revive(Which::Ids(vec![id(1)]))).await;
    assert_eq!(on.take(1, 9).await, "2 1");
    on.settle(1, done()).await;
    assert_eq!(submit(on, until_ended("u", 3)).await, 2);
}

pub(in crate::conformance) async fn a_lost_worker_frees_no_key(on: &Stage<'_>) {
    let mut fragile = until_ended("u", 1);
    fragile.spec.crashes_max = 2;
    assert_eq!(submit(on, fragile).await, 1);
    on.take(1, 9).await;
    on.lose_all().await;
    assert_eq!(submit(on, until_ended("u", 2)).await, 1);
    on.take(1, 9).await;
    on.lose_all().await;
    assert_eq!(on.state(1).await, State::Quarantined);
    assert_eq!(submit(on, until_ended("u", 3)).await, 3, "that was its end");
}
