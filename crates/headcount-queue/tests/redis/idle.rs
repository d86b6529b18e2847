//! What a queue without work costs its Redis.

use std::sync::Arc;

use headcount_core::Timestamp;
use headcount_core::jobs::port::Backend;
use headcount_queue::model::HandClock;
use headcount_queue::redis::{RedisOptions, RedisStore};
use redis::Value;

use crate::scene::{SECOND, Scene};
use crate::server::Server;
use crate::subject::{block_on, jobs, queue};

/// A look at every place takes more commands than this, and a sweep without one takes fewer.
const A_LOOK: u64 = 30;

/// A server, a store with the usual distance between repairs, and a clock for it.
struct Idle {
    server: Server,
    clock: Arc<HandClock>,
    store: RedisStore,
}

impl Idle {
    async fn new() -> Self {
        let server = Server::start("");
        let clock = Arc::new(HandClock::at(Timestamp::from_secs(1_700_000_000)));
        let store = connect(&server, &clock).await;
        store.enqueue(&queue(), jobs([1, 2, 3])).await.expect("it takes jobs");
        Self { server, clock, store }
    }

    /// How many commands the server carried out for a sweep, those in scripts included.
    async fn sweep(&self, store: &RedisStore) -> u64 {
        self.server.ask("CONFIG RESETSTAT");
        store.sweep(&queue(), 1000).await.expect("it sweeps");
        commands(&self.server)
    }

    /// Whether each of so many sweeps looked for what cannot be, a second apart.
    async fn looks(&self, sweeps: usize) -> String {
        let mut looks = String::new();
        for _ in 0..sweeps {
            self.clock.advance(SECOND);
            looks.push(if A_LOOK < self.sweep(&self.store).await { 'x' } else { '.' });
        }
        looks
    }
}

async fn connect(server: &Server, clock: &Arc<HandClock>) -> RedisStore {
    let mut options = RedisOptions::default();
    options.clock = Some(clock.clone());
    RedisStore::connect(&server.url(), options).await.expect("the server is up")
}

fn commands(server: &Server) -> u64 {
    let Value::BulkString(told) = server.ask("INFO commandstats") else { panic!("it is a text") };
    let told = String::from_utf8(told).expect("it is a text");
    let calls = told.lines().filter_map(|line| line.split_once("calls=")?.1.split(',').next());
    calls.map(|calls| calls.parse::<u64>().expect("a number")).sum()
}

#[test]
fn what_cannot_be_is_looked_for_every_ten_seconds() {
    block_on(async {
        let idle = Idle::new().await;
        assert_eq!(idle.looks(25).await, "x.........x.........x....");
    });
}

#[test]
fn however_many_processes_there_are() {
    block_on(async {
        let idle = Idle::new().await;
        let mut others = Vec::new();
        for _ in 0..5 {
            others.push(connect(&idle.server, &idle.clock).await);
        }
        for other in &others {
            assert!(A_LOOK < idle.sweep(other).await, "a new process looks once");
        }
        idle.sweep(&idle.store).await;
        let mut all = 0;
        for _ in 0..20 {
            idle.clock.advance(SECOND);
            for store in &others {
                all += u64::from(A_LOOK < idle.sweep(store).await);
            }
        }
        assert_eq!(all, 2, "looks in 20 s");
    });
}

#[test]
fn a_connection_made_anew_looks_at_once() {
    block_on(async {
        let idle = Idle::new().await;
        assert_eq!(idle.looks(2).await, "x.");
        idle.server.ask("CLIENT KILL TYPE normal SKIPME yes");
        while idle.store.stats(&queue()).await.is_err() {
            tokio::task::yield_now().await;
        }
        assert_eq!(idle.looks(3).await, "x..");
    });
}

#[test]
fn whoever_met_what_cannot_be_has_it_looked_for_at_once() {
    block_on(async {
        let idle = Idle::new().await;
        assert_eq!(idle.looks(2).await, "x.");
        idle.server.ask(&crate::scene::full("HDEL ~jobs #2"));
        idle.store.lease(&queue(), crate::subject::ask(1, 9)).await.expect("it hands out");
        // What the first look put right, the second finds to be so.
        let looks = idle.looks(4).await;
        assert!(looks.starts_with('x') && looks.ends_with(".."), "{looks}");
    });
}

#[test]
fn a_clock_that_jumped_back_puts_nothing_off() {
    block_on(async {
        let scene = Scene::new().await;
        scene.on.store.enqueue(&queue(), jobs([1])).await.expect("it takes jobs");
        let clock = |secs| Arc::new(HandClock::at(Timestamp::from_secs(secs)));
        let store = connect(&scene.server, &clock(1_700_000_000)).await;
        store.sweep(&queue(), 10).await.expect("it sweeps");
        // Another one tells of a repair in years.
        let ahead = connect(&scene.server, &clock(1_800_000_000)).await;
        ahead.sweep(&queue(), 10).await.expect("it sweeps");
        scene.damage("DEL ~lane:5:");
        assert!(0 < store.sweep(&queue(), 10).await.expect("it sweeps").repaired);
    });
}
