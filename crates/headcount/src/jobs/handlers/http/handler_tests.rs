//! Real requests, to a server of a few lines.

use std::future::{pending, ready};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};

use headcount_queue::jobs::{JobId, JobSpec};
use headcount_queue::port::LeasedJob;

use super::*;

/// A server that answers each request with the same text, and hands on what it heard.
struct Server {
    url: String,
    heard: Receiver<String>,
}

impl Server {
    fn answering(answer: impl Into<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}/jobs?x=1", listener.local_addr().expect("it has one"));
        let (sender, heard) = channel();
        let answer = answer.into();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let _gone = answer_one(stream, &answer, &sender);
            }
        });
        Self { url, heard }
    }
}

fn answer_one(stream: TcpStream, answer: &str, sender: &Sender<String>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Ok(());
        }
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length = length.and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let _nobody = sender.send(head + &String::from_utf8_lossy(&body));
    reader.get_mut().write_all(answer.as_bytes())
}

/// An answer with this status, these headers and this body.
fn answer(status: &str, headers: &str, body: &str) -> String {
    let len = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: {len}\r\n\r\n{body}"
    )
}

fn context() -> Context {
    let mut spec = JobSpec::new("bill".parse().expect("a name"), br#"{"sum":17}"#.to_vec());
    spec.keep = Duration::from_secs(60);
    let job = LeasedJob::new(JobId::new(0, 7), spec);
    Context::alone("house".parse().expect("a name"), job)
}

fn asked(http: &Http, unwanted: impl Future<Output = ()>) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let answer = runtime.expect("a runtime").block_on(http.attempt(&context(), unwanted));
    match answer {
        Ok(Some(result)) => format!("done {}", String::from_utf8_lossy(&result)),
        Ok(None) => "done".to_owned(),
        Err(error) => format!("{error:?}"),
    }
}

fn http(url: &str) -> Http {
    Http::new(url).expect("it can be called").timeout(Duration::from_secs(20))
}

#[track_caller]
fn check(answer: String, expected: &str) {
    let server = Server::answering(answer);
    assert_eq!(asked(&http(&server.url), pending()), expected);
}

#[test]
fn a_service_is_told_all_about_the_job() {
    let server = Server::answering(answer("200 OK", "", "{}"));
    let caller = http(&server.url).header("X-Shop", "north").expect("plain");
    asked(&caller, pending());
    let heard = server.heard.recv().expect("a request").to_lowercase();
    let id = "00000000000000000000000000000007";
    for part in [
        "post /jobs?x=1 http/1.1\r\n",
        "content-type: application/json\r\n",
        "x-shop: north\r\n",
        &format!("idempotency-key: {id}\r\n"),
        &format!("x-headcount-job-id: {id}\r\n"),
        "x-headcount-queue: house\r\n",
        "x-headcount-kind: bill\r\n",
        "x-headcount-attempt: 1\r\n",
        "\r\n\r\n{\"sum\":17}",
    ] {
        assert!(heard.contains(part), "{part:?} in {heard:?}");
    }
}

#[test]
fn the_status_decides_and_the_body_is_kept() {
    check(answer("200 OK", "", "[1]"), "done [1]");
    check(answer("202 Accepted", "", "thanks"), "done");
    check(
        answer("400 Bad Request", "", "no sum"),
        "JobError(Dead: answered 400 Bad Request: no sum)",
    );
    check(answer("404 Not Found", "", ""), "JobError(Dead: answered 404 Not Found)");
    let busy = answer("503 Service Unavailable", "retry-after: 7\r\n", "");
    check(busy, "JobError(RetryAfter(7s): answered 503 Service Unavailable)");
}

#[test]
fn no_more_is_read_than_is_kept() {
    check(answer("200 OK", "", &"1".repeat(RESULT_BYTES_MAX + 1)), "done");
    let long = answer("500 Oh", "", &"x".repeat(ERROR_BYTES_MAX * 4));
    let words = "x".repeat(ERROR_BYTES_MAX);
    check(long, &format!("JobError(Retry: answered 500 Internal Server Error: {words})"));
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = Server::answering(answer("200 OK", "", "1"));
    let location = format!("location: {}\r\n", elsewhere.url);
    check(answer("302 Found", &location, ""), "JobError(Retry: answered 302 Found)");
    assert!(elsewhere.heard.try_recv().is_err(), "nobody called");
}

#[test]
fn an_answer_that_breaks_off_is_none() {
    let broken = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\nconnection: close\r\n\r\n{";
    let server = Server::answering(broken);
    let told = asked(&http(&server.url), pending());
    assert!(told.contains("its answer broke off"), "{told}");
    assert!(told.starts_with("JobError(Retry: 127.0.0.1:"), "{told}");
}

#[test]
fn a_service_that_is_not_there_is_tried_again() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it has one").port();
    drop(listener);
    let told = asked(&http(&format!("http://127.0.0.1:{port}/jobs?token=x")), pending());
    let expected = format!("JobError(Retry: 127.0.0.1:{port}/jobs: cannot be reached: ");
    assert!(told.starts_with(&expected), "{told}");
    assert!(!told.contains("token"), "{told}");
}

#[test]
fn a_service_that_is_silent_is_not_waited_for() {
    // It listens, and nobody ever takes the call.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let place = listener.local_addr().expect("it has one");
    let http = http(&format!("http://{place}/jobs")).timeout(Duration::from_millis(50));
    let expected = format!("JobError(Retry: {place}/jobs: no answer within 0.05 s)");
    assert_eq!(asked(&http, pending()), expected);
}

#[test]
fn what_nobody_wants_is_let_go() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let place = listener.local_addr().expect("it has one");
    let told = asked(&http(&format!("http://{place}/")), ready(()));
    assert_eq!(told, "JobError(Preempted: its handler stopped as it was asked)");
}

#[track_caller]
fn check_refused(url: &str, expected: &str) {
    let error = Http::new(url).expect_err("it cannot be called").to_string();
    assert_eq!(error, expected);
}

#[test]
fn what_cannot_be_called_is_told_at_once() {
    let needed = "a URL is needed, such as http://host:8080/jobs";
    check_refused("host/jobs", &format!("\"host/jobs\" cannot be called; {needed}"));
    check_refused("/jobs", &format!("\"/jobs\" cannot be called; {needed}"));
    let refused = "put its user and password into a header, as Authorization";
    let shown = "\"http://***@host/\" cannot be called";
    check_refused("http://me:secret@host/", &format!("{shown}; {refused}"));
    assert!(http("http://host").header("a b", "c").is_err());
    assert!(http("http://host").header("a", "b\r\nc: d").is_err());
}

#[cfg(not(feature = "https"))]
#[test]
fn without_tls_that_is_said() {
    let advice = "this build speaks no TLS, build it with the feature `https` or call http behind \
                  a proxy";
    check_refused("https://host/", &format!("\"https://host/\" cannot be called; {advice}"));
}
