//! The checker, tested by lies: a history in which every promise is kept, and one change at a time
//! that breaks one.

use std::collections::BTreeMap;
use std::time::Duration;

use headcount_core::jobs::{JobId, State};

use super::checker::{Last, Promises, check};
use super::history::{Entry, read};

const SECOND: u64 = 1_000_000_000;

const PROMISES: Promises = Promises {
    recovery_max: Duration::from_secs(12),
    grace: Duration::from_secs(25),
    lost_max: 0,
    forgets: false,
};

fn id(number: u128) -> JobId {
    JobId::new(0, number)
}

/// Job 1 is done at once. Job 2 loses its worker and is done elsewhere. Job 3 fails, is given back
/// by a process that stops, and is done. Job 4 takes two workers with it and is put aside. Job 5
/// is a schedule's.
fn truth() -> (Vec<Entry>, BTreeMap<JobId, Last>) {
    let mut lines: Vec<String> = Vec::new();
    let mut say = |at: u64, pid: u32, what: &str, job: u128, epoch: &str| {
        let id = id(job);
        let line = match job {
            0 => format!("{} {pid} {what}", at * SECOND),
            _ => format!("{} {pid} {what} {id} {epoch}", at * SECOND),
        };
        lines.push(line.trim_end().to_owned());
    };
    for job in 1..=5 {
        say(1, 1, "submitting", job, "");
        say(2, 1, "accepted", job, "");
    }
    say(3, 10, "start", 1, "1");
    say(4, 10, "well", 1, "1");
    say(5, 10, "taken", 1, "1");
    say(6, 10, "start", 2, "2");
    say(6, 10, "start", 4, "3");
    say(7, 10, "killed", 0, "");
    say(8, 11, "start", 3, "4");
    say(9, 11, "badly", 3, "4");
    say(10, 11, "taken", 3, "4");
    say(15, 12, "start", 2, "5");
    say(15, 12, "start", 4, "6");
    say(16, 12, "well", 2, "5");
    say(17, 12, "taken", 2, "5");
    say(18, 12, "killed", 0, "");
    say(20, 11, "start", 3, "7");
    say(21, 11, "stopping", 0, "");
    say(22, 11, "back", 3, "7");
    say(23, 11, "taken", 3, "7");
    say(24, 11, "exit", 0, "");
    say(25, 13, "start", 3, "8");
    say(26, 13, "well", 3, "8");
    say(27, 13, "taken", 3, "8");
    say(28, 13, "start", 5, "9");
    say(28, 13, "tick", 5, "60000");
    say(29, 13, "well", 5, "9");
    say(30, 13, "taken", 5, "9");
    let entries = read(&[lines.join("\n") + "\n"]).expect("a history");
    (entries, last())
}

fn last() -> BTreeMap<JobId, Last> {
    let done = Last { state: State::Done, attempts: 0, crashes: 0, preemptions: 0, crashes_max: 2 };
    BTreeMap::from([
        (id(1), done.clone()),
        (id(2), Last { crashes: 1, ..done.clone() }),
        (id(3), Last { attempts: 1, preemptions: 1, ..done.clone() }),
        (id(4), Last { state: State::Quarantined, crashes: 2, ..done.clone() }),
        (id(5), done),
    ])
}

#[test]
fn the_truth_breaks_nothing() {
    let (entries, last) = truth();
    let findings = check(&entries, &last, PROMISES);
    assert_eq!(findings.broken, Vec::<String>::new());
    assert_eq!((findings.submitted, findings.starts, findings.kills), (5, 9, 2));
    assert_eq!(findings.recoveries, [Duration::from_secs(8); 2]);
    assert_eq!(findings.lost, 0);
}

/// The change must break the promise whose name begins so.
#[track_caller]
fn caught(promise: &str, change: impl FnOnce(&mut Vec<Entry>, &mut BTreeMap<JobId, Last>)) {
    let (mut entries, mut last) = truth();
    change(&mut entries, &mut last);
    entries.sort_by_key(|entry| entry.at);
    let broken = check(&entries, &last, PROMISES).broken;
    assert!(broken.iter().any(|broken| broken.starts_with(promise)), "{promise}: {broken:?}");
}

fn said(at: u64, rest: &str) -> Entry {
    format!("{} {rest}", at * SECOND).parse().expect("a line")
}

fn without(entries: &mut Vec<Entry>, at: u64, word: &str) {
    let before = entries.len();
    entries.retain(|entry| {
        entry.at != at * SECOND || !entry.to_string().contains(&format!(" {word}"))
    });
    assert!(entries.len() < before, "there was one to leave out");
}

#[test]
fn a_lost_job_is_caught() {
    caught("I1", |_, last| _ = last.remove(&id(1)));
}

/// What is said of a loss where the store forgets what ended well, and job 1 is gone.
fn forgotten(change: impl FnOnce(&mut Vec<Entry>)) -> Vec<String> {
    let (mut entries, mut last) = truth();
    last.remove(&id(1));
    change(&mut entries);
    check(&entries, &last, Promises { forgets: true, ..PROMISES }).broken
}

