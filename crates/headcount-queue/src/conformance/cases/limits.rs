//! How many run at once, how many start in a span of time, how many may wait.

use headcount_core::jobs::port::{Command, StoreError, Submitted};
use headcount_core::jobs::{Rate, Start};

use crate::conformance::stage::{Stage, done, id, millis, plain, release, secs, special, within};

pub(in crate::conformance) async fn only_so_many_run_at_once(on: &Stage<'_>) {
    on.rule(|rules| rules.running_max = Some(3)).await;
    on.add(1..=5).await;
    assert_eq!(on.take(1, 2).await, "1 2");
    let leased = on.lease(2, 9).await;
    assert_eq!(leased.jobs.len(), 1, "over all holders");
    assert_eq!(leased.again_in, None, "somebody must finish first");
    on.settle(2, done()).await;
    on.settle(1, release()).await;
    assert_eq!(on.take(2, 9).await, "1 4");
}

pub(in crate::conformance) async fn a_rate_holds_in_every_window(on: &Stage<'_>) {
    on.rule(|rules| rules.rate = Some(Rate { jobs: 4, per: secs(1) })).await;
    on.add(1..=60).await;
    let mut starts = Vec::new();
    for step in 0_u64..100 {
        let started = on.lease(1, 60).await.jobs.len();
        starts.extend(std::iter::repeat_n(step * 30, started));
        on.advance(millis(30));
    }
    assert_eq!(starts[..5], [0, 0, 0, 0, 270], "as many as fit at once, then one by one");
    for (first, from) in starts.iter().enumerate() {
        let within = starts[first..].iter().filter(|at| **at < from + 1000).count();
        assert!(within <= 8, "{within} in the second from {from} ms");
    }
    assert_eq!(starts.len(), 4 + 11, "three seconds at the rate of four");
}

pub(in crate::conformance) async fn a_rate_says_when_it_allows_more(on: &Stage<'_>) {
    on.rule(|rules| rules.rate = Some(Rate { jobs: 3, per: secs(1) })).await;
    on.add(1..=4).await;
    let leased = on.lease(1, 9).await;
    assert_eq!(leased.jobs.len(), 3);
    // A third of a second, up to a whole millisecond.
    assert_eq!(leased.again_in, Some(millis(334)));
    on.advance(millis(333));
    assert_eq!(on.take(1, 9).await, "");
    on.advance(millis(1));
    assert_eq!(on.take(1, 9).await, "4");
    on.settle(4, release()).await;
    assert_eq!(on.take(1, 9).await, "", "a start is a start, whatever became of it");
}

pub(in crate::conformance) async fn a_full_queue_refuses_the_whole_call(on: &Stage<'_>) {
    on.rule(|rules| rules.waiting_max = 3).await;
    on.add(1..=2).await;
    assert_eq!(on.take(1, 1).await, "1");
    let refused = on.try_enqueue(vec![plain(3), plain(4)]).await;
    let full =
        |error: &StoreError| matches!(error, StoreError::Full { waiting: 2, waiting_max: 3 });
    assert!(refused.as_ref().is_err_and(full), "{refused:?}");
    assert_eq!(on.find(3).await, None);
    let totals = on.stats().await.totals;
    assert_eq!((totals.submitted, totals.existing), (2, 0), "nothing changed");
    // What is there already is no more.
    let again = on.enqueue(vec![plain(1), plain(3), plain(3)]).await;
    let expected = [Submitted::Existing(id(1)), Submitted::New(id(3)), Submitted::Existing(id(3))];
    assert_eq!(again, expected);
    on.enqueue(vec![plain(2)]).await;
    on.settle(1, done()).await;
    on.add([4]).await;
}

pub(in crate::conformance) async fn a_refused_call_takes_no_unique_key(on: &Stage<'_>) {
    on.rule(|rules| rules.waiting_max = 1).await;
    on.add([1]).await;
    let unique = |number| super::unique::until_ended("u", number);
    assert!(on.try_enqueue(vec![unique(2)]).await.is_err());
    on.rule(|rules| rules.waiting_max = 9).await;
    assert_eq!(on.enqueue(vec![unique(3)]).await, [Submitted::New(id(3))]);
}

pub(in crate::conformance) async fn a_paused_queue_hands_out_nothing(on: &Stage<'_>) {
    let later = special(2, |spec| spec.start = Start::After(secs(1)));
    on.enqueue(vec![plain(1), later]).await;
    on.steer(Command::Pause).await;
    on.advance(secs(1));
    let leased = on.lease(1, 9).await;
    assert!(leased.jobs.is_empty());
    assert_eq!(leased.again_in, None);
    assert_eq!(on.counts().await, "ready 2", "but time goes on");
    let stats = on.stats().await;
    assert!(stats.paused);
    assert_eq!(stats.holders, 1, "and leases are kept");
    on.steer(Command::Resume).await;
    assert_eq!(on.take(1, 9).await, "1 2");
    assert!(!on.stats().await.paused);
}

pub(in crate::conformance) async fn rules_are_kept_and_checked(on: &Stage<'_>) {
    on.rule(|rules| rules.running_max = Some(7)).await;
    let rules = within(on.store().rules(&on.queue)).await.expect("it has rules");
    assert_eq!(rules.running_max, Some(7));
    let mut bad = rules.clone();
    bad.running_max = Some(0);
    let refused = within(on.store().steer(&on.queue, Command::Rules(Box::new(bad)))).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
    let kept = within(on.store().rules(&on.queue)).await.expect("it has rules");
    assert_eq!(kept, rules);
}
