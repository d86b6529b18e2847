//! Reading a store: database first, journal on top, and what became of those who held jobs.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use headcount_core::jobs::{Holder, Label};
use redb::{Database, DatabaseError, ReadableDatabase, StorageBackend};

use super::calls::Inbox;
use super::disk::Disk;
use super::effect::{Claim, Effect, JobKey};
use super::error::OpenError;
use super::journal::{self, Damage, Journal};
use super::ledger::{Queue, Restoring};
use super::overlay::Overlay;
use super::row::Reader;
use super::tables::{self, FORMAT, ReadError};
use super::works::{Unwritten, Works, held_bytes};
use crate::encoding::{decode, is_newer};

/// How much of the database is kept in memory.
const CACHE_BYTES: usize = 64 << 20;
/// How long a holder that is still there has to renew, where its lease is not known any more.
const GRACE_MS: u64 = 10_000;

/// What became of those who held jobs when the store was last written.
#[derive(Debug)]
pub(crate) enum Holders {
    /// They were in a process that is no more.
    Dead,
    /// They are in this process, with these leases: queue, holder, expiry.
    Alive(Vec<(Label, Holder, u64)>),
}

type Held = Vec<(JobKey, Holder, u64)>;

impl Works {
    /// Reads what is stored.
    pub(crate) fn load(
        disk: &Arc<dyn Disk>,
        inbox: Arc<Inbox>,
        segment_len: u64,
        now: u64,
        holders: Holders,
    ) -> Result<Self, OpenError> {
        let (database, backend) = open_database(&**disk)?;
        let file = disk.name();
        let last = check_format(&database).map_err(|error| said(&file, error))?;
        let failed = |error| OpenError::disk(&file, error);
        let segments = disk.segments().map_err(failed)?;
        let (overlay, held) = read_journal(&**disk, &segments)?;
        let number = segments.iter().copied().chain([last]).max().unwrap_or(0) + 1;
        let stored = tables::checkpoint(&database, &overlay, number);
        stored.map_err(|error| said(&file, ReadError::Database(error)))?;

        let mut queues = read_queues(&database, now).map_err(|error| said(&file, error))?;
        hold_again(&mut queues, held, holders, now);
        let journal = disk.create_segment(number).and_then(|file| Journal::begin(file, number));
        let mut works = Self {
            disk: Arc::clone(disk),
            inbox,
            queues,
            database: Arc::new(database),
            backend: Arc::downgrade(&backend),
            journal: journal.map_err(failed)?,
            active: Overlay::default(),
            frozen: None,
            unwritten: Unwritten::default(),
            written: HashMap::new(),
            segment_len,
            rotate_at: segment_len,
            compacted: None,
            looked_at: Instant::now(),
        };
        works.settle_in().map_err(failed)?;
        for segment in segments {
            disk.remove_segment(segment).map_err(failed)?;
        }
        Ok(works)
    }

    /// The first record of the journal: who holds what, and what reading led to.
    fn settle_in(&mut self) -> io::Result<()> {
        self.unwritten.bytes = held_bytes(&self.queues);
        let names: Vec<Label> = self.queues.keys().cloned().collect();
        for name in &names {
            self.absorb(name);
        }
        self.journal.append(&std::mem::take(&mut self.unwritten.bytes))?;
        self.unwritten = Unwritten::default();
        self.journal.sync()
    }
}

fn open_database(disk: &dyn Disk) -> Result<(Database, Arc<dyn StorageBackend>), OpenError> {
    let file = disk.name();
    let backend = disk.database();
    let backend = backend.map_err(|error| said(&file, ReadError::Database(error.into())))?;
    let backend: Arc<dyn StorageBackend> = Arc::from(backend);
    let shared = Shared(Arc::clone(&backend));
    // A damaged file must not take the process with it, whatever it makes the library do.
    let opened = catch_unwind(AssertUnwindSafe(move || {
        Database::builder().set_cache_size(CACHE_BYTES).create_with_backend(shared)
    }));
    let opened = opened.map_err(|_| OpenError::damaged(&file, "it cannot be made sense of"))?;
    match opened {
        Ok(database) => Ok((database, backend)),
        Err(DatabaseError::DatabaseAlreadyOpen) => {
            Err(OpenError::InUse { path: file.into(), pid: None })
        }
        Err(DatabaseError::UpgradeRequired(version)) => {
            let found = format!("it has the file format {version} of an older version");
            Err(OpenError::format(file, found))
        }
        Err(error) => Err(said(&file, ReadError::from(error))),
    }
}

/// What an error of the database means for whoever opens it.
fn said(file: &str, error: ReadError) -> OpenError {
    match error {
        ReadError::Format(found) => OpenError::format(file, found),
        ReadError::Database(redb::Error::Io(error)) => match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
                OpenError::damaged(file, error)
            }
            _ => OpenError::disk(file, error),
        },
        ReadError::Database(redb::Error::PreviousIo) => {
            OpenError::disk(file, io::Error::other("an earlier read or write failed"))
        }
        ReadError::Database(error) => OpenError::damaged(file, error),
    }
}

