//! Jobs under faults: real processes, killed and restarted, and a checker that believes nobody.
//!
//! The sizes are such that a run of all tests can afford them; `cargo xtask chaos` multiplies them
//! by way of `HEADCOUNT_CHAOS_SIZE`.

#![allow(clippy::print_stdout, reason = "what was survived is worth knowing")]

mod checker;
mod history;
mod node;
mod proxy;
mod store;
mod storm;
mod witness;

mod mutants;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use checker::Promises;
use node::{ORDERS, Orders, Wave, Works};
use proxy::{Proxy, Way};
use rustix::process::Signal;
use store::{Durability, Redis};
use storm::{PROMISES, Storm, pause};
use tempfile::TempDir;

const CALM: Wave = Wave {
    every_millis: 0,
    millis_max: 20,
    forgotten: false,
    fails_each: 10,
    panics_each: 50,
    aborts_each: 0,
};
/// For storms that go on for a while: there are jobs in hand whenever one strikes.
const STEADY: Wave = Wave { every_millis: 2, millis_max: 60, ..CALM };

/// One after the other: two at once would be in each other's way.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// By how much everything is larger than in a run of all tests.
fn size() -> u64 {
    let told = std::env::var("HEADCOUNT_CHAOS_SIZE");
    told.ok().and_then(|told| told.parse().ok()).unwrap_or(1)
}

#[test]
#[ignore = "no test: it is what the others start"]
fn a_node_of_a_storm() {
    let Ok(orders) = std::env::var(ORDERS) else { return };
    let orders: Orders = serde_json::from_str(&orders).expect("orders");
    node::run(&orders);
}

/// Three that work and one that submits.
fn on_redis(redis: &Redis, directory: TempDir, wave: Wave, jobs: u64) -> Storm {
    let mut storm = Storm::new(directory, redis.url(), wave);
    for _ in 0..3 {
        storm.start(Orders { works: Works::InAPool, ..storm.orders() });
    }
    storm.start(Orders { submit: (0, jobs), ..storm.orders() });
    storm
}

/// One that does both, in a store of its own.
fn embedded(directory: TempDir, wave: Wave, jobs: u64) -> Storm {
    let store = directory.path().join("store");
    let store = store.to_str().expect("a plain path").to_owned();
    let mut storm = Storm::new(directory, store, wave);
    let orders = storm.orders();
    storm.start(Orders { works: Works::InAPool, leaves: true, submit: (0, jobs), ..orders });
    storm
}

/// Kills so many, this far apart in the mean.
fn strikes(storm: &mut Storm, count: u64, millis: u64) {
    for _ in 0..count {
        let millis = millis / 2 + storm.below(millis);
        pause(Duration::from_millis(millis));
        storm.strike();
    }
}

#[test]
fn kills_lose_nothing_on_redis() {
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let redis = Redis::start(directory.path(), Durability::Everysec);
    let mut storm = on_redis(&redis, directory, STEADY, 3_000 * size());
    strikes(&mut storm, 10 * size(), 650);
    println!("{}", storm.judge(PROMISES));
}

#[test]
fn kills_lose_nothing_of_what_is_done_where_it_was_leased() {
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let redis = Redis::start(directory.path(), Durability::Everysec);
    let wave = Wave { millis_max: 0, forgotten: true, ..CALM };
    let mut storm = Storm::new(directory, redis.url(), wave);
    let orders = storm.orders();
    storm.start(Orders { submit: (0, 20_000 * size()), ..orders.clone() });
    // So that there is always more to do for whoever is not killed.
    storm.until_submitted();
    for _ in 0..2 {
        storm.start(Orders { works: Works::Bare, ..orders.clone() });
    }
    strikes(&mut storm, 10 * size(), 200);
    println!("{}", storm.judge(Promises { forgets: true, ..PROMISES }));
}

#[test]
fn kills_lose_nothing_in_a_file() {
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let mut storm = embedded(directory, STEADY, 3_000 * size());
    strikes(&mut storm, 10 * size(), 650);
    println!("{}", storm.judge(PROMISES));
}

#[test]
fn a_redis_that_dies_loses_nothing_that_it_promised_to_keep() {
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let mut redis = Redis::start(directory.path(), Durability::Always);
    let storm = on_redis(&redis, directory, STEADY, 1_500 * size());
    for _ in 0..3 * size() {
        pause(Duration::from_millis(800));
        redis.kill();
        pause(Duration::from_millis(200));
        redis.revive();
    }
    println!("{}", storm.judge(PROMISES));
}

