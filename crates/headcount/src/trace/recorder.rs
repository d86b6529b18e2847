//! Writes a trace.
//!
//! A row is put into words where it comes from, and handed over to a thread that writes it
//! (`live/writer.rs`). That thread alone knows which file it is in and whose policy stands there,
//! so with each tick goes what its pool goes by, to be written where the file does not say so yet.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use headcount_core::{Decision, ExtraParts, Observation, PolicyConfig};
use serde::Serialize;

use super::row::{Header, VERSION};
use crate::live::{Footing, GivesWay, Names, Record, Room, Tick, Writer};
use crate::sync::lock;

/// Rows of so many bytes wait to be written; those that come then are lost, and counted.
const WAITING_MAX: usize = 32 << 20;

/// A file that could not be put aside grows by one part in so many before the next attempt.
const ROTATE_AGAIN: u64 = 4;

/// How much is kept of a trace.
///
/// ```
/// use headcount::trace::RecorderConfig;
///
/// let config = RecorderConfig { files_max: 2, ..RecorderConfig::default() };
/// assert_eq!(config.bytes_max, 64 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecorderConfig {
    /// A file of this size is put aside. 64 MiB by default. One that cannot be put aside is written
    /// on, and may become larger.
    pub bytes_max: u64,
    /// So many files are kept, the one that is written among them. 4 by default.
    pub files_max: u32,
}

impl Default for RecorderConfig {
    fn default() -> Self {
        Self { bytes_max: 64 << 20, files_max: 4 }
    }
}

/// Records every observation and decision of the scalers that are given to it.
///
/// Clones write to the same file. A thread of its own writes it, so that a slow disk delays no
/// scaler; when a scaler has stopped, all that it recorded is in the file. What cannot be written
/// is counted, and stops nobody. Scalers are told apart by their names: a second one of the same
/// name is refused.
///
/// ```
/// use headcount::trace::{Recorder, RecorderConfig, Row, TraceReader};
/// use headcount::{Preset, Scaler, ThreadPool};
///
/// let path = std::env::temp_dir().join(format!("headcount-{}.jsonl", std::process::id()));
/// let recorder = Recorder::create(&path, RecorderConfig::default())?;
/// let pool = ThreadPool::builder().workers(1..=8).build()?;
/// let scaler = Scaler::of(pool.handle()).policy(Preset::gopipe()).trace(&recorder).build()?;
/// scaler.scale_to(3);
/// recorder.flush();
///
/// let rows = TraceReader::open(&path)?.collect::<Result<Vec<Row>, _>>()?;
/// assert!(matches!(&rows[0], Row::Policy { .. }));
/// assert!(matches!(&rows[1], Row::Tick { decision, .. } if decision.to.ceiling == 3));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recorder {
    desk: Arc<Desk>,
}

#[derive(Debug)]
struct Desk {
    path: PathBuf,
    names: Names,
    outcome: Arc<Mutex<Outcome>>,
    writer: Writer<Entry>,
}

/// How the writing went.
#[derive(Clone, Debug, Default)]
struct Outcome {
    lost: u64,
    error: Option<String>,
}

/// What is handed over.
struct Entry {
    pool: String,
    /// The row of a tick, if it is one.
    tick: Option<Vec<u8>>,
    footing: Arc<Footing>,
}

#[derive(Debug)]
struct Tape {
    path: PathBuf,
    config: RecorderConfig,
    file: File,
    /// Whole lines, which is where the next one goes.
    bytes: u64,
    /// From this size on the file is put aside.
    rotate_at: u64,
    /// Whether a line broke off, and is still there.
    is_torn: bool,
    /// The pools whose policy stands in this file.
    told: BTreeSet<String>,
    outcome: Arc<Mutex<Outcome>>,
}

#[derive(Serialize)]
struct WrittenTick<'a> {
    pool: &'a str,
    observation: &'a Observation,
    decision: &'a Decision,
}

#[derive(Serialize)]
struct WrittenPolicy<'a> {
    pool: &'a str,
    policy: &'a PolicyConfig,
    notes: &'a [u64],
    #[serde(skip_serializing_if = "ExtraParts::is_empty")]
    extras: &'a ExtraParts,
}

