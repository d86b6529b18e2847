//! What is acknowledged survives whatever happens to the process, the machine and the disk.

mod disk;
mod garbled;
mod shrinking;
mod slow;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use disk::{Cut, Tape, Trouble};
use headcount_queue::embedded::{Durability, Embedded, EmbeddedOptions, OpenError};
use headcount_queue::jobs::port::{
    Backend, Ending, LeaseAsk, Leased, Listing, NewJob, Settled, Settlement, StoreError,
};
use headcount_queue::jobs::{Holder, JobId, JobRecord, JobSpec, Label, State};

const HOLDER: Holder = Holder::new(7);
const TTL: Duration = Duration::from_secs(60);

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a thread can wait for its own tasks").block_on(future)
}

fn queue() -> Label {
    "default".parse().expect("a fine name")
}

fn id(number: u64) -> JobId {
    JobId::new(number, 0)
}

fn job(number: u64) -> NewJob {
    let kind = "kind".parse().expect("a fine name");
    NewJob {
        id: id(number),
        spec: JobSpec::new(kind, vec![b'x'; 50 + usize::from(number.to_le_bytes()[0])]),
    }
}

/// A journal that is full after a few calls, so that checkpoints happen all the time.
fn options() -> EmbeddedOptions {
    EmbeddedOptions { journal_bytes: 2000, ..EmbeddedOptions::default() }
}

fn open(dir: &Path) -> Embedded {
    Embedded::open(dir, options()).expect("it opens")
}

async fn lease(store: &Embedded, jobs_max: usize) -> Leased {
    let ask = LeaseAsk { holder: HOLDER, ttl: TTL, jobs_max };
    store.lease(&queue(), ask).await.expect("it hands out")
}

fn done(leased: &Leased) -> Vec<Settlement> {
    let settle = |id| Settlement { id, epoch: leased.epoch, ending: Ending::Done { result: None } };
    leased.jobs.iter().map(|job| settle(job.id)).collect()
}

async fn records(store: &Embedded, ids: Vec<JobId>) -> Vec<JobRecord> {
    store.list(&queue(), Listing::Ids(ids)).await.expect("it lists").jobs
}

/// What happened, and how long the tape was then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fact {
    /// A submit was acknowledged.
    Submitted(JobId),
    /// A settle was asked for.
    Ending(JobId),
    /// A settle was acknowledged.
    Ended(JobId),
}

/// Submits and ends jobs, and tells what happened when.
async fn story(tape: &Arc<Tape>) -> Vec<(usize, Fact)> {
    let store = Embedded::open_on(tape.clone(), options()).expect("it is empty");
    let mut facts = Vec::new();
    for round in 0..ROUNDS {
        let jobs: Vec<NewJob> = (0..=round % 3).map(|n| job(10 * round + n)).collect();
        let ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
        store.enqueue(&queue(), jobs).await.expect("it takes jobs");
        facts.extend(ids.into_iter().map(|id| (tape.len(), Fact::Submitted(id))));
        if round % 2 == 1 {
            let leased = lease(&store, 2).await;
            facts.extend(leased.jobs.iter().map(|job| (tape.len(), Fact::Ending(job.id))));
            let settled = store.settle(&queue(), HOLDER, done(&leased)).await;
            assert!(settled.is_ok_and(|all| all.iter().all(|one| *one == Settled::Taken)));
            facts.extend(leased.jobs.iter().map(|job| (tape.len(), Fact::Ended(job.id))));
        }
    }
    facts
}

/// How long the story is.
const ROUNDS: u64 = 60;

