//! How runs end, and what is kept of them.

use headcount_core::jobs::JobRecord;
use headcount_core::jobs::State;
use headcount_core::jobs::port::{Command, Ending, Settled, Which};

use crate::conformance::stage::{
    Stage, dead, done, id, millis, plain, release, retry, secs, special,
};

pub(in crate::conformance) async fn a_done_job_is_forgotten_unless_it_is_to_be_kept(
    on: &Stage<'_>,
) {
    on.enqueue(vec![plain(1), special(2, |spec| spec.keep = secs(10))]).await;
    on.take(1, 9).await;
    on.advance(secs(1));
    let with_result = Ending::Done { result: Some(b"42".to_vec()) };
    assert_eq!(on.settle_all(&[1, 2], &with_result).await, [Settled::Taken; 2]);
    assert_eq!(on.find(1).await, None);
    let kept = on.record(2).await;
    assert_eq!(kept.state, State::Done);
    assert_eq!(kept.result.as_deref(), Some(&b"42"[..]));
    assert_eq!(kept.ended_at, Some(on.stats().await.now));
    assert_eq!(kept.held, None);
    assert_eq!(on.stats().await.totals.done, 2);
    assert_eq!(on.counts().await, "done 1");
}

pub(in crate::conformance) async fn a_record_tells_what_happened(on: &Stage<'_>) {
    let submitted_at = on.stats().await.now;
    on.add([1]).await;
    let expected = JobRecord::new(id(1), on.queue.clone(), plain(1).spec, submitted_at);
    assert_eq!(on.record(1).await, expected);

    on.advance(secs(2));
    let leased = on.lease(7, 1).await;
    let now = on.stats().await.now;
    let job = &leased.jobs[0];
    assert_eq!((job.submitted_at, job.due_at, job.leased_at), (submitted_at, submitted_at, now));
    assert_eq!(job.spec, plain(1).spec);
    let running = on.record(1).await;
    assert_eq!(running.state, State::Running);
    assert_eq!(running.started_at, Some(now));
    assert_eq!(running.held, Some(on.fence(1)));
}

pub(in crate::conformance) async fn a_failure_counts_an_attempt(on: &Stage<'_>) {
    on.add([1]).await;
    on.take(1, 1).await;
    on.settle(1, retry(millis(1500))).await;
    let record = on.record(1).await;
    assert_eq!((record.attempts, record.crashes, record.preemptions), (1, 0, 0));
    assert_eq!(record.error.as_deref(), Some("no luck"));
    assert_eq!(record.due_at, on.stats().await.now + millis(1500));
    assert_eq!(on.stats().await.next_due_at, Some(record.due_at));
    on.advance(millis(1500));
    let again = on.lease(1, 1).await;
    assert_eq!(again.jobs[0].attempts, 1);
    assert_eq!(again.jobs[0].due_at, record.due_at);
    on.settle(1, dead()).await;
    let record = on.record(1).await;
    assert_eq!((record.state, record.attempts), (State::Dead, 2));
    assert_eq!(record.error.as_deref(), Some("no use"));
    let totals = on.stats().await.totals;
    assert_eq!((totals.failed, totals.died), (1, 1));
}

pub(in crate::conformance) async fn a_long_error_is_cut(on: &Stage<'_>) {
    on.add([1]).await;
    on.take(1, 1).await;
    let error = "\u{e4}".repeat(JobRecord::ERROR_LEN_MAX);
    on.settle(1, Ending::Dead { error: error.clone() }).await;
    let kept = on.record(1).await.error.expect("it has one");
    assert_eq!(kept, JobRecord::cut_error(&error));
}

pub(in crate::conformance) async fn what_is_given_back_uses_up_no_attempt(on: &Stage<'_>) {
    on.add([1]).await;
    let due_at = on.record(1).await.due_at;
    for round in 1..=3 {
        on.advance(secs(1));
        on.take(1, 1).await;
        on.settle(1, release()).await;
        let record = on.record(1).await;
        let counters = (record.attempts, record.crashes, record.preemptions);
        assert_eq!(counters, (0, 0, round));
        assert_eq!(record.due_at, due_at, "it has been waiting since then");
        assert_eq!(record.state, State::Ready);
    }
    assert_eq!(on.stats().await.totals.preempted, 3);
}

pub(in crate::conformance) async fn a_snooze_is_no_failure(on: &Stage<'_>) {
    on.add([1]).await;
    on.take(1, 1).await;
    let checkpoint = Some(b"half".to_vec());
    on.settle(1, Ending::Snooze { after: secs(3), checkpoint: checkpoint.clone() }).await;
    let record = on.record(1).await;
    assert_eq!((record.attempts, record.crashes, record.preemptions), (0, 0, 0));
    assert_eq!(record.state, State::Scheduled);
    assert_eq!(record.due_at, on.stats().await.now + secs(3));
    on.advance(secs(3));
    assert_eq!(on.lease(1, 1).await.jobs[0].checkpoint, checkpoint);
}

pub(in crate::conformance) async fn a_checkpoint_stays_until_there_is_another(on: &Stage<'_>) {
    on.add([1]).await;
    on.take(1, 1).await;
    on.settle(1, Ending::Release { checkpoint: Some(b"a".to_vec()) }).await;
    let leased = on.lease(1, 1).await;
    assert_eq!(leased.jobs[0].checkpoint.as_deref(), Some(&b"a"[..]));
    on.settle(1, release()).await;
    let leased = on.lease(1, 1).await;
    assert_eq!(leased.jobs[0].checkpoint.as_deref(), Some(&b"a"[..]));
    assert_eq!(leased.jobs[0].preemptions, 2);
}

pub(in crate::conformance) async fn a_running_job_is_cancelled_by_its_holder(on: &Stage<'_>) {
    on.add(1..=4).await;
    on.take(1, 9).await;
    let all = Command::Cancel(Which::Ids((1..=4).map(id).collect()));
    assert_eq!(on.steer(all.clone()).await, 4);
    assert_eq!(on.steer(all).await, 0, "each is told once");
    assert_eq!(on.counts().await, "running 4");
    assert!(on.record(1).await.cancelling);
    assert_eq!(on.extend(1).await.cancel, [id(1), id(2), id(3), id(4)]);
    assert_eq!(on.extend(1).await.cancel.len(), 4, "until it is settled");
    on.settle(1, Ending::Cancelled).await;
    on.settle(2, retry(secs(1))).await;
    on.settle(3, release()).await;
    on.settle(4, done()).await;
    assert_eq!(on.counts().await, "cancelled 3", "one had finished all the same");
    let record = on.record(2).await;
    assert_eq!((record.attempts, record.error, record.cancelling), (0, None, false));
    let totals = on.stats().await.totals;
    assert_eq!((totals.cancelled, totals.failed, totals.preempted), (3, 0, 0));
}
