//! How long ended jobs are kept, and that no job is lost on the way.

use headcount_core::jobs::State;
use headcount_core::jobs::port::{Command, Settled, Which};

use crate::conformance::stage::{Stage, dead, done, id, millis, plain, retry, secs, special};

pub(in crate::conformance) async fn done_jobs_are_kept_as_long_as_they_asked(on: &Stage<'_>) {
    let kept = |number, span| special(number, |spec| spec.keep = span);
    on.enqueue(vec![kept(1, secs(20)), kept(2, secs(10)), kept(3, secs(30))]).await;
    on.take(1, 9).await;
    on.settle_all(&[1, 2, 3], &done()).await;
    on.advance(millis(9999));
    assert_eq!(on.sweep().await.forgotten, 0);
    on.advance(millis(1));
    assert_eq!(on.sweep().await.forgotten, 1);
    assert_eq!(on.listed(State::Done).await, "1 3");
    on.rule(|rules| rules.done_max = 1).await;
    assert_eq!(on.sweep().await.forgotten, 1);
    assert_eq!(on.listed(State::Done).await, "3", "whose time ends first goes first");
    on.advance(secs(20));
    on.sweep().await;
    assert_eq!(on.counts().await, "");
}

pub(in crate::conformance) async fn dead_jobs_are_kept_as_the_rules_say(on: &Stage<'_>) {
    on.rule(|rules| (rules.dead_max, rules.dead_keep) = (3, secs(10))).await;
    on.enqueue(vec![plain(1), special(2, |spec| spec.crashes_max = 1)]).await;
    on.take(1, 1).await;
    on.settle(1, dead()).await;
    on.lease_for(1, 1, millis(0)).await;
    on.advance(secs(1));
    on.sweep().await;
    on.add(3..=5).await;
    on.steer(Command::Cancel(Which::Ids(vec![id(4), id(3)]))).await;
    assert_eq!(on.counts().await, "ready 1, dead 1, quarantined 1, cancelled 2");
    let swept = on.sweep().await;
    assert_eq!((swept.forgotten, swept.more), (1, false), "the oldest of all of them");
    assert_eq!(on.counts().await, "ready 1, quarantined 1, cancelled 2");
    on.advance(secs(9));
    assert_eq!(on.sweep().await.forgotten, 0);
    on.advance(secs(1));
    let swept = on.sweep_at_most(2).await;
    assert_eq!((swept.forgotten, swept.more), (2, true));
    assert_eq!(on.sweep().await.forgotten, 1);
    assert_eq!(on.counts().await, "ready 1");
}

pub(in crate::conformance) async fn what_has_not_ended_never_expires(on: &Stage<'_>) {
    on.rule(|rules| (rules.dead_max, rules.dead_keep) = (0, secs(0))).await;
    let blocked = special(4, |spec| spec.after = vec![id(1)]);
    on.enqueue(vec![plain(1), plain(2), plain(3), blocked]).await;
    on.take(1, 2).await;
    on.settle(2, retry(secs(1_000_000_000))).await;
    on.extend_for(1, secs(1_000_000_000), Vec::new()).await;
    on.advance(secs(50 * 365 * 24 * 3600 / 2));
    on.sweep().await;
    assert_eq!(on.counts().await, "blocked 1, ready 1, running 1, retrying 1");
}

pub(in crate::conformance) async fn no_job_is_lost_or_counted_twice(on: &Stage<'_>) {
    on.rule(|rules| rules.dead_max = 2).await;
    let mut forgotten = 0;
    for round in 0_u128..12 {
        let number = round * 10;
        let kept = special(number + 1, |spec| spec.keep = secs(20));
        let fragile = special(number + 2, |spec| spec.crashes_max = 1);
        let blocked = special(number + 3, |spec| spec.after = vec![id(number + 1)]);
        on.enqueue(vec![plain(number), kept, fragile, blocked, plain(number + 4)]).await;
        on.enqueue(vec![plain(number)]).await;
        for job in on.lease(round, 4).await.jobs {
            let number = job.id.as_u128();
            match number % 5 {
                0 => forgotten += u64::from(on.settle(number, done()).await == Settled::Taken),
                1 => assert_eq!(on.settle(number, done()).await, Settled::Taken),
                2 => {}
                3 => assert_eq!(on.settle(number, dead()).await, Settled::Taken),
                _ => assert_eq!(on.settle(number, retry(secs(3))).await, Settled::Taken),
            }
        }
        on.advance(secs(5));
        forgotten += on.sweep().await.forgotten;
        let stats = on.stats().await;
        let kept: u64 = stats.jobs.iter().map(|(_, count)| count).sum();
        assert_eq!(stats.totals.submitted, kept + forgotten, "in round {round}: {stats:?}");
    }
    forgotten += on.steer(Command::Purge).await;
    forgotten += on.steer(Command::Delete(Which::In(State::Quarantined))).await;
    let stats = on.stats().await;
    let kept: u64 = stats.jobs.iter().map(|(_, count)| count).sum();
    assert_eq!(stats.totals.submitted, kept + forgotten, "{stats:?}");
    assert_eq!((stats.totals.submitted, stats.totals.existing), (60, 12));
}
