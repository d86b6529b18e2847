//! What was recorded can be read, replayed, and does not fill the disk.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use headcount::trace::{Recorder, RecorderConfig, Row, TraceReader};
use headcount::{Policy, Preset, Scaler};
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
    let (mut autoscaler, mut ticks) = (None, 0);
    for row in TraceReader::open(&path).expect("a trace") {
        match row.expect("whole rows") {
            Row::Policy { policy, notes, .. } => {
                let mut built = Policy::check(&policy, 1).expect("no fault").build();
                built.restore(&Notes::of_words(notes)).expect("its own notes");
                autoscaler = Some(built);
            }
            Row::Tick { observation, decision, .. } => {
                let autoscaler = autoscaler.as_mut().expect("the policy came first");
                let again = autoscaler.tick(&observation);
                assert_eq!(format!("{again:?}"), format!("{decision:?}"));
                if again.resize().is_some() {
                    autoscaler.applied(&again);
                }
                ticks += 1;
            }
        }
    }
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

#[test]
fn what_cannot_be_written_is_counted_and_stops_nobody() {
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
    assert!(0 < recorder.lost() && recorder.error().is_some());
    assert!(!pool.resized().is_empty(), "it scaled all the same");
}