impl Recorder {
    /// Begins a trace at `path`. What was there is put aside, as when a file is full.
    ///
    /// # Errors
    ///
    /// When the file cannot be made.
    pub fn create(path: impl AsRef<Path>, config: RecorderConfig) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        let (file, bytes) = begin(&path, config.files_max)?;
        let outcome = Arc::<Mutex<Outcome>>::default();
        let mut tape = Tape {
            path: path.clone(),
            config,
            file,
            bytes,
            rotate_at: config.bytes_max,
            is_torn: false,
            told: BTreeSet::new(),
            outcome: Arc::clone(&outcome),
        };
        let room = Room { weight_max: WAITING_MAX, gives_way: GivesWay::Newest };
        let writer = Writer::new(room, move |entry| tape.take(&entry));
        Ok(Self { desk: Arc::new(Desk { path, names: Names::default(), outcome, writer }) })
    }

    /// Waits until everything that was recorded so far is in the file, and says whether it is:
    /// where the disk has not taken it within 10 s, it is not.
    #[expect(clippy::must_use_candidate, reason = "it is called for what it does")]
    pub fn flush(&self) -> bool {
        self.desk.writer.flush()
    }

    /// How many lines could not be written, or found no room to wait for it.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.desk.writer.lost() + lock(&self.desk.outcome).lost
    }

    /// Why a line could not be written, or a full file not be put aside, the last time.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        lock(&self.desk.outcome).error.clone()
    }

    fn hand(&self, pool: &str, tick: Option<Vec<u8>>, footing: &Arc<Footing>) {
        let weight = tick.as_ref().map_or(0, Vec::len) + weight(footing);
        let entry = Entry { pool: pool.to_owned(), tick, footing: Arc::clone(footing) };
        self.desk.writer.hand(weight, entry);
    }
}

/// About how many bytes it takes while it waits.
fn weight(footing: &Footing) -> usize {
    let notes = footing.notes.words().len();
    size_of::<Footing>() + 2 * notes * size_of::<u64>()
}

impl Record for Recorder {
    fn names(&self) -> (&Names, String) {
        (&self.desk.names, format!("the trace {}", self.desk.path.display()))
    }

    fn policy(&self, pool: &str, footing: &Arc<Footing>) {
        self.hand(pool, None, footing);
    }

    fn record(&self, tick: &Tick<'_>) {
        let &Tick { pool, observation, decision, footing } = tick;
        match line(&WrittenTick { pool, observation, decision }) {
            Ok(text) => self.hand(pool, Some(text), footing),
            Err(error) => lock(&self.desk.outcome).lose(&error),
        }
    }

    fn finish(&self) {}

    fn flush(&self) {
        self.desk.writer.flush();
    }
}

impl Outcome {
    fn lose(&mut self, error: &io::Error) {
        self.lost += 1;
        self.error = Some(error.to_string());
    }
}

impl Tape {
    fn take(&mut self, entry: &Entry) {
        if let Some(tick) = &entry.tick {
            self.write(tick);
        }
        if entry.tick.is_none() || !self.told.contains(&entry.pool) {
            self.tell_policy(&entry.pool, &entry.footing);
        }
    }

    fn tell_policy(&mut self, pool: &str, footing: &Footing) {
        let Footing { policy, extras, notes, notes_to_replay } = footing;
        let notes = notes_to_replay.as_ref().unwrap_or(notes).words();
        let written = match line(&WrittenPolicy { pool, policy, notes, extras }) {
            Ok(text) => self.write(&text),
            Err(error) => {
                lock(&self.outcome).lose(&error);
                false
            }
        };
        // One that could not be written is told again with the next tick.
        match written {
            true => self.told.insert(pool.to_owned()),
            false => self.told.remove(pool),
        };
    }

    /// Writes a row, and says whether it stands there.
    fn write(&mut self, row: &[u8]) -> bool {
        self.rotate();
        let written = self.try_write(row);
        if let Err(error) = &written {
            lock(&self.outcome).lose(error);
        }
        written.is_ok()
    }

    /// Begins another file where this one is full. Where that cannot be done, this one is written
    /// on, and the next attempt comes after a while.
    fn rotate(&mut self) {
        if self.bytes < self.rotate_at {
            return;
        }
        match begin(&self.path, self.config.files_max) {
            Ok((file, bytes)) => {
                (self.file, self.bytes, self.is_torn) = (file, bytes, false);
                self.rotate_at = self.config.bytes_max;
                self.told.clear();
            }
            Err(error) => {
                let more = (self.config.bytes_max / ROTATE_AGAIN).max(1);
                self.rotate_at = self.bytes.saturating_add(more);
                lock(&self.outcome).error = Some(error.to_string());
            }
        }
    }

