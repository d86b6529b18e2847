//! More than one server: a Cluster's slots, and a failover by Sentinels.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use headcount_core::jobs::port::{Backend, Listing};
use headcount_core::jobs::{JobId, State};
use headcount_queue::conformance::cases;
use headcount_queue::redis::RedisStore;
use tokio::task::JoinHandle;

use crate::server::{Server, free_port, until};
use crate::subject::{all_done, ask, at, block_on, connect, jobs, queue};

#[test]
fn all_keys_of_a_queue_are_in_one_slot_of_a_cluster() {
    let bus = free_port();
    let server = Server::start(&format!("--cluster-enabled yes --cluster-port {bus}"));
    server.ask("CLUSTER ADDSLOTSRANGE 0 16383");
    until("the cluster is up", || {
        format!("{:?}", server.ask("CLUSTER INFO")).contains("cluster_state:ok").then_some(())
    });
    let url = format!("redis+cluster://127.0.0.1:{}", server.port);
    for case in cases() {
        server.ask("FLUSHALL");
        block_on(async { case.play(&at(&url).await).await });
    }
}

/// A primary, its replica, and a Sentinel that watches them.
struct Watched {
    primary: Server,
    replica: Server,
    sentinel: Server,
}

impl Watched {
    fn start() -> Self {
        let primary = Server::start("");
        let replica = Server::start(&format!("--replicaof 127.0.0.1 {}", primary.port));
        // A Sentinel asks both when it begins, and then every ten seconds only. A replica counts as
        // connected before it is in step, and would be told as cut off until it is asked again.
        until("the replica is in step", || {
            let is_in_step = told_of_replication(&replica).contains("master_link_status:up");
            (is_in_step && replication(&primary, "connected_slaves") == 1).then_some(())
        });
        let settings = primary.path("sentinel.conf");
        // On a busy machine a primary that lives may be silent for a while, too. Nobody takes it
        // for dead before it is.
        let monitor = format!(
            "sentinel monitor main 127.0.0.1 {} 1\nsentinel down-after-milliseconds main 600000\n\
             sentinel failover-timeout main 2000\n",
            primary.port,
        );
        std::fs::write(&settings, monitor).expect("the settings can be written");
        let sentinel = Server::start_with(&settings, "--sentinel");
        until("the replica is known", || {
            let told = format!("{:?}", sentinel.ask("SENTINEL REPLICAS main"));
            (told.contains(&replica.port.to_string()) && told.contains("\"ok\"")).then_some(())
        });
        Self { primary, replica, sentinel }
    }

    fn url(&self) -> String {
        format!("redis+sentinel://127.0.0.1:{}/main", self.sentinel.port)
    }

    /// Waits until the replica has received all that the primary has written by now.
    fn until_replicated(&self) {
        let written = replication(&self.primary, "master_repl_offset");
        until("the replica has what was written", || {
            (written <= replication(&self.replica, "slave_repl_offset")).then_some(())
        });
    }

    /// From now on the Sentinel notices that the primary is gone.
    fn let_it_notice(&self) {
        self.sentinel.ask("SENTINEL SET main down-after-milliseconds 300");
    }
}

fn told_of_replication(server: &Server) -> String {
    let told = redis::from_redis_value::<String>(server.ask("INFO replication"));
    told.expect("it is text")
}

/// What a server says of its replication: how much of the stream of writes it has, or who has come.
fn replication(server: &Server, name: &str) -> u64 {
    let told = told_of_replication(server);
    let mut lines = told.lines().filter_map(|line| line.split_once(':'));
    let told =
        lines.find(|(field, _)| *field == name).map(|(_, value)| value.trim().parse::<u64>());
    told.expect("a server says so").expect("it is a number")
}

#[test]
fn a_failover_by_sentinels_is_followed() {
    let mut watched = Watched::start();
    block_on(async {
        let store = connect(&watched.url()).await;
        store.enqueue(&queue(), jobs(0..100)).await.expect("it takes jobs");
        // What the replica has not heard of goes with the primary. (`WAIT` knows only of what its
        // own connection wrote.)
        watched.until_replicated();
        watched.primary.kill();
        watched.let_it_notice();

        submit(&store, 100).await;
        let stats = store.stats(&queue()).await.expect("it counts");
        assert_eq!(stats.jobs[State::Ready], 101);
    });
}

