//! Jobs that fail, take too long or cannot be started, and what the exit code says of them.

use std::fs;

use super::place::{Place, check, check_says};

#[test]
fn the_exit_code_counts_failed_jobs() {
    check(&["sh", "-c", "exit {}", ":::", "0", "0"], "", 0, "");
    check(&["sh", "-c", "exit {}", ":::", "3", "0", "7", "1"], "", 3, "");
    check(&["false"], &"x\n".repeat(102), 101, "");
    check_says(&["false", ":::", "x", "y"], "", 2, "2 of 2 jobs failed");
}

#[test]
fn a_job_that_fails_is_tried_again() {
    let place = Place::new();
    let words = ["--retries", "3", "--retry-delay", "1ms", "sh", "-c", "echo {} >> tried; exit 1"];
    let outcome = place.run_with(&words, b"a\n");
    assert_eq!((outcome.code, place.read("tried").as_str()), (Some(1), "a\na\na\n"));
    let second = "echo >> times; : {}; [ $(wc -l < times) = 2 ]";
    let outcome = place.run(&["--retries", "9", "--retry-delay", "1ms", "-c", second, ":::", ""]);
    assert_eq!((outcome.code, place.read("times").as_str()), (Some(0), "\n\n"));
}

#[test]
fn a_job_out_of_time_ends_with_all_it_has_started() {
    let place = Place::new();
    let script = "trap '' TERM; sleep 1000 & echo $! > pid; wait";
    let words = ["--timeout", "300ms", "--kill-after", "100ms", "--joblog", "log", "sh", "-c"];
    let outcome = place.run(&[&words[..], &[script, ":::", "x"]].concat());
    assert_eq!(outcome.code, Some(1), "{}", outcome.err);
    let pid = place.read("pid");
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    let is_gone = stat.is_empty() || stat.contains(") Z ");
    assert!(!pid.is_empty() && is_gone, "{stat}");
    assert!(place.read("log").contains("\t-1\t9\t"), "{}", place.read("log"));
}

#[test]
fn a_command_that_is_not_there_fails_at_once() {
    let many = "x\n".repeat(10_000);
    check_says(&["no-such-program"], &many, 127, "no-such-program is in no directory of PATH");
    check_says(&["/etc/passwd"], &many, 126, "/etc/passwd may not be executed");
    check_says(&["{}", ":::", "no-such-program"], "", 1, "job 1: no-such-program cannot be run");
}

#[test]
fn the_first_failure_can_end_the_run() {
    let script = "echo {} >> ran; exit {}";
    for (flags, code) in [(["--fail-fast", "-j1"], 1), (["--halt=soon,fail=2", "-j1"], 2)] {
        let place = Place::new();
        let words = [&flags[..], &["-c", script, ":::", "0", "1", "2", "3"]].concat();
        let outcome = place.run(&words);
        assert_eq!(outcome.code, Some(code), "{}", outcome.err);
        assert_eq!(place.read("ran").lines().count(), usize::try_from(code + 1).expect("few"));
        assert!(outcome.err.contains("failed;"), "{}", outcome.err);
    }
}

#[test]
fn those_that_run_are_stopped_at_the_first_failure() {
    let place = Place::new();
    place.fifo("started");
    let script = "case {} in 1) echo x > started; sleep 1000;; 2) read x < started; exit 1;; esac";
    let outcome = place.run(&["--fail-fast", "-j2", "-c", script, ":::", "1", "2"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.err);
    assert!(outcome.err.contains("1 of 1 jobs failed, some were left"), "{}", outcome.err);
}

#[test]
fn a_reader_that_has_seen_enough_ends_it_quietly() {
    let binary = env!("CARGO_BIN_EXE_headcount");
    let script = format!("({{ yes | {binary} run -j2 echo; }}; echo $? >&2) | head -n 3");
    let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "y\ny\ny\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "141\n");
}
