//! Data that is not ours, settings that cost jobs, addresses that make no sense.

use headcount_core::jobs::port::{Backend, StoreError};
use headcount_queue::redis::{ConnectError, RedisOptions, RedisStore, Warning};

use crate::server::Server;
use crate::subject::{block_on, connect, jobs, queue};

#[track_caller]
fn check_foreign(words: &str, said: &str) {
    let server = Server::start("");
    server.ask(words);
    block_on(async {
        let store = connect(&server.url()).await;
        let before = server.ask("DBSIZE");
        let error = store.enqueue(&queue(), jobs([1])).await.expect_err("it is not ours");
        assert!(matches!(error, StoreError::Format(_)), "{error:?}");
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(server.ask("DBSIZE"), before, "nothing was written");
    });
}

#[test]
fn what_another_application_wrote_is_left_alone() {
    check_foreign("SET headcount:{jobs}:jobs 1", "holds a string where a hash belongs");
    check_foreign("HSET headcount:{jobs}:jobs a b", "another application");
    check_foreign("SET headcount:{jobs}:v much", "another application");
    check_foreign("SET headcount:{jobs}:v 2", "format 2, this version reads up to 1");
}

#[track_caller]
fn check_warnings(words: &str, expected: &[Warning]) {
    let server = Server::start(words);
    let warnings = block_on(async { connect(&server.url()).await.check().await });
    assert_eq!(warnings.expect("it answers"), expected);
}

#[test]
fn settings_that_could_cost_jobs_are_told() {
    check_warnings("--appendonly yes --appendfsync always", &[]);
    check_warnings("--appendonly yes", &[Warning::LateSync("everysec".to_owned())]);
    let evicts = Warning::Evicts("allkeys-lru".to_owned());
    check_warnings("--maxmemory-policy allkeys-lru", &[Warning::NoAppendLog, evicts]);
}

#[track_caller]
fn check_refused(url: &str, expected: fn(&ConnectError) -> bool) {
    let refused = block_on(RedisStore::connect(url, RedisOptions::default()));
    let error = refused.expect_err("it cannot be used");
    assert!(expected(&error), "{error:?}");
}

#[test]
fn a_server_that_cannot_be_used_is_refused_in_words() {
    check_refused("http://127.0.0.1", |error| matches!(error, ConnectError::Address(_)));
    let nameless = "redis+sentinel://127.0.0.1:1";
    check_refused(nameless, |error| matches!(error, ConnectError::Address(_)));
    let nobody = format!("redis://127.0.0.1:{}", crate::server::free_port());
    check_refused(&nobody, |error| matches!(error, ConnectError::Unreachable(_)));
    let locked = Server::start("--requirepass secret");
    check_refused(&locked.url(), |error| matches!(error, ConnectError::Refused(_)));
    let primary = Server::start("");
    let replica = Server::start(&format!("--replicaof 127.0.0.1 {}", primary.port));
    check_refused(&replica.url(), |error| matches!(error, ConnectError::Replica));
}

#[test]
fn a_password_is_never_shown() {
    let server = Server::start("--requirepass secret");
    let url = format!("redis://:secret@127.0.0.1:{}", server.port);
    let shown = block_on(async { format!("{:?}", connect(&url).await) });
    assert!(!shown.contains("secret"), "{shown}");
}
