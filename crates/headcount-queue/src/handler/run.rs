//! One run of one job, as its handler and its consumer share it.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use headcount_core::jobs::port::{LeasedJob, Note};
use headcount_core::jobs::{Holder, JobId, Label};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::sync::lock;

/// One run of one job.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) job: LeasedJob,
    pub(crate) grip: Arc<Grip>,
    /// Whether it was decided who begins it, or that nobody does.
    begun: AtomicBool,
    /// When its handler began.
    started: OnceLock<Instant>,
    /// What its consumer will do about it, and when.
    alarm: Mutex<Option<(Instant, Act)>>,
    /// Whether somebody has said how it ended.
    settled: AtomicBool,
    counted: AtomicU8,
    /// Whether its handler looks for its cancellation, so that it is given a moment.
    heeds: AtomicBool,
    told: AtomicU8,
    bell: Notify,
    notes: Mutex<Notes>,
}

/// How the jobs of one lease call are held.
#[derive(Debug)]
pub(crate) struct Grip {
    pub(crate) queue: Label,
    pub(crate) holder: Holder,
    pub(crate) epoch: u64,
    /// How many bytes a result or a checkpoint may have.
    pub(crate) bytes_max: usize,
    /// When they were leased: the local twin of the store's `leased_at`.
    pub(crate) leased: Instant,
}

/// What a consumer does about a run that goes on for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Its time is up.
    TimeOut,
    /// It has had its moment: its handler is dropped.
    Abort,
    /// It cannot be dropped: it is settled without it.
    GiveUp,
}

/// As what a run counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Counted {
    /// Its handler has not begun, or is gone.
    No,
    /// Its handler is at work.
    AtWork,
    /// Nobody waits for its handler any more, which goes on nevertheless.
    Stuck,
}

/// What a handler noted of itself.
#[derive(Debug, Default)]
struct Notes {
    progress: Option<u8>,
    checkpoint: Option<Vec<u8>>,
    /// What the store has not heard yet.
    progress_unsent: bool,
    checkpoint_unsent: bool,
}

/// How strongly a run is told to end, and why. Later ones overrule earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Stop {
    /// Nobody has told it anything.
    No,
    /// It should come to a stop where it can go on later.
    Asked,
    /// Its consumer ends and waits no longer.
    Drained,
    /// Somebody does not want it any more.
    Cancelled,
    /// It has run for too long.
    TimedOut,
    /// Somebody else may hold it by now.
    Lost,
}

impl Stop {
    const ALL: [Self; 6] =
        [Self::No, Self::Asked, Self::Drained, Self::Cancelled, Self::TimedOut, Self::Lost];
}

/// Set beside the reason once the handler is to be dropped.
const ABORT: u8 = 0x80;

impl Run {
    pub(crate) fn new(grip: Arc<Grip>, job: LeasedJob) -> Self {
        let notes = Notes { checkpoint: job.checkpoint.clone(), ..Notes::default() };
        Self {
            job,
            grip,
            begun: AtomicBool::new(false),
            started: OnceLock::new(),
            alarm: Mutex::new(None),
            settled: AtomicBool::new(false),
            counted: AtomicU8::new(Counted::No as u8),
            heeds: AtomicBool::new(false),
            told: AtomicU8::new(Stop::No as u8),
            bell: Notify::new(),
            notes: Mutex::new(notes),
        }
    }

    pub(crate) const fn id(&self) -> JobId {
        self.job.id
    }

    /// How old the job is by the store's clock, as far as it can be known here.
    pub(crate) fn age(&self) -> Duration {
        self.job.leased_at.since(self.job.submitted_at) + self.grip.leased.elapsed()
    }

    /// When its handler began, if it has.
    pub(crate) fn started(&self) -> Option<Instant> {
        self.started.get().copied()
    }

