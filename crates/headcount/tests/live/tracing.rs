//! What was recorded can be read, replayed, and does not fill the disk.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use headcount::trace::{Recorder, RecorderConfig, Row, TraceReader};
use headcount::{
    Autoscaler, Budget, Mode, Policy, PolicyConfig, PoolSnapshot, Preset, Resizable, Scaler, Share,
    Staffing,
};
use headcount_core::Notes;

use crate::support::{Paper, busy, by_hand, run_for};

struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("headcount-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

fn run(pool: &Paper, recorder: &Recorder, seconds: u32) {
    let (driver, clock) = by_hand();
    let scaler = Scaler::of(pool.clone()).name("a").policy(Preset::gopipe()).trace(recorder);
    let scaler = scaler.driver(&driver).start().expect("no fault");
    for second in 0..seconds {
        pool.set(|pool| pool.busy = if second % 7 < 4 { pool.live } else { 0 });
        run_for(&driver, &clock, Duration::from_secs(1));
    }
    drop(scaler);
}

#[test]
fn a_replay_decides_the_same_byte_for_byte() {
    let dir = Dir::new("replay");
    let path = dir.0.join("run.jsonl");
    let recorder = Recorder::create(&path, RecorderConfig::default()).expect("it can be made");
    run(&busy(), &recorder, 60);
    let ticks = check_replays(&path, "a");
    assert!(50 < ticks, "{ticks}");
}

#[test]
fn full_files_are_put_aside_and_the_oldest_goes() {
    let dir = Dir::new("rotate");
    let path = dir.0.join("run.jsonl");
    let config = RecorderConfig { bytes_max: 20_000, files_max: 3 };
    let recorder = Recorder::create(&path, config).expect("it can be made");
    run(&busy(), &recorder, 200);
    let names = fs::read_dir(&dir.0).expect("it is there").map(|entry| {
        let entry = entry.expect("it can be read");
        assert!(entry.metadata().expect("its size").len() < 40_000);
        entry.file_name().into_string().expect("text")
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    assert_eq!(names, ["run.1.jsonl", "run.2.jsonl", "run.jsonl"]);
    for name in names {
        let rows = TraceReader::open(dir.0.join(name)).expect("a trace");
        let rows = rows.collect::<Result<Vec<Row>, _>>().expect("whole rows");
        assert!(rows.iter().any(|row| matches!(row, Row::Policy { .. })), "each can be replayed");
    }
    assert_eq!((recorder.lost(), recorder.error()), (0, None));
}

/// How many rows there are, all of them whole.
fn rows(path: &Path) -> usize {
    let rows = TraceReader::open(path).expect("a trace");
    rows.collect::<Result<Vec<Row>, _>>().expect("whole rows").len()
}

#[test]
fn a_file_that_cannot_be_put_aside_is_written_on() {
    let dir = Dir::new("stuck");
    let path = dir.0.join("run.jsonl");
    let aside = dir.0.join("run.1.jsonl");
    let older = dir.0.join("run.2.jsonl");
    fs::create_dir_all(&aside).expect("something in the way");
    fs::write(&older, "older").expect("a file");
    let config = RecorderConfig { bytes_max: 20_000, files_max: 3 };
    let recorder = Recorder::create(&path, config).expect("nothing has to be put aside yet");
    run(&busy(), &recorder, 200);
    assert_eq!(recorder.lost(), 0);
    assert!(recorder.error().is_some(), "it is said all the same");
    let recorded = rows(&path);
    assert!(150 < recorded, "{recorded}");
    assert_eq!(fs::read_to_string(&older).expect("it is there"), "older");
    assert!(!dir.0.join("run.jsonl.new").exists(), "nothing is left of the attempts");

    fs::remove_dir(&aside).expect("it was empty");
    run(&busy(), &recorder, 12);
    assert!(recorded <= rows(&aside), "what was recorded meanwhile is not lost");
    assert_eq!(fs::read_to_string(&older).expect("it is there"), "older", "there was a gap");
    assert!(rows(&path) < recorded);
}

#[test]
fn a_file_that_cannot_be_begun_costs_none_of_the_others() {
    let dir = Dir::new("unbegun");
    let path = dir.0.join("run.jsonl");
    fs::create_dir_all(dir.0.join("run.jsonl.new")).expect("something in the way");
    fs::write(&path, "old").expect("a file");
    fs::write(dir.0.join("run.1.jsonl"), "older").expect("a file");
    assert!(Recorder::create(&path, RecorderConfig::default()).is_err());
    let text = |name| fs::read_to_string(dir.0.join(name)).expect("it is there");
    assert_eq!((text("run.jsonl"), text("run.1.jsonl")), ("old".to_owned(), "older".to_owned()));
}

#[test]
fn a_policy_that_could_not_be_written_is_told_again() {
    let dir = Dir::new("again");
    let path = dir.0.join("run.jsonl");
    let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo starts");
    assert!(made.success());
    // To open a pipe for both does not wait for anybody.
    let both = || File::options().read(true).write(true).open(&path).expect("a pipe");
    let listener = both();
    let recorder = Recorder::create(&path, RecorderConfig::default()).expect("somebody listens");
    drop(listener);
    let (driver, clock) = by_hand();
    let scaler = Scaler::of(busy()).name("a").policy(Preset::gopipe()).trace(&recorder);
    let scaler = scaler.driver(&driver).start().expect("no fault");
    assert_eq!(recorder.lost(), 1, "nobody listens");
    let holder = both();
    let mut listener = File::open(&path).expect("a pipe");
    drop(holder);
    run_for(&driver, &clock, Duration::from_secs(1));
    drop((scaler, driver, recorder));
    let mut heard = String::new();
    listener.read_to_string(&mut heard).expect("text");
    assert_eq!(heard.matches("\"policy\":{").count(), 1, "{heard}");
}

/// Set where the test below runs itself again, with a limit on the size of its files.
const SMALL: &str = "HEADCOUNT_TEST_SMALL_FILES";

#[test]
fn a_line_that_broke_off_is_taken_back() {
    if let Some(path) = std::env::var_os(SMALL) {
        let recorder = Recorder::create(path, RecorderConfig::default()).expect("it can be made");
        run(&busy(), &recorder, 60);
        assert!(0 < recorder.lost(), "there is no room for all of it");
        return;
    }
    let dir = Dir::new("torn");
    let path = dir.0.join("run.jsonl");
    // At the limit a line is written in part, and the rest is an error, for the signal is ignored.
    let script = "trap '' 25; ulimit -f 31; exec \"$0\" --exact \"$1\"";
    let itself = std::env::current_exe().expect("this test");
    let name = "tracing::a_line_that_broke_off_is_taken_back";
    let mut small = Command::new("sh");
    small.args(["-c", script]).arg(itself).arg(name).env(SMALL, &path);
    let output = small.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let text = fs::read_to_string(&path).expect("a trace");
    assert!(10_000 < text.len() && text.ends_with('\n'), "{} bytes", text.len());
    assert!(10 < rows(&path));
}

#[test]
fn what_cannot_be_written_is_told_and_stops_nobody() {
    let pool = busy();
    let device = Recorder::create("/dev/full", RecorderConfig::default());
    assert!(device.is_err(), "not even the first line");
    assert!(fs::exists("/dev/full").expect("it can be seen"), "what is no file stays in place");
    let dir = Dir::new("lost");
    let inside = dir.0.join("gone");
    fs::create_dir_all(&inside).expect("a directory");
    let config = RecorderConfig { bytes_max: 1, files_max: 2 };
    let recorder = Recorder::create(inside.join("run.jsonl"), config).expect("it can be made");
    fs::remove_dir_all(&inside).expect("it was there");
    run(&pool, &recorder, 10);
    assert_eq!(recorder.lost(), 0, "the old file is still there for whoever has it open");
    assert!(recorder.error().is_some(), "there is no place for another one");
    assert!(!pool.resized().is_empty(), "it scaled all the same");
}

/// Replays what a file tells of one pool, and returns how many decisions came out the same.
fn check_replays(path: &Path, pool: &str) -> u32 {
    let (mut autoscaler, mut ticks) = (None::<Autoscaler>, 0);
    for row in TraceReader::open(path).expect("a trace") {
        let row = row.expect("whole rows");
        match row {
            row if row.pool() != pool => {}
            Row::Policy { policy, notes, .. } => {
                let mut built = Policy::check(&policy, 1).expect("no fault").build();
                built.restore(&Notes::of_words(notes)).expect("its own notes");
                autoscaler = Some(built);
            }
            Row::Tick { observation, decision, .. } => {
                let Some(autoscaler) = &mut autoscaler else { continue };
                let again = autoscaler.tick(&observation);
                assert_eq!(format!("{again:?}"), format!("{decision:?}"), "row {ticks}");
                if again.resize().is_some() {
                    autoscaler.applied(&again);
                }
                ticks += 1;
            }
        }
    }
    ticks
}

#[test]
fn a_minimum_that_was_not_granted_is_recorded_as_it_was_and_replays() {
    let dir = Dir::new("granted");
    let path = dir.0.join("run.jsonl");
    let recorder = Recorder::create(&path, RecorderConfig::default()).expect("it can be made");
    let (driver, clock) = by_hand();
    let budget = Budget::new(10);
    let start = |name, pool: &Paper, min| {
        let bounds = (Some(min), Some(8));
        let policy = PolicyConfig {
            workers_min: bounds.0,
            workers_max: bounds.1,
            ..Preset::gopipe().config()
        };
        let scaler = Scaler::of(pool.clone()).name(name).policy(policy).trace(&recorder);
        scaler.budget(&budget, Share::default()).driver(&driver).start().expect("they fit")
    };
    let one = || Paper::of(PoolSnapshot::at_work(Staffing::exactly(1), 1));
    let (early, late) = (one(), one());
    let first = start("early", &early, 1);
    first.scale_to(8);
    early.set(|pool| (pool.live, pool.busy) = (8, 8));
    let second = start("late", &late, 5);
    run_for(&driver, &clock, Duration::from_millis(100));
    let ceiling = late.snapshot().ceiling;
    assert!(ceiling < 5, "the rest is still at work elsewhere: {ceiling}");
    assert_eq!(second.decision().expect("one").to.ceiling, ceiling, "{}", second.why());
    run_for(&driver, &clock, Duration::from_secs(20));
    assert!(5 <= late.snapshot().ceiling, "{}", second.why());
    drop((first, second));
    assert!(10 < check_replays(&path, "late"));
}

#[test]
fn a_file_that_was_begun_later_knows_the_mode_that_was_set_by_hand() {
    let dir = Dir::new("mode");
    let path = dir.0.join("run.jsonl");
    let config = RecorderConfig { bytes_max: 20_000, files_max: 3 };
    let recorder = Recorder::create(&path, config).expect("it can be made");
    let (pool, (driver, clock)) = (busy(), by_hand());
    let scaler = Scaler::of(pool.clone()).name("a").policy(Preset::gopipe()).trace(&recorder);
    let scaler = scaler.driver(&driver).start().expect("no fault");
    scaler.set_mode(Mode::Advise);
    run_for(&driver, &clock, Duration::from_secs(60));
    assert!(pool.resized().is_empty(), "it only advises");
    assert!(0 < check_replays(&dir.0.join("run.1.jsonl"), "a"));
    assert!(0 < check_replays(&path, "a"));
}
