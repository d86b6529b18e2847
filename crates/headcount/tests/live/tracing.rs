//! What was recorded can be read, replayed, and does not fill the disk.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use headcount::trace::{Recorder, RecorderConfig, Row, TraceReader};
use headcount::{
    Budget, Extras, Mode, Name, Observation, PolicyConfig, PoolSnapshot, Preset, Reason, Resizable,
    Scaler, Share, Staffing,
};
use headcount_core::decide::Decider;
use headcount_core::guard::{Because, Guard, Ruling};
use headcount_core::signal::{Signal, Smoothing, Source};
use headcount_core::{Noted, Notes, NotesReader, Proposal, SignalConfig, Situation};
use headcount_sim::replay::{Again, Same};

use crate::support::{Paper, busy, by_hand, run_for};

/// A directory, and what goes with it.
struct Dir(PathBuf, #[expect(dead_code, reason = "it is there to be dropped")] tempfile::TempDir);

impl Dir {
    fn new(name: &str) -> Self {
        let dir = tempfile::Builder::new().prefix(name).tempdir().expect("a directory");
        Self(dir.path().to_owned(), dir)
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
    assert!(recorder.flush());
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
    let (mut same, mut ticks) = (Same::default(), 0);
    for row in TraceReader::open(path).expect("a trace") {
        let row = row.expect("whole rows");
        match row {
            row if row.pool() != pool => {}
            Row::Policy { policy, notes, extras, .. } => {
                same.policy(&policy, &extras, &notes).expect("its own notes");
            }
            Row::Tick { observation, decision, .. } => match same.tick(&observation, &decision) {
                Again::Unknown => {}
                Again::Identical => ticks += 1,
                Again::Differs(again) => panic!("row {ticks}: {again:?}\nrecorded: {decision:?}"),
            },
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
    assert!(recorder.flush());
    assert!(0 < check_replays(&dir.0.join("run.1.jsonl"), "a"));
    assert!(0 < check_replays(&path, "a"));
}

/// How much is left of something that only this process knows.
#[derive(Clone, Debug)]
struct Outside(u32);

impl Signal for Outside {
    fn name(&self) -> &'static str {
        "outside"
    }

    fn read(&mut self, _: &Observation) -> Option<f64> {
        self.0 += 1;
        (!self.0.is_multiple_of(5)).then(|| f64::from(self.0 * 7919 % 101) / 33.0)
    }

    fn save(&self, notes: &mut Notes) {
        self.0.write(notes);
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        self.0 = u32::read(notes)?;
        Some(())
    }
}

/// Wants whatever the signal says, and remembers how often it was asked.
#[derive(Clone, Debug)]
struct Moody(u32);

impl Decider for Moody {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        self.0 += 1;
        let more = u32::from(situation.reading("outside").is_some_and(|known| 1.5 < known.value));
        Proposal::want(Staffing::exactly(1 + 3 * more + self.0 % 3), Reason::External)
    }

    fn save(&self, notes: &mut Notes) {
        self.0.write(notes);
    }
}

/// Holds in every third second, and looks far back.
#[derive(Debug)]
struct Shy;

impl Guard for Shy {
    fn name(&self) -> &'static str {
        // As one of the policy's own is called.
        "error_veto"
    }

    fn looks_back(&self) -> Duration {
        Duration::from_secs(900)
    }

    fn review(&self, situation: &Situation<'_>, _: Staffing) -> Ruling {
        match situation.now().as_nanos() / 1_000_000_000 % 3 {
            0 => Ruling::Hold(Because::Said(Name::new("shy").expect("a name"))),
            _ => Ruling::Allow,
        }
    }
}

/// Records a run with parts of one's own, over several files, and returns how many decisions are
/// replayed without their code.
fn replayed_with(extras: impl Fn() -> Extras + Send + Sync + 'static, smoothed: bool) -> u32 {
    let dir = Dir::new("extras");
    let path = dir.0.join("run.jsonl");
    let config = RecorderConfig { bytes_max: 40_000, files_max: 3 };
    let recorder = Recorder::create(&path, config).expect("it can be made");
    let outside = Name::new("outside").expect("a name");
    let mut policy = PolicyConfig { workers_max: Some(8), ..Preset::gopipe().config() };
    if smoothed {
        let smoothing = vec![Smoothing::Ewma { tau: Duration::from_secs(3) }];
        let signal = SignalConfig { name: outside, source: Source::External(outside), smoothing };
        policy.signals = Some(vec![signal]);
    }
    policy.guards.error_veto.get_or_insert_default();
    let (pool, (driver, clock)) = (busy(), by_hand());
    let scaler = Scaler::of(pool.clone()).name("a").policy(policy).trace(&recorder);
    let scaler = scaler.extras(extras).driver(&driver).start().expect("no fault");
    for second in 0..60 {
        pool.set(|pool| {
            pool.busy = if second % 7 < 4 { pool.live } else { 0 };
            pool.counters.completed += 10;
        });
        if second == 20 {
            scaler.scale_to(7);
            scaler.set_mode(Mode::Advise);
        }
        if second == 30 {
            scaler.set_mode(Mode::Automatic);
        }
        run_for(&driver, &clock, Duration::from_secs(1));
    }
    drop(scaler);
    headcount::trace::files(&path).iter().map(|file| check_replays(file, "a")).sum()
}

#[test]
fn a_run_with_parts_of_ones_own_replays_without_their_code() {
    let signals = || -> Vec<Box<dyn Signal>> { vec![Box::new(Outside(0))] };
    let check = |ticks: u32| assert!(40 < ticks, "{ticks}");
    check(replayed_with(move || Extras { signals: signals(), ..Extras::default() }, false));
    check(replayed_with(move || Extras { signals: signals(), ..Extras::default() }, true));
    let guards = || vec![Arc::new(Shy) as Arc<dyn Guard>];
    check(replayed_with(move || Extras { guards: guards(), ..Extras::default() }, false));
    let all = move || {
        let decider = Some(Box::new(Moody(0)) as Box<dyn Decider>);
        Extras { signals: signals(), decider, guards: guards(), ..Extras::default() }
    };
    check(replayed_with(all, true));
}

#[test]
fn a_trace_of_the_version_before_is_read_and_replayed() {
    let dir = Dir::new("version");
    let path = dir.0.join("run.jsonl");
    let recorder = Recorder::create(&path, RecorderConfig::default()).expect("it can be made");
    run(&busy(), &recorder, 30);
    let text = fs::read_to_string(&path).expect("text");
    let header = "{\"headcount_trace\":2}\n";
    let rows = text.strip_prefix(header).expect("the version that is written");
    assert!(!rows.contains("extras"), "nothing but the policy's own");
    fs::write(&path, format!("{}{rows}", header.replace('2', "1"))).expect("a file");
    assert!(20 < check_replays(&path, "a"));
}
