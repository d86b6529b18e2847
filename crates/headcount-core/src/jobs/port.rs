//! What a store of jobs must do. The README of `headcount-queue` says what each operation means.
//!
//! Implementations may rely on being called from many threads at once, and must bound every call
//! in time themselves: a store that does not answer is a [`StoreError`], never a call that hangs.
//! Callers must not assume that a failed call did nothing; they repeat it with the same ids.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::Timestamp;

use super::{Holder, JobId, JobRecord, JobSpec, Label, QueueStats, Rules, State};

pub use super::store_error::StoreError;

/// What a store answers, some time from now.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A store of jobs.
///
/// ```
/// use headcount_core::jobs::{Label, State};
/// use headcount_core::jobs::port::{Backend, StoreError};
///
/// async fn dead(store: &dyn Backend, queue: &Label) -> Result<u64, StoreError> {
///     Ok(store.stats(queue).await?.jobs[State::Dead])
/// }
/// ```
pub trait Backend: fmt::Debug + Send + Sync {
    /// Takes jobs in. Answers one [`Submitted`] for each, in order.
    fn enqueue<'a>(&'a self, queue: &'a Label, jobs: Vec<NewJob>) -> Reply<'a, Vec<Submitted>>;

    /// Hands out jobs, and begins or renews the holder's lease.
    fn lease<'a>(&'a self, queue: &'a Label, ask: LeaseAsk) -> Reply<'a, Leased>;

    /// Renews the holder's lease and notes how its jobs are doing.
    fn extend<'a>(&'a self, queue: &'a Label, ask: ExtendAsk) -> Reply<'a, Extended>;

    /// Says how jobs ended. Answers one [`Settled`] for each, in order.
    fn settle<'a>(
        &'a self,
        queue: &'a Label,
        holder: Holder,
        settlements: Vec<Settlement>,
    ) -> Reply<'a, Vec<Settled>>;

    /// Says how jobs ended and asks for others: `settle`, and then `lease` by the same holder. A
    /// store may do both in one step. When the call fails, each of them may have happened.
    fn turn<'a>(
        &'a self,
        queue: &'a Label,
        settlements: Vec<Settlement>,
        ask: LeaseAsk,
    ) -> Reply<'a, Turned> {
        Box::pin(async move {
            let settled = self.settle(queue, ask.holder, settlements).await?;
            let leased = self.lease(queue, ask).await?;
            Ok(Turned { settled, leased })
        })
    }

    /// Whether a turn is one step here. Where it is two, both calls at once are quicker.
    fn turns_in_one_step(&self) -> bool {
        false
    }

    /// Puts right what time and lost holders have changed; no step looks at more than `limit` jobs.
    fn sweep<'a>(&'a self, queue: &'a Label, limit: usize) -> Reply<'a, Swept>;

    /// The queue in numbers.
    fn stats<'a>(&'a self, queue: &'a Label) -> Reply<'a, QueueStats>;

    /// Some of its jobs.
    fn list<'a>(&'a self, queue: &'a Label, listing: Listing) -> Reply<'a, Page>;

    /// What an operator wants. Answers how many jobs it concerned.
    fn steer<'a>(&'a self, queue: &'a Label, command: Command) -> Reply<'a, u64>;

    /// The rules of a queue.
    fn rules<'a>(&'a self, queue: &'a Label) -> Reply<'a, Rules>;

    /// All queues that the store knows, by name.
    fn queues(&self) -> Reply<'_, Vec<Label>>;

    /// Returns when there may be something to lease, or after `most`.
    fn wait<'a>(&'a self, queue: &'a Label, most: Duration) -> Reply<'a, ()>;
}

/// A job to be taken in.
///
/// ```
/// use headcount_core::jobs::{JobId, JobSpec};
/// use headcount_core::jobs::port::NewJob;
///
/// let spec = JobSpec::new("thumbnail".parse()?, b"{}".to_vec());
/// let job = NewJob { id: JobId::new(0, 1), spec };
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NewJob {
    /// Who it is: chosen by whoever submits, the same when a submit is repeated.
    pub id: JobId,
    /// What is wanted.
    pub spec: JobSpec,
}

/// What became of a submit.
///
/// ```
/// use headcount_core::jobs::JobId;
/// use headcount_core::jobs::port::Submitted;
///
/// let first = JobId::new(0, 1);
/// assert_eq!(Submitted::Existing(first).id(), first);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// It is in the store, and will end in a final state.
    New(JobId),
    /// It counts as this job, which is there or was.
    Existing(JobId),
}

/// A holder asks for jobs.
///
/// ```
/// use headcount_core::jobs::Holder;
/// use headcount_core::jobs::port::LeaseAsk;
/// use std::time::Duration;
///
/// let ttl = Duration::from_secs(8);
/// let ask = LeaseAsk { holder: Holder::new(7), ttl, jobs_max: 10 };
/// assert_eq!(ask.jobs_max, 10);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseAsk {
    /// Who asks.
    pub holder: Holder,
    /// How long the lease holds from now on.
    pub ttl: Duration,
    /// At most this many.
    pub jobs_max: usize,
}

