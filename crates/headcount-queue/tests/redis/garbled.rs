//! Records that somebody damaged: they are set aside with what was found, and stop nobody else.

use headcount_core::Timestamp;
use headcount_core::jobs::port::{Backend, Command, Listing, Page, Which};
use headcount_core::jobs::{
    Holder, JobRecord, JobSpec, Priority, Start, State, Unique, UniqueSpan,
};
use headcount_queue::conformance::Subject;

use crate::scene::{SECOND, Scene, full, id, label};
use crate::subject::{all_done, block_on, queue};

/// What somebody may have put in place of a job.
const GARBAGE: [&[u8]; 8] = [
    b"",
    b"x",
    b"no time, no line and no job in any of it",
    b"00001700000000",
    b"00001700000000\n",
    b"00001700000000\n1{\"kind\":7}\n{}",
    b"00001700000000\tnot\ta head\n1{\"kind\":\"kind\"",
    b"00001700000000\t5\xff\xfe without an end",
];

fn write(scene: &Scene, hash: &str, number: u128, bytes: &[u8]) {
    let mut set = redis::cmd("HSET");
    set.arg(full(&format!("~{hash}"))).arg(id(number).to_string()).arg(bytes);
    set.exec(&mut scene.server.connection()).expect("the server takes it");
}

async fn records(scene: &Scene, numbers: impl IntoIterator<Item = u128>) -> Vec<JobRecord> {
    let ids = numbers.into_iter().map(id).collect();
    scene.on.store.list(&queue(), Listing::Ids(ids)).await.expect("it lists").jobs
}

/// The one that was damaged is set aside as it was found; its neighbours run.
async fn check(garbage: &[u8], change: fn(u128, &mut JobSpec)) {
    let said = garbage.escape_ascii();
    let mut scene = Scene::new().await;
    scene.submit([1, 2, 3], change).await;
    write(&scene, "jobs", 2, garbage);
    let listed = records(&scene, 1..=3).await;
    assert_eq!(listed.len(), 3, "{said}: it can be seen before anybody takes it");

    let leased = scene.lease(1, 10).await;
    let taken: Vec<_> = leased.jobs.iter().map(|job| job.id).collect();
    assert_eq!(taken, [id(1), id(3)], "{said}");
    let ended = scene.on.store.settle(&queue(), Holder::new(1), all_done(&leased)).await;
    ended.expect("they end");

    let found = records(&scene, [2]).await.remove(0);
    assert_eq!((found.state, found.crashes), (State::Quarantined, 0), "{said}");
    assert_eq!(found.spec.payload, garbage, "{said}: nothing of it is lost");
    assert!(found.error.is_some_and(|error| error.contains("a job")), "{said}");
    let stats = scene.stats().await;
    assert_eq!((stats.totals.quarantined, stats.totals.done), (1, 2), "{said}");
    assert_eq!((stats.jobs[State::Running], stats.jobs[State::Ready]), (0, 0), "{said}");
    assert_eq!(scene.sweep().await.repaired, 0, "{said}: every count is right");
}

#[test]
fn a_job_that_cannot_be_read_stops_no_other() {
    block_on(async {
        for garbage in GARBAGE {
            check(garbage, |_, _| ()).await;
        }
    });
}

#[test]
fn the_same_where_jobs_are_taken_one_by_one() {
    block_on(async {
        for garbage in GARBAGE {
            check(garbage, |number, spec| {
                spec.priority = Priority::new(if number == 3 { 6 } else { 5 });
                spec.keep = SECOND;
                spec.start = Start::At(Timestamp::from_secs(1));
            })
            .await;
        }
    });
}

#[test]
fn one_that_is_retried_as_it_is_is_set_aside_again() {
    block_on(async {
        let mut scene = Scene::new().await;
        scene.submit([1], |_, _| ()).await;
        write(&scene, "jobs", 1, b"garbage");
        scene.lease(1, 10).await;
        let revived = Command::Revive(Which::In(State::Quarantined));
        assert_eq!(scene.on.store.steer(&queue(), revived).await.expect("it is there"), 1);
        assert!(scene.lease(1, 10).await.jobs.is_empty());
        let listing = Listing::In { state: State::Quarantined, cursor: None, limit: 10 };
        let Page { jobs, .. } = scene.on.store.list(&queue(), listing).await.expect("it lists");
        assert_eq!(jobs[0].spec.kind, label("unreadable"));
        let deleted = Command::Delete(Which::Ids(vec![id(1)]));
        assert_eq!(scene.on.store.steer(&queue(), deleted).await.expect("it can be deleted"), 1);
        assert_eq!(scene.jobs_in_all().await, 0);
    });
}

#[test]
fn its_unique_key_does_not_stay_taken() {
    block_on(async {
        let mut scene = Scene::new().await;
        let once = |_, spec: &mut JobSpec| {
            let key = "once".parse().expect("a fine key");
            spec.unique = Some(Unique { key, span: UniqueSpan::UntilEnded });
        };
        scene.submit([1], once).await;
        write(&scene, "jobs", 1, b"garbage");
        scene.submit([2], once).await;
        assert_eq!(scene.jobs_in_all().await, 1, "the first may still be run");
        scene.lease(1, 10).await;
        scene.submit([3], once).await;
        assert_eq!(scene.lease(1, 10).await.jobs[0].id, id(3));
    });
}

#[test]
fn a_job_of_a_newer_version_is_left_to_a_newer_worker() {
    block_on(async {
        let mut scene = Scene::new().await;
        scene.submit([1, 2], |_, _| ()).await;
        let newer = b"00001700000000\n2{\"kind\":\"kind\"}\n{}";
        write(&scene, "jobs", 1, newer);
        assert_eq!(scene.lease(1, 10).await.jobs.len(), 1);
        let found = records(&scene, [1]).await.remove(0);
        assert_eq!(found.state, State::Scheduled);
        assert!(found.error.is_some_and(|error| error.contains("use a newer one")));
        // The newer worker comes.
        write(&scene, "jobs", 1, b"00001700000000\n1{\"kind\":\"kind\"}\n{}");
        scene.on.advance(31 * SECOND);
        assert_eq!(scene.lease(2, 10).await.jobs[0].id, id(1));
    });
}

#[test]
fn a_garbled_mark_costs_its_counters_only() {
    for mark in [&b"{"[..], b"7", b"null", b"\xff"] {
        block_on(async {
            let mut scene = Scene::new().await;
            scene.submit([1, 2], |_, spec| spec.start = Start::After(SECOND)).await;
            write(&scene, "marks", 1, mark);
            assert_eq!(records(&scene, [1, 2]).await.len(), 2);
            scene.on.advance(2 * SECOND);
            scene.sweep().await;
            let leased = scene.lease(1, 10).await;
            assert_eq!(leased.jobs.len(), 2, "{}", mark.escape_ascii());
        });
    }
}
