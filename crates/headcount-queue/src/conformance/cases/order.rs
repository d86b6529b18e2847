//! Who is next: lanes, rings, weights, priorities, time.

use std::collections::BTreeMap;

use headcount_core::jobs::port::NewJob;
use headcount_core::jobs::{Order, Priority, Start, State};

use crate::conformance::stage::{
    Stage, done, millis, numbers, plain, release, retry, secs, special,
};

fn of(tenant: &str, number: u128) -> NewJob {
    special(number, |spec| spec.tenant = Some(tenant.parse().expect("a name")))
}

fn urgent(priority: u8, number: u128) -> NewJob {
    special(number, |spec| spec.priority = Priority::new(priority))
}

pub(in crate::conformance) async fn what_comes_first_is_served_first(on: &Stage<'_>) {
    on.add([3, 1]).await;
    on.add([2]).await;
    assert_eq!(on.take(1, 2).await, "3 1");
    assert_eq!(on.take(1, 9).await, "2");
    assert_eq!(on.take(1, 9).await, "");
}

pub(in crate::conformance) async fn a_strict_order_serves_the_most_urgent(on: &Stage<'_>) {
    on.enqueue(vec![urgent(9, 1), urgent(0, 2), plain(3), urgent(0, 4)]).await;
    assert_eq!(on.take(1, 3).await, "2 4 3");
    on.enqueue(vec![urgent(8, 5)]).await;
    assert_eq!(on.take(1, 9).await, "5 1");
}

pub(in crate::conformance) async fn a_weighted_order_gives_each_its_turns(on: &Stage<'_>) {
    on.rule(|rules| rules.order = Order::Weighted([2, 1, 0, 0, 0, 0, 0, 0, 0, 0])).await;
    on.enqueue((1..=4).map(|number| urgent(0, number)).collect()).await;
    on.enqueue((11..=13).map(|number| urgent(1, number)).collect()).await;
    on.enqueue(vec![urgent(7, 21)]).await;
    // Whose turn it is goes on from call to call.
    assert_eq!(on.take(1, 1).await, "1");
    assert_eq!(on.take(2, 4).await, "2 11 3 4");
    // Where it is the turn of one that has no job, the most urgent has it.
    assert_eq!(on.take(1, 9).await, "12 13 21");
}

pub(in crate::conformance) async fn tenants_take_turns(on: &Stage<'_>) {
    on.enqueue((1..=4).map(|number| of("a", number)).collect()).await;
    on.enqueue(vec![of("b", 11), of("b", 12), plain(21)]).await;
    assert_eq!(on.take(1, 2).await, "1 11");
    // The turn goes on where the last call left it, and whoever joins is last.
    on.enqueue(vec![of("c", 31)]).await;
    assert_eq!(on.take(2, 9).await, "21 2 12 31 3 4");
}

pub(in crate::conformance) async fn a_tenant_of_weight_takes_several_in_a_row(on: &Stage<'_>) {
    let tenant = "a".parse().expect("a name");
    on.rule(|rules| rules.tenant_weights = BTreeMap::from([(tenant, 3)])).await;
    on.enqueue((1..=7).map(|number| of("a", number)).collect()).await;
    on.enqueue((11..=13).map(|number| of("b", number)).collect()).await;
    // Credit that is left is remembered between calls.
    assert_eq!(on.take(1, 2).await, "1 2");
    assert_eq!(on.take(1, 4).await, "3 11 4 5");
    assert_eq!(on.take(1, 9).await, "6 12 7 13");
}

pub(in crate::conformance) async fn a_lane_that_runs_empty_loses_its_turn(on: &Stage<'_>) {
    let tenant = "a".parse().expect("a name");
    on.rule(|rules| rules.tenant_weights = BTreeMap::from([(tenant, 3)])).await;
    on.enqueue(vec![of("a", 1), of("b", 11), of("b", 12)]).await;
    assert_eq!(on.take(1, 1).await, "1");
    // It joins at the back, with fresh credit.
    on.enqueue((2..=5).map(|number| of("a", number)).collect()).await;
    assert_eq!(on.take(1, 9).await, "11 2 3 4 12 5");
}

pub(in crate::conformance) async fn what_comes_back_goes_to_the_head(on: &Stage<'_>) {
    on.add(1..=5).await;
    assert_eq!(on.take(1, 3).await, "1 2 3");
    // Of several at once the order among them is kept, as they are named.
    on.settle_all(&[1, 3], &release()).await;
    assert_eq!(on.take(1, 3).await, "1 3 4");
    // Of several calls the last is in front.
    on.settle(3, release()).await;
    on.settle(1, release()).await;
    assert_eq!(on.take(1, 9).await, "1 3 5");
}

