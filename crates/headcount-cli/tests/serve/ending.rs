//! SIGTERM and SIGHUP: what runs may finish, what has not begun stays, and nothing is lost.

use rustix::process::Signal;

use super::place::{MARKING, Place, until};
use super::redis::Redis;

#[test]
fn a_server_drains_and_leaves_what_has_not_begun() {
    let place = Place::new();
    let server = place.serve(&["--workers", "1", "--grace", "20s"]);
    let submit = |payload: &str| {
        place.told(&["enqueue", "sleep", payload, "--keep", "1h", "--store", "data"])
    };
    let first = submit("2");
    let second = submit("0");
    until(|| place.count("running", "data") == 1, "the first job runs");
    server.signal(Signal::TERM);
    let outcome = server.wait();
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    assert!(outcome.err.contains("draining"), "{}", outcome.err);

    let state = |id: &str| place.json(&["jobs", "show", id, "--json", "--store", "data"]);
    assert_eq!(state(&first)["state"], "done");
    assert_eq!(
        (&state(&second)["state"], &state(&second)["attempts"]),
        (&"ready".into(), &0.into())
    );
    assert!(!place.path("data/serve.json").exists(), "its note is gone");
}

/// A job that was running as its terminal was closed ends well, and counts no crash.
#[track_caller]
fn check_hangup(words: &[&str], ready: &str, store: &str) {
    let place = Place::new();
    place.write("jobs.yaml", MARKING);
    let flags = ["--config", "jobs.yaml", "--grace", "20s", "--store", store];
    let running = place.start(&[words, &flags].concat(), ready);
    let id = place.told(&["enqueue", "mark", "1", "--keep", "1h", "--store", store]);
    place.until_lines("ran", 1);
    running.signal(Signal::HUP);
    if place.path("data/serve.json").exists() {
        until(|| !is_ready(&place), "it says that it drains");
    }
    // Twice, as from a shell that passes it on and then ends itself.
    running.signal(Signal::HUP);
    place.write("gone", "");
    let outcome = running.wait();
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    assert!(outcome.err.contains("draining"), "{}", outcome.err);
    assert!(!outcome.err.contains("at once; what"), "{}", outcome.err);

    let job = place.json(&["jobs", "show", &id, "--json", "--store", store]);
    assert_eq!((&job["state"], &job["crashes"]), (&"done".into(), &0.into()), "{job}");
}

#[test]
fn a_closed_terminal_drains_a_server() {
    check_hangup(&["serve", "--listen", "127.0.0.1:0"], "try ", "data");
}

#[test]
fn a_closed_terminal_drains_a_worker() {
    let Some(redis) = Redis::start() else { return };
    check_hangup(&["work"], "working on queue default", &redis.url());
}

#[test]
fn a_server_that_was_told_to_outlive_its_terminal_does() {
    let place = Place::new();
    let words = ["serve", "--listen", "127.0.0.1:0", "--store", "data"];
    let server = place.start_ignoring_hangups(&words, "try ");
    server.signal(Signal::HUP);
    assert_eq!(place.told(&["enqueue", "echo", "1", "--wait=20s", "--store", "data"]), "1");
    assert!(is_ready(&place));
    assert_eq!(server.end().code, Some(0));
}

#[test]
fn the_second_signal_ends_it_at_once() {
    check_second([Signal::TERM, Signal::TERM]);
}

#[test]
fn a_signal_after_a_closed_terminal_ends_it_at_once() {
    check_second([Signal::HUP, Signal::TERM]);
}

#[track_caller]
fn check_second([first, second]: [Signal; 2]) {
    let place = Place::new();
    let server = place.serve(&["--workers", "1", "--grace", "100s"]);
    let words = ["enqueue", "sleep", "100", "--store", "data"];
    let id = place.told(&words);
    until(|| place.count("running", "data") == 1, "the job runs");
    server.signal(first);
    until(|| !is_ready(&place), "it says that it drains");
    server.signal(second);
    let outcome = server.wait();
    assert!(outcome.err.contains("stopping at once"), "{}", outcome.err);

    let job = place.json(&["jobs", "show", &id, "--json", "--store", "data"]);
    assert_eq!((&job["state"], &job["attempts"]), (&"ready".into(), &0.into()), "{job}");
}

/// Whether the server says that it should get more work.
fn is_ready(place: &Place) -> bool {
    use std::io::{Read, Write};
    let note: serde_json::Value =
        serde_json::from_str(&place.read("data/serve.json")).expect("a note");
    let addr = note["addr"].as_str().expect("it listens");
    let mut stream = std::net::TcpStream::connect(addr).expect("it listens");
    let asked = "GET /ready HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(asked.as_bytes()).expect("it hears");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer.starts_with("HTTP/1.1 200")
}
