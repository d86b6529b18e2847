//! Records of a folder that cannot be read: they are set aside with what was found, and the rest
//! of the store goes on.

use std::path::Path;

use headcount_queue::embedded::{Embedded, OpenError};
use headcount_queue::jobs::port::{Backend, Command, NewJob, Which};
use headcount_queue::jobs::{JobId, State};
use redb::{ReadableTable, TableDefinition};

use super::{block_on, id, job, lease, open, options, queue, records};

const JOBS: TableDefinition<'_, (u32, u128), &[u8]> = TableDefinition::new("jobs");

/// Changes what is stored of a job: its row of fixed length, and behind it its spec.
fn garble(dir: &Path, number: u64, change: impl Fn(&mut Vec<u8>)) {
    let database = redb::Database::open(dir.join("jobs.redb")).expect("it is a database");
    let writing = database.begin_write().expect("nobody else writes");
    let mut jobs = writing.open_table(JOBS).expect("a table");
    let key = (0, id(number).as_u128());
    let mut bytes = jobs.get(key).expect("it reads").expect("it is there").value().to_vec();
    change(&mut bytes);
    jobs.insert(key, &bytes[..]).expect("it has room");
    drop(jobs);
    writing.commit().expect("it has room");
}

fn spec_begins(bytes: &[u8]) -> usize {
    bytes.windows(2).position(|two| two == b"1{").expect("it has a spec")
}

fn spoil_spec(bytes: &mut Vec<u8>) {
    bytes.truncate(spec_begins(bytes));
    bytes.extend_from_slice(b"garbage");
}

async fn taken(store: &Embedded) -> Vec<JobId> {
    lease(store, 100).await.jobs.iter().map(|job| job.id).collect()
}

#[test]
fn a_job_that_cannot_be_read_stops_no_other() {
    let folder = tempfile::tempdir().expect("there is room");
    block_on(async {
        let mut jobs: Vec<NewJob> = (1..=5).map(job).collect();
        jobs[4].spec.after = vec![id(2)];
        open(folder.path()).enqueue(&queue(), jobs).await.expect("it takes jobs");
        garble(folder.path(), 2, spoil_spec);
        garble(folder.path(), 3, |bytes| bytes[0] = 99);

        let store = open(folder.path());
        assert_eq!(taken(&store).await, [id(1), id(4)]);
        let found = records(&store, (2..=5).map(id).collect()).await;
        let states: Vec<State> = found.iter().map(|job| job.state).collect();
        assert_eq!(states, [State::Quarantined, State::Quarantined, State::Running, State::Dead]);
        assert_eq!(found[0].spec.payload, b"garbage", "nothing of it is lost");
        let said = |place: usize| found[place].error.clone().unwrap_or_default();
        assert!(said(0).contains("a job has format g"), "{}", said(0));
        assert!(said(1).contains("a state that is not known"), "{}", said(1));
        assert!(said(3).contains("ended quarantined"), "{}", said(3));
    });
}

#[test]
fn it_is_counted_once_and_can_be_retried_and_deleted() {
    let folder = tempfile::tempdir().expect("there is room");
    block_on(async {
        open(folder.path()).enqueue(&queue(), vec![job(1), job(2)]).await.expect("it takes jobs");
        garble(folder.path(), 1, spoil_spec);
        for _ in 0..2 {
            let store = open(folder.path());
            let stats = store.stats(&queue()).await.expect("it counts");
            assert_eq!((stats.jobs[State::Quarantined], stats.totals.quarantined), (1, 1));
            // Something is written, so that the counts are.
            store.steer(&queue(), Command::Pause).await.expect("it is told");
            store.steer(&queue(), Command::Resume).await.expect("it is told");
        }
        let store = open(folder.path());
        let revived = Command::Revive(Which::Ids(vec![id(1)]));
        assert_eq!(store.steer(&queue(), revived).await.expect("it is there"), 1);
        assert_eq!(taken(&store).await, [id(2)], "it is set aside again");
        let stats = store.stats(&queue()).await.expect("it counts");
        assert_eq!((stats.jobs[State::Quarantined], stats.totals.quarantined), (1, 2));
        let deleted = Command::Delete(Which::Ids(vec![id(1)]));
        assert_eq!(store.steer(&queue(), deleted).await.expect("it is there"), 1);
    });
}

#[test]
fn a_job_of_a_newer_version_is_not_garbage() {
    let folder = tempfile::tempdir().expect("there is room");
    block_on(async {
        open(folder.path()).enqueue(&queue(), vec![job(1)]).await.expect("it takes jobs");
    });
    garble(folder.path(), 1, |bytes| {
        let at = spec_begins(bytes);
        bytes[at] = b'2';
    });
    let error = Embedded::open(folder.path(), options()).expect_err("it is newer");
    assert!(matches!(error, OpenError::Format { .. }), "{error}");
    assert!(error.to_string().contains("use a newer one"), "{error}");
}
