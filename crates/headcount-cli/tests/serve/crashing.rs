//! `kill -9`: what was acknowledged is there, and runs again.

use super::place::{MARKING, Place, until};

#[test]
fn jobs_of_a_killed_server_run_again() {
    let place = Place::new();
    place.write("jobs.yaml", MARKING);
    let server = place.serve(&["--config", "jobs.yaml"]);
    let lines = "0\n1\n2\n3\n4\n5\n6\n7\n";
    let words = ["enqueue", "mark", "--stdin", "--store", "data"];
    let outcome = place.call_with(&words, lines);
    assert_eq!(outcome.out.lines().count(), 8, "{}", outcome.err);
    place.until_lines("ran", 4);
    server.kill();

    place.write("gone", "");
    let _server = place.serve(&["--config", "jobs.yaml"]);
    until(|| place.count("ready", "data") + place.count("running", "data") == 0, "all have ended");
    let ran = place.read("ran");
    let times = |number: usize| ran.lines().filter(|line| **line == number.to_string()).count();
    let runs: Vec<usize> = (0..8).map(times).collect();
    assert!(runs.iter().all(|times| (1..=2).contains(times)), "{runs:?}");
    assert_eq!(runs.iter().sum::<usize>(), 12, "four were running when it was killed: {runs:?}");
}