/// Opens what a cut left, and compares it with what was known by then.
async fn check_cut(tape: &Tape, at: usize, cut: Cut, facts: &[(usize, Fact)]) {
    let left = Arc::new(tape.cut(at, cut));
    let store = Embedded::open_on(left, options());
    let store = store.unwrap_or_else(|error| panic!("cut at {at}, {cut:?}: {error}"));
    let there: BTreeSet<JobId> = lease(&store, 1000).await.jobs.iter().map(|job| job.id).collect();
    let known = |fact: Fact| facts.iter().any(|(when, other)| *when <= at && *other == fact);
    for (_, fact) in facts.iter().filter(|(when, _)| *when <= at) {
        match *fact {
            Fact::Submitted(id) if !known(Fact::Ending(id)) => {
                assert!(there.contains(&id), "cut at {at}, {cut:?}: {id} is lost");
            }
            Fact::Ended(id) => {
                assert!(!there.contains(&id), "cut at {at}, {cut:?}: {id} starts again");
            }
            Fact::Submitted(_) | Fact::Ending(_) => {}
        }
    }
}

#[test]
fn it_opens_wherever_it_was_cut_off() {
    let tape = Arc::new(Tape::default());
    let facts = block_on(story(&tape));
    assert!(300 < tape.len(), "a tape of {} steps", tape.len());
    for at in 0..=tape.len() {
        for cut in [Cut::All, Cut::Nothing, Cut::Some(at as u64)] {
            block_on(check_cut(&tape, at, cut, &facts));
        }
    }
}

/// Waits until the store takes jobs again.
async fn until_it_works(store: &Embedded, number: u64) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while let Err(error) = store.enqueue(&queue(), vec![job(number)]).await {
        assert!(Instant::now() < deadline, "it does not recover: {error}");
        tokio::task::yield_now().await;
    }
}

/// A disk in trouble: submits are refused while it lasts, and nothing is lost by it.
async fn check_trouble(trouble: Trouble) {
    let tape = Arc::new(Tape::default());
    let store = Embedded::open_on(tape.clone(), options()).expect("it is empty");
    store.enqueue(&queue(), vec![job(1), job(2), job(3)]).await.expect("it takes jobs");
    let leased = lease(&store, 1).await;

    tape.trouble(trouble);
    let refused = store.enqueue(&queue(), vec![job(4)]).await;
    assert!(matches!(refused, Err(StoreError::Unwritable(_))), "{trouble:?}: {refused:?}");
    tape.trouble(Trouble::None);
    until_it_works(&store, 5).await;

    let found = records(&store, (1..=3).map(id).collect()).await;
    let states: Vec<State> = found.iter().map(|job| job.state).collect();
    assert_eq!(states, [State::Running, State::Ready, State::Ready], "{trouble:?}");
    let settled = store.settle(&queue(), HOLDER, done(&leased)).await;
    assert_eq!(settled.ok(), Some(vec![Settled::Taken]), "{trouble:?}: it was held all the time");
}

#[test]
fn a_disk_in_trouble_is_told_and_gone_through() {
    block_on(check_trouble(Trouble::Full));
    block_on(check_trouble(Trouble::Sync));
}

#[test]
fn a_database_that_cannot_be_written_is_put_on_fresh_blocks() {
    block_on(async {
        let tape = Arc::new(Tape::default());
        let store = Embedded::open_on(tape.clone(), options()).expect("it is empty");
        tape.trouble(Trouble::Database);
        let mut taken = Vec::new();
        // The journal takes some before anybody needs the database.
        for number in 1..200 {
            match store.enqueue(&queue(), vec![job(number)]).await {
                Ok(_) => taken.push(id(number)),
                Err(error) => {
                    assert!(matches!(error, StoreError::Unwritable(_)), "{error}");
                    break;
                }
            }
        }
        assert!(taken.len() < 199, "it never needed the database");
        tape.trouble(Trouble::None);
        until_it_works(&store, 500).await;
        assert!(0 < tape.renewed(), "the same blocks were trusted");
        assert_eq!(records(&store, taken.clone()).await.len(), taken.len());
    });
}

#[test]
fn a_folder_has_one_process() {
    let folder = tempfile::tempdir().expect("there is room");
    let store = open(folder.path());
    let error = Embedded::open(folder.path(), options()).expect_err("somebody has it");
    let said = error.to_string();
    assert!(said.contains(&format!("process {}", std::process::id())), "{said}");
    drop(store);
    open(folder.path());
}

