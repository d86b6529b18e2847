//! Many at once: jobs, stores, callers.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use headcount_core::jobs::port::{Backend, Command, NewJob};
use headcount_core::jobs::{JobId, Start, State};
use headcount_queue::redis::RedisStore;

use crate::server::Server;
use crate::subject::{all_done, ask, block_on, connect, jobs, queue};

/// Leases and settles until nothing is left; the jobs in the order in which they came.
async fn drain(store: &RedisStore, holder: u128, at_once: usize) -> Vec<JobId> {
    let mut drained = Vec::new();
    loop {
        let leased = store.lease(&queue(), ask(holder, at_once)).await.expect("it hands out");
        if leased.jobs.is_empty() {
            return drained;
        }
        drained.extend(leased.jobs.iter().map(|job| job.id));
        let holder = ask(holder, 0).holder;
        store.settle(&queue(), holder, all_done(&leased)).await.expect("it takes them back");
    }
}

#[test]
fn two_stores_that_compete_run_no_job_twice() {
    let server = Server::start("");
    block_on(async {
        let (one, other) = (connect(&server.url()).await, connect(&server.url()).await);
        one.enqueue(&queue(), jobs(0..5000)).await.expect("it takes jobs");
        let (mine, theirs) = tokio::join!(drain(&one, 1, 7), drain(&other, 2, 11));
        assert_eq!(mine.len() + theirs.len(), 5000);
        let all: BTreeSet<JobId> = mine.iter().chain(&theirs).copied().collect();
        assert_eq!(all.len(), 5000);
        let stats = one.stats(&queue()).await.expect("it counts");
        assert_eq!((stats.totals.done, stats.totals.stale), (5000, 0));
        assert_eq!(stats.demand(), 0);
    });
}

#[test]
fn ten_thousand_jobs_may_be_due_in_the_same_millisecond() {
    let server = Server::start("");
    block_on(async {
        let store = connect(&server.url()).await;
        let now = store.stats(&queue()).await.expect("it counts").now;
        let soon = Start::At(now + Duration::from_millis(500));
        let late = |mut job: NewJob| {
            job.spec.start = soon;
            job
        };
        store.steer(&queue(), Command::Pause).await.expect("it can be steered");
        let all = jobs(0..10_000).into_iter().map(late).collect();
        store.enqueue(&queue(), all).await.expect("it takes jobs");
        store.steer(&queue(), Command::Resume).await.expect("it can be steered");
        let mut drained = Vec::new();
        while drained.len() < 10_000 {
            drained.extend(drain(&store, 1, 500).await);
        }
        let distinct: BTreeSet<&JobId> = drained.iter().collect();
        assert_eq!(distinct.len(), 10_000);
    });
}

#[test]
fn a_long_backlog_is_as_quick_as_a_short_one() {
    let server = Server::start("");
    block_on(async {
        let store = connect(&server.url()).await;
        for from in (0..200_000).step_by(10_000) {
            store.enqueue(&queue(), jobs(from..from + 10_000)).await.expect("it takes jobs");
        }
        let leased = store.lease(&queue(), ask(1, 1000)).await.expect("it hands out");
        assert_eq!(leased.jobs[0].id, JobId::from_u128(0));
        store.settle(&queue(), ask(1, 0).holder, all_done(&leased)).await.expect("taken back");
        let stats = store.stats(&queue()).await.expect("it counts");
        assert_eq!(stats.jobs[State::Ready], 199_000);
        assert_eq!(store.steer(&queue(), Command::Purge).await.expect("it purges"), 199_000);
        assert_eq!(store.stats(&queue()).await.expect("it counts").jobs[State::Ready], 0);
    });
}

#[test]
fn calls_that_come_together_travel_together() {
    let server = Server::start("");
    block_on(async {
        let store = Arc::new(connect(&server.url()).await);
        store.enqueue(&queue(), jobs([9999])).await.expect("it takes jobs");
        server.ask("CONFIG RESETSTAT");
        let submits = (0..200).map(|number| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.enqueue(&queue(), jobs([number])).await })
        });
        for submit in submits.collect::<Vec<_>>() {
            submit.await.expect("no panic").expect("it takes jobs");
        }
        let stats = server.ask("INFO commandstats");
        let redis::Value::BulkString(stats) = stats else { panic!("{stats:?}") };
        let stats = String::from_utf8_lossy(&stats).into_owned();
        let line = stats.lines().find(|line| line.starts_with("cmdstat_evalsha:"));
        let calls = line.and_then(|line| line.split(['=', ',']).nth(1)?.parse::<u32>().ok());
        assert!(calls.is_some_and(|calls| calls < 100), "{line:?}");
    });
}

#[test]
fn the_sign_stays_for_what_a_lease_leaves_and_goes_with_the_last_job() {
    let server = Server::start("");
    block_on(async {
        let store = connect(&server.url()).await;
        store.enqueue(&queue(), jobs([1, 2, 3])).await.expect("it takes jobs");
        for (jobs_max, sign) in [(2, 1), (2, 0), (2, 0)] {
            store.lease(&queue(), ask(1, jobs_max)).await.expect("it hands out");
            let found = server.ask("EXISTS headcount:{jobs}:wake");
            assert_eq!(found, redis::Value::Int(sign));
        }
    });
}
