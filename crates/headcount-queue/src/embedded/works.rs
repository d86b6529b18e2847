//! A store at work: ledger, journal and database, kept in step.
//!
//! A change is applied to the ledger, written to the journal, and only then acknowledged. When a
//! segment of the journal is full, what it says goes to the database in the background, in one
//! transaction; then the segment is no longer needed.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use headcount_core::jobs::Label;
use headcount_core::jobs::port::StoreError;
use redb::{Database, StorageBackend};

use super::calls::Inbox;
use super::disk::Disk;
use super::effect::{Effect, JobKey, Numbers};
use super::journal::Journal;
use super::ledger::Queue;
use super::options::Durability;
use super::overlay::{Known, Overlay};
use super::row::Extra;
use super::tables;

/// How many segments' worth a journal may grow to while the one before is still being written to
/// the database. Whoever writes faster than that has to wait.
const AHEAD_MAX: u64 = 4;
/// A file smaller than this is not worth compacting.
const COMPACT_LEN_MIN: u64 = 64 << 20;
/// With more jobs than this a store is not mostly empty.
const COMPACT_JOBS_MAX: u64 = 10_000;
/// How often a store asks itself whether it is worth compacting.
const COMPACT_LOOK_EVERY: Duration = Duration::from_secs(1);

/// A store at work.
#[derive(Debug)]
pub(crate) struct Works {
    pub(crate) disk: Arc<dyn Disk>,
    /// Poked when a checkpoint is done.
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) queues: BTreeMap<Label, Queue>,
    pub(crate) database: Arc<Database>,
    pub(crate) backend: Weak<dyn StorageBackend>,
    pub(crate) journal: Journal,
    pub(crate) active: Overlay,
    pub(crate) frozen: Option<Frozen>,
    pub(crate) unwritten: Unwritten,
    /// The numbers of each queue as they were last written.
    pub(crate) written: HashMap<u32, Numbers>,
    /// How long a segment of the journal becomes.
    pub(crate) segment_len: u64,
    /// The journal is followed by another when it is this long.
    pub(crate) rotate_at: u64,
    /// The file as the last compaction left it: all of that is in use, until jobs go.
    pub(crate) compacted: Option<Compacted>,
    /// When it was last asked whether that is worth it.
    pub(crate) looked_at: Instant,
}

/// A file after a compaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compacted {
    len: u64,
    jobs: u64,
}

/// What is applied to the ledger and not in the journal yet.
#[derive(Debug, Default)]
pub(crate) struct Unwritten {
    pub(crate) bytes: Vec<u8>,
    pub(crate) lasting: bool,
    /// The queues that were changed, and how many jobs of each became ready.
    pub(crate) touched: BTreeMap<Label, usize>,
}

/// What is on its way to the database.
#[derive(Debug)]
pub(crate) struct Frozen {
    overlay: Arc<Overlay>,
    segment: u64,
    done: Receiver<Result<(), redb::Error>>,
}

/// Why a store stopped working. What is stored must be read again before it goes on.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) why: Arc<dyn std::error::Error + Send + Sync>,
    /// Whether the database may show what is not on the disk.
    pub(crate) renew: bool,
}

impl Failure {
    pub(crate) fn error(&self) -> StoreError {
        StoreError::Unwritable(Arc::clone(&self.why))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self { why: Arc::new(error), renew: false }
    }
}

impl From<redb::Error> for Failure {
    fn from(error: redb::Error) -> Self {
        let full = |error: &io::Error| {
            matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
        };
        let renew = !matches!(&error, redb::Error::Io(error) if full(error));
        Self { why: Arc::new(error), renew }
    }
}

impl Works {
    /// The queue, which begins with the first call that writes to it.
    pub(crate) fn begin(&mut self, name: &Label) -> &mut Queue {
        if !self.queues.contains_key(name) {
            let numbers = self.queues.values().map(|queue| queue.number);
            let number = numbers.max().map_or(0, |last| last + 1);
            self.queues.insert(name.clone(), Queue::new(number, name.clone()));
            self.unwritten.touched.entry(name.clone()).or_default();
            self.record(Effect::Queue { queue: number, name: name.as_str().into() });
        }
        self.queues.get_mut(name).expect("it was just made")
    }

