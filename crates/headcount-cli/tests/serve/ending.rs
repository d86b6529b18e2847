//! SIGTERM: what runs may finish, what has not begun stays, and nothing is lost.

use rustix::process::Signal;

use super::place::{Place, until};

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

#[test]
fn the_second_signal_ends_it_at_once() {
    let place = Place::new();
    let server = place.serve(&["--workers", "1", "--grace", "100s"]);
    let words = ["enqueue", "sleep", "100", "--store", "data"];
    let id = place.told(&words);
    until(|| place.count("running", "data") == 1, "the job runs");
    server.signal(Signal::TERM);
    until(|| !is_ready(&place), "it says that it drains");
    server.signal(Signal::TERM);
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
