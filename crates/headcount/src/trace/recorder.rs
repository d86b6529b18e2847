//! Writes a trace.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use headcount_core::{Decision, Observation, PolicyConfig};
use serde::Serialize;

use super::row::{Header, VERSION};
use crate::live::{Record, Tick};
use crate::sync::lock;

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
/// Clones write to the same file. What cannot be written is counted, and stops nobody.
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
///
/// let rows = TraceReader::open(&path)?.collect::<Result<Vec<Row>, _>>()?;
/// assert!(matches!(&rows[0], Row::Policy { .. }));
/// assert!(matches!(&rows[1], Row::Tick { decision, .. } if decision.to.ceiling == 3));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recorder {
    tape: Arc<Mutex<Tape>>,
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
    lost: u64,
    error: Option<String>,
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
        let tape = Tape {
            path,
            config,
            file,
            bytes,
            rotate_at: config.bytes_max,
            is_torn: false,
            told: BTreeSet::new(),
            lost: 0,
            error: None,
        };
        Ok(Self { tape: Arc::new(Mutex::new(tape)) })
    }

    /// How many lines could not be written.
    #[must_use]
    pub fn lost(&self) -> u64 {
        lock(&self.tape).lost
    }

    /// Why a line could not be written, or a full file not be put aside, the last time.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        lock(&self.tape).error.clone()
    }
}

impl Record for Recorder {
    fn policy(&self, pool: &str, policy: &PolicyConfig, notes: &[u64]) {
        lock(&self.tape).tell_policy(pool, policy, notes);
    }

    fn record(&self, tick: &Tick<'_>) {
        let &Tick { pool, observation, decision, .. } = tick;
        let mut tape = lock(&self.tape);
        tape.write(&WrittenTick { pool, observation, decision });
        if !tape.told.contains(pool) {
            tape.tell_policy(pool, tick.policy, tick.notes.words());
        }
    }

    fn flush(&self) {}
}

impl Tape {
    fn tell_policy(&mut self, pool: &str, policy: &PolicyConfig, notes: &[u64]) {
        // One that could not be written is told again with the next tick.
        match self.write(&WrittenPolicy { pool, policy, notes }) {
            true => self.told.insert(pool.to_owned()),
            false => self.told.remove(pool),
        };
    }

    /// Writes a row, and says whether it stands there.
    fn write(&mut self, row: &impl Serialize) -> bool {
        self.rotate();
        let written = self.try_write(row);
        if let Err(error) = &written {
            self.lost += 1;
            self.error = Some(error.to_string());
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
                self.error = Some(error.to_string());
            }
        }
    }

    fn try_write(&mut self, row: &impl Serialize) -> io::Result<()> {
        let text = line(row)?;
        if self.is_torn {
            self.mend()?;
        }
        if let Err(error) = self.file.write_all(&text) {
            self.is_torn = true;
            // At once, for there may be no next row. What fails here is tried again before one.
            self.mend().ok();
            return Err(error);
        }
        self.bytes += text.len() as u64;
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