    fn record(&mut self, effect: Effect) {
        effect.write(&mut self.unwritten.bytes);
        self.active.fold(effect);
    }

    /// Takes over what calls to this queue changed.
    pub(crate) fn absorb(&mut self, name: &Label) {
        let Some(queue) = self.queues.get_mut(name) else { return };
        let out = queue.take_out();
        self.unwritten.lasting |= out.lasting;
        match self.unwritten.touched.get_mut(name) {
            Some(ready) => *ready += out.ready,
            None => _ = self.unwritten.touched.insert(name.clone(), out.ready),
        }
        for effect in out.effects {
            self.record(effect);
        }
    }

    /// Writes all that was absorbed, so that it lasts. Answers the queues that changed.
    pub(crate) fn commit(
        &mut self,
        durability: Durability,
    ) -> Result<BTreeMap<Label, usize>, Failure> {
        let touched = std::mem::take(&mut self.unwritten.touched);
        for name in touched.keys() {
            let queue = &self.queues[name];
            let (number, numbers) = (queue.number, queue.numbers);
            if self.written.insert(number, numbers) != Some(numbers) {
                self.record(Effect::Numbers { queue: number, numbers });
            }
        }
        let lasting = std::mem::take(&mut self.unwritten.lasting);
        if !self.unwritten.bytes.is_empty() {
            self.journal.append(&self.unwritten.bytes)?;
            self.unwritten.bytes.clear();
        }
        if lasting && durability == Durability::Synced {
            self.journal.sync()?;
        }
        Ok(touched)
    }

    /// The spec of a job that the ledger knows, as it is stored. What is gone has no bytes.
    pub(crate) fn spec_bytes(&self, job: JobKey) -> Result<Arc<[u8]>, redb::Error> {
        let layers = [Some(&self.active), self.frozen.as_ref().map(|frozen| &*frozen.overlay)];
        for layer in layers.into_iter().flatten() {
            match layer.spec(job) {
                Known::Here(bytes) => return Ok(bytes),
                Known::Gone => return Ok(Arc::default()),
                Known::Below => {}
            }
        }
        let stored = tables::spec(&self.database, job)?;
        Ok(stored.map(Arc::from).unwrap_or_default())
    }

    /// What is stored apart of a job.
    pub(crate) fn extra(&self, job: JobKey, extra: Extra) -> Result<Option<Vec<u8>>, TellFault> {
        let layers = [Some(&self.active), self.frozen.as_ref().map(|frozen| &*frozen.overlay)];
        for layer in layers.into_iter().flatten() {
            match layer.extra(job, extra) {
                Known::Here(bytes) => return Ok(Some(bytes.to_vec())),
                Known::Gone => return Ok(None),
                Known::Below => {}
            }
        }
        Ok(tables::extra(&self.database, job, extra)?)
    }

    /// What is to be done between two lots of calls. All of it was written before.
    pub(crate) fn look_around(&mut self) -> Result<(), Failure> {
        self.take_checkpoint(self.journal.len() < AHEAD_MAX * self.segment_len)?;
        let is_full = self.rotate_at <= self.journal.len();
        if (is_full || self.should_shrink()) && self.frozen.is_none() {
            match self.rotate() {
                Ok(()) => self.rotate_at = self.segment_len,
                // No room for another segment: this one may still have some.
                Err(_) => self.rotate_at = self.journal.len() + self.segment_len / 16,
            }
        }
        Ok(())
    }

    /// Learns of a checkpoint that is done, or waits for it unless there is still time.
    fn take_checkpoint(&mut self, there_is_time: bool) -> Result<(), Failure> {
        let Some(frozen) = &self.frozen else { return Ok(()) };
        let done = match frozen.done.try_recv() {
            Err(TryRecvError::Empty) if there_is_time => return Ok(()),
            Err(TryRecvError::Empty) => frozen.done.recv().ok(),
            Err(TryRecvError::Disconnected) => None,
            Ok(done) => Some(done),
        };
        let segment = frozen.segment;
        self.frozen = None;
        match done {
            Some(done) => done?,
            None => return Err(io::Error::other("the checkpoint was not finished").into()),
        }
        self.disk.remove_segment(segment)?;
        if self.is_worth_compacting() {
            self.shrink()?;
        }
        Ok(())
    }