#[test]
fn a_newer_format_is_left_alone() {
    const META: redb::TableDefinition<'_, &str, u64> = redb::TableDefinition::new("meta");
    let folder = tempfile::tempdir().expect("there is room");
    drop(open(folder.path()));
    let file = folder.path().join("jobs.redb");
    let database = redb::Database::open(&file).expect("it is a database");
    let writing = database.begin_write().expect("nobody else writes");
    writing.open_table(META).expect("a table").insert("format", 99).expect("it has room");
    writing.commit().expect("it has room");
    drop(database);
    let error = Embedded::open(folder.path(), options()).expect_err("it is newer");
    assert!(matches!(error, OpenError::Format { .. }), "{error}");
    assert!(error.to_string().contains("format 99, this version reads up to 1"), "{error}");
}

#[test]
fn a_damaged_file_is_named_and_left_alone() {
    let folder = tempfile::tempdir().expect("there is room");
    drop(open(folder.path()));
    let file = folder.path().join("jobs.redb");
    let mut bytes = std::fs::read(&file).expect("it is there");
    bytes[..4096].fill(b'?');
    std::fs::write(&file, &bytes).expect("it has room");
    let error = Embedded::open(folder.path(), options()).expect_err("it is damaged");
    assert!(error.to_string().contains("jobs.redb is damaged"), "{error}");
    assert_eq!(std::fs::read(&file).expect("it is there"), bytes, "it was written to");
}

#[test]
fn a_store_whose_database_is_gone_is_not_taken_for_a_new_one() {
    let folder = tempfile::tempdir().expect("there is room");
    block_on(async {
        let store = open(folder.path());
        store.enqueue(&queue(), vec![job(1)]).await.expect("it takes jobs");
    });
    let file = folder.path().join("jobs.redb");
    let kept = std::fs::read(&file).expect("it is there");
    let emptied = || std::fs::write(&file, "").expect("it can be written");
    let removed = || std::fs::remove_file(&file).expect("it can be removed");
    for harm in [&emptied as &dyn Fn(), &removed] {
        harm();
        let error = Embedded::open(folder.path(), options()).expect_err("it has lost jobs");
        assert!(error.to_string().contains("jobs.redb is damaged"), "{error}");
        assert!(error.to_string().contains("bring back what was there"), "{error}");
    }
    // Nothing was written over what is left, so it can be brought back.
    std::fs::write(&file, kept).expect("it has room");
    let ready = block_on(async {
        let stats = open(folder.path()).stats(&queue()).await.expect("it counts");
        stats.jobs[State::Ready]
    });
    assert_eq!(ready, 1);
}

#[test]
fn order_and_counters_survive() {
    let folder = tempfile::tempdir().expect("there is room");
    block_on(async {
        let store = open(folder.path());
        store.enqueue(&queue(), (1..=5).map(job).collect()).await.expect("it takes jobs");
        let leased = lease(&store, 2).await;
        let ending = Ending::Release { checkpoint: Some(b"half".to_vec()) };
        let settlement = Settlement { id: id(2), epoch: leased.epoch, ending };
        store.settle(&queue(), HOLDER, vec![settlement]).await.expect("it is held");
        // The first is still held when the process ends.
        drop(store);

        let store = open(folder.path());
        let leased = lease(&store, 10).await;
        let order: Vec<JobId> = leased.jobs.iter().map(|job| job.id).collect();
        assert_eq!(order, [id(1), id(2), id(3), id(4), id(5)]);
        let first = &leased.jobs[0];
        assert_eq!((first.crashes, first.preemptions), (1, 0));
        let second = &leased.jobs[1];
        assert_eq!((second.crashes, second.preemptions), (0, 1));
        assert_eq!(second.checkpoint.as_deref(), Some(&b"half"[..]));
        let totals = store.stats(&queue()).await.expect("it counts").totals;
        assert_eq!((totals.submitted, totals.crashed, totals.preempted), (5, 1, 1));
    });
}

