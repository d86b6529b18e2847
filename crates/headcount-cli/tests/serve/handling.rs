//! Handlers from a file: programs that run jobs.

use super::place::{Place, until};

const CONFIG: &str = "
queues:
  default:
    rules: {running_max: 7}
    handlers:
      shout: {exec: [tr, a-z, A-Z]}
      refuse: {exec: [sh, -c, 'echo it is no good >&2; exit 65']}
";

#[test]
fn a_program_runs_jobs() {
    let place = Place::new();
    place.write("jobs.yaml", CONFIG);
    let server = place.serve(&["--config", "jobs.yaml"]);
    assert!(server.said().contains("runs shout, refuse"), "{}", server.said());
    let words = ["enqueue", "shout", "\"hello\"", "--wait=20s", "--store", "data"];
    assert_eq!(place.told(&words), "\"HELLO\"");
    let words = ["enqueue", "refuse", "--wait=20s", "--store", "data"];
    place.check(&words, 3, "it is no good");
    let rules = place.json(&["queues", "rules", "--store", "data"]);
    assert_eq!(rules["running_max"], 7);
}

#[test]
fn a_bad_file_is_refused_with_its_line() {
    let place = Place::new();
    place.write("jobs.yaml", "queues:\n  default:\n    handlers: {a: {exce: [true]}}\n");
    let words = ["serve", "--store", "data", "--listen", "127.0.0.1:0", "--config", "jobs.yaml"];
    place.check(&words, 1, "jobs.yaml:3:");
    assert!(!place.path("data").exists(), "nothing was made");
}

#[test]
fn a_kind_without_a_handler_waits() {
    let place = Place::new();
    let server = place.serve(&[]);
    let id = place.told(&["enqueue", "unheard-of", "--store", "data"]);
    place.told(&["enqueue", "echo", "--wait=20s", "--store", "data"]);
    let job = place.json(&["jobs", "show", &id, "--json", "--store", "data"]);
    assert!(job["ended_at_ms"].is_null(), "{job}");
    drop(server);
    until(
        || place.call(&["queues", "list", "--store", "data"]).code == Some(0),
        "the lock is free",
    );
}