    /// When its time is up, once it has begun.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.started.get()?.checked_add(self.job.spec.timeout?)
    }

    /// Whether the caller is the one to begin it: true for the first who asks. Whoever wants it
    /// not to begin asks as well.
    pub(crate) fn claim_beginning(&self) -> bool {
        !self.begun.swap(true, Ordering::AcqRel)
    }

    /// Its handler begins now.
    pub(crate) fn start(&self) {
        self.started.get_or_init(Instant::now);
        self.counted.store(Counted::AtWork as u8, Ordering::Release);
        if let Some(deadline) = self.deadline() {
            self.set_alarm(deadline, Act::TimeOut);
        }
    }

    pub(crate) fn set_alarm(&self, at: Instant, act: Act) {
        *lock(&self.alarm) = Some((at, act));
    }

    pub(crate) fn alarm(&self) -> Option<Instant> {
        lock(&self.alarm).map(|(at, _)| at)
    }

    /// What is to be done about it now.
    pub(crate) fn take_alarm(&self, now: Instant) -> Option<Act> {
        lock(&self.alarm).take_if(|(at, _)| *at <= now).map(|(_, act)| act)
    }

    /// Whether the caller is the one to say how it ended: true for the first who asks.
    pub(crate) fn claim_ending(&self) -> bool {
        !self.settled.swap(true, Ordering::AcqRel)
    }

    /// Whether it counts as stuck from now on: not if its handler is gone.
    pub(crate) fn counts_as_stuck(&self) -> bool {
        let (at_work, stuck) = (Counted::AtWork as u8, Counted::Stuck as u8);
        self.counted.compare_exchange(at_work, stuck, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// As what it counted until now, when its handler is gone.
    pub(crate) fn leave_count(&self) -> Counted {
        match self.counted.swap(Counted::No as u8, Ordering::AcqRel) {
            at_work if at_work == Counted::AtWork as u8 => Counted::AtWork,
            stuck if stuck == Counted::Stuck as u8 => Counted::Stuck,
            _ => Counted::No,
        }
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Acquire)
    }

    pub(crate) fn told(&self) -> Stop {
        Stop::ALL[usize::from(self.told.load(Ordering::Acquire) & !ABORT)]
    }

    /// Tells it to end. Whoever listens hears it at once.
    pub(crate) fn tell(&self, stop: Stop) {
        let stop = stop as u8;
        let raised = |told: u8| (told & !ABORT < stop).then_some(told & ABORT | stop);
        if self.told.try_update(Ordering::AcqRel, Ordering::Acquire, raised).is_ok() {
            self.bell.notify_waiters();
        }
    }

    /// Has its handler dropped at the next await point.
    pub(crate) fn abort(&self) {
        self.told.fetch_or(ABORT, Ordering::AcqRel);
        self.bell.notify_waiters();
    }

    pub(crate) fn is_aborted(&self) -> bool {
        self.told.load(Ordering::Acquire) & ABORT != 0
    }

    pub(crate) fn heeds(&self) -> bool {
        self.heeds.load(Ordering::Relaxed)
    }

    pub(crate) fn heed(&self) {
        self.heeds.store(true, Ordering::Relaxed);
    }

    /// Returns when it was told something that `enough` is satisfied with.
    pub(crate) async fn until(&self, enough: impl Fn(&Self) -> bool) {
        loop {
            let rung = self.bell.notified();
            let mut rung = std::pin::pin!(rung);
            // Listening begins before looking, so that nothing is missed between the two.
            rung.as_mut().enable();
            if enough(self) {
                return;
            }
            rung.await;
        }
    }

    pub(crate) fn note_progress(&self, percent: u8) {
        let mut notes = lock(&self.notes);
        notes.progress_unsent |= notes.progress != Some(percent);
        notes.progress = Some(percent);
    }

    pub(crate) fn note_checkpoint(&self, bytes: Vec<u8>) {
        let mut notes = lock(&self.notes);
        notes.checkpoint = Some(bytes);
        notes.checkpoint_unsent = true;
    }

    pub(crate) fn with_checkpoint<T>(&self, read: impl FnOnce(Option<&[u8]>) -> T) -> T {
        read(lock(&self.notes).checkpoint.as_deref())
    }

    /// What the store has not heard yet; it counts as heard from now on.
    pub(crate) fn take_note(&self) -> Option<Note> {
        let mut notes = lock(&self.notes);
        if !notes.progress_unsent && !notes.checkpoint_unsent {
            return None;
        }
        let progress = notes.progress.filter(|_| std::mem::take(&mut notes.progress_unsent));
        let sent = std::mem::take(&mut notes.checkpoint_unsent);
        let checkpoint = notes.checkpoint.clone().filter(|_| sent);
        Some(Note { id: self.id(), epoch: self.grip.epoch, progress, checkpoint })
    }

    /// The note did not reach the store: what it said is news again, unless there is newer.
    pub(crate) fn untake_note(&self, note: &Note) {
        let mut notes = lock(&self.notes);
        notes.progress_unsent |= note.progress.is_some();
        notes.checkpoint_unsent |= note.checkpoint.is_some();
    }

    /// The checkpoint that the store has not heard of, to be sent with the ending.
    pub(crate) fn unsent_checkpoint(&self) -> Option<Vec<u8>> {
        let notes = lock(&self.notes);
        notes.checkpoint.clone().filter(|_| notes.checkpoint_unsent)
    }
}
