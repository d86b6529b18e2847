//! A disk in memory that remembers every step, fails when told to, and can be cut off anywhere.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use headcount_queue::embedded::{Disk, JournalFile};
use redb::StorageBackend;

/// Which file: the database, or a segment of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum File {
    Database,
    Segment(u64),
}

/// One step of the disk.
#[derive(Clone, Debug)]
enum Step {
    Create(File),
    /// The whole file is there at once, and stays.
    Appear(File, Vec<u8>),
    Remove(File),
    Write(File, u64, Vec<u8>),
    Len(File, u64),
    Sync(File),
}

/// What is left of steps that were not synced.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut {
    /// All of them: the process was killed.
    All,
    /// None: the power went.
    Nothing,
    /// Some, and one in part, by chance: the power went while the disk was at work.
    Some(u64),
}

/// What is wrong with the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Trouble {
    #[default]
    None,
    /// Nothing can be written.
    Full,
    /// Nothing can be synced.
    Sync,
    /// Nothing of the database can be written.
    Database,
    /// Every sync takes this long.
    Slow(Duration),
}

#[derive(Debug, Default)]
struct Inside {
    files: BTreeMap<File, Vec<u8>>,
    steps: Vec<Step>,
    trouble: Trouble,
    renewed: usize,
}

/// The disk.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    inside: Arc<Mutex<Inside>>,
}

fn lock(inside: &Arc<Mutex<Inside>>) -> MutexGuard<'_, Inside> {
    inside.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Inside {
    fn step(&mut self, step: Step) -> io::Result<()> {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        match (&step, self.trouble) {
            (Step::Write(..) | Step::Len(..) | Step::Create(_), Trouble::Full) => {
                return Err(full());
            }
            (Step::Write(File::Database, ..), Trouble::Database) => {
                return Err(io::Error::other("input/output error"));
            }
            (Step::Sync(_), Trouble::Slow(span)) => idle(span),
            (Step::Sync(_), Trouble::Sync) => return Err(io::Error::other("input/output error")),
            _ => {}
        }
        apply(&mut self.files, &step);
        self.steps.push(step);
        Ok(())
    }
}

/// Does nothing for so long, as a disk that is busy with others.
fn idle(span: Duration) {
    let end = Instant::now() + span;
    while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    {
        std::thread::park_timeout(left);
    }
}

fn apply(files: &mut BTreeMap<File, Vec<u8>>, step: &Step) {
    let index = |offset: u64| usize::try_from(offset).expect("it is in memory");
    match step {
        Step::Create(file) => _ = files.entry(*file).or_default(),
        Step::Appear(file, bytes) => _ = files.insert(*file, bytes.clone()),
        Step::Remove(file) => _ = files.remove(file),
        Step::Len(file, len) => files.entry(*file).or_default().resize(index(*len), 0),
        Step::Write(file, offset, data) => {
            let bytes = files.entry(*file).or_default();
            let end = index(*offset) + data.len();
            bytes.resize(bytes.len().max(end), 0);
            bytes[index(*offset)..end].copy_from_slice(data);
        }
        Step::Sync(_) => {}
    }
}

impl Tape {
    /// How many steps there were.
    pub(crate) fn len(&self) -> usize {
        lock(&self.inside).steps.len()
    }

    /// From now on the disk is like this.
    pub(crate) fn trouble(&self, trouble: Trouble) {
        lock(&self.inside).trouble = trouble;
    }

    /// How often anything was synced.
    pub(crate) fn syncs(&self) -> usize {
        let inside = lock(&self.inside);
        inside.steps.iter().filter(|step| matches!(step, Step::Sync(_))).count()
    }

    /// How often the database was put on fresh blocks.
    pub(crate) fn renewed(&self) -> usize {
        lock(&self.inside).renewed
    }

