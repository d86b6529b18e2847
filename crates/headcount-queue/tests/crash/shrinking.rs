//! A folder that held much and holds little becomes small again, and nothing is lost by it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use headcount_queue::embedded::{Embedded, EmbeddedOptions};
use headcount_queue::jobs::port::{Backend, Command, NewJob};
use headcount_queue::jobs::{JobSpec, Label};

use super::disk::{Cut, Tape};
use super::{Fact, HOLDER, block_on, check_cut, done, id, job, lease, options, queue, records};

/// A job with a megabyte of payload.
fn large(number: u64) -> NewJob {
    let kind: Label = "kind".parse().expect("a fine name");
    NewJob { id: id(number), spec: JobSpec::new(kind, vec![b'x'; 1 << 20]) }
}

async fn submit_large(store: &Embedded, numbers: std::ops::Range<u64>) {
    for number in numbers {
        store.enqueue(&queue(), vec![large(number)]).await.expect("it takes jobs");
    }
}

#[test]
fn an_empty_store_is_small_again() {
    let folder = tempfile::tempdir().expect("there is room");
    block_on(async {
        let store = Embedded::open(folder.path(), EmbeddedOptions::default()).expect("it opens");
        let kind: Label = "kind".parse().expect("a fine name");
        for number in 0..20 {
            let spec = JobSpec::new(kind.clone(), vec![b'x'; 1 << 20]);
            let job = NewJob { id: id(number), spec };
            store.enqueue(&queue(), vec![job]).await.expect("it takes jobs");
        }
        let full = store.compact().await.expect("it can be compacted");
        assert!(20 << 20 < full, "{full}");
        let leased = lease(&store, 100).await;
        store.settle(&queue(), HOLDER, done(&leased)).await.expect("they are held");
        let empty = store.compact().await.expect("it can be compacted");
        assert!(empty < full / 2, "{full} bytes became {empty}");
    });
}

/// How long the database is.
fn len(dir: &Path) -> u64 {
    std::fs::metadata(dir.join("jobs.redb")).expect("it is there").len()
}

/// Sweeps, as consumers do, until the file is as small as this.
async fn until_below(store: &Embedded, dir: &Path, goal: u64) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while goal <= len(dir) {
        assert!(Instant::now() < deadline, "it still has {} bytes", len(dir));
        store.sweep(&queue(), 1000).await.expect("it sweeps");
    }
}

#[test]
fn a_purge_of_much_is_followed_by_a_small_file() {
    let folder = tempfile::tempdir().expect("there is room");
    block_on(async {
        let store = Embedded::open(folder.path(), EmbeddedOptions::default()).expect("it opens");
        submit_large(&store, 0..100).await;
        let held = lease(&store, 3).await;
        store.compact().await.expect("all of it is in the database");
        let full = len(folder.path());
        assert!(100 << 20 < full, "{full}");

        let purged = store.steer(&queue(), Command::Purge).await;
        assert_eq!(purged.expect("it is told"), 97);
        until_below(&store, folder.path(), full / 4).await;
        let found = records(&store, (0..3).map(id).collect()).await;
        assert!(found.iter().all(|job| job.spec.payload.len() == 1 << 20), "those that ran stay");
        store.settle(&queue(), HOLDER, done(&held)).await.expect("they are still held");
    });
}

#[test]
fn it_opens_wherever_a_compaction_was_cut_off() {
    let tape = Arc::new(Tape::default());
    let facts = block_on(async {
        let store = Embedded::open_on(tape.clone(), options()).expect("it is empty");
        let mut facts = Vec::new();
        for number in 0..120 {
            store.enqueue(&queue(), vec![job(number)]).await.expect("it takes jobs");
            facts.push((tape.len(), Fact::Submitted(id(number))));
        }
        let leased = lease(&store, 110).await;
        facts.extend(leased.jobs.iter().map(|job| (tape.len(), Fact::Ending(job.id))));
        store.settle(&queue(), HOLDER, done(&leased)).await.expect("they are held");
        facts.extend(leased.jobs.iter().map(|job| (tape.len(), Fact::Ended(job.id))));
        let begun = tape.len();
        store.compact().await.expect("it can be compacted");
        (begun, tape.len(), facts)
    });
    let (begun, ended, facts) = facts;
    assert!(begun + 10 < ended, "a compaction of {} steps", ended - begun);
    for at in begun..=ended {
        for cut in [Cut::All, Cut::Nothing, Cut::Some(at as u64)] {
            block_on(check_cut(&tape, at, cut, &facts));
        }
    }
}

#[test]
fn few_jobs_that_are_large_are_not_compacted_again_and_again() {
    let folder = tempfile::tempdir().expect("there is room");
    block_on(async {
        let store = Embedded::open(folder.path(), EmbeddedOptions::default()).expect("it opens");
        submit_large(&store, 0..80).await;
        store.compact().await.expect("it can be compacted");
        let segments = || {
            let names = std::fs::read_dir(folder.path()).expect("it is there");
            let names = names.map(|name| name.expect("an entry").file_name());
            names.filter(|name| name.to_string_lossy().starts_with("journal-")).max()
        };
        // A compaction begins with another segment; for longer than it takes to look for one, none
        // does.
        let before = segments();
        let end = Instant::now() + Duration::from_millis(2_500);
        while Instant::now() < end {
            store.sweep(&queue(), 10).await.expect("it sweeps");
        }
        assert_eq!(segments(), before);
    });
}
