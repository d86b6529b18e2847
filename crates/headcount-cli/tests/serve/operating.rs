//! What an operator does: looks, pauses, retries, cancels, deletes, asks why.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::place::{Place, Running, until};

const AT: [&str; 2] = ["--store", "data"];

fn with<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [words, &AT].concat()
}

#[test]
fn a_paused_queue_hands_out_nothing() {
    let place = Place::new();
    let _server = place.serve(&[]);
    place.told(&with(&["enqueue", "echo", "--wait=20s"]));
    assert!(place.told(&with(&["queues", "pause", "default"])).contains("default is paused"));
    let id = place.told(&with(&["enqueue", "echo", "1", "--keep", "1h"]));

    let listed = place.json(&with(&["jobs", "list", "--json"]));
    let waiting = |job: &Value| job["id"] == id.as_str() && job["state"] == "ready";
    assert!(listed.as_array().is_some_and(|jobs| jobs.iter().any(waiting)), "{listed}");
    let table = place.told(&with(&["jobs", "list", "--state", "ready"]));
    assert!(table.starts_with("id ") && table.contains(&id), "{table}");
    assert!(place.told(&with(&["queues", "list"])).contains("paused"));

    place.told(&with(&["queues", "resume", "default"]));
    until(
        || place.json(&with(&["jobs", "show", &id, "--json"]))["state"] == "done",
        "the queue goes on",
    );
}

#[test]
fn dead_jobs_are_tried_again_in_bulk() {
    let place = Place::new();
    let _server = place.serve(&[]);
    for _ in 0..3 {
        place.check(&with(&["enqueue", "sleep", "\"x\"", "--wait=20s"]), 3, "is dead");
    }
    let words = with(&["jobs", "retry", "--all", "--state", "dead"]);
    place.check(&words, 2, "this would retry 3 dead jobs; say --yes to do it");
    let done = place.told(&[words.as_slice(), &["--yes"]].concat());
    assert_eq!(done, "3 jobs to be tried again");
    until(|| place.count("dead", "data") == 3, "they died again");
    let words = with(&["jobs", "delete", "--all", "--state", "dead", "--yes"]);
    assert_eq!(place.told(&words), "3 jobs forgotten");
    assert_eq!(place.count("dead", "data"), 0);
}

#[test]
fn waiting_jobs_are_forgotten_by_a_purge() {
    let place = Place::new();
    let _server = place.serve(&[]);
    place.told(&with(&["enqueue", "echo", "--delay", "1h"]));
    place.check(&with(&["queues", "purge", "default"]), 2, "this would forget 1 jobs of default");
    place.told(&with(&["queues", "purge", "default", "--yes"]));
    assert_eq!(place.count("scheduled", "data"), 0);
}

#[test]
fn rules_are_changed_one_by_one() {
    let place = Place::new();
    let _server = place.serve(&[]);
    place.told(&with(&["enqueue", "echo", "--wait=20s"]));
    let rules = place.json(&with(&["queues", "rules", "--set", "{\"running_max\": 5}"]));
    assert_eq!((&rules["running_max"], &rules["dead_max"]), (&5.into(), &10_000.into()));
    let bad = with(&["queues", "rules", "--set", "{\"running_max\": 0}"]);
    place.check(&bad, 1, "running_max is 0, so nothing would run");
    place.check(&with(&["queues", "rules", "--set", "5"]), 2, "write an object");
}

#[test]
fn a_pool_says_why_it_has_its_size() {
    let place = Place::new();
    let _server = place.serve(&["--workers", "1..=4"]);
    let why = || place.told(&with(&["why"]));
    until(|| why().contains("bounds"), "a decision, with what bounds it");
    assert!(why().starts_with("default: "), "{}", why());
    place.check(&with(&["why", "other"]), 1, "no pool is called \"other\"; there are default");

    assert!(place.told(&with(&["pools"])).starts_with("pool "));
    place.told(&with(&["scale", "3", "--for", "10m", "--reason", "a test"]));
    let pools = place.json(&with(&["pools", "--json"]));
    assert_eq!((&pools[0]["state"], &pools[0]["ceiling"]), (&"held".into(), &3.into()), "{pools}");
    let said = why();
    assert!(said.contains("  held by hand at 3 workers for "), "{said}");
    assert!(said.ends_with(" more; reason: a test"), "{said}");
    assert!(place.told(&with(&["pools"])).ends_with("held   a test"));
    place.told(&with(&["scale", "auto"]));
    assert!(!why().contains("held by hand"), "{}", why());
}

