//! A run that was interrupted goes on where it was: each job at least once, no finished one again.

use rustix::process::Signal;

use super::place::Place;

/// The items in the order in which jobs began, as text.
fn ran(place: &Place) -> String {
    place.read("ran").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn after_kill_9_finished_jobs_do_not_run_again() {
    let place = Place::new();
    place.fifo("started");
    place.fifo("gate");
    let script = "echo {} >> ran; \
                  if [ {} = 3 ] && [ ! -e second ]; then echo x > started; read y < gate; fi";
    let words = ["-j1", "--joblog", "log", "--resume", "-c", script, ":::", "1", "2", "3", "4"];
    let running = place.start(&words);
    place.hear("started");
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, None, "it was killed");
    place.write("second", b"");
    place.say("gate");
    let outcome = place.run(&words);
    assert_eq!((outcome.code, ran(&place).as_str()), (Some(0), "1 2 3 3 4"), "{}", outcome.err);
    assert_eq!(place.run(&words).code, Some(0));
    assert_eq!(ran(&place), "1 2 3 3 4", "all is done");
}

#[test]
fn failed_jobs_run_again_when_asked_for() {
    let place = Place::new();
    let script = "echo {} >> ran; [ {} != 2 ] || [ -e second ]";
    let run = |resume: &str| {
        let words = ["-j1", "--joblog", "log", resume, "-c", script, ":::", "1", "2", "3"];
        place.run(&words).code
    };
    assert_eq!(run("--resume"), Some(1));
    assert_eq!(run("--resume"), Some(0), "a failed job has ended, too");
    place.write("second", b"");
    assert_eq!(run("--resume-failed"), Some(0));
    assert_eq!(ran(&place), "1 2 3 2");
}

#[test]
fn a_log_has_a_line_for_each_job() {
    let place = Place::new();
    let words = ["-j1", "--joblog", "log", "sh", "-c", "printf abc; exit {}", ":::", "0", "4"];
    assert_eq!(place.run(&words).code, Some(1));
    let log = place.read("log");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 3, "{log}");
    assert!(lines[0].starts_with("Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval"));
    assert!(lines[2].starts_with("2\t:\t") && lines[2].contains("\t0\t3\t4\t0\tsh -c "), "{log}");
}

#[test]
fn a_log_of_other_items_is_refused() {
    let place = Place::new();
    assert_eq!(place.run(&["--joblog", "log", "echo", ":::", "a"]).code, Some(0));
    let outcome = place.run(&["--joblog", "log", "--resume", "echo", ":::", "b"]);
    assert_eq!(outcome.code, Some(255));
    let sentence = "job 1 of the joblog had another command than echo b";
    assert!(outcome.err.contains(sentence), "{}", outcome.err);
    let outcome = place.run(&["--joblog", "/nowhere/log", "echo", ":::", "a"]);
    assert!(outcome.err.contains("joblog /nowhere/log cannot be written"), "{}", outcome.err);
}
