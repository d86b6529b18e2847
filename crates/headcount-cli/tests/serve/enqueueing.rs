//! Submitting jobs, and waiting for them.

use super::place::Place;

#[test]
fn a_server_without_flags_runs_what_it_is_given() {
    let place = Place::new();
    let server = place.serve(&[]);
    assert!(server.said().contains("data: what was acknowledged is on the disk"));
    assert!(server.said().contains("try     headcount enqueue echo"), "{}", server.said());

    let result = place.told(&["enqueue", "echo", "{\"a\": [1]}", "--wait=20s", "--store", "data"]);
    assert_eq!(result, "{\"a\":[1]}");
    let id = place.told(&["enqueue", "echo", "7", "--keep", "1h", "--store", "data"]);
    assert_eq!(id.len(), 32, "{id}");
}

#[test]
fn the_exit_code_says_how_a_job_came_out() {
    let place = Place::new();
    let _server = place.serve(&[]);
    let never = ["enqueue", "sleep", "\"never\"", "--wait=20s", "--store", "data"];
    place.check(&never, 3, "is dead: \"never\" is no span");

    let id = "00000000000000000000000000000001";
    let late = ["enqueue", "sleep", "60", "--wait=50ms", "--id", id, "--store", "data"];
    place.check(&late, 6, "has not ended in time");
    place.told(&["jobs", "cancel", id, "--store", "data"]);
    let cancelled = ["enqueue", "sleep", "60", "--wait=20s", "--id", id, "--store", "data"];
    place.check(&cancelled, 5, "is cancelled");
}

#[test]
fn every_line_is_submitted_or_told() {
    let place = Place::new();
    let _server = place.serve(&[]);
    place.told(&["enqueue", "echo", "--store", "data", "--wait=20s"]);
    let lines = "1\n\n{\"a\":2}\n{\"a\":}\n4\n";
    let words = ["enqueue", "echo", "--stdin", "--store", "data", "--wait=20s", "--batch", "2"];
    let outcome = place.call_with(&words, lines);
    assert_eq!(outcome.out, "1\n{\"a\":2}\n4\n");
    let bad = "line 4 is not submitted: it is no JSON: expected value at column 6";
    assert!(outcome.err.contains(bad), "{}", outcome.err);
    assert!(outcome.err.contains("3 submitted, 1 not"), "{}", outcome.err);
    assert_eq!(outcome.code, Some(1));
}

#[test]
fn a_repeated_submit_counts_once() {
    let place = Place::new();
    let _server = place.serve(&[]);
    let id = "000000000000000000000000000000aa";
    let words = ["enqueue", "echo", "1", "--id", id, "--keep", "1h", "--json", "--store", "data"];
    assert_eq!(place.json(&words)["outcome"], "new");
    assert_eq!(place.json(&words)["outcome"], "existing");

    let unique = ["enqueue", "sleep", "60", "--unique", "one", "--json", "--store", "data"];
    let first = place.json(&unique);
    let second = place.json(&unique);
    assert_eq!((&second["id"], &second["outcome"]), (&first["id"], &"existing".into()));
}

#[test]
fn without_a_server_jobs_wait_in_the_store() {
    let place = Place::new();
    place.serve(&[]).end();
    let id = place.told(&["enqueue", "echo", "1", "--keep", "1h", "--store", "data"]);
    place.check(&["enqueue", "echo", "1", "--wait", "--store", "data"], 1, "no server runs here");
    assert_eq!(place.count("ready", "data"), 1);

    let _server = place.serve(&[]);
    super::place::until(
        || place.json(&["jobs", "show", &id, "--json", "--store", "data"])["state"] == "done",
        "the job that waited is done",
    );
}
