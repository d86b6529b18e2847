//! Of jobs with one key only so many run at once.

use headcount_core::jobs::port::{Command, NewJob, Which};
use headcount_core::jobs::{Rules, State};

use crate::conformance::stage::{Stage, dead, done, id, plain, release, retry, secs, special};

fn keyed(key: &str, number: u128) -> NewJob {
    special(number, |spec| spec.key = Some(key.parse().expect("a key")))
}

fn one_at_a_time(rules: &mut Rules) {
    rules.key_running_max = Some(1);
}

pub(in crate::conformance) async fn a_key_runs_only_so_often_at_once(on: &Stage<'_>) {
    on.rule(|rules| rules.key_running_max = Some(2)).await;
    on.enqueue((1..=4).map(|number| keyed("k", number)).collect()).await;
    on.enqueue(vec![plain(11), keyed("l", 12)]).await;
    assert_eq!(on.take(1, 9).await, "1 2 11 12");
    assert_eq!(on.counts().await, "ready 2, running 4", "those set aside are ready");
    assert_eq!(on.stats().await.oldest_ready_at, None, "but no worker would help them");
    on.settle(2, done()).await;
    assert_eq!(on.take(1, 9).await, "3");
    on.settle_all(&[1, 3], &done()).await;
    assert_eq!(on.take(1, 9).await, "4");
}

pub(in crate::conformance) async fn every_end_of_a_run_frees_its_key(on: &Stage<'_>) {
    on.rule(one_at_a_time).await;
    on.enqueue((1..=6).map(|number| keyed("k", number)).collect()).await;
    let endings = [done(), dead(), retry(secs(99)), release()];
    for (number, ending) in (1_u128..).zip(endings) {
        assert_eq!(on.take(1, 9).await, number.to_string());
        on.settle(number, ending).await;
    }
    // Given back, it is before the one that became free by that.
    assert_eq!(on.take(1, 9).await, "4");
    on.lose_all().await;
    assert_eq!(on.take(1, 9).await, "4", "crashed, it is too");
    on.settle(4, done()).await;
    assert_eq!(on.take(1, 1).await.len(), 1);
}

pub(in crate::conformance) async fn being_set_aside_costs_no_turn(on: &Stage<'_>) {
    on.rule(one_at_a_time).await;
    let tenant = |mut job: NewJob, tenant: &str| {
        job.spec.tenant = Some(tenant.parse().expect("a name"));
        job
    };
    on.enqueue(vec![
        tenant(keyed("k", 1), "a"),
        tenant(keyed("k", 2), "a"),
        tenant(plain(3), "a"),
        tenant(plain(11), "b"),
        tenant(plain(12), "b"),
    ])
    .await;
    assert_eq!(on.take(1, 9).await, "1 11 3 12");
    // Freed, it goes to the head of its own lane.
    on.enqueue(vec![tenant(plain(4), "a")]).await;
    on.settle(1, done()).await;
    assert_eq!(on.take(1, 9).await, "2 4");
}

pub(in crate::conformance) async fn a_raised_limit_frees_at_the_next_sweep(on: &Stage<'_>) {
    on.rule(one_at_a_time).await;
    on.enqueue((1..=5).map(|number| keyed("k", number)).collect()).await;
    assert_eq!(on.take(1, 9).await, "1");
    on.rule(|rules| rules.key_running_max = Some(3)).await;
    on.sweep().await;
    assert_eq!(on.take(1, 9).await, "2 3");
    on.rule(|rules| rules.key_running_max = None).await;
    on.sweep().await;
    assert_eq!(on.take(1, 9).await, "4 5");
}

pub(in crate::conformance) async fn a_lowered_limit_holds_until_fewer_run(on: &Stage<'_>) {
    on.rule(|rules| rules.key_running_max = Some(3)).await;
    on.enqueue((1..=5).map(|number| keyed("k", number)).collect()).await;
    assert_eq!(on.take(1, 9).await, "1 2 3");
    on.rule(one_at_a_time).await;
    on.settle_all(&[1, 2], &done()).await;
    assert_eq!(on.take(1, 9).await, "");
    on.settle(3, done()).await;
    assert_eq!(on.take(1, 9).await, "4");
}

pub(in crate::conformance) async fn nobody_is_forgotten_behind_a_cancelled_job(on: &Stage<'_>) {
    on.rule(one_at_a_time).await;
    on.enqueue((1..=4).map(|number| keyed("k", number)).collect()).await;
    assert_eq!(on.take(1, 9).await, "1");
    on.settle(1, done()).await;
    // 2 was let go on, and 3 and 4 rely on it to come to an end.
    on.steer(Command::Cancel(Which::Ids(vec![id(2)]))).await;
    on.steer(Command::Delete(Which::Ids(vec![id(3)]))).await;
    assert_eq!(on.take(1, 9).await, "4");
}

pub(in crate::conformance) async fn those_set_aside_can_be_cancelled(on: &Stage<'_>) {
    on.rule(one_at_a_time).await;
    on.enqueue((1..=3).map(|number| keyed("k", number)).collect()).await;
    assert_eq!(on.take(1, 9).await, "1");
    assert_eq!(on.steer(Command::Cancel(Which::Ids(vec![id(2)]))).await, 1);
    assert_eq!(on.listed(State::Ready).await, "3");
    on.settle(1, done()).await;
    assert_eq!(on.take(1, 9).await, "3");
}

pub(in crate::conformance) async fn a_lost_worker_gives_its_key_back(on: &Stage<'_>) {
    on.rule(one_at_a_time).await;
    let fragile = |number| {
        let mut job = keyed("k", number);
        job.spec.crashes_max = 1;
        job
    };
    on.enqueue(vec![fragile(1), fragile(2)]).await;
    assert_eq!(on.take(1, 9).await, "1");
    on.lose_all().await;
    assert_eq!(on.state(1).await, State::Quarantined);
    assert_eq!(on.take(1, 9).await, "2");
}