    fn try_write(&mut self, row: &[u8]) -> io::Result<()> {
        if self.is_torn {
            self.mend()?;
        }
        if let Err(error) = self.file.write_all(row) {
            self.is_torn = true;
            // At once, for there may be no next row. What fails here is tried again before one.
            self.mend().ok();
            return Err(error);
        }
        self.bytes += row.len() as u64;
        Ok(())
    }

    /// Takes away a line that broke off, so that the next one begins where it should.
    fn mend(&mut self) -> io::Result<()> {
        // What was sent to a device or a pipe cannot be taken back.
        if self.file.metadata()?.is_file() {
            self.file.set_len(self.bytes)?;
            self.file.seek(SeekFrom::Start(self.bytes))?;
        }
        self.is_torn = false;
        Ok(())
    }
}

/// Begins a file with its first line, and only then puts aside what was there: on a full disk
/// nothing that was recorded is given up for it. What is no file, a device or a pipe, stays where
/// it is and is written to.
fn begin(path: &Path, files_max: u32) -> io::Result<(File, u64)> {
    let header = line(&Header { headcount_trace: VERSION })?;
    let bytes = header.len() as u64;
    if path.exists() && !path.is_file() {
        let mut file = File::create(path)?;
        file.write_all(&header)?;
        return Ok((file, bytes));
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let mut file = File::create(&beside)?;
    let placed = file.write_all(&header).and_then(|()| place(&beside, path, files_max));
    if let Err(error) = placed {
        fs::remove_file(&beside).ok();
        return Err(error);
    }
    Ok((file, bytes))
}

/// Puts the new file where the old one is, and that one aside.
fn place(beside: &Path, path: &Path, files_max: u32) -> io::Result<()> {
    let was_there = path.exists();
    put_aside(path, files_max)?;
    fs::rename(beside, path).inspect_err(|_| {
        // The old one is written on, so it belongs here.
        if was_there && !path.exists() {
            fs::rename(numbered(path, 1), path).ok();
        }
    })
}

/// A row as it stands in the file. It is written in one piece, so that at most the last one is cut
/// off.
fn line(row: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(row)?;
    text.push(b'\n');
    Ok(text)
}

/// Numbers the files up by one as far as they follow each other; the oldest beyond `files_max`
/// goes.
fn put_aside(path: &Path, files_max: u32) -> io::Result<()> {
    let Some(last) = files_max.checked_sub(1).filter(|last| 0 < *last) else { return Ok(()) };
    // An attempt that failed halfway left a gap. It is filled, and nobody goes.
    let free = (1..last).find(|number| !numbered(path, *number).is_file()).unwrap_or(last);
    for number in (1..=free).rev() {
        let from = if number == 1 { path.to_owned() } else { numbered(path, number - 1) };
        if from.is_file() {
            fs::rename(from, numbered(path, number))?;
        }
    }
    Ok(())
}

/// The files of a trace, oldest first: those that were put aside, as far as they follow each other,
/// and the one that is written.
///
/// A recorder puts aside what it finds at its start too, so the older ones may tell of runs before.
///
/// ```
/// use headcount::trace;
///
/// let dir = std::env::temp_dir().join(format!("headcount-files-{}", std::process::id()));
/// std::fs::create_dir_all(&dir)?;
/// for name in ["run.jsonl", "run.1.jsonl", "run.2.jsonl", "run.4.jsonl"] {
///     std::fs::write(dir.join(name), "")?;
/// }
/// let files = ["run.2.jsonl", "run.1.jsonl", "run.jsonl"].map(|name| dir.join(name));
/// assert_eq!(trace::files(dir.join("run.jsonl")), files);
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use]
pub fn files(path: impl AsRef<Path>) -> Vec<PathBuf> {
    let path = path.as_ref();
    let aside = (1..).map(|number| numbered(path, number)).take_while(|file| file.is_file());
    let mut files: Vec<PathBuf> = std::iter::once(path.to_owned()).chain(aside).collect();
    files.reverse();
    files
}

/// `run.jsonl` becomes `run.1.jsonl`.
fn numbered(path: &Path, number: u32) -> PathBuf {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some(extension) => path.with_extension(format!("{number}.{extension}")),
        None => path.with_extension(number.to_string()),
    }
}