#[test]
fn a_job_that_is_gone_must_have_ended_well() {
    let taken = format!("taken {}", id(1));
    assert_eq!(forgotten(|_| ()), Vec::<String>::new());
    // Whoever was killed before it heard of it may have done it.
    assert_eq!(forgotten(|entries| without(entries, 5, &taken)), Vec::<String>::new());
    let refused = forgotten(|entries| {
        without(entries, 5, &taken);
        entries.push(said(5, &format!("10 stale {} 1", id(1))));
    });
    let not_ended = forgotten(|entries| {
        without(entries, 4, &format!("well {}", id(1)));
        without(entries, 5, &taken);
    });
    for broken in [refused, not_ended] {
        assert!(broken.iter().any(|broken| broken.starts_with("I1")), "{broken:?}");
    }
}

#[test]
fn a_job_that_never_ends_is_caught() {
    caught("I1", |_, last| {
        last.get_mut(&id(1)).expect("it is there").state = State::Running;
    });
}

#[test]
fn a_job_that_nobody_submitted_is_caught() {
    caught("I2", |entries, _| entries.push(said(28, &format!("13 start {} 10", id(9)))));
}

#[test]
fn a_start_after_the_settle_is_caught() {
    caught("I3", |entries, _| entries.push(said(28, &format!("13 start {} 10", id(1)))));
}

#[test]
fn one_epoch_for_two_runs_is_caught() {
    caught("I4", |entries, _| entries.push(said(4, &format!("11 start {} 1", id(1)))));
}

#[test]
fn a_stale_settle_that_was_taken_is_caught() {
    caught("I4", |entries, _| {
        entries.push(said(16, &format!("10 well {} 2", id(2))));
        entries.push(said(17, &format!("10 taken {} 2", id(2))));
    });
}

#[test]
fn a_run_without_a_cause_is_caught() {
    caught("I5", |_, last| last.get_mut(&id(2)).expect("it is there").crashes = 0);
    caught("I5", |_, last| last.get_mut(&id(3)).expect("it is there").preemptions = 0);
}

#[test]
fn a_slow_recovery_is_caught() {
    caught("I6", |entries, _| {
        without(entries, 15, &format!("start {}", id(2)));
        entries.push(said(40, &format!("12 start {} 5", id(2))));
    });
    // Lost once more by somebody who had not begun it; even for that it is too late.
    caught("I6", |entries, last| {
        without(entries, 15, &format!("start {}", id(2)));
        entries.push(said(40, &format!("12 start {} 5", id(2))));
        last.get_mut(&id(2)).expect("it is there").crashes = 2;
    });
    // The store says so, but nobody was killed meanwhile.
    caught("I6", |entries, last| {
        without(entries, 15, &format!("start {}", id(2)));
        without(entries, 18, "killed");
        entries.push(said(30, &format!("13 start {} 10", id(2))));
        last.get_mut(&id(2)).expect("it is there").crashes = 2;
    });
}

#[test]
fn a_job_that_was_lost_twice_may_take_twice_as_long() {
    let (mut entries, mut last) = truth();
    without(&mut entries, 15, &format!("start {}", id(2)));
    without(&mut entries, 16, &format!("well {}", id(2)));
    without(&mut entries, 17, &format!("taken {}", id(2)));
    let again = [(30, "start"), (31, "well"), (32, "taken")];
    entries.extend(again.map(|(at, what)| said(at, &format!("13 {what} {} 10", id(2)))));
    let job = last.get_mut(&id(2)).expect("it is there");
    (job.crashes, job.crashes_max) = (2, 3);
    assert_eq!(check(&entries, &last, PROMISES).broken, Vec::<String>::new());
}

#[test]
fn a_crash_counted_as_an_attempt_is_caught() {
    caught("I7", |_, last| last.get_mut(&id(2)).expect("it is there").attempts = 1);
}

#[test]
fn a_failure_that_is_not_counted_is_caught() {
    caught("I7", |_, last| last.get_mut(&id(3)).expect("it is there").attempts = 0);
}

#[test]
fn a_poison_job_that_goes_on_is_caught() {
    caught("I7", |_, last| last.get_mut(&id(4)).expect("it is there").state = State::Done);
    caught("I7", |_, last| last.get_mut(&id(4)).expect("it is there").crashes = 1);
}

#[test]
fn a_start_after_the_word_to_stop_is_caught() {
    caught("I10", |entries, _| {
        without(entries, 21, "stopping");
        entries.push(said(19, "11 stopping"));
    });
}

#[test]
fn a_process_that_does_not_stop_is_caught() {
    caught("I10", |entries, _| without(entries, 24, "exit"));
    caught("I10", |entries, _| {
        without(entries, 24, "exit");
        entries.push(said(47, "11 exit"));
    });
}

#[test]
fn a_tick_that_fires_twice_is_caught() {
    caught("I12", |entries, _| entries.push(said(29, &format!("13 tick {} 60000", id(1)))));
}
