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
fn what_a_file_says_of_jobs_holds_where_their_submitter_does_not_say() {
    let place = Place::new();
    let usual = "    keep: 1h\n    retry: {attempts_max: 1}\n    handlers:\n";
    let fails = "      fail: {exec: [sh, -c, 'exit 1']}\n";
    let config = CONFIG.replace("    handlers:\n", &format!("{usual}{fails}"));
    place.write("jobs.yaml", &config);
    let shown = |id: &str| place.json(&["jobs", "show", id, "--json", "--store", "data"]);
    // Without a server it is the file of the command that counts.
    place.serve(&["--config", "jobs.yaml"]).end();
    let alone = ["enqueue", "shout", "1", "--store", "data", "--config", "jobs.yaml"];
    let alone = place.told(&alone);
    let _server = place.serve(&["--config", "jobs.yaml"]);
    place.told(&["enqueue", "shout", "2", "--wait=20s", "--store", "data"]);
    until(|| shown(&alone)["state"] == "done", "it was submitted before, and is kept");
    let words = ["enqueue", "fail", "--wait=20s", "--store", "data"];
    place.check(&words, 3, "is dead");
    let more = place.told(&["enqueue", "fail", "--attempts", "2", "--store", "data"]);
    until(|| shown(&more)["attempts"] == 2, "a submitter that says so has it tried twice");
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
