//! What a Redis can do to us, and that jobs survive it.

use std::time::{Duration, Instant};

use headcount_core::jobs::port::{Backend, StoreError, Submitted};
use headcount_core::jobs::{JobId, State};
use headcount_queue::redis::RedisStore;

use crate::server::Server;
use crate::subject::{all_done, ask, block_on, connect, jobs, queue};

/// Submits until it is taken, as every caller should: the same id again.
async fn insist(store: &RedisStore, number: u128) -> Submitted {
    let begin = Instant::now();
    loop {
        match store.enqueue(&queue(), jobs([number])).await {
            Ok(submitted) => return submitted[0],
            Err(error) => assert!(error.is_passing(), "{error}"),
        }
        assert!(begin.elapsed() < Duration::from_secs(10), "it never came back");
        tokio::task::yield_now().await;
    }
}

#[test]
fn what_was_acknowledged_survives_a_crash_of_redis() {
    let mut server = Server::start("--appendonly yes --appendfsync always");
    block_on(async {
        let store = connect(&server.url()).await;
        for number in 0..200 {
            store.enqueue(&queue(), jobs([number])).await.expect("it takes jobs");
        }
        let leased = store.lease(&queue(), ask(1, 50)).await.expect("it hands out");
        let half = all_done(&leased).into_iter().take(25).collect();
        store.settle(&queue(), ask(1, 0).holder, half).await.expect("it takes them back");

        server.kill();
        assert!(store.stats(&queue()).await.is_err_and(|error| error.is_passing()));
        server.restart();

        let begin = Instant::now();
        assert_eq!(insist(&store, 200).await, Submitted::New(JobId::from_u128(200)));
        assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
        let stats = store.stats(&queue()).await.expect("it counts");
        assert_eq!((stats.jobs[State::Ready], stats.jobs[State::Running]), (151, 25));
        assert_eq!(stats.totals.done, 25);
    });
}

#[test]
fn scripts_that_redis_forgot_are_told_again() {
    let server = Server::start("");
    block_on(async {
        let store = connect(&server.url()).await;
        store.enqueue(&queue(), jobs([1])).await.expect("it takes jobs");
        server.ask("SCRIPT FLUSH");
        store.enqueue(&queue(), jobs([2])).await.expect("it takes jobs");
        server.ask("SCRIPT FLUSH");
        let leased = store.lease(&queue(), ask(1, 9)).await.expect("it hands out");
        assert_eq!(leased.jobs.len(), 2);
    });
}

#[test]
fn connections_that_break_cost_no_job_and_double_none() {
    let server = Server::start("");
    block_on(async {
        let store = connect(&server.url()).await;
        for number in 0..300 {
            if number % 10 == 0 {
                server.ask("CLIENT KILL TYPE normal SKIPME yes");
            }
            insist(&store, number).await;
        }
        let stats = store.stats(&queue()).await;
        let stats = match stats {
            Ok(stats) => stats,
            Err(_) => store.stats(&queue()).await.expect("it counts"),
        };
        assert_eq!(stats.jobs[State::Ready], 300);
    });
}

#[test]
fn a_full_memory_refuses_jobs_and_lets_those_that_run_end() {
    let server = Server::start("--maxmemory-policy noeviction");
    block_on(async {
        let store = connect(&server.url()).await;
        store.enqueue(&queue(), jobs(0..10)).await.expect("it takes jobs");
        let leased = store.lease(&queue(), ask(1, 5)).await.expect("it hands out");

        server.ask("CONFIG SET maxmemory 1");
        let refused = store.enqueue(&queue(), jobs([99])).await.expect_err("there is no room");
        assert!(matches!(refused, StoreError::Unwritable(_)), "{refused:?}");
        let holder = ask(1, 0).holder;
        store.settle(&queue(), holder, all_done(&leased)).await.expect("it makes room");
        let more = store.lease(&queue(), ask(1, 5)).await.expect("it hands out");
        assert_eq!(more.jobs.len(), 5);

        server.ask("CONFIG SET maxmemory 0");
        store.enqueue(&queue(), jobs([99])).await.expect("there is room again");
        let stats = store.stats(&queue()).await.expect("it counts");
        assert_eq!((stats.jobs[State::Ready], stats.totals.submitted), (1, 11));
    });
}

#[test]
fn a_redis_that_takes_no_writes_is_unwritable() {
    let server = Server::start("--min-replicas-to-write 1");
    block_on(async {
        let store = connect(&server.url()).await;
        let refused = store.enqueue(&queue(), jobs([1])).await.expect_err("no replica is there");
        assert!(matches!(refused, StoreError::Unwritable(_)), "{refused:?}");
        server.ask("CONFIG SET min-replicas-to-write 0");
        store.enqueue(&queue(), jobs([1])).await.expect("it takes jobs");
    });
}

#[test]
fn whoever_waits_when_redis_goes_is_told_and_can_wait_again() {
    let mut server = Server::start("--appendonly yes --appendfsync everysec");
    block_on(async {
        let store = connect(&server.url()).await;
        store.enqueue(&queue(), jobs([1])).await.expect("it takes jobs");
        store.lease(&queue(), ask(1, 1)).await.expect("it hands out");
        let (long, queue) = (Duration::from_secs(300), queue());
        let mut wait = store.wait(&queue, long);
        // Let it begin: then the server has somebody who blocks. The first sign is an old one.
        while !format!("{:?}", server.ask("INFO clients")).contains("blocked_clients:1") {
            let soon = tokio::time::timeout(Duration::from_millis(1), &mut wait).await;
            if let Ok(woken) = soon {
                woken.expect("waiting is possible");
                wait = store.wait(&queue, long);
            }
        }
        server.kill();
        assert!(wait.await.is_err_and(|error| error.is_passing()));
        server.restart();
        insist(&store, 2).await;
        store.wait(&queue, long).await.expect("there is work");
    });
}
