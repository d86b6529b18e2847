//! Ends and a lease in one call: the same as one after the other.

use std::time::Duration;

use headcount_core::jobs::State;
use headcount_core::jobs::port::{Ending, Settled};

use crate::conformance::stage::{Stage, done, id, release, retry, secs, special};

pub(in crate::conformance) async fn a_turn_ends_jobs_and_hands_out_others(on: &Stage<'_>) {
    on.add(1..=5).await;
    assert_eq!(on.take(1, 2).await, "1 2");
    let before = on.fence(1).1;
    let (settled, taken) = on.turn(&[1, 2], done(), 2).await;
    assert_eq!((settled.as_slice(), taken.as_str()), (&[Settled::Taken; 2][..], "3 4"));
    assert!(before < on.fence(3).1, "it has an epoch of its own");
    assert_eq!(on.counts().await, "ready 1, running 2", "what ended is forgotten");
    assert_eq!(on.stats().await.totals.done, 2);
    let (_, taken) = on.turn(&[3, 4], done(), 9).await;
    assert_eq!(taken, "5");
    let (_, taken) = on.turn(&[5], done(), 9).await;
    assert_eq!((taken.as_str(), on.counts().await.as_str()), ("", ""));
}

pub(in crate::conformance) async fn a_turn_ends_only_what_is_held(on: &Stage<'_>) {
    on.add(1..=3).await;
    assert_eq!(on.take(1, 2).await, "1 2");
    on.settle(1, done()).await;
    let (settled, taken) = on.turn(&[1, 2], done(), 1).await;
    assert_eq!(settled, [Settled::Stale, Settled::Taken], "one of them twice");
    assert_eq!(taken, "3");
    let totals = on.stats().await.totals;
    assert_eq!((totals.done, totals.stale), (2, 1));
    let (settled, _) = on.turn(&[3, 3], done(), 1).await;
    assert_eq!(settled, [Settled::Taken, Settled::Stale], "twice in one call");
}

pub(in crate::conformance) async fn a_turn_ends_jobs_of_several_leases(on: &Stage<'_>) {
    on.add(1..=8).await;
    for taken in ["1 2", "3 4", "5 6"] {
        assert_eq!(on.take(1, 2).await, taken);
    }
    // In no order, and those of one lease not side by side.
    let (settled, taken) = on.turn(&[3, 1, 5, 2], done(), 1).await;
    assert_eq!((settled.as_slice(), taken.as_str()), (&[Settled::Taken; 4][..], "7"));
    assert_eq!(on.counts().await, "ready 1, running 3", "4, 6 and 7 run, 8 waits");
    assert_eq!(on.settle_all(&[6, 7, 4], &done()).await, [Settled::Taken; 3]);
    assert_eq!(on.settle_all(&[6, 4], &done()).await, [Settled::Stale; 2]);
    let totals = on.stats().await.totals;
    assert_eq!((totals.done, totals.stale), (7, 2));
}

pub(in crate::conformance) async fn a_turn_ends_very_many_jobs(on: &Stage<'_>) {
    let all: Vec<u128> = (1..=2500).collect();
    on.add(all.iter().copied()).await;
    assert_eq!(on.lease(1, 2500).await.jobs.len(), 2500);
    let (settled, taken) = on.turn(&all, done(), 9).await;
    assert!(settled.iter().all(|settled| *settled == Settled::Taken));
    assert_eq!((settled.len(), taken.as_str()), (2500, ""));
    assert_eq!((on.counts().await.as_str(), on.stats().await.totals.done), ("", 2500));
}

pub(in crate::conformance) async fn many_come_back_in_their_order(on: &Stage<'_>) {
    on.add(1..=30).await;
    let taken = on.take(1, 30).await;
    on.extend_for(1, Duration::ZERO, Vec::new()).await;
    assert_eq!(on.take(2, 30).await, taken);
    on.lose_all().await;
    assert_eq!(on.take(3, 30).await, taken);
}

pub(in crate::conformance) async fn a_turn_renews_the_lease(on: &Stage<'_>) {
    on.add(1..=2).await;
    on.take(1, 2).await;
    on.advance(secs(6));
    on.turn(&[1], done(), 0).await;
    on.advance(secs(6));
    assert_eq!(on.sweep().await.expired, 0);
    assert_eq!(on.settle(2, done()).await, Settled::Taken);
}

pub(in crate::conformance) async fn a_turn_knows_every_ending(on: &Stage<'_>) {
    on.add(1..=2).await;
    on.take(1, 2).await;
    let (_, taken) = on.turn(&[1, 2], release(), 9).await;
    assert_eq!(taken, "1 2", "what comes back is there for the next");
    let (_, taken) = on.turn(&[1], retry(secs(1)), 9).await;
    assert_eq!((taken.as_str(), on.state(1).await), ("", State::Retrying));
    on.advance(secs(1));
    let (_, taken) = on.turn(&[2], done(), 9).await;
    assert_eq!(taken, "1");
    // It has a past, and more is to be done at its end than to forget it.
    let (settled, _) = on.turn(&[1], done(), 9).await;
    assert_eq!((settled[0], on.counts().await.as_str()), (Settled::Taken, ""));
}

pub(in crate::conformance) async fn a_turn_keeps_what_is_to_be_kept(on: &Stage<'_>) {
    let kept = |number| special(number, |spec| spec.keep = secs(60));
    on.enqueue(vec![kept(1), kept(2)]).await;
    on.take(1, 2).await;
    on.turn(&[1], Ending::Done { result: Some(b"42".to_vec()) }, 0).await;
    on.turn(&[2], done(), 0).await;
    assert_eq!(on.record(1).await.result, Some(b"42".to_vec()));
    assert_eq!(on.state(2).await, State::Done);
}

pub(in crate::conformance) async fn a_turn_hands_out_what_its_ends_made_room_for(on: &Stage<'_>) {
    on.rule(|rules| rules.running_max = Some(2)).await;
    on.add(1..=4).await;
    assert_eq!(on.take(1, 9).await, "1 2");
    assert_eq!(on.turn(&[1, 2], done(), 9).await.1, "3 4");
    on.rule(|rules| rules.key_running_max = Some(1)).await;
    on.turn(&[3, 4], done(), 0).await;
    let keyed = |number| special(number, |spec| spec.key = Some("k".parse().expect("a key")));
    on.enqueue(vec![keyed(5), keyed(6)]).await;
    assert_eq!(on.take(1, 9).await, "5");
    assert_eq!(on.turn(&[5], done(), 9).await.1, "6");
}

pub(in crate::conformance) async fn a_turn_tells_those_that_waited(on: &Stage<'_>) {
    on.add([1]).await;
    on.enqueue(vec![special(2, |spec| spec.after = vec![id(1)])]).await;
    on.take(1, 9).await;
    assert_eq!(on.turn(&[1], done(), 9).await.1, "2");
}
