//! Writes a trace.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use headcount_core::{Decision, Observation, PolicyConfig};
use serde::Serialize;

use super::row::{Header, VERSION};
use crate::live::{Record, Tick};
use crate::sync::lock;

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
    /// A file of this size is put aside. 64 MiB by default.
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
    bytes: u64,
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
        put_aside(&path, config.files_max)?;
        let (file, bytes) = begin(&path)?;
        let told = BTreeSet::new();
        let tape = Tape { path, config, file, bytes, told, lost: 0, error: None };
        Ok(Self { tape: Arc::new(Mutex::new(tape)) })
    }

    /// How many lines could not be written.
    #[must_use]
    pub fn lost(&self) -> u64 {
        lock(&self.tape).lost
    }

    /// Why the last line that could not be written was not.
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
        self.write(&WrittenPolicy { pool, policy, notes });
        self.told.insert(pool.to_owned());
    }

    fn write(&mut self, row: &impl Serialize) {
        if let Err(error) = self.try_write(row) {
            self.lost += 1;
            self.error = Some(error.to_string());
        }
    }

    fn try_write(&mut self, row: &impl Serialize) -> io::Result<()> {
        if self.config.bytes_max <= self.bytes {
            put_aside(&self.path, self.config.files_max)?;
            (self.file, self.bytes) = begin(&self.path)?;
            self.told.clear();
        }
        self.bytes += line(&mut self.file, row)?;
        Ok(())
    }
}

fn begin(path: &Path) -> io::Result<(File, u64)> {
    let mut file = File::create(path)?;
    let bytes = line(&mut file, &Header { headcount_trace: VERSION })?;
    Ok((file, bytes))
}

/// Writes a line in one piece, so that at most the last one is cut off.
fn line(file: &mut File, row: &impl Serialize) -> io::Result<u64> {
    let mut text = serde_json::to_vec(row)?;
    text.push(b'\n');
    file.write_all(&text)?;
    Ok(text.len() as u64)
}

/// Numbers the files up by one; the oldest beyond `files_max` goes. What is no file, a device or a
/// pipe, stays where it is.
fn put_aside(path: &Path, files_max: u32) -> io::Result<()> {
    for number in (1..files_max.max(1)).rev() {
        let from = if number == 1 { path.to_owned() } else { numbered(path, number - 1) };
        if from.is_file() {
            fs::rename(from, numbered(path, number))?;
        }
    }
    Ok(())
}

/// `run.jsonl` becomes `run.1.jsonl`.
fn numbered(path: &Path, number: u32) -> PathBuf {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some(extension) => path.with_extension(format!("{number}.{extension}")),
        None => path.with_extension(number.to_string()),
    }
}