    /// The disk as it would be found if it had been cut off after so many steps.
    pub(crate) fn cut(&self, at: usize, cut: Cut) -> Self {
        let steps = lock(&self.inside).steps[..at].to_vec();
        let mut files = BTreeMap::new();
        for (number, step) in steps.iter().enumerate() {
            let synced = match step {
                Step::Write(file, ..) | Step::Len(file, _) => steps[number..]
                    .iter()
                    .any(|later| matches!(later, Step::Sync(other) if other == file)),
                _ => true,
            };
            let last = number + 1 == steps.len();
            match cut {
                _ if synced => apply(&mut files, step),
                Cut::All => apply(&mut files, step),
                Cut::Nothing => {}
                Cut::Some(seed) => survive(&mut files, step, chance(seed, number as u64), last),
            }
        }
        Self { inside: Arc::new(Mutex::new(Inside { files, ..Inside::default() })) }
    }
}

/// A step that was not synced is there, is not, or is there in part.
fn survive(files: &mut BTreeMap<File, Vec<u8>>, step: &Step, chance: u64, last: bool) {
    match (chance % 3, step) {
        (0, _) => {}
        (1, Step::Write(file, offset, data)) if last || chance.is_multiple_of(2) => {
            // A disk writes sectors; which of a write come first is its own affair.
            let half = data.len() / 2 / 512 * 512;
            apply(files, &Step::Write(*file, *offset, data[..half].to_vec()));
        }
        _ => apply(files, step),
    }
}

/// A number that looks random and is always the same.
fn chance(seed: u64, number: u64) -> u64 {
    let mut mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number.wrapping_mul(0xbf58_476d);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 31)
}

impl Disk for Tape {
    fn name(&self) -> String {
        "tape".to_owned()
    }

    fn database(&self) -> io::Result<Box<dyn StorageBackend>> {
        if !lock(&self.inside).files.contains_key(&File::Database) {
            lock(&self.inside).step(Step::Appear(File::Database, fresh_database()))?;
        }
        Ok(Box::new(Part { inside: Arc::clone(&self.inside), file: File::Database }))
    }

    fn renew_database(&self) -> io::Result<()> {
        lock(&self.inside).renewed += 1;
        Ok(())
    }

    fn segments(&self) -> io::Result<Vec<u64>> {
        let number = |file: &File| match file {
            File::Segment(number) => Some(*number),
            File::Database => None,
        };
        Ok(lock(&self.inside).files.keys().filter_map(number).collect())
    }

    fn read_segment(&self, number: u64) -> io::Result<Vec<u8>> {
        Ok(lock(&self.inside).files.get(&File::Segment(number)).cloned().unwrap_or_default())
    }

    fn create_segment(&self, number: u64) -> io::Result<Box<dyn JournalFile>> {
        let file = File::Segment(number);
        lock(&self.inside).step(Step::Create(file))?;
        Ok(Box::new(Part { inside: Arc::clone(&self.inside), file }))
    }

    fn remove_segment(&self, number: u64) -> io::Result<()> {
        lock(&self.inside).step(Step::Remove(File::Segment(number)))
    }
}

/// A database with nothing in it.
fn fresh_database() -> Vec<u8> {
    let inside = Arc::<Mutex<Inside>>::default();
    let part = Part { inside: Arc::clone(&inside), file: File::Database };
    drop(redb::Database::builder().create_with_backend(part).expect("memory takes it"));
    lock(&inside).files.remove(&File::Database).expect("it was just made")
}

/// One file of the tape.
#[derive(Debug)]
struct Part {
    inside: Arc<Mutex<Inside>>,
    file: File,
}

impl JournalFile for Part {
    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        lock(&self.inside).step(Step::Write(self.file, offset, data.to_vec()))
    }

    fn sync(&self) -> io::Result<()> {
        lock(&self.inside).step(Step::Sync(self.file))
    }
}

impl StorageBackend for Part {
    fn len(&self) -> io::Result<u64> {
        Ok(lock(&self.inside).files.get(&self.file).map_or(0, |bytes| bytes.len() as u64))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let inside = lock(&self.inside);
        let offset = usize::try_from(offset).expect("it is in memory");
        let bytes = inside.files.get(&self.file).and_then(|bytes| bytes.get(offset..));
        let bytes = bytes.and_then(|bytes| bytes.get(..out.len()));
        out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        lock(&self.inside).step(Step::Len(self.file, len))
    }

    fn sync_data(&self) -> io::Result<()> {
        lock(&self.inside).step(Step::Sync(self.file))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        lock(&self.inside).step(Step::Write(self.file, offset, data.to_vec()))
    }
}