/// What a holder was given.
///
/// ```
/// use headcount_core::jobs::port::Leased;
///
/// let nothing = Leased::default();
/// assert!(nothing.jobs.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Leased {
    /// The epoch of all of them.
    pub epoch: u64,
    /// The jobs, in the order in which to start them.
    pub jobs: Vec<LeasedJob>,
    /// How long until there may be more without anybody doing anything.
    pub again_in: Option<Duration>,
}

/// A job as its holder knows it.
///
/// ```
/// use headcount_core::jobs::{JobId, JobSpec};
/// use headcount_core::jobs::port::LeasedJob;
///
/// let spec = JobSpec::new("thumbnail".parse()?, b"{}".to_vec());
/// let job = LeasedJob::new(JobId::new(0, 1), spec);
/// assert_eq!(job.attempts, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LeasedJob {
    /// Who it is.
    pub id: JobId,
    /// What is wanted.
    pub spec: JobSpec,
    /// When the store took it.
    pub submitted_at: Timestamp,
    /// When it could have started first, since it last waited.
    pub due_at: Timestamp,
    /// When it was leased: the store's time of the call.
    pub leased_at: Timestamp,
    /// How often its handler failed before.
    pub attempts: u32,
    /// How often its holder was lost before.
    pub crashes: u32,
    /// How often it was given back before.
    pub preemptions: u32,
    /// Where it can go on.
    pub checkpoint: Option<Vec<u8>>,
}

/// A holder renews its lease.
///
/// ```
/// use headcount_core::jobs::Holder;
/// use headcount_core::jobs::port::ExtendAsk;
/// use std::time::Duration;
///
/// let ttl = Duration::from_secs(8);
/// let ask = ExtendAsk { holder: Holder::new(7), ttl, notes: Vec::new() };
/// assert!(ask.notes.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ExtendAsk {
    /// Who renews.
    pub holder: Holder,
    /// How long the lease holds from now on; zero ends it.
    pub ttl: Duration,
    /// How its jobs are doing.
    pub notes: Vec<Note>,
}

/// How a held job is doing.
///
/// ```
/// use headcount_core::jobs::JobId;
/// use headcount_core::jobs::port::Note;
///
/// let note = Note { id: JobId::new(0, 1), epoch: 3, progress: Some(50), checkpoint: None };
/// assert_eq!(note.progress, Some(50));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Which job.
    pub id: JobId,
    /// Held in this epoch.
    pub epoch: u64,
    /// How far it is, from 0 to 100. `None` leaves what was said before.
    pub progress: Option<u8>,
    /// Where it could go on. `None` leaves what was said before.
    pub checkpoint: Option<Vec<u8>>,
}

/// What a holder learns when it renews.
///
/// ```
/// use headcount_core::jobs::port::Extended;
///
/// assert!(!Extended::default().alive);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extended {
    /// Whether the lease was still there. If not, all that was held is lost to others.
    pub alive: bool,
    /// Held jobs that somebody wants stopped, by id.
    pub cancel: Vec<JobId>,
    /// Notes about jobs that are not held in the epoch they named.
    pub stale: Vec<JobId>,
}

/// How a held job ended.
///
/// ```
/// use headcount_core::jobs::JobId;
/// use headcount_core::jobs::port::{Ending, Settlement};
///
/// let ending = Ending::Done { result: None };
/// let settlement = Settlement { id: JobId::new(0, 1), epoch: 3, ending };
/// assert_eq!(settlement.epoch, 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// Which job.
    pub id: JobId,
    /// Held in this epoch.
    pub epoch: u64,
    /// How it ended.
    pub ending: Ending,
}

/// How a run of a job ended.
///
/// ```
/// use headcount_core::jobs::port::Ending;
/// use std::time::Duration;
///
/// let ending = Ending::Retry { after: Duration::from_secs(1), error: "timed out".into() };
/// assert_ne!(ending, Ending::Release { checkpoint: None });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Well, with this result.
    Done {
        /// What its handler gave.
        result: Option<Vec<u8>>,
    },
    /// Its handler failed, and is tried again.
    Retry {
        /// After this long.
        after: Duration,
        /// Why it failed.
        error: String,
    },
    /// Its handler failed for good.
    Dead {
        /// Why it failed.
        error: String,
    },
    /// It was given back unfinished: drained, preempted, never started.
    Release {
        /// Where it can go on.
        checkpoint: Option<Vec<u8>>,
    },
    /// Its handler wants to be called later, which is no failure.
    Snooze {
        /// After this long.
        after: Duration,
        /// Where it can go on.
        checkpoint: Option<Vec<u8>>,
    },
    /// It was stopped because somebody did not want it any more.
    Cancelled,
}

