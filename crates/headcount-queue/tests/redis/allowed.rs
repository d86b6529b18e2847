//! The rule that `acl` prints is enough for everything, and for nothing else.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use headcount_queue::redis::{Role, acl};

use crate::server::{Server, try_ask};
use crate::subject::{OnRedis, at, block_on, connect, jobs, queue};
use headcount_queue::port::{Backend, StoreError};

/// The suite again, as a user who may do no more than the rule says.
async fn fresh_as_user() -> OnRedis {
    static SERVER: OnceLock<Server> = OnceLock::new();
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let server = SERVER.get_or_init(|| with_user(Role::Node));
    let database = NEXT.fetch_add(1, Ordering::Relaxed);
    at(&format!("redis://node:secret@127.0.0.1:{}/{database}", server.port)).await
}

fn with_user(role: Role) -> Server {
    let server = Server::start("--databases 20000");
    let rule = acl("node", role).replacen("user node", "ACL SETUSER node", 1);
    server.ask(&rule.replace(" resetpass ", " resetpass >secret "));
    server
}

headcount_queue::conformance_tests!(fresh_as_user, sequences: 30);

fn check_refused(words: &str) {
    let server = with_user(Role::Node);
    let mut connection = server.connection();
    try_ask(&mut connection, "AUTH node secret").expect("the user may come in");
    let error = try_ask(&mut connection, words).expect_err("the rule does not allow it");
    assert_eq!(error.code(), Some("NOPERM"), "{words}: {error}");
}

#[test]
fn whatever_the_scripts_do_not_use_is_refused() {
    check_refused("FLUSHALL");
    check_refused("KEYS *");
    check_refused("CONFIG GET *");
    check_refused("EVAL return 0");
    check_refused("GET somebody:else");
}

#[test]
fn a_reader_sees_the_numbers_and_changes_nothing() {
    let server = with_user(Role::Reader);
    let url = format!("redis://node:secret@127.0.0.1:{}", server.port);
    block_on(async {
        connect(&server.url()).await.enqueue(&queue(), jobs([1])).await.expect("it takes jobs");
        let reader = connect(&url).await;
        let stats = reader.stats(&queue()).await.expect("it may look");
        assert_eq!(stats.totals.submitted, 1);
        let refused = reader.enqueue(&queue(), jobs([2])).await.expect_err("it may not write");
        assert!(matches!(refused, StoreError::Refused(_)), "{refused:?}");
    });
}
