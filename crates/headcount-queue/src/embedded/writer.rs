//! The one thread that writes.
//!
//! It takes all calls that wait, applies them, writes them in one record, syncs once, and answers
//! all: the more callers there are, the less a sync costs each. When the disk fails, it answers so,
//! forgets what it had in memory, and tries to read the store again until that works.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use headcount_core::jobs::Label;
use tokio::sync::Notify;

use super::calls::{Call, Inbox};
use super::disk::Disk;
use super::load::Holders;
use super::options::{Durability, EmbeddedOptions};
use super::serve::{Telling, apply};
use super::works::{Failure, Works};

/// A commit with more bytes than this is not made larger.
const COMMIT_BYTES_MAX: usize = 4 << 20;
/// The first and the longest wait before a store that failed is read again.
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(2);
/// The most waiters that are woken for one commit, a queue.
const WAKE_MAX: usize = 1000;

/// Who waits at each queue.
pub(crate) type Bells = Mutex<BTreeMap<Label, Arc<Notify>>>;

/// The bell of a queue.
pub(crate) fn bell(bells: &Bells, queue: &Label) -> Arc<Notify> {
    let mut bells = bells.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    match bells.get(queue) {
        Some(bell) => Arc::clone(bell),
        None => Arc::clone(bells.entry(queue.clone()).or_default()),
    }
}

/// The one thread that writes.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) bells: Arc<Bells>,
    pub(crate) options: EmbeddedOptions,
    pub(crate) last_now: u64,
}

/// How it goes.
enum Condition {
    Working(Box<Works>),
    /// Since this failure, to be read again at this time, and after that wait if it fails again.
    Failed {
        failure: Failure,
        holders: Holders,
        at: Instant,
        wait: Duration,
    },
}

impl Writer {
    /// Serves calls until the inbox is closed.
    pub(crate) fn run(mut self, works: Works) {
        let mut condition = Condition::Working(Box::new(works));
        let mut unsynced: Option<Instant> = None;
        loop {
            let until = match &condition {
                Condition::Working(_) => self.sync_at(unsynced),
                Condition::Failed { at, .. } => Some(*at),
            };
            let (calls, closed) = self.inbox.take(until);
            condition = self.turn(condition, calls, &mut unsynced);
            if closed {
                break;
            }
        }
        if let Condition::Working(works) = condition {
            // What could not be written to the database is in the journal.
            let _ = works.finish();
        }
    }

    fn sync_at(&self, unsynced: Option<Instant>) -> Option<Instant> {
        match self.options.durability {
            Durability::Synced => None,
            Durability::Interval(interval) => unsynced?.checked_add(interval),
        }
    }

    /// The store's time, which never runs backwards.
    fn now(&mut self) -> u64 {
        let now = self.options.clock.now().as_nanos() / 1_000_000;
        self.last_now = self.last_now.max(now);
        self.last_now
    }

    fn turn(
        &mut self,
        condition: Condition,
        calls: Vec<Call>,
        unsynced: &mut Option<Instant>,
    ) -> Condition {
        let mut works = match self.working(condition) {
            Ok(works) => works,
            Err((failure, condition)) => {
                for call in calls {
                    call.refuse(failure.error());
                }
                return condition;
            }
        };
        let served = self.serve(&mut works, calls).and_then(|()| {
            if self.sync_at(*unsynced).is_some_and(|at| at <= Instant::now()) {
                works.journal.sync()?;
            }
            works.look_around()
        });
        *unsynced = match works.journal.is_synced() {
            true => None,
            false => unsynced.or_else(|| Some(Instant::now())),
        };
        match served {
            Ok(()) => Condition::Working(works),
            Err(failure) => failed(&works, failure),
        }
    }

    /// The store if it works, or works again.
    fn working(&mut self, condition: Condition) -> Result<Box<Works>, (Failure, Condition)> {
        let (failure, holders, at, wait) = match condition {
            Condition::Working(works) => return Ok(works),
            Condition::Failed { failure, holders, at, wait } => (failure, holders, at, wait),
        };
        if Instant::now() < at {
            let condition = Condition::Failed { failure: failure.clone(), holders, at, wait };
            return Err((failure, condition));
        }
        let Holders::Alive(leases) = &holders else { unreachable!("they are in this process") };
        let alive = Holders::Alive(leases.clone());
        let now = self.now();
        let renewed = if failure.renew { self.disk.renew_database() } else { Ok(()) };
        let len = self.options.journal_bytes;
        let loaded = renewed
            .map_err(|error| super::OpenError::disk(self.disk.name(), error))
            .and_then(|()| Works::load(&self.disk, Arc::clone(&self.inbox), len, now, alive));
        match loaded {
            Ok(works) => Ok(Box::new(works)),
            Err(error) => {
                let failure = Failure { why: Arc::new(error), renew: failure.renew };
                let (at, next) = (Instant::now() + wait, (wait * 2).min(RETRY_MAX));
                let said = failure.clone();
                Err((said, Condition::Failed { failure, holders, at, wait: next }))
            }
        }
    }

    /// Applies calls and answers them, a commit at a time.
    fn serve(&mut self, works: &mut Works, calls: Vec<Call>) -> Result<(), Failure> {
        let mut calls = calls.into_iter().peekable();
        while calls.peek().is_some() {
            let mut tellings: Vec<Telling> = Vec::new();
            let now = self.now();
            let mut applied = Ok(());
            while applied.is_ok() && works.unwritten.bytes.len() < COMMIT_BYTES_MAX {
                let Some(call) = calls.next() else { break };
                applied = apply(works, call, now, &mut tellings);
            }
            let written = applied.and_then(|()| self.commit(works));
            let touched = match written {
                Ok(touched) => touched,
                Err(failure) => {
                    for tell in tellings {
                        tell(Err(failure.error()));
                    }
                    calls.for_each(|call| call.refuse(failure.error()));
                    return Err(failure);
                }
            };
            for tell in tellings {
                tell(Ok(()));
            }
            self.ring(works, &touched, now);
        }
        Ok(())
    }

    /// Writes what calls have changed, and tells how long that took if there was anything.
    fn commit(&self, works: &mut Works) -> Result<BTreeMap<Label, usize>, Failure> {
        let begun = Instant::now();
        let touched = works.commit(self.options.durability)?;
        if let Some(committed) = self.options.committed.as_ref().filter(|_| !touched.is_empty()) {
            committed(begun.elapsed());
        }
        Ok(touched)
    }

    /// Rings for as many as may find something that was not there before.
    fn ring(&self, works: &Works, touched: &BTreeMap<Label, usize>, now: u64) {
        for (name, ready) in touched {
            if works.queues.get(name).is_some_and(|queue| queue.has_work(now)) {
                let bell = bell(&self.bells, name);
                // At least one, for a call that left jobs behind or raised a limit.
                (0..(*ready).clamp(1, WAKE_MAX)).for_each(|_| bell.notify_one());
            }
        }
    }
}

/// The store is put away until it can be read again; who holds a lease is remembered.
fn failed(works: &Works, failure: Failure) -> Condition {
    let mut leases = Vec::new();
    for (name, queue) in &works.queues {
        leases.extend(queue.leases().map(|(holder, expires)| (name.clone(), holder, expires)));
    }
    let at = Instant::now() + RETRY_FIRST;
    Condition::Failed { failure, holders: Holders::Alive(leases), at, wait: RETRY_FIRST * 2 }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Working(_) => "Working",
            Self::Failed { .. } => "Failed",
        })
    }
}
