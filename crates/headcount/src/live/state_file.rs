//! What the scalers of a process knew when it ended, for the next one to begin from.
//!
//! One line for each scaler: its name, its staffing, and the notes of its autoscaler as numbers.
//! The file is written beside, brought to the disk, and put in place by a rename, so that it is
//! whole or not there, also after the power went. What cannot be read is ignored: then a scaler
//! begins as if it were the first time, by holding.
//!
//! A thread of its own writes it (`writer.rs`). What is handed over is the wish to have it written,
//! and no more than one waits: what is written is what is known by then, so a wish that gives way
//! to a later one takes nothing with it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use headcount_core::{Notes, Staffing, Timestamp};

use super::names::Names;
use super::surroundings::{Footing, Record, Tick};
use super::writer::{GivesWay, Room, Writer};
use crate::sync::lock;

/// The first line of every file; another one is not read.
const HEADER: &str = "headcount state 1";
/// No more often than this the file is written while scalers run.
const WRITTEN_APART: Duration = Duration::from_secs(10);
/// Files that are longer are not read.
const BYTES_MAX: u64 = 16 << 20;
/// So many scalers are remembered.
const SCALERS_MAX: usize = 4096;

/// A file from which scalers begin after a restart.
///
/// Scalers are told apart by their names, so these must be the same after the restart, and differ:
/// a second one of the same name is refused. A file belongs to one process at a time, and to one
/// `StateFile` in it with its clones. It is written by a thread of its own every few seconds; when
/// a scaler has stopped, what it knew is in the file.
///
/// ```
/// use headcount::{Preset, Scaler, StateFile, ThreadPool};
///
/// let path = std::env::temp_dir().join(format!("headcount-{}.state", std::process::id()));
/// let of = |pool: &ThreadPool| {
///     let state = StateFile::open(&path);
///     Scaler::of(pool.handle()).name("thumbs").policy(Preset::gopipe()).state_file(&state).start()
/// };
/// let before = ThreadPool::builder().workers(1..=8).build()?;
/// let scaler = of(&before)?;
/// scaler.scale_to(6);
/// scaler.stop();
///
/// // The process ends, and another begins.
/// let after = ThreadPool::builder().workers(1..=8).build()?;
/// let scaler = of(&after)?;
/// assert_eq!(after.snapshot().ceiling, 6, "the last known size");
/// # drop(scaler);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct StateFile {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    names: Names,
    pages: Arc<Mutex<Pages>>,
    /// What is handed over is that the file is to be written.
    writer: Writer<()>,
}

/// One wish to have the file written waits, and the latest is as good as any.
const ROOM: Room = Room { weight_max: 1, gives_way: GivesWay::Oldest };

#[derive(Debug, Default)]
struct Pages {
    known: BTreeMap<String, Known>,
    /// When somebody last wanted it written.
    asked_at: Option<Timestamp>,
    /// Why it could not be written the last time, if it could not.
    error: Option<String>,
}

/// What is known of one scaler.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Known {
    pub(super) staffing: Staffing,
    pub(super) notes: Notes,
}

impl StateFile {
    /// The file at `path`, with what it holds. One that is not there or cannot be read holds
    /// nothing.
    #[must_use]
    pub fn open(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref().to_owned();
        let known = read(&path).unwrap_or_default();
        let pages = Arc::new(Mutex::new(Pages { known, ..Pages::default() }));
        let (file, latest) = (path.clone(), Arc::clone(&pages));
        let writer = Writer::new(ROOM, move |()| {
            // Nobody waits for the disk to look at the pages.
            let known = lock(&latest).known.clone();
            let written = write(&file, &known);
            lock(&latest).error = written.err().map(|error| error.to_string());
        });
        Self { shared: Arc::new(Shared { path, names: Names::default(), pages, writer }) }
    }

    /// Why it could not be written the last time, if it could not.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        lock(&self.shared.pages).error.clone()
    }

    pub(super) fn recall(&self, name: &str) -> Option<Known> {
        lock(&self.shared.pages).known.get(&key(name)).cloned()
    }
}

