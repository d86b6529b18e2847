//! Lost holders: what they held is handed out again, and what kills them is put aside.

use std::time::Duration;

use headcount_core::jobs::State;
use headcount_core::jobs::port::{Command, Swept, Which};

use crate::conformance::stage::{
    Stage, TTL, done, id, millis, plain, release, retry, secs, special,
};

/// A lease holds until its last millisecond.
const TTL_BUT_ONE_MS: Duration = Duration::from_millis(7999);

pub(in crate::conformance) async fn a_lost_holders_jobs_go_to_the_head(on: &Stage<'_>) {
    on.add(1..=5).await;
    on.take(1, 2).await;
    on.take(1, 1).await;
    on.advance(TTL_BUT_ONE_MS);
    assert_eq!(on.sweep().await.recovered, 0, "not before its time");
    on.advance(millis(1));
    let swept = on.sweep().await;
    assert_eq!((swept.expired, swept.recovered, swept.quarantined), (1, 3, 0));
    let totals = on.stats().await.totals;
    assert_eq!((totals.leases_expired, totals.crashed), (1, 3));
    assert_eq!(on.stats().await.holders, 0);
    assert_eq!(on.take(2, 9).await, "1 2 3 4 5", "as they were handed out");
    let record = on.record(1).await;
    assert_eq!((record.attempts, record.crashes, record.preemptions), (0, 1, 0));
}

pub(in crate::conformance) async fn leases_are_one_by_one(on: &Stage<'_>) {
    on.add(1..=3).await;
    on.take(1, 1).await;
    on.advance(secs(1));
    on.take(2, 1).await;
    on.lease(3, 0).await;
    on.advance(secs(7));
    let swept = on.sweep().await;
    assert_eq!((swept.expired, swept.recovered), (1, 1));
    assert_eq!(on.state(2).await, State::Running);
    // A lease that holds nothing ends without a word.
    on.extend(2).await;
    on.advance(secs(1));
    assert_eq!(on.sweep().await.expired, 0);
    assert_eq!(on.stats().await.holders, 1);
}

pub(in crate::conformance) async fn another_lease_renews_the_first(on: &Stage<'_>) {
    on.add(1..=2).await;
    on.take(1, 1).await;
    on.advance(TTL_BUT_ONE_MS);
    on.take(1, 1).await;
    on.advance(TTL_BUT_ONE_MS);
    assert_eq!(on.sweep().await.recovered, 0);
    on.advance(millis(1));
    assert_eq!(on.sweep().await.recovered, 2);
}

pub(in crate::conformance) async fn a_poisonous_job_is_put_aside_after_its_crashes(on: &Stage<'_>) {
    let poison = special(1, |spec| spec.crashes_max = 3);
    on.enqueue(vec![poison, plain(2)]).await;
    for crash in 1..=3 {
        assert_eq!(on.take(crash, 1).await, "1", "the crash number {crash}");
        let swept = on.lose_all().await;
        assert_eq!(swept.quarantined, u64::from(crash == 3));
    }
    let record = on.record(1).await;
    assert_eq!((record.state, record.crashes, record.attempts), (State::Quarantined, 3, 0));
    assert_eq!(record.error.as_deref(), Some("its worker was lost 3 times"));
    assert_eq!(record.ended_at, Some(on.stats().await.now));
    let totals = on.stats().await.totals;
    assert_eq!((totals.quarantined, totals.crashed, totals.leases_expired), (1, 3, 3));
    assert_eq!(on.take(9, 9).await, "2", "it blocks nobody");
}

pub(in crate::conformance) async fn failures_and_releases_are_no_crashes(on: &Stage<'_>) {
    let fragile = special(1, |spec| spec.crashes_max = 2);
    on.enqueue(vec![fragile]).await;
    on.take(1, 1).await;
    on.lose_all().await;
    for _ in 0..5 {
        on.take(1, 1).await;
        on.settle(1, release()).await;
        on.take(1, 1).await;
        on.settle(1, retry(millis(1))).await;
        on.advance(millis(1));
    }
    let record = on.record(1).await;
    assert_eq!((record.attempts, record.crashes, record.preemptions), (5, 1, 5));
    on.take(1, 1).await;
    on.lose_all().await;
    assert_eq!(on.state(1).await, State::Quarantined);
}

pub(in crate::conformance) async fn a_lost_job_that_was_to_be_cancelled_is(on: &Stage<'_>) {
    let fragile = special(2, |spec| spec.crashes_max = 1);
    on.enqueue(vec![plain(1), fragile]).await;
    on.take(1, 9).await;
    on.steer(Command::Cancel(Which::Ids(vec![id(1), id(2)]))).await;
    let swept = on.lose_all().await;
    assert_eq!((swept.recovered, swept.quarantined), (0, 1));
    assert_eq!(on.state(1).await, State::Cancelled);
    assert_eq!(on.state(2).await, State::Quarantined, "what kills is told as such");
    assert_eq!(on.record(1).await.crashes, 1);
}

pub(in crate::conformance) async fn a_sweep_recovers_no_more_than_its_limit(on: &Stage<'_>) {
    on.add(1..=5).await;
    on.take(1, 9).await;
    on.advance(TTL);
    let swept = on.sweep_at_most(2).await;
    assert_eq!((swept.recovered, swept.expired, swept.more), (2, 0, true));
    assert_eq!(on.counts().await, "ready 2, running 3");
    assert_eq!(on.stats().await.holders, 1);
    on.sweep_at_most(2).await;
    let swept = on.sweep_at_most(2).await;
    assert_eq!((swept.recovered, swept.expired, swept.more), (1, 1, false));
    assert_eq!(on.stats().await.holders, 0);
    assert_eq!(on.stats().await.totals.leases_expired, 1);
    assert_eq!(on.listed(State::Ready).await, "5 3 4 1 2", "each sweep puts its own in front");
}

pub(in crate::conformance) async fn a_lease_of_no_time_ends_at_the_next_sweep(on: &Stage<'_>) {
    on.add([1]).await;
    assert_eq!(on.lease_for(1, 1, millis(0)).await.jobs.len(), 1);
    assert_eq!(on.sweep().await.recovered, 1);
    on.take(2, 1).await;
    on.settle(1, done()).await;
    assert_eq!(on.counts().await, "");
}

pub(in crate::conformance) async fn a_second_sweep_finds_nothing(on: &Stage<'_>) {
    on.add(1..=3).await;
    on.take(1, 2).await;
    on.lose_all().await;
    let before = on.stats().await;
    let swept = on.sweep().await;
    assert_eq!(swept, Swept::default());
    assert_eq!(on.stats().await, before);
}