#[test]
fn one_file_says_to_all_commands_where_the_jobs_are() {
    let place = Place::new();
    place.write("jobs.yaml", "store: here\n");
    place.write("elsewhere.yaml", "store: elsewhere\n");
    let file = ["--config", "jobs.yaml"];
    let with = |words: &[&'static str]| [words, &file].concat();
    place.check(&with(&["jobs", "list"]), 1, "there is no store in here");

    let words = with(&["serve", "--listen", "127.0.0.1:0"]);
    let server = place.start(&words, "try ");
    assert!(place.read("here/serve.json").contains("127.0.0.1"));
    assert_eq!(place.told(&with(&["enqueue", "echo", "[1]", "--wait=20s"])), "[1]");
    assert!(place.told(&with(&["queues", "list"])).contains("default"));
    let listed = place.json(&with(&["jobs", "list", "--json"]));
    assert!(listed.is_array(), "{listed}");

    // Whoever says it on the command line is right, also beside a file.
    let both = ["queues", "list", "--store", "here", "--config", "elsewhere.yaml"];
    assert!(place.told(&both).contains("default"));
    place.check(&["queues", "list", "--config", "elsewhere.yaml"], 1, "no store in elsewhere");
    let mut overridden = place.command(&["queues", "list", "--config", "elsewhere.yaml"]);
    let told = overridden.env("HEADCOUNT_STORE__PATH", "here").output().expect("it starts");
    assert!(String::from_utf8_lossy(&told.stdout).contains("default"), "{told:?}");
    assert_eq!(server.end().code, Some(0));

    // Nobody serves it any more: the command opens it itself.
    assert!(place.told(&with(&["queues", "list"])).contains("default"));
    place.write("wrong.yaml", "store: {path: here, url: \"redis://h\"}\n");
    place.check(&["jobs", "list", "--config", "wrong.yaml"], 1, "wrong.yaml:1:8: store has both");
}

#[test]
fn a_note_of_the_server_of_another_folder_counts_as_none() {
    let place = Place::new();
    let _server = place.serve(&[]);
    // As if a server had died, and this one had got its number and its port.
    place.write("other/serve.json", place.read("data/serve.json"));
    place.check(&["scale", "3", "--store", "other"], 1, "no server runs on other");
    let pools = place.json(&with(&["pools", "--json"]));
    assert_eq!(pools[0]["held"], serde_json::Value::Null, "{pools}");
    assert!(place.told(&["pools", "--store", "other/../data"]).starts_with("pool "));
}

/// What a server says at `/metrics`.
fn metrics(server: &Running) -> String {
    let address = server.said().split("http://").nth(1).expect("it says where it listens");
    let end = address.find(|c: char| c != '.' && c != ':' && !c.is_ascii_digit());
    let address = &address[..end.unwrap_or(address.len())];
    let mut stream = TcpStream::connect(address).expect("it listens");
    let ask = format!("GET /metrics HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(ask.as_bytes()).expect("it takes questions");
    let mut told = String::new();
    stream.read_to_string(&mut told).expect("it answers");
    told
}

#[test]
fn metrics_have_other_names_where_they_are_wanted() {
    let place = Place::new();
    let server = place.serve(&["--syshealth-metrics"]);
    place.told(&with(&["enqueue", "echo", "--wait=20s"]));
    let wanted = "extraction_worker_current_concurrency{worker_type=\"default\"} ";
    until(|| metrics(&server).contains(wanted), "the other names");
    let told = metrics(&server);
    assert!(told.contains("headcount_pool_workers{pool=\"default\"} "), "{told}");
    // A machine tells its load, and a folder its commits.
    assert!(told.contains("system_cpu_load_avg{period=\"5m\"} "), "{told}");
    assert!(told.contains("headcount_store_commit_seconds_count "), "{told}");
    drop(server);
    assert!(!metrics(&place.serve(&[])).contains("extraction_"), "only where they are wanted");
}
