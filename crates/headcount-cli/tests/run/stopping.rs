//! Ctrl-C: the first lets jobs finish, the second stops them.

use rustix::process::Signal;

use super::place::Place;

const SCRIPT: &str = "echo {} >> ran; echo x > started; read y < gate; echo {}";

fn place() -> Place {
    let place = Place::new();
    place.fifo("started");
    place.fifo("gate");
    place
}

const WORDS: [&str; 10] = ["-j1", "--joblog", "log", "-c", SCRIPT, ":::", "1", "2", "3", "4"];

#[test]
fn the_first_ctrl_c_lets_what_runs_finish() {
    let place = place();
    let mut running = place.start(&WORDS);
    place.hear("started");
    running.signal(Signal::INT);
    running.until("no more jobs begin");
    place.say("gate");
    let outcome = running.wait();
    assert_eq!((outcome.code, outcome.text().as_str()), (Some(130), "1\n"), "{}", outcome.err);
    assert_eq!(place.read("ran"), "1\n");
    assert!(outcome.err.contains("--resume goes on from here"), "{}", outcome.err);
    assert_eq!(place.read("log").lines().count(), 2);
}

#[test]
fn the_second_ctrl_c_stops_what_runs() {
    let place = place();
    let mut running = place.start(&WORDS);
    place.hear("started");
    running.signal(Signal::INT);
    running.until("no more jobs begin");
    running.signal(Signal::INT);
    let outcome = running.wait();
    assert_eq!((outcome.code, outcome.text().as_str()), (Some(130), ""), "{}", outcome.err);
    assert_eq!(place.read("log").lines().count(), 1, "what was stopped runs again");
}

#[test]
fn a_long_line_of_jobs_is_left() {
    let place = place();
    place.write("items", "1\n".repeat(5_000).as_bytes());
    let mut running = place.start(&["-j1", "-a", "items", "-c", SCRIPT]);
    place.hear("started");
    running.signal(Signal::INT);
    running.until("no more jobs begin");
    place.say("gate");
    let outcome = running.wait();
    assert_eq!((outcome.code, outcome.text().as_str()), (Some(130), "1\n"), "{}", outcome.err);
}

#[test]
fn a_signal_to_end_drains_too() {
    let place = place();
    let mut running = place.start(&WORDS);
    place.hear("started");
    running.signal(Signal::TERM);
    running.until("no more jobs begin");
    place.say("gate");
    assert_eq!(running.wait().code, Some(143));
}

#[test]
fn a_drain_that_leaves_nothing_is_no_interruption() {
    let place = place();
    let mut running = place.start(&["-c", SCRIPT, ":::", "1"]);
    place.hear("started");
    running.signal(Signal::INT);
    running.until("no more jobs begin");
    place.say("gate");
    let outcome = running.wait();
    // Whether the end of the items was read before the signal is open.
    assert!([Some(0), Some(130)].contains(&outcome.code), "{}", outcome.err);
    assert_eq!(outcome.text(), "1\n");
}