impl Record for StateFile {
    fn names(&self) -> (&Names, String) {
        (&self.shared.names, format!("the state file {}", self.shared.path.display()))
    }

    fn policy(&self, _: &str, _: &Arc<Footing>) {}

    fn record(&self, tick: &Tick<'_>) {
        let pool = &tick.observation.pool;
        let now = tick.observation.at;
        let (mut pages, key) = (lock(&self.shared.pages), key(tick.pool));
        let has_room = pages.known.contains_key(&key) || pages.known.len() < SCALERS_MAX;
        // What a pool looks like while it is drained is nothing to begin from.
        if !pool.draining && has_room {
            let staffing = tick.decision.resize().unwrap_or(tick.decision.from);
            let notes = tick.footing.notes.clone();
            pages.known.insert(key, Known { staffing, notes });
        }
        if pages.asked_at.is_none_or(|at| WRITTEN_APART <= now.since(at)) {
            pages.asked_at = Some(now);
            drop(pages);
            self.finish();
        }
    }

    fn finish(&self) {
        self.shared.writer.hand(1, ());
    }

    fn flush(&self) {
        self.shared.writer.flush();
    }
}

/// A name of several lines would be read as several scalers.
fn key(name: &str) -> String {
    name.escape_default().to_string()
}

fn write(path: &Path, known: &BTreeMap<String, Known>) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let mut file = File::create(&beside)?;
    file.write_all(text(known).as_bytes())?;
    // A rename can reach the disk before what it puts in place.
    file.sync_all()?;
    fs::rename(&beside, path)
}

fn text(known: &BTreeMap<String, Known>) -> String {
    let mut text = format!("{HEADER}\n");
    for (name, Known { staffing, notes }) in known {
        write!(text, "{name}\t{}\t{}", staffing.floor, staffing.ceiling).expect("text is written");
        for word in notes.words() {
            write!(text, "\t{word:x}").expect("text is written");
        }
        text.push('\n');
    }
    text
}

fn read(path: &Path) -> Option<BTreeMap<String, Known>> {
    (fs::metadata(path).ok()?.len() <= BYTES_MAX).then_some(())?;
    parse(&fs::read_to_string(path).ok()?)
}

fn parse(text: &str) -> Option<BTreeMap<String, Known>> {
    let mut lines = text.lines();
    (lines.next() == Some(HEADER)).then_some(())?;
    Some(lines.filter_map(parse_line).take(SCALERS_MAX).collect())
}

fn parse_line(line: &str) -> Option<(String, Known)> {
    let mut fields = line.split('\t');
    let name = fields.next()?.to_owned();
    let (floor, ceiling) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let words =
        fields.map(|word| u64::from_str_radix(word, 16).ok()).collect::<Option<Vec<_>>>()?;
    let staffing = Staffing::between(floor, ceiling);
    Some((name, Known { staffing, notes: Notes::of_words(words) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(ceiling: u32, words: &[u64]) -> Known {
        let notes = Notes::of_words(words.to_vec());
        Known { staffing: Staffing::between(1, ceiling), notes }
    }

    #[test]
    fn what_is_written_is_read() {
        let pages = BTreeMap::from([
            ("mails".to_owned(), known(3, &[])),
            ("thumbs".to_owned(), known(40, &[1, u64::MAX, 0])),
        ]);
        assert_eq!(parse(&text(&pages)), Some(pages));
    }

    #[test]
    fn what_is_damaged_is_left_out_and_the_rest_is_read() {
        let pages = BTreeMap::from([("mails".to_owned(), known(3, &[7]))]);
        let damaged = format!("{}thumbs\t1\tmany\nbits\t1\t2\tzz\n\n", text(&pages));
        assert_eq!(parse(&damaged), Some(pages));
        assert_eq!(parse("headcount state 2\nmails\t1\t3\n"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn what_cannot_be_written_leaves_what_was() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("state");
        let before = BTreeMap::from([("mails".to_owned(), known(3, &[7]))]);
        write(&path, &before).expect("it can be written");
        fs::create_dir_all(dir.path().join("state.new")).expect("something in the way");
        assert!(write(&path, &BTreeMap::new()).is_err());
        assert_eq!(read(&path), Some(before));
    }
}