#[test]
fn a_job_that_takes_processes_with_it_is_put_aside() {
    let folder = tempfile::tempdir().expect("there is room");
    block_on(async {
        open(folder.path()).enqueue(&queue(), vec![job(1)]).await.expect("it takes jobs");
        for _ in 0..3 {
            assert_eq!(lease(&open(folder.path()), 1).await.jobs.len(), 1);
        }
        let store = open(folder.path());
        assert!(lease(&store, 1).await.jobs.is_empty());
        let found = records(&store, vec![id(1)]).await;
        assert_eq!((found[0].state, found[0].crashes), (State::Quarantined, 3));
        assert_eq!(found[0].error.as_deref(), Some("its worker was lost 3 times"));
    });
}

#[test]
fn a_closed_store_says_so() {
    let folder = tempfile::tempdir().expect("there is room");
    let store = open(folder.path());
    store.close();
    let answer = block_on(store.enqueue(&queue(), vec![job(1)]));
    assert!(matches!(answer, Err(StoreError::Closed)), "{answer:?}");
}

/// A process that submits and ends jobs, and says so when it is acknowledged, until it is killed.
#[test]
#[ignore = "another test starts it as a process of its own"]
#[allow(clippy::print_stdout, reason = "it is how it tells the test that started it")]
fn process_to_be_killed() {
    let dir = std::env::var("HEADCOUNT_CRASH_DIR").expect("it is started by another test");
    block_on(async {
        let durability = Durability::Interval(Duration::from_secs(60));
        let options = EmbeddedOptions { durability, ..options() };
        let store = Embedded::open(Path::new(&dir), options).expect("it opens");
        for number in 0.. {
            store.enqueue(&queue(), vec![job(number)]).await.expect("it takes jobs");
            println!("\nsubmitted {}", id(number));
            if number % 3 == 0 {
                let leased = lease(&store, 2).await;
                let ended = done(&leased).split_off(1);
                println!("\nheld {}", leased.jobs[0].id);
                for one in &ended {
                    println!("\nending {}", one.id);
                }
                store.settle(&queue(), HOLDER, ended.clone()).await.expect("they are held");
                for one in &ended {
                    println!("\nended {}", one.id);
                }
            }
        }
    });
}

/// All that the process said, up to the moment it was killed.
fn said_until_killed(dir: &Path) -> Vec<(String, JobId)> {
    let myself = std::env::current_exe().expect("a test has a file");
    let mut process = Process::new(myself)
        .args(["--exact", "process_to_be_killed", "--ignored", "--nocapture"])
        .env("HEADCOUNT_CRASH_DIR", dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a test can be started twice");
    let mut output = BufReader::new(process.stdout.take().expect("it is piped"));
    let mut text = String::new();
    while text.matches("submitted").count() < 300 {
        assert_ne!(output.read_line(&mut text).expect("it is text"), 0, "it ended early: {text}");
    }
    process.kill().expect("it runs");
    process.wait().expect("it is killed");
    output.read_to_string(&mut text).expect("it is text");
    // The last line may be cut off.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let words = whole.lines().filter_map(|line| line.split_once(' '));
    words.filter_map(|(word, id)| Some((word.to_owned(), id.parse().ok()?))).collect()
}

#[test]
fn a_killed_process_loses_nothing_that_it_acknowledged() {
    let folder = tempfile::tempdir().expect("there is room");
    let said = said_until_killed(folder.path());
    let ids = |word: &str| -> BTreeSet<JobId> {
        said.iter().filter(|(other, _)| other == word).map(|(_, id)| *id).collect()
    };
    let (submitted, held, ending, ended) =
        (ids("submitted"), ids("held"), ids("ending"), ids("ended"));
    assert!(!held.is_empty() && !ended.is_empty());
    let store = open(folder.path());
    let there = block_on(records(&store, submitted.iter().copied().collect()));
    let ids: BTreeSet<JobId> = there.iter().map(|job| job.id).collect();
    assert!(ids.is_disjoint(&ended), "what had ended is there again");
    let lost: Vec<&JobId> = submitted.difference(&ids).filter(|id| !ending.contains(id)).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    for job in there.iter().filter(|job| held.contains(&job.id)) {
        assert_eq!((job.state, job.crashes), (State::Ready, 1), "{}", job.id);
    }
}