/// Answers the number of the last segment that was begun.
fn check_format(database: &Database) -> Result<u64, ReadError> {
    let transaction = database.begin_read()?;
    let (format, segment) = tables::format(&transaction)?;
    match format {
        Some(format) if FORMAT < format => Err(ReadError::Format(format!(
            "it has format {format}, this version reads up to {FORMAT}; use a newer version",
        ))),
        _ => Ok(segment),
    }
}

fn read_journal(disk: &dyn Disk, segments: &[u64]) -> Result<(Overlay, Held), OpenError> {
    let mut overlay = Overlay::again();
    let mut held = Vec::new();
    for number in segments {
        let file = format!("journal {number} of {}", disk.name());
        let bytes = disk.read_segment(*number).map_err(|error| OpenError::disk(&file, error))?;
        let records = journal::records(&bytes, *number).map_err(|damage| match damage {
            Damage::Head => OpenError::format(&file, "it is no journal that this version reads"),
            Damage::Record(at) => {
                OpenError::damaged(&file, format!("at byte {at} is not what was written"))
            }
        })?;
        for record in records {
            let mut reader = Reader::new(record);
            while !reader.is_empty() {
                match Effect::read(&mut reader).map_err(|why| OpenError::format(&file, why))? {
                    Effect::Held { job, holder, epoch } => held.push((job, holder, epoch)),
                    effect => overlay.fold(effect),
                }
            }
        }
    }
    Ok((overlay, held))
}

fn read_queues(database: &Database, now: u64) -> Result<BTreeMap<Label, Queue>, ReadError> {
    let transaction = database.begin_read()?;
    let mut reading: BTreeMap<u32, Restoring> = BTreeMap::new();
    for (number, name, rules, numbers) in tables::queues(&transaction)? {
        let name: Label =
            name.parse().map_err(|error| ReadError::Format(format!("a queue's name: {error}")))?;
        let mut queue = Queue::new(number, name);
        if let Some(rules) = rules {
            queue.rules = serde_json::from_slice(&rules)
                .map_err(|error| ReadError::Format(format!("the rules of a queue: {error}")))?;
        }
        queue.numbers = numbers.unwrap_or_default();
        reading.insert(number, Restoring::new(queue));
    }
    let unknown = |number: u32| format!("something is of queue {number}, which there is not");
    tables::each_unique(&transaction, |number, key, claim| {
        let queue = reading.get_mut(&number).ok_or_else(|| unknown(number))?;
        let key = key.parse().map_err(|error| format!("a unique key: {error}"))?;
        queue.claim(key, Claim::from_bytes(claim)?);
        Ok(())
    })?;
    tables::each_job(&transaction, |(number, id), row, spec| {
        let queue = reading.get_mut(&number).ok_or_else(|| unknown(number))?;
        let head = head_of(spec);
        if is_newer(head) {
            // It is not garbled: whoever wrote it can read it.
            return Err(decode(head).expect_err("no version but ours can be read"));
        }
        match (row, decode(head)) {
            (Ok(row), Ok(spec)) => queue.job(id, row, spec, now),
            (Ok(row), Err(why)) => queue.garbled(id, Some(row), why, now),
            (Err(why), _) => queue.garbled(id, None, why, now),
        }
        Ok(())
    })?;
    let queues = reading.into_values().map(|queue| queue.finish(now));
    Ok(queues.map(|queue| (queue.name.clone(), queue)).collect())
}

/// The spec without its payload, which the ledger has no use for.
fn head_of(spec: &[u8]) -> &[u8] {
    let end = spec.iter().position(|byte| *byte == b'\n');
    end.map_or(spec, |end| &spec[..=end])
}

fn hold_again(queues: &mut BTreeMap<Label, Queue>, held: Held, holders: Holders, now: u64) {
    let numbers: HashMap<u32, Label> =
        queues.values().map(|queue| (queue.number, queue.name.clone())).collect();
    for ((number, id), holder, epoch) in held {
        let queue = numbers.get(&number).and_then(|name| queues.get_mut(name));
        if let Some(queue) = queue {
            queue.hold_again(id, holder, epoch);
        }
    }
    let Holders::Alive(leases) = holders else {
        for queue in queues.values_mut() {
            queue.lose_holders(now);
        }
        return;
    };
    for queue in queues.values_mut() {
        for (_, holder, _) in queue.all_held() {
            queue.restore_lease(holder, now + GRACE_MS);
        }
    }
    for (name, holder, expires) in leases {
        if let Some(queue) = queues.get_mut(&name) {
            queue.restore_lease(holder, expires);
        }
    }
}

/// The database's storage, so that its length can be asked for as well.
#[derive(Debug)]
struct Shared(Arc<dyn StorageBackend>);

type Locked = Result<bool, redb::BackendError>;

impl StorageBackend for Shared {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.0.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Locked {
        self.0.try_lock_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), redb::BackendError> {
        self.0.unlock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Locked {
        self.0.try_lock_shared_range(start, end)
    }
}
