//! Several processes, one Redis.

use super::place::{MARKING, Place, until};
use super::redis::Redis;

#[test]
fn a_worker_runs_jobs_of_a_redis() {
    let Some(redis) = Redis::start() else { return };
    let (place, url) = (Place::new(), redis.url());
    let worker = place.start(&["work", "--store", &url], "working on queue default");
    let words = ["enqueue", "echo", "[1,2]", "--wait=20s", "--store", &url];
    assert_eq!(place.told(&words), "[1,2]");
    let outcome = worker.end();
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
}

#[test]
fn jobs_of_a_killed_worker_are_run_by_the_other() {
    let Some(redis) = Redis::start() else { return };
    let (place, url) = (Place::new(), redis.url());
    place.write("jobs.yaml", MARKING);
    let words = ["work", "--store", &url, "--config", "jobs.yaml"];
    let first = place.start(&words, "working on queue default");
    let lines = "0\n1\n2\n3\n";
    let outcome = place.call_with(&["enqueue", "mark", "--stdin", "--store", &url], lines);
    assert_eq!(outcome.out.lines().count(), 4, "{}", outcome.err);
    place.until_lines("ran", 4);

    let _second = place.start(&words, "working on queue default");
    first.kill();
    let killed = std::time::Instant::now();
    place.write("gone", "");
    place.until_lines("ran", 8);
    let recovered = killed.elapsed();
    assert!(recovered.as_secs() < 12, "{recovered:?}");
    until(|| place.count("running", &url) == 0, "all have ended");
    for number in 0..4 {
        let ran = place.read("ran");
        let times = ran.lines().filter(|line| **line == number.to_string()).count();
        assert_eq!(times, 2, "job {number}: {ran}");
    }
}