/// Submits a number until it is acknowledged.
async fn submit(store: &RedisStore, number: u32) {
    let begin = Instant::now();
    while let Err(error) = store.enqueue(&queue(), jobs([number.into()])).await {
        assert!(error.is_passing(), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(60), "it never went on: {error}");
        tokio::task::yield_now().await;
    }
}

/// How many jobs are submitted before a failover, and after it.
const BEFORE: u32 = 1_000;
const AFTER: u32 = 1_000;

/// How far a producer is.
#[derive(Default)]
struct Progress {
    /// So many were acknowledged.
    count: AtomicU32,
    is_done: AtomicBool,
}

/// Submits one number after the other, until so many have come after the failover.
async fn produce<T>(store: &RedisStore, progress: &Progress, failover: &JoinHandle<T>) {
    let mut after = 0;
    for number in 0.. {
        submit(store, number).await;
        progress.count.store(number + 1, Ordering::SeqCst);
        after += u32::from(failover.is_finished());
        if after == AFTER {
            break;
        }
    }
    progress.is_done.store(true, Ordering::SeqCst);
}

/// Takes and ends jobs until all were submitted and none is left to take. Answers who ran.
async fn consume(store: &RedisStore, progress: &Progress) -> BTreeSet<JobId> {
    let mut ran = BTreeSet::new();
    loop {
        let is_last = progress.is_done.load(Ordering::SeqCst);
        match store.lease(&queue(), ask(1, 20)).await {
            Ok(leased) if leased.jobs.is_empty() && is_last => return ran,
            Ok(leased) if leased.jobs.is_empty() => tokio::task::yield_now().await,
            Ok(leased) => {
                ran.extend(leased.jobs.iter().map(|job| job.id));
                // What the new primary has not heard of is stale there, and runs again.
                drop(store.settle(&queue(), ask(1, 0).holder, all_done(&leased)).await);
            }
            Err(error) => {
                assert!(error.is_passing(), "{error}");
                tokio::task::yield_now().await;
            }
        }
    }
}

/// Kills the primary while jobs come and go. Answers which of them may be lost by it: the replica
/// had received all that came before, and the old primary never saw what came after.
fn strike(mut watched: Watched, progress: &Progress) -> (Watched, Range<u32>) {
    until("many are submitted", || (BEFORE <= progress.count.load(Ordering::SeqCst)).then_some(()));
    let sure = progress.count.load(Ordering::SeqCst);
    watched.until_replicated();
    watched.primary.kill();
    // The producer waits for each, so one more answer may have been on its way. Nobody else can
    // answer yet.
    let doubtful = sure..progress.count.load(Ordering::SeqCst) + 1;
    watched.let_it_notice();
    (watched, doubtful)
}

#[test]
fn a_failover_under_load_loses_nothing_that_the_replica_had_received() {
    block_on(async {
        let watched = Watched::start();
        let (producer, consumer) = (connect(&watched.url()).await, connect(&watched.url()).await);
        let progress = Arc::<Progress>::default();
        let seen = Arc::clone(&progress);
        let failover = tokio::task::spawn_blocking(move || strike(watched, &seen));
        let ((), ran) =
            tokio::join!(produce(&producer, &progress, &failover), consume(&consumer, &progress));
        let (_watched, doubtful) = failover.await.expect("it was killed");

        let stats = consumer.stats(&queue()).await.expect("it counts");
        assert_eq!(stats.jobs[State::Ready], 0, "all that is there was run");
        let numbers = 0..progress.count.load(Ordering::SeqCst);
        let id = |number: u32| JobId::from_u128(number.into());
        let missing: Vec<u32> = numbers.filter(|number| !ran.contains(&id(*number))).collect();
        // Those of a lease whose answer was lost are held, and would come back when it runs out.
        let ids = missing.iter().map(|number| id(*number)).collect();
        let held = consumer.list(&queue(), Listing::Ids(ids)).await.expect("it lists").jobs;
        let held: BTreeSet<JobId> = held.iter().map(|job| job.id).collect();
        let lost = missing.into_iter().filter(|number| !held.contains(&id(*number)));
        let beyond: Vec<u32> = lost.filter(|number| !doubtful.contains(number)).collect();
        let (count, first) = (beyond.len(), beyond.first());
        assert_eq!(first, None, "{count} others than {doubtful:?} are lost");
    });
}
