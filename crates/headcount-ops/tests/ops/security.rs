//! What a page of the web, a slow client and a broken part cannot do.

use std::sync::Arc;
use std::time::{Duration, Instant};

use headcount_ops::{Limits, routes};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::{Mood, Stage, ask, exchange};

const JSON: &str = "content-type: application/json";

/// A stage on which every route has something to act upon, and the id of a dead job.
async fn furnished() -> (Stage, String) {
    let stage = Stage::new().await;
    let id = stage.submit("mail", 3).await.remove(0);
    let cancel = format!("/api/v1/queues/mail/jobs/{id}/cancel");
    assert_eq!(stage.send("POST", &cancel, "").await.status, 200);
    let own = "/api/v1/pools/thumbs/throttling";
    assert_eq!(stage.send("PUT", own, r#"{"min_concurrency": 2}"#).await.status, 200);
    (stage, id)
}

/// A path of the table with real names in it, and a body that it understands.
fn request(path: &str, id: &str) -> (String, &'static str) {
    let path = path.replace("{queue}", "mail").replace("{pool}", "thumbs");
    let body = match path.rsplit('/').next().expect("a path has an end") {
        "jobs" => r#"{"kind": "intruder"}"#,
        "rules" => r#"{"running_max": 1}"#,
        "retry" | "cancel" | "delete" if !path.contains("{id}") => r#"{"state": "cancelled"}"#,
        "scale" => r#"{"workers": 1}"#,
        "policy" => r#"{"workers_max": 1}"#,
        "config" | "throttling" => r#"{"enable_adaptive_scaling": true}"#,
        _ => "",
    };
    (path.replace("{id}", id), body)
}

/// What a browser says when a page of another site sends something.
const FROM_ELSEWHERE: [&[&str]; 5] = [
    &[JSON, "sec-fetch-site: cross-site"],
    &[JSON, "sec-fetch-site: same-site"],
    &[JSON, "origin: https://evil.example"],
    &[JSON, "origin: null"],
    &[JSON, "host: evil.example:7878"],
];

#[tokio::test]
async fn no_route_can_be_used_from_another_site() {
    let unsafe_routes = routes().into_iter().filter(|(method, _)| *method != "GET");
    let mut tried = 0;
    for (method, path) in unsafe_routes {
        let (stage, id) = furnished().await;
        let (path, body) = request(path, &id);
        let before = stage.everything().await;
        for headers in FROM_ELSEWHERE {
            let answer = ask(stage.address(), method, &path, headers, body).await;
            let expected = if headers[1].starts_with("host") { 421 } else { 403 };
            assert_eq!(answer.status, expected, "{method} {path} {headers:?}: {}", answer.body);
        }
        let plain = ask(stage.address(), method, &path, &["content-type: text/plain"], body).await;
        assert_eq!(plain.status, 415, "{method} {path}: {}", plain.body);
        assert_eq!(stage.everything().await, before, "{method} {path}");
        // It was refused for where it came from, and for nothing else.
        let ours = stage.send(method, &path, body).await;
        let expected: &[u16] =
            if path.ends_with(&format!("{id}/cancel")) { &[409] } else { &[200] };
        assert!(expected.contains(&ours.status), "{method} {path}: {}", ours.body);
        tried += 1;
    }
    assert_eq!(tried, 16, "routes that change something");
}

#[tokio::test]
async fn asking_changes_nothing() {
    let (stage, id) = furnished().await;
    let before = stage.everything().await;
    for (method, path) in routes() {
        let (path, _) = request(path, &id);
        let got = stage.get(&path).await;
        let expected: &[u16] = if method == "GET" { &[200] } else { &[200, 405] };
        assert!(expected.contains(&got.status), "GET {path}: {}", got.body);
        let head = ask(stage.address(), "HEAD", &path, &[], "").await;
        assert_eq!((head.status, head.body.as_str()), (got.status, ""), "HEAD {path}");
    }
    assert_eq!(stage.everything().await, before);
}

#[tokio::test]
async fn every_answer_says_how_it_may_be_shown() {
    let stage = Stage::new().await;
    for path in ["/healthz", "/metrics", "/api/v1/queues", "/api/v1/queues/none", "/nothing"] {
        let answer = stage.get(path).await;
        let header = |name| answer.header(name).unwrap_or_default();
        assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header("cache-control"), "no-store", "{path}");
        let csp = header("content-security-policy");
        assert_eq!(csp, "default-src 'none'; frame-ancestors 'none'", "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_told_in_json() {
    let stage = Stage::new().await;
    let missing = stage.get("/api/v2/queues").await;
    assert_eq!(
        (missing.status, missing.error().as_str()),
        (404, "there is nothing at /api/v2/queues")
    );
    let wrong = stage.send("PATCH", "/api/v1/queues", "{}").await;
    assert_eq!(wrong.status, 405);
    assert!(wrong.error().contains("PATCH is not possible"), "{}", wrong.body);
    assert_eq!(wrong.header("allow").as_deref(), Some("GET,HEAD"));
    let garbled = stage.get("/api/v1/queues/%ff").await;
    assert_eq!(garbled.status, 400);
    assert!(garbled.error().contains("not understood"), "{}", garbled.body);
}

#[tokio::test]
async fn only_its_own_names_are_answered() {
    let stage = Stage::with(|builder| builder.host_allow(["ops.internal"])).await;
    for (host, status) in [("localhost", 200), ("Ops.Internal:80", 200), ("evil.example", 421)] {
        let host = format!("host: {host}");
        let answer = ask(stage.address(), "GET", "/metrics", &[&host], "").await;
        assert_eq!(answer.status, status, "{host}");
    }
    let port = stage.address().port();
    let full = format!(
        "GET http://evil.example/metrics HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: \
         close\r\n\r\n",
    );
    assert_eq!(exchange(stage.address(), full.as_bytes()).await.status, 421);
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused_before_it_is_read() {
    let stage = Stage::new().await;
    let long = "x".repeat((2 << 20) + 1);
    let answer = stage.send("POST", "/api/v1/queues/mail/jobs", &long).await;
    assert_eq!(answer.status, 413);
    assert!(answer.error().contains("more than 2097152 bytes"), "{}", answer.body);
    let head = format!("x-long: {}", "x".repeat(20_000));
    let answer = ask(stage.address(), "GET", "/healthz", &[&head], "").await;
    assert_eq!(answer.status, 431);
    assert_eq!(stage.get("/healthz").await.status, 200);
}

fn hasty() -> Limits {
    Limits { read_time_max: Duration::from_millis(100), ..Limits::default() }
}

/// What the server says to a client that stops in the middle, and that it does not wait for it.
async fn check_slow(sent: &str, said: &str) {
    let stage = Stage::limited(hasty()).await;
    let sent = sent.replace("HOST", &stage.address().to_string());
    let mut stream = TcpStream::connect(stage.address()).await.expect("a server");
    stream.write_all(sent.as_bytes()).await.expect("a server that listens");
    let begun = Instant::now();
    let mut heard = String::new();
    stream.read_to_string(&mut heard).await.expect("it closes the connection");
    assert!(heard.contains(said), "{sent:?}: {heard}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{sent:?}");
}

#[tokio::test]
async fn a_client_that_does_not_finish_is_not_waited_for() {
    check_slow("", "").await;
    check_slow("GET /healthz HTTP/1.1\r\nhost:", "").await;
    check_slow("GET /healthz HTTP/1.1\r\nhost: HOST\r\n\r\n", "{\"alive\":true}").await;
    let job = "POST /api/v1/queues/mail/jobs HTTP/1.1\r\nhost: HOST\r\n\
               content-type: application/json\r\nconnection: close\r\ncontent-length: 99\r\n\r\n{";
    check_slow(job, "the body was not there after 100ms").await;
}

#[tokio::test]
async fn a_panic_is_an_answer_and_the_server_lives() {
    let stage = Stage::new().await;
    stage.store.be(Mood::Mad);
    for path in ["/api/v1/queues", "/ready", "/api/v1/pools/bomb"] {
        let answer = stage.get(path).await;
        assert_eq!(answer.status, 500, "{path}");
        assert!(answer.error().contains("it goes on"), "{}", answer.body);
    }
    assert_eq!(stage.get("/healthz").await.status, 200);
    stage.store.be(Mood::Fine);
    assert_eq!(stage.submit("mail", 1).await.len(), 1);
}

#[tokio::test]
async fn more_requests_than_allowed_are_told_to_come_again() {
    let limits = Limits { requests_max: 2, ..Limits::default() };
    let stage = Arc::new(Stage::limited(limits).await);
    stage.store.be(Mood::Mute);
    let waiting = || {
        let stage = Arc::clone(&stage);
        tokio::spawn(async move { stage.get("/api/v1/queues").await })
    };
    let waiting = [waiting(), waiting()];
    stage.store.unanswered(2).await;
    let answer = stage.get("/api/v1/pools").await;
    assert_eq!((answer.status, answer.header("retry-after").as_deref()), (503, Some("1")));
    assert!(answer.error().contains("ask again later"), "{}", answer.body);
    assert_eq!(stage.get("/healthz").await.status, 200, "life is told however busy it is");
    waiting.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn more_connections_than_allowed_wait() {
    let limits = Limits { connections_max: 1, ..hasty() };
    let stage = Stage::limited(limits).await;
    let silent = TcpStream::connect(stage.address()).await.expect("a server");
    // The first says nothing and is let go after a while; then it is the turn of the next.
    assert_eq!(stage.get("/healthz").await.status, 200);
    drop(silent);
}