    /// Begins another segment; what this one says goes to the database.
    fn rotate(&mut self) -> io::Result<()> {
        self.journal.sync()?;
        let number = self.journal.number() + 1;
        let mut journal = Journal::begin(self.disk.create_segment(number)?, number)?;
        // Who holds what is written nowhere else.
        journal.append(&held_bytes(&self.queues))?;
        let segment = std::mem::replace(&mut self.journal, journal).number();

        let overlay = Arc::new(std::mem::take(&mut self.active));
        let (sender, done) = channel();
        let (database, inbox) = (Arc::clone(&self.database), Arc::clone(&self.inbox));
        self.frozen = Some(Frozen { overlay: Arc::clone(&overlay), segment, done });
        std::thread::Builder::new().name("headcount-checkpoint".to_owned()).spawn(move || {
            let outcome = tables::checkpoint(&database, &overlay, number);
            drop(database);
            let _ = sender.send(outcome);
            inbox.poke();
        })?;
        Ok(())
    }

    /// Whether the file is to be compacted though the journal has room left: after a purge nothing
    /// more may come for long.
    fn should_shrink(&mut self) -> bool {
        let now = Instant::now();
        if now < self.looked_at + COMPACT_LOOK_EVERY {
            return false;
        }
        self.looked_at = now;
        self.is_worth_compacting()
    }

    /// Few jobs in a large file, unless a compaction has left it so: those are large. Then half of
    /// them must be gone, or the file must have doubled.
    fn is_worth_compacting(&self) -> bool {
        let jobs = self.jobs();
        if COMPACT_JOBS_MAX < jobs {
            return false;
        }
        let len = self.file_len();
        let changed = |last: Compacted| 2 * jobs < last.jobs || 2 * last.len <= len;
        COMPACT_LEN_MIN <= len && self.compacted.is_none_or(changed)
    }

    fn jobs(&self) -> u64 {
        self.queues.values().map(Queue::len).sum()
    }

    fn file_len(&self) -> u64 {
        self.backend.upgrade().and_then(|backend| backend.len().ok()).unwrap_or(0)
    }

    /// Makes the file as small as it can be. Answers how many bytes it has then.
    ///
    /// All that was absorbed must be in the journal: what goes to the database is always the whole
    /// of a segment, since reading a part of it again could bring back what the rest took away.
    pub(crate) fn compact(&mut self) -> Result<u64, Failure> {
        self.take_checkpoint(false)?;
        self.rotate()?;
        self.take_checkpoint(false)?;
        self.shrink()?;
        Ok(self.file_len())
    }

    fn shrink(&mut self) -> Result<(), redb::Error> {
        let Some(database) = Arc::get_mut(&mut self.database) else { return Ok(()) };
        match database.compact() {
            Ok(_) => {
                self.compacted = Some(Compacted { len: self.file_len(), jobs: self.jobs() });
            }
            Err(redb::CompactionError::TransactionInProgress) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Brings everything to the database, and leaves no journal unless somebody holds something.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.journal.sync()?;
        self.take_checkpoint(false)?;
        if !self.active.is_empty() {
            tables::checkpoint(&self.database, &self.active, self.journal.number())?;
        }
        if self.queues.values().all(|queue| queue.all_held().is_empty()) {
            self.disk.remove_segment(self.journal.number())?;
        }
        Ok(())
    }
}

/// Who holds what, as effects.
pub(crate) fn held_bytes(queues: &BTreeMap<Label, Queue>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for queue in queues.values() {
        for (id, holder, epoch) in queue.all_held() {
            Effect::Held { job: (queue.number, id), holder, epoch }.write(&mut bytes);
        }
    }
    bytes
}

/// Why jobs could not be told.
#[derive(Debug)]
pub(crate) enum TellFault {
    /// The database did not give it.
    Database(redb::Error),
    /// It was asked for in a way that makes no sense.
    Refused(StoreError),
}

impl From<redb::Error> for TellFault {
    fn from(error: redb::Error) -> Self {
        Self::Database(error)
    }
}
