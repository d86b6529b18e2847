//! What is kept in files: under names that differ, and without a tick that waits for the disk.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use headcount::trace::{Recorder, RecorderConfig};
use headcount::{Driver, PolicyError, Preset, Resizable, Scaler, ScalerBuilder, StateFile};

use crate::support::{Told, busy, by_hand, run_for};

const SECOND: Duration = Duration::from_secs(1);

fn recorder(path: &Path) -> Recorder {
    Recorder::create(path, RecorderConfig::default()).expect("it can be made")
}

/// Starts two scalers of one name on one driver, each with what `keep` gives it.
fn two_of_one_name(keep: impl Fn(ScalerBuilder) -> ScalerBuilder) -> Result<Scaler, PolicyError> {
    let (driver, _) = by_hand();
    let start = || {
        let builder = Scaler::of(busy()).name("thumbs").policy(Preset::gopipe());
        keep(builder.driver(&driver)).start()
    };
    let first = start().expect("nobody else has the name");
    let second = start();
    drop(first);
    if second.is_err() {
        drop(start().expect("the name is free again"));
    }
    second
}

#[test]
fn a_name_that_is_taken_is_refused_where_names_tell_scalers_apart() {
    let dir = tempfile::tempdir().expect("a directory");
    let (trace, state) = (dir.path().join("run.jsonl"), dir.path().join("state"));
    let check = |second: Result<Scaler, PolicyError>, place: &str| {
        let text = format!(
            "name is \"thumbs\"; another scaler has this name in {place}, which tells them apart \
             by it; give each a name of its own"
        );
        assert_eq!(second.expect_err("it is taken").to_string(), text);
    };
    let recorder = recorder(&trace);
    let second = two_of_one_name(|builder| builder.trace(&recorder));
    check(second, &format!("the trace {}", trace.display()));
    let file = StateFile::open(&state);
    let second = two_of_one_name(|builder| builder.state_file(&file));
    check(second, &format!("the state file {}", state.display()));
    assert!(two_of_one_name(|builder| builder).is_ok(), "nobody confuses these two");
}

/// A file that whoever writes it waits to open.
fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().expect("mkfifo starts");
    assert!(made.success());
}

/// A file that takes a little and then nothing more, until somebody reads what this returns.
fn clogged(path: &Path) -> File {
    pipe(path);
    // To open a pipe for both does not wait for anybody.
    File::options().read(true).write(true).open(path).expect("a pipe")
}

/// Has the driver look at everybody for so long, and fails where that hangs.
fn passes(driver: &Driver, clock: &Told, span: Duration) {
    let (driver, clock, (done, passed)) = (driver.clone(), clock.clone(), channel());
    thread::spawn(move || {
        run_for(&driver, &clock, span);
        done.send(()).ok();
    });
    passed.recv_timeout(60 * SECOND).expect("no tick waits for the disk");
}

#[test]
fn a_trace_that_nobody_takes_delays_no_tick_and_is_whole_in_the_end() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.jsonl");
    let holder = clogged(&path);
    let recorder = recorder(&path);
    let (pool, (driver, clock)) = (busy(), by_hand());
    let scaler = Scaler::of(pool.clone()).policy(Preset::gopipe()).trace(&recorder);
    let scaler = scaler.driver(&driver).start().expect("no fault");
    passes(&driver, &clock, 200 * SECOND);
    assert!(!pool.resized().is_empty(), "it scaled");
    let ticks = scaler.stats().evaluations;
    assert!(100 < ticks && recorder.lost() == 0, "{ticks}, {}", recorder.lost());

    // The header, the policy, and the ticks.
    let lines = usize::try_from(ticks).expect("not so many") + 2;
    let reader = thread::spawn(move || BufReader::new(holder).lines().take(lines).count());
    scaler.stop();
    assert_eq!(reader.join().expect("no panic"), lines);
    assert_eq!((recorder.lost(), recorder.error()), (0, None));
}

#[test]
fn a_trace_that_stays_behind_is_cut_short_and_counted() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.jsonl");
    let holder = clogged(&path);
    let recorder = recorder(&path);
    let scaler = Scaler::of(busy()).policy(Preset::gopipe()).trace(&recorder).build();
    let scaler = scaler.expect("no fault");
    let mut handed = 1;
    while recorder.lost() == 0 {
        scaler.scale_to(3);
        handed += 2;
        assert!(handed < 100_000, "there is a limit");
    }
    let lost = usize::try_from(recorder.lost()).expect("not so many");
    let lines = 1 + handed - lost;
    let reader = thread::spawn(move || BufReader::new(holder).lines().take(lines).count());
    drop(scaler);
    assert_eq!(reader.join().expect("no panic"), lines, "all the others are there");
}

fn beside(path: &Path) -> PathBuf {
    path.with_file_name("state.new")
}

#[test]
fn a_state_file_that_hangs_delays_no_tick_and_is_there_in_the_end() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("state");
    // Whoever opens it to write waits until somebody reads.
    pipe(&beside(&path));
    let state = StateFile::open(&path);
    let (pool, (driver, clock)) = (busy(), by_hand());
    let scaler = Scaler::of(pool.clone()).name("thumbs").policy(Preset::gopipe());
    let scaler = scaler.state_file(&state).driver(&driver).start().expect("no fault");
    passes(&driver, &clock, 60 * SECOND);
    assert!(!path.exists(), "nothing could be written so far");
    let reader = File::open(beside(&path)).expect("a pipe");
    fs::remove_file(beside(&path)).expect("it was there");
    let size = scaler.scale_to(5).to.ceiling;
    scaler.stop();
    drop(reader);
    let text = fs::read_to_string(&path).expect("it is written when it has stopped");
    assert!(text.contains(&format!("thumbs\t{size}\t{size}\t")), "{text}");
    assert_eq!((pool.snapshot().ceiling, state.error()), (5, None));
}