#[test]
fn a_redis_that_syncs_every_second_loses_no_more_than_that() {
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let mut redis = Redis::start(directory.path(), Durability::Everysec);
    let storm = on_redis(&redis, directory, STEADY, 1_500 * size());
    for _ in 0..2 * size() {
        pause(Duration::from_millis(800));
        redis.kill();
        redis.revive();
    }
    // A process that dies leaves what it wrote to the kernel; only its own buffer is lost.
    let lost_max = 100 * usize::try_from(size()).expect("it is small");
    println!("{}", storm.judge(Promises { lost_max, ..PROMISES }));
}

#[test]
fn a_redis_that_keeps_nothing_is_worked_with_again() {
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let mut redis = Redis::start(directory.path(), Durability::None);
    let storm = on_redis(&redis, directory, CALM, 1_000 * size());
    pause(Duration::from_millis(800));
    redis.kill();
    redis.revive();
    let findings = storm.judge(Promises { lost_max: usize::MAX, ..PROMISES });
    println!("{findings}");
}

#[test]
fn who_slept_longer_than_its_lease_is_refused() {
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let redis = Redis::start(directory.path(), Durability::Everysec);
    let wave = Wave { millis_max: 300, ..CALM };
    // Enough of them that not all are done when everybody is stopped.
    let mut storm = on_redis(&redis, directory, wave, 1_200);
    pause(Duration::from_millis(1_500));
    storm.signal(Signal::STOP);
    pause(Duration::from_secs(10));
    // Those who come while all others sleep take over what they hold.
    let orders = storm.orders();
    storm.start(Orders { works: Works::InAPool, ..orders });
    pause(Duration::from_secs(2));
    storm.signal(Signal::CONT);
    let findings = storm.judge(Promises { recovery_max: Duration::from_secs(30), ..PROMISES });
    println!("{findings}");
    assert!(0 < findings.stale, "somebody came back too late: {findings}");
}

#[test]
fn who_is_cut_off_in_one_direction_harms_nobody() {
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let redis = Redis::start(directory.path(), Durability::Everysec);
    let ways = [Way::ToServer, Way::FromServer].map(|way| (way, Proxy::to(redis.port())));
    let wave = Wave { every_millis: 3, millis_max: 100, ..CALM };
    let mut storm = on_redis(&redis, directory, wave, 3_000 * size());
    for (_, proxy) in &ways {
        let orders = storm.orders();
        storm.start(Orders { works: Works::InAPool, store: proxy.url(), ..orders });
    }
    for _ in 0..size() {
        pause(Duration::from_secs(1));
        for (way, proxy) in &ways {
            proxy.cut(*way);
        }
        // Longer than a lease: others take over what the two hold.
        pause(Duration::from_secs(10));
        for (way, proxy) in &ways {
            proxy.mend(*way);
        }
    }
    let findings = storm.judge(PROMISES);
    println!("{findings}");
    assert_eq!(findings.kills, 0, "nobody was killed: {findings}");
}

#[test]
fn poison_is_put_aside_and_holds_up_nobody() {
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let wave = Wave { aborts_each: 100, ..CALM };
    let mut storm = embedded(directory, wave, 500 * size());
    storm.revive_until(Storm::gone);
    println!("{}", storm.judge(PROMISES));
}

#[test]
fn a_restless_size_loses_nothing() {
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let store = directory.path().join("store").to_str().expect("a plain path").to_owned();
    let mut storm = Storm::new(directory, store, CALM);
    let jobs = 2_000 * size();
    let orders = Orders { works: Works::InAPool, leaves: true, restless: true, ..storm.orders() };
    storm.start(Orders { submit: (0, jobs), ..orders });
    storm.revive_until(Storm::gone);
    let findings = storm.judge(PROMISES);
    assert_eq!(findings.again_after_crash, 0, "nobody was killed: {findings}");
    println!("{findings}");
}

#[test]
fn those_who_are_told_to_stop_hand_everything_back() {
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let redis = Redis::start(directory.path(), Durability::Everysec);
    let mut storm = on_redis(&redis, directory, STEADY, 2_000 * size());
    for _ in 0..4 * size() {
        pause(Duration::from_millis(700));
        storm.signal(Signal::TERM);
        storm.revive_all();
    }
    let findings = storm.judge(PROMISES);
    println!("{findings}");
    assert_eq!(findings.again_after_crash, 0, "nobody was killed: {findings}");
}
