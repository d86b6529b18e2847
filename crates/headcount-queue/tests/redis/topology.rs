//! More than one server: a Cluster's slots, and a failover by Sentinels.

use std::time::{Duration, Instant};

use headcount_core::jobs::State;
use headcount_core::jobs::port::Backend;
use headcount_queue::conformance::cases;
use redis::Value;

use crate::server::{Server, free_port, until};
use crate::subject::{at, block_on, connect, jobs, queue};

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

#[test]
fn a_failover_by_sentinels_is_followed() {
    let mut primary = Server::start("");
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

    let url = format!("redis+sentinel://127.0.0.1:{}/main", sentinel.port);
    block_on(async {
        let store = connect(&url).await;
        store.enqueue(&queue(), jobs(0..100)).await.expect("it takes jobs");
        // What the replica has not heard of goes with the primary. (`WAIT` knows only of what its
        // own connection wrote.)
        until("the replica has them", || {
            (replica.ask("HLEN headcount:{jobs}:jobs") == Value::Int(100)).then_some(())
        });
        primary.kill();

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
