//! Whoever writes about a job must hold it now.

use headcount_core::jobs::port::{Command, Note, Settled, Settlement, Which};
use headcount_core::jobs::{Holder, State};

use crate::conformance::stage::{
    Stage, TTL, dead, done, id, millis, plain, release, retry, secs, special, within,
};

fn note(number: u128, epoch: u64, progress: u8) -> Note {
    Note { id: id(number), epoch, progress: Some(progress), checkpoint: None }
}

pub(in crate::conformance) async fn every_lease_has_a_higher_epoch(on: &Stage<'_>) {
    let mut last = on.lease(1, 1).await.epoch;
    for holder in [1, 2, 1] {
        let epoch = on.lease(holder, 0).await.epoch;
        assert!(last < epoch, "{epoch} after {last}");
        last = epoch;
    }
}

pub(in crate::conformance) async fn only_the_fence_settles(on: &Stage<'_>) {
    on.add([1]).await;
    on.take(1, 1).await;
    let (holder, epoch) = on.fence(1);
    for wrong in [(Holder::new(2), epoch), (holder, epoch + 1), (holder, epoch - 1)] {
        assert_eq!(on.settle_as(wrong, 1, done()).await, Settled::Stale);
    }
    assert_eq!(on.settle_as((holder, epoch), 77, done()).await, Settled::Stale);
    assert_eq!(on.counts().await, "running 1");
    assert_eq!(on.stats().await.totals.stale, 4);
    assert_eq!(on.settle(1, dead()).await, Settled::Taken);
    assert_eq!(on.settle(1, done()).await, Settled::Stale, "an end is final");
    assert_eq!(on.state(1).await, State::Dead);
}

pub(in crate::conformance) async fn a_late_settle_of_a_lost_job_is_stale(on: &Stage<'_>) {
    on.add([1]).await;
    on.take(1, 1).await;
    let late = on.fence(1);
    on.lose_all().await;
    assert_eq!(on.settle_as(late, 1, done()).await, Settled::Stale, "nobody holds it");
    on.take(2, 1).await;
    assert_eq!(on.settle_as(late, 1, done()).await, Settled::Stale, "another holds it");
    on.settle(1, release()).await;
    on.take(1, 1).await;
    assert_eq!(on.settle_as(late, 1, done()).await, Settled::Stale, "it holds it, but anew");
    assert_eq!(on.settle(1, done()).await, Settled::Taken);
    assert_eq!(on.counts().await, "");
    assert_eq!(on.stats().await.totals.done, 1);
}

pub(in crate::conformance) async fn a_settle_is_taken_while_nobody_has_noticed(on: &Stage<'_>) {
    on.add(1..=2).await;
    on.take(1, 9).await;
    on.advance(TTL + secs(60));
    assert_eq!(on.settle(1, done()).await, Settled::Taken);
    // Nor is the lease gone before somebody says so.
    assert!(on.extend(1).await.alive);
    assert_eq!(on.sweep().await.expired, 0);
    assert_eq!(on.settle(2, done()).await, Settled::Taken);
}

pub(in crate::conformance) async fn one_call_settles_in_its_order(on: &Stage<'_>) {
    on.add(1..=2).await;
    on.take(1, 9).await;
    let (holder, epoch) = on.fence(1);
    let of = |number, ending| Settlement { id: id(number), epoch, ending };
    let settlements = vec![of(2, retry(secs(1))), of(1, done()), of(1, dead()), of(9, done())];
    let settled = within(on.store().settle(&on.queue, holder, settlements)).await;
    let expected = [Settled::Taken, Settled::Taken, Settled::Stale, Settled::Stale];
    assert_eq!(settled.expect("it takes settlements"), expected);
    assert_eq!(on.counts().await, "retrying 1");
}

pub(in crate::conformance) async fn notes_are_kept_under_the_fence(on: &Stage<'_>) {
    on.add(1..=2).await;
    on.take(1, 9).await;
    let (_, epoch) = on.fence(1);
    let mut half = note(1, epoch, 50);
    half.checkpoint = Some(b"half".to_vec());
    let notes = vec![half, note(2, epoch + 1, 10), note(77, epoch, 10)];
    let extended = on.extend_for(1, TTL, notes).await;
    assert!(extended.alive);
    assert_eq!(extended.stale, [id(2), id(77)]);
    let record = on.record(1).await;
    assert_eq!((record.progress, record.checkpoint), (Some(50), Some(b"half".to_vec())));
    assert_eq!(on.record(2).await.progress, None);
    assert_eq!(on.stats().await.totals.stale, 2);
    // What is not said stays as it was.
    on.extend_for(1, TTL, vec![note(1, epoch, 60)]).await;
    assert_eq!(on.record(1).await.checkpoint, Some(b"half".to_vec()));
    // And it is there for whoever goes on.
    on.lose_all().await;
    let leased = on.lease(2, 1).await;
    assert_eq!(leased.jobs[0].checkpoint.as_deref(), Some(&b"half"[..]));
}

pub(in crate::conformance) async fn a_holder_without_a_lease_is_told(on: &Stage<'_>) {
    on.add([1]).await;
    assert!(!on.extend(1).await.alive, "it never had one");
    on.take(1, 1).await;
    let (_, epoch) = on.fence(1);
    assert!(on.extend(1).await.alive);
    assert!(!on.extend(2).await.alive);
    on.lose_all().await;
    let extended = on.extend_for(1, TTL, vec![note(1, epoch, 10)]).await;
    assert!(!extended.alive);
    assert!(extended.stale.is_empty() && extended.cancel.is_empty(), "nothing else happens");
    assert_eq!(on.stats().await.totals.stale, 0);
}

pub(in crate::conformance) async fn a_goodbye_gives_everything_back(on: &Stage<'_>) {
    on.enqueue(vec![plain(1), plain(2), plain(3), plain(4)]).await;
    on.take(1, 2).await;
    on.take(1, 1).await;
    on.steer(Command::Cancel(Which::Ids(vec![id(2)]))).await;
    let (_, epoch) = on.fence(1);
    let extended = on.extend_for(1, millis(0), vec![note(1, epoch, 70)]).await;
    assert!(extended.alive);
    assert!(extended.cancel.is_empty(), "it holds nothing any more");
    assert_eq!(on.counts().await, "ready 3, cancelled 1");
    assert_eq!(on.stats().await.holders, 0);
    let record = on.record(1).await;
    assert_eq!((record.preemptions, record.crashes, record.attempts), (1, 0, 0));
    assert_eq!(record.progress, Some(70));
    assert!(!on.extend(1).await.alive);
    assert_eq!(on.take(2, 9).await, "1 3 4", "as they were handed out");
}

pub(in crate::conformance) async fn a_long_job_that_is_renewed_runs_once(on: &Stage<'_>) {
    let fragile = special(1, |spec| spec.crashes_max = 1);
    on.enqueue(vec![fragile]).await;
    on.take(1, 1).await;
    for _ in 0..40 {
        on.advance(secs(2));
        assert!(on.extend(1).await.alive);
        on.sweep().await;
        assert_eq!(on.take(2, 9).await, "");
    }
    assert_eq!(on.settle(1, done()).await, Settled::Taken);
    assert_eq!(on.stats().await.totals.crashed, 0);
}
