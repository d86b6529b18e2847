//! How it starts, and how it ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use headcount_ops::{Ops, StartError};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::{Crew, Flaky, Mood, Stage};

async fn bind(address: &str) -> Result<Ops, StartError> {
    let builder = Ops::builder().store(Arc::new(Flaky::default())).pools(Arc::new(Crew::default()));
    builder.bind(address.parse().expect("an address")).await
}

#[tokio::test]
async fn it_is_served_on_the_loopback_and_nowhere_else() {
    for address in ["0.0.0.0:0", "[::]:0", "10.1.2.3:0", "[::ffff:10.1.2.3]:0"] {
        let error = bind(address).await.expect_err("others could reach it");
        assert!(matches!(error, StartError::OffLoopback(_)), "{address}");
        let said = error.to_string();
        assert!(said.contains("neither authentication nor TLS yet"), "{said}");
    }
    let ops = bind("127.0.0.1:0").await.expect("a free port");
    let taken = ops.local_addr().to_string();
    let error = bind(&taken).await.expect_err("somebody is there").to_string();
    assert!(error.contains(&format!("nothing can listen at {taken}")), "{error}");
}

#[tokio::test]
async fn it_says_when_it_should_get_no_more_work() {
    let stage = Stage::new().await;
    assert_eq!(stage.get("/ready").await.body, "{\"ready\":true}");
    stage.ops.unready("this process is ending");
    let answer = stage.get("/ready").await;
    assert_eq!((answer.status, answer.error().as_str()), (503, "this process is ending"));
    assert_eq!(stage.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn it_says_which_store_it_has_where_it_was_told() {
    let stage = Stage::with(|builder| builder.store_name("redis://h:6379/0")).await;
    stage.store.be(Mood::Mute);
    let told = stage.get("/healthz").await.json();
    assert_eq!((&told["alive"], &told["store"]), (&true.into(), &"redis://h:6379/0".into()));
    assert_eq!(Stage::new().await.get("/healthz").await.body, "{\"alive\":true}");
}

#[tokio::test]
async fn it_ends_when_those_that_are_connected_are_gone() {
    let stage = Stage::new().await;
    let address = stage.address();
    let mut idle = TcpStream::connect(address).await.expect("a server");
    let ask = format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\n\r\n");
    idle.write_all(ask.as_bytes()).await.expect("a server that listens");
    let mut first = [0; 15];
    idle.read_exact(&mut first).await.expect("an answer");
    assert_eq!(&first, b"HTTP/1.1 200 OK");

    let begun = Instant::now();
    stage.ops.stop(Duration::from_secs(30)).await;
    assert!(begun.elapsed() < Duration::from_secs(10), "who asks nothing is not waited for");
    TcpStream::connect(address).await.expect_err("nobody listens any more");
    let mut rest = Vec::new();
    idle.read_to_end(&mut rest).await.expect("it was closed in good order");
}

#[tokio::test]
async fn it_ends_in_time_when_a_request_does_not() {
    let stage = Stage::new().await;
    let address = stage.address();
    stage.store.be(Mood::Mute);
    let mut stuck = TcpStream::connect(address).await.expect("a server");
    let ask = format!("GET /api/v1/queues HTTP/1.1\r\nhost: {address}\r\n\r\n");
    stuck.write_all(ask.as_bytes()).await.expect("a server that listens");
    // Answered on another connection, so the first has been taken in.
    assert_eq!(stage.get("/healthz").await.status, 200);
    let begun = Instant::now();
    stage.ops.stop(Duration::from_millis(50)).await;
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_store_that_does_not_answer_is_not_waited_for_for_ever() {
    let limits = headcount_ops::Limits {
        store_time_max: Duration::from_millis(50),
        ..headcount_ops::Limits::default()
    };
    let stage = Stage::limited(limits).await;
    stage.store.be(Mood::Mute);
    let answer = stage.send("POST", "/api/v1/queues/mail/jobs", r#"{"kind": "a"}"#).await;
    assert_eq!(answer.status, 503);
    assert!(answer.error().contains("it is not known whether"), "{}", answer.body);
    stage.store.be(Mood::Away);
    let answer = stage.send("POST", "/api/v1/queues/mail/jobs", r#"{"kind": "a"}"#).await;
    assert_eq!((answer.status, answer.header("retry-after").as_deref()), (503, Some("1")));
}
