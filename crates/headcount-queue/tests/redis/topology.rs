//! More than one server: a Cluster's slots, and a failover by Sentinels.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use headcount_core::jobs::port::{Backend, Listing};
use headcount_core::jobs::{JobId, State};
use headcount_queue::conformance::cases;
use headcount_queue::redis::RedisStore;
use redis::Value;

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
        let settings = primary.path("sentinel.conf");
        let monitor = format!(
            "sentinel monitor main 127.0.0.1 {} 1\nsentinel down-after-milliseconds main 300\n\
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
}

#[test]
fn a_failover_by_sentinels_is_followed() {
    let mut watched = Watched::start();
    block_on(async {
        let store = connect(&watched.url()).await;
        store.enqueue(&queue(), jobs(0..100)).await.expect("it takes jobs");
        // What the replica has not heard of goes with the primary. (`WAIT` knows only of what its
        // own connection wrote.)
        until("the replica has them", || {
            (watched.replica.ask("HLEN headcount:{jobs}:jobs") == Value::Int(100)).then_some(())
        });
        watched.primary.kill();

        let begin = Instant::now();
        while let Err(error) = store.enqueue(&queue(), jobs([100])).await {
            assert!(error.is_passing(), "{error}");
            assert!(begin.elapsed() < Duration::from_secs(30), "it never went on: {error}");
            tokio::task::yield_now().await;
        }
        let stats = store.stats(&queue()).await.expect("it counts");
        assert_eq!(stats.jobs[State::Ready], 101);
    });
}

/// How many jobs are submitted around a failover, and before it.
const SUBMITS: u128 = 3_000;
const BEFORE: u128 = 1_000;
/// So much of what the primary acknowledged last may not have reached its replica.
const LOST_MAX: usize = 50;

/// Submits every number, each until it is acknowledged, and tells how far it is.
async fn produce(store: &RedisStore, at: &AtomicU32) {
    for number in 0..SUBMITS {
        while let Err(error) = store.enqueue(&queue(), jobs([number])).await {
            assert!(error.is_passing(), "{error}");
            tokio::task::yield_now().await;
        }
        at.store(u32::try_from(number).expect("they are few"), Ordering::Relaxed);
    }
}

/// Takes and ends jobs until all have come or nothing has come for a while. Answers who ran.
async fn consume(store: &RedisStore, at: &AtomicU32) -> BTreeSet<JobId> {
    let (mut ran, mut last) = (BTreeSet::new(), Instant::now());
    let is_over = |ran: &BTreeSet<JobId>, last: Instant| {
        let all = u128::from(at.load(Ordering::Relaxed)) + 1 == SUBMITS;
        all && (ran.len() as u128 == SUBMITS || Duration::from_secs(1) < last.elapsed())
    };
    while !is_over(&ran, last) {
        match store.lease(&queue(), ask(1, 20)).await {
            Ok(leased) if leased.jobs.is_empty() => tokio::task::yield_now().await,
            Ok(leased) => {
                ran.extend(leased.jobs.iter().map(|job| job.id));
                last = Instant::now();
                // What the new primary has not heard of is stale there, and runs again.
                drop(store.settle(&queue(), ask(1, 0).holder, all_done(&leased)).await);
            }
            Err(error) => {
                assert!(error.is_passing(), "{error}");
                tokio::task::yield_now().await;
            }
        }
    }
    ran
}

#[test]
fn a_failover_under_load_loses_no_more_than_its_last_moments() {
    let mut watched = Watched::start();
    let at = AtomicU32::new(0);
    let lost = block_on(async {
        let (producer, consumer) = (connect(&watched.url()).await, connect(&watched.url()).await);
        let fail_over = async {
            while u128::from(at.load(Ordering::Relaxed)) < BEFORE {
                tokio::task::yield_now().await;
            }
            watched.primary.kill();
        };
        let ((), ran, ()) =
            tokio::join!(produce(&producer, &at), consume(&consumer, &at), fail_over);
        let stats = consumer.stats(&queue()).await.expect("it counts");
        assert_eq!(stats.jobs[State::Ready], 0, "all that is there was run");
        let ids = (0..SUBMITS).map(JobId::from_u128);
        let missing: Vec<JobId> = ids.filter(|id| !ran.contains(id)).collect();
        // Those of a lease whose answer was lost are held, and would come back when it runs out.
        let held = consumer.list(&queue(), Listing::Ids(missing.clone())).await;
        missing.len() - held.expect("it lists").jobs.len()
    });
    assert!(lost <= LOST_MAX, "{lost} of {SUBMITS} acknowledged jobs were lost");
}
