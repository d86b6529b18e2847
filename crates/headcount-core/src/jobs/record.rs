//! All that a store knows of a job.

use crate::Timestamp;

use super::id::{Holder, JobId};
use super::label::Label;
use super::spec::JobSpec;
use super::state::State;

/// All that a store knows of a job. Times are since 1970, by the store's clock, in milliseconds.
///
/// ```
/// use headcount_core::Timestamp;
/// use headcount_core::jobs::{JobId, JobRecord, JobSpec, State};
///
/// let label = |text: &str| text.parse().expect("a fine name");
/// let spec = JobSpec::new(label("thumbnail"), b"{}".to_vec());
/// let record = JobRecord::new(JobId::new(0, 1), label("default"), spec, Timestamp::ORIGIN);
/// assert_eq!(record.state, State::Ready);
/// assert_eq!(record.attempts, 0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JobRecord {
    /// Who it is.
    pub id: JobId,
    /// Where it is.
    pub queue: Label,
    /// Where it is in its life.
    pub state: State,
    /// What was asked for.
    pub spec: JobSpec,
    /// When the store took it.
    pub submitted_at: Timestamp,
    /// When it may run, or might have at the earliest.
    pub due_at: Timestamp,
    /// When it last began to run.
    pub started_at: Option<Timestamp>,
    /// When it reached its final state.
    pub ended_at: Option<Timestamp>,
    /// How often its handler failed.
    pub attempts: u32,
    /// How often its holder was lost.
    pub crashes: u32,
    /// How often it was given back unfinished.
    pub preemptions: u32,
    /// Who holds it, and in which epoch.
    pub held: Option<(Holder, u64)>,
    /// Whether its holder was asked to stop it.
    pub cancelling: bool,
    /// How far its handler says it is, from 0 to 100.
    pub progress: Option<u8>,
    /// Where it can go on, as its handler wrote it.
    pub checkpoint: Option<Vec<u8>>,
    /// What its handler gave, where it is kept.
    pub result: Option<Vec<u8>>,
    /// Why it failed last, cut to [`JobRecord::ERROR_LEN_MAX`] bytes.
    pub error: Option<String>,
}

impl JobRecord {
    /// The most bytes of an error that are kept.
    pub const ERROR_LEN_MAX: usize = 4096;

    /// A job as it is when it has just been submitted and waits for nothing.
    #[must_use]
    pub fn new(id: JobId, queue: Label, spec: JobSpec, now: Timestamp) -> Self {
        Self {
            id,
            queue,
            state: State::Ready,
            due_at: spec.start.due(now),
            spec,
            submitted_at: now,
            started_at: None,
            ended_at: None,
            attempts: 0,
            crashes: 0,
            preemptions: 0,
            held: None,
            cancelling: false,
            progress: None,
            checkpoint: None,
            result: None,
            error: None,
        }
    }

    /// The error as it is kept: cut at a whole character.
    #[must_use]
    pub fn cut_error(error: &str) -> &str {
        &error[..error.floor_char_boundary(Self::ERROR_LEN_MAX)]
    }
}
