//! A store that writes down what passes through it.
//!
//! It stands between a process and its real store and changes nothing. What is asked is written
//! before it is asked, what is answered after the answer, so that a line never claims too much.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use headcount_core::jobs::port::{
    Backend, Command, Ending, ExtendAsk, Extended, LeaseAsk, Leased, Listing, NewJob, Page, Reply,
    Settled, Settlement, Submitted, Swept, Turned,
};
use headcount_core::jobs::{Holder, JobId, Label, QueueStats, Rules};

use super::history::{End, Entry, What};

/// The file of one process.
pub(crate) struct Diary {
    file: Mutex<File>,
    /// In which epoch this process holds what it holds.
    epochs: Mutex<BTreeMap<JobId, u64>>,
}

/// Nanoseconds of the clock that all processes of the machine share.
pub(crate) fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let (seconds, nanos) = (now.tv_sec, now.tv_nsec);
    u64::try_from(seconds).expect("it counts from the start of the machine") * 1_000_000_000
        + u64::try_from(nanos).expect("nanoseconds are not negative")
}

/// A while later: other processes have their own time, and nobody here can move it.
pub(crate) async fn later(span: Duration) {
    let _ = tokio::time::timeout(span, std::future::pending::<()>()).await;
}

impl Diary {
    /// The diary of this process, in this directory.
    pub(crate) fn open(directory: &Path) -> Arc<Self> {
        let path = directory.join(format!("{}.history", std::process::id()));
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = Mutex::new(file.expect("a diary can be written"));
        Arc::new(Self { file, epochs: Mutex::default() })
    }

    pub(crate) fn note(&self, what: What) {
        self.note_all([what]);
    }

    pub(crate) fn note_all(&self, whats: impl IntoIterator<Item = What>) {
        let (at, pid) = (now(), std::process::id());
        let lines = whats.into_iter().map(|what| Entry { at, pid, what }.to_string());
        let lines: Vec<String> = lines.collect();
        if lines.is_empty() {
            return;
        }
        let lines = lines.join("\n") + "\n";
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(lines.as_bytes()).expect("a diary can be written");
    }

    /// A handler of this job begins.
    pub(crate) fn started(&self, id: JobId) {
        let epoch = self.epochs.lock().unwrap_or_else(PoisonError::into_inner).get(&id).copied();
        self.note(What::Start(id, epoch.expect("only what was leased begins")));
    }

    /// These are about to be settled. Answers which runs they are.
    fn ended(&self, settlements: &[Settlement]) -> Vec<(JobId, u64)> {
        self.note_all(settlements.iter().map(ended));
        settlements.iter().map(|settlement| (settlement.id, settlement.epoch)).collect()
    }

    fn settled(&self, runs: &[(JobId, u64)], settled: &[Settled]) {
        let answers = runs.iter().zip(settled).map(|((id, epoch), settled)| match settled {
            Settled::Taken => What::Taken(*id, *epoch),
            Settled::Stale => What::Stale(*id, *epoch),
        });
        self.note_all(answers);
    }

    fn leased(&self, leased: &Leased) {
        let mut epochs = self.epochs.lock().unwrap_or_else(PoisonError::into_inner);
        epochs.extend(leased.jobs.iter().map(|job| (job.id, leased.epoch)));
    }
}

/// A store, and the diary of what passes through.
pub(crate) struct Witness {
    store: Arc<dyn Backend>,
    diary: Arc<Diary>,
}

impl Witness {
    pub(crate) fn of(store: Arc<dyn Backend>, diary: &Arc<Diary>) -> Arc<dyn Backend> {
        Arc::new(Self { store, diary: Arc::clone(diary) })
    }
}

fn ended(settlement: &Settlement) -> What {
    let end = match settlement.ending {
        Ending::Done { .. } => End::Well,
        Ending::Retry { .. } | Ending::Dead { .. } => End::Badly,
        Ending::Release { .. } | Ending::Snooze { .. } | Ending::Cancelled => End::Back,
    };
    What::End(settlement.id, settlement.epoch, end)
}

impl fmt::Debug for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Witness").field(&self.store).finish()
    }
}

impl Backend for Witness {
    fn enqueue<'a>(&'a self, queue: &'a Label, jobs: Vec<NewJob>) -> Reply<'a, Vec<Submitted>> {
        self.diary.note_all(jobs.iter().map(|job| What::Submitting(job.id)));
        Box::pin(async move {
            let submitted = self.store.enqueue(queue, jobs).await?;
            self.diary.note_all(submitted.iter().map(|submitted| What::Accepted(submitted.id())));
            Ok(submitted)
        })
    }

    fn lease<'a>(&'a self, queue: &'a Label, ask: LeaseAsk) -> Reply<'a, Leased> {
        Box::pin(async move {
            let leased = self.store.lease(queue, ask).await?;
            self.diary.leased(&leased);
            Ok(leased)
        })
    }

    fn extend<'a>(&'a self, queue: &'a Label, ask: ExtendAsk) -> Reply<'a, Extended> {
        self.store.extend(queue, ask)
    }

    fn settle<'a>(
        &'a self,
        queue: &'a Label,
        holder: Holder,
        settlements: Vec<Settlement>,
    ) -> Reply<'a, Vec<Settled>> {
        let runs = self.diary.ended(&settlements);
        Box::pin(async move {
            let settled = self.store.settle(queue, holder, settlements).await?;
            self.diary.settled(&runs, &settled);
            Ok(settled)
        })
    }

    fn turn<'a>(
        &'a self,
        queue: &'a Label,
        settlements: Vec<Settlement>,
        ask: LeaseAsk,
    ) -> Reply<'a, Turned> {
        let runs = self.diary.ended(&settlements);
        Box::pin(async move {
            let turned = self.store.turn(queue, settlements, ask).await?;
            self.diary.settled(&runs, &turned.settled);
            self.diary.leased(&turned.leased);
            Ok(turned)
        })
    }

    fn turns_in_one_step(&self) -> bool {
        self.store.turns_in_one_step()
    }

    fn sweep<'a>(&'a self, queue: &'a Label, limit: usize) -> Reply<'a, Swept> {
        self.store.sweep(queue, limit)
    }

    fn stats<'a>(&'a self, queue: &'a Label) -> Reply<'a, QueueStats> {
        self.store.stats(queue)
    }

    fn list<'a>(&'a self, queue: &'a Label, listing: Listing) -> Reply<'a, Page> {
        self.store.list(queue, listing)
    }

    fn steer<'a>(&'a self, queue: &'a Label, command: Command) -> Reply<'a, u64> {
        self.store.steer(queue, command)
    }

    fn rules<'a>(&'a self, queue: &'a Label) -> Reply<'a, Rules> {
        self.store.rules(queue)
    }

    fn queues(&self) -> Reply<'_, Vec<Label>> {
        self.store.queues()
    }

    fn wait<'a>(&'a self, queue: &'a Label, most: Duration) -> Reply<'a, ()> {
        self.store.wait(queue, most)
    }
}