pub(in crate::conformance) async fn a_job_that_comes_back_joins_the_ring_at_the_back(
    on: &Stage<'_>,
) {
    on.enqueue(vec![of("a", 1), of("b", 11), of("b", 12), of("c", 21)]).await;
    assert_eq!(on.take(1, 1).await, "1");
    on.settle(1, release()).await;
    assert_eq!(on.take(1, 9).await, "11 21 1 12");
}

pub(in crate::conformance) async fn jobs_wait_for_their_time(on: &Stage<'_>) {
    let after = |number, delay| special(number, |spec| spec.start = Start::After(delay));
    on.enqueue(vec![after(1, millis(30)), after(2, millis(10)), after(3, millis(20))]).await;
    assert_eq!(on.counts().await, "scheduled 3");
    let leased = on.lease(1, 9).await;
    assert!(leased.jobs.is_empty());
    assert_eq!(leased.again_in, Some(millis(10)));
    on.advance(millis(9));
    assert_eq!(on.take(1, 9).await, "");
    on.advance(millis(1));
    assert_eq!(on.take(1, 9).await, "2");
    on.advance(millis(20));
    assert_eq!(on.take(1, 9).await, "3 1", "by their time, whatever their ids");
}

pub(in crate::conformance) async fn a_start_in_the_past_is_now(on: &Stage<'_>) {
    let now = on.stats().await.now;
    on.enqueue(vec![
        special(1, |spec| spec.start = Start::At(now.before(secs(9)))),
        special(2, |spec| spec.start = Start::At(now + secs(9))),
    ])
    .await;
    assert_eq!(on.counts().await, "scheduled 1, ready 1");
    assert_eq!(on.record(1).await.due_at, now);
    assert_eq!(on.record(2).await.due_at, now + secs(9));
}

pub(in crate::conformance) async fn ten_thousand_due_at_once_all_run(on: &Stage<'_>) {
    const COUNT: u128 = 10_000;
    let due = on.stats().await.now + secs(60);
    for thousand in 0..COUNT / 1000 {
        let at = |number| special(number, |spec| spec.start = Start::At(due));
        on.enqueue((1..=1000).map(|number| at(thousand * 1000 + number)).collect()).await;
    }
    on.advance(secs(60));
    let mut leased = Vec::new();
    while leased.len() < COUNT as usize {
        let jobs = on.lease(1, 2500).await.jobs;
        assert!(jobs.len() <= 1000, "a lease makes a thousand ready, not {}", jobs.len());
        assert!(!jobs.is_empty(), "{} of {COUNT}", leased.len());
        leased.extend(jobs.into_iter().map(|job| job.id.as_u128()));
    }
    assert!(leased.iter().copied().eq(1..=COUNT), "all of them, by their ids");
    assert_eq!(on.counts().await, "running 10000");
}

pub(in crate::conformance) async fn a_retry_waits_and_then_stands_at_the_tail(on: &Stage<'_>) {
    on.add(1..=2).await;
    assert_eq!(on.take(1, 1).await, "1");
    on.settle(1, retry(secs(5))).await;
    assert_eq!(on.counts().await, "ready 1, retrying 1");
    on.advance(secs(5));
    on.add([3]).await;
    // It is due, but nobody has looked; so what was submitted meanwhile is before it.
    assert_eq!(on.take(1, 9).await, "2 3 1");
    assert_eq!(on.record(1).await.attempts, 1);
    on.settle_all(&[1, 2, 3], &done()).await;
    assert_eq!(on.counts().await, "");
}

pub(in crate::conformance) async fn a_sweep_makes_ready_what_is_due(on: &Stage<'_>) {
    let after = |number| special(number, |spec| spec.start = Start::After(secs(1)));
    on.enqueue((1..=5).map(after).collect()).await;
    on.advance(secs(1));
    let swept = on.sweep_at_most(3).await;
    assert_eq!((swept.due, swept.more), (3, true));
    assert_eq!(on.listed(State::Scheduled).await, "4 5");
    let swept = on.sweep_at_most(3).await;
    assert_eq!((swept.due, swept.more), (2, false));
    let leased = on.lease(1, 9).await;
    assert_eq!(numbers(leased.jobs.iter().map(|job| job.id)), "1 2 3 4 5");
}