/// What became of a settlement.
///
/// ```
/// use headcount_core::jobs::port::Settled;
///
/// assert_ne!(Settled::Taken, Settled::Stale);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It is written, and final as far as it goes.
    Taken,
    /// The job is not held by that holder in that epoch; nothing was written.
    Stale,
}

/// What became of endings, and what was handed out after them.
///
/// ```
/// use headcount_core::jobs::port::Turned;
///
/// let nothing = Turned::default();
/// assert!(nothing.settled.is_empty() && nothing.leased.jobs.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turned {
    /// One for each settlement, in order.
    pub settled: Vec<Settled>,
    /// What the holder was given.
    pub leased: Leased,
}

/// What a sweep put right.
///
/// ```
/// use headcount_core::jobs::port::Swept;
///
/// assert_eq!(Swept::default().recovered, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Jobs whose time had come.
    pub due: u64,
    /// Leases that had expired while something was held, and are gone.
    pub expired: u64,
    /// Jobs of expired leases that were made ready again.
    pub recovered: u64,
    /// Jobs of expired leases that were put aside.
    pub quarantined: u64,
    /// Ended jobs that were forgotten.
    pub forgotten: u64,
    /// Records in a state that cannot be, put right.
    pub repaired: u64,
    /// Whether a limit was reached, so that another sweep would find more.
    pub more: bool,
}

/// Which jobs to list.
///
/// ```
/// use headcount_core::jobs::State;
/// use headcount_core::jobs::port::Listing;
///
/// let Listing::In { state, limit, .. } = Listing::first(State::Dead, 20) else { panic!() };
/// assert_eq!((state, limit), (State::Dead, 20));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Those of one state.
    In {
        /// The state.
        state: State,
        /// From where the page before ended.
        cursor: Option<Cursor>,
        /// At most this many, and never more than [`Listing::LIMIT_MAX`].
        limit: usize,
    },
    /// These, as far as the store knows them, in the order given.
    Ids(Vec<JobId>),
}

/// Where a page ended; only its store understands it.
///
/// ```
/// use headcount_core::jobs::port::Cursor;
///
/// assert_eq!(Cursor::new("17").as_str(), "17");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(String);

/// Some jobs of a queue.
///
/// ```
/// use headcount_core::jobs::port::Page;
///
/// assert!(Page::default().next.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The jobs.
    pub jobs: Vec<JobRecord>,
    /// Where to go on, if there is more.
    pub next: Option<Cursor>,
}

/// What an operator wants.
///
/// ```
/// use headcount_core::jobs::State;
/// use headcount_core::jobs::port::{Command, Which};
///
/// let command = Command::Revive(Which::In(State::Dead));
/// assert_ne!(command, Command::Pause);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Nothing more is handed out. What runs goes on.
    Pause,
    /// Jobs are handed out again.
    Resume,
    /// The queue has these rules from now on.
    Rules(Box<Rules>),
    /// Every job that waits is forgotten. What runs goes on. A store may do it bit by bit: when
    /// that is interrupted some are forgotten, none by half, and asking again forgets the rest.
    Purge,
    /// These are tried again, with fresh counters.
    Revive(Which),
    /// These are not wanted any more.
    Cancel(Which),
    /// These are forgotten, unless they run.
    Delete(Which),
}

/// Which jobs a command concerns.
///
/// ```
/// use headcount_core::jobs::State;
/// use headcount_core::jobs::port::Which;
///
/// assert_ne!(Which::In(State::Dead), Which::Ids(Vec::new()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// These, as far as the store knows them.
    Ids(Vec<JobId>),
    /// All that are in this state; at most [`Which::AT_ONCE_MAX`] a call, so repeat it while the
    /// answer is not 0.
    In(State),
}

impl Submitted {
    /// The job that it is or counts as.
    #[must_use]
    pub const fn id(self) -> JobId {
        match self {
            Self::New(id) | Self::Existing(id) => id,
        }
    }
}

impl LeasedJob {
    /// A job that nothing has happened to yet.
    #[must_use]
    pub fn new(id: JobId, spec: JobSpec) -> Self {
        Self {
            id,
            spec,
            submitted_at: Timestamp::ORIGIN,
            due_at: Timestamp::ORIGIN,
            leased_at: Timestamp::ORIGIN,
            attempts: 0,
            crashes: 0,
            preemptions: 0,
            checkpoint: None,
        }
    }
}

impl Listing {
    /// The most jobs of a page.
    pub const LIMIT_MAX: usize = 1000;

    /// The first jobs of a state.
    #[must_use]
    pub const fn first(state: State, limit: usize) -> Self {
        Self::In { state, cursor: None, limit }
    }
}

impl Which {
    /// The most jobs that a command concerns at once.
    pub const AT_ONCE_MAX: usize = 1000;
}

impl Cursor {
    /// A cursor that says this.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// What it says.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
