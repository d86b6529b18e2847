//! What somebody wants done, before any of it has happened.

use std::fmt;
use std::time::Duration;

use crate::Timestamp;

use super::id::JobId;
use super::label::{Key, Label};
use super::retry::Retry;

/// What somebody wants done: all that is said of a job when it is submitted.
///
/// It never changes afterwards; what happens to the job is written beside it.
///
/// ```
/// use headcount_core::jobs::JobSpec;
///
/// let kind = "thumbnail".parse().expect("a fine name");
/// let spec = JobSpec::new(kind, br#"{"width":200}"#.to_vec());
/// assert_eq!(spec.retry.attempts_max, 20);
/// assert_eq!(spec.check(1024), Ok(()));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JobSpec {
    /// Which handler runs it.
    pub kind: Label,
    /// What the handler is given: data, JSON by default. Stored beside the rest of the spec.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub payload: Vec<u8>,
    /// How urgent it is beside others of its queue.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub priority: Priority,
    /// On whose behalf it runs. Tenants of one priority take turns.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub tenant: Option<Label>,
    /// Of jobs with one key only so many run at once as the queue's rules say.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub key: Option<Key>,
    /// When it may start.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub start: Start,
    /// What other submits count as the same job.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub unique: Option<Unique>,
    /// Jobs of the same queue that must end first, at most [`JobSpec::AFTER_MAX`].
    ///
    /// One that the store does not know counts as ended well: jobs that are done are forgotten.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub after: Vec<JobId>,
    /// How the jobs it waits for must end.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub dependence: Dependence,
    /// When it is tried again.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub retry: Retry,
    /// How many lost workers make it a suspect that is put aside. The default is 3.
    #[cfg_attr(
        feature = "serde",
        serde(default = "crashes_max", skip_serializing_if = "is_usual")
    )]
    pub crashes_max: u32,
    /// How long its handler may run. The default is as long as it likes.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub timeout: Option<Duration>,
    /// How long it is kept, with its result, once it is done. The default is not at all.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Duration::is_zero"))]
    pub keep: Duration,
}

/// How urgent a job is: 0 is the most urgent, 9 the least, 5 the default.
///
/// ```
/// use headcount_core::jobs::Priority;
///
/// assert!(Priority::new(0) < Priority::new(9));
/// assert_eq!(Priority::default().get(), 5);
/// assert_eq!(Priority::try_from(10).map_err(|error| error.to_string()),
///     Err("priority 10 is beyond 9, the least urgent; 0 is the most urgent".to_owned()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "u8", into = "u8"))]
pub struct Priority(u8);

/// A number beyond the least urgent priority.
///
/// ```
/// use headcount_core::jobs::Priority;
///
/// assert!(Priority::try_from(10).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorityError(u8);

/// When a job may start.
///
/// ```
/// use headcount_core::jobs::Start;
/// use headcount_core::Timestamp;
/// use std::time::Duration;
///
/// let now = Timestamp::from_secs(10);
/// assert_eq!(Start::After(Duration::from_secs(5)).due(now), Timestamp::from_secs(15));
/// assert_eq!(Start::At(Timestamp::from_secs(3)).due(now), now);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Start {
    /// As soon as there is a worker.
    #[default]
    Now,
    /// This long after it was submitted, by the store's clock.
    After(Duration),
    /// At this time since 1970, by the store's clock.
    At(Timestamp),
}

/// What other submits count as the same job, so that only the first is taken.
///
/// ```
/// use headcount_core::jobs::{Unique, UniqueSpan};
///
/// let key = "invoice 17".parse().expect("a fine key");
/// let unique = Unique { key, span: UniqueSpan::UntilEnded };
/// assert_eq!(unique.key.as_str(), "invoice 17");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Unique {
    /// What makes two submits the same, within a queue.
    pub key: Key,
    /// For how long.
    pub span: UniqueSpan,
}

/// For how long a submit stands in the way of others with its key.
///
/// ```
/// use headcount_core::jobs::UniqueSpan;
/// use std::time::Duration;
///
/// let day = UniqueSpan::For(Duration::from_secs(86_400));
/// assert_ne!(day, UniqueSpan::UntilEnded);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum UniqueSpan {
    /// Until the job is in a final state, or gone.
    UntilEnded,
    /// This long after it was submitted, ended or not.
    For(Duration),
    /// For ever, against all submits whose number is not above this one: a schedule's ticks.
    Above(u64),
}

/// How the jobs that another waits for must end.
///
/// ```
/// use headcount_core::jobs::Dependence;
///
/// assert_eq!(Dependence::default(), Dependence::Success);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Dependence {
    /// Well. When one of them ends otherwise, the job that waits is dead at once.
    #[default]
    Success,
    /// In any way: what a batch calls when all of it has ended.
    End,
}

/// Why a job is refused before it reaches a store.
///
/// ```
/// use headcount_core::jobs::JobSpec;
///
/// let spec = JobSpec::new("thumbnail".parse().expect("a fine name"), vec![b'1'; 2000]);
/// let error = spec.check(1000).expect_err("too large");
/// assert_eq!(
///     error.to_string(),
///     "the payload has 2000 bytes, allowed are 1000; store it elsewhere and send where it is",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpecError {
    /// The payload has the first number of bytes, allowed is the second.
    Payload(usize, usize),
    /// It waits for this many jobs, more than [`JobSpec::AFTER_MAX`].
    After(usize),
    /// It may never be tried.
    NoAttempts,
    /// No crash is allowed, not even the first, which would put it aside before it began.
    NoCrashes,
    /// A span is longer than a hundred years.
    Span(&'static str, Duration),
}

impl JobSpec {
    /// The most jobs that one can wait for.
    pub const AFTER_MAX: usize = 100_000;
    /// The longest span that can be said of a job: a hundred years.
    pub const SPAN_MAX: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

    /// A job of this kind with this payload, and defaults for all the rest.
    #[must_use]
    pub fn new(kind: Label, payload: Vec<u8>) -> Self {
        Self {
            kind,
            payload,
            priority: Priority::default(),
            tenant: None,
            key: None,
            start: Start::Now,
            unique: None,
            after: Vec::new(),
            dependence: Dependence::Success,
            retry: Retry::default(),
            crashes_max: crashes_max(),
            timeout: None,
            keep: Duration::ZERO,
        }
    }

    /// Whether a store would take it, with at most this many bytes of payload.
    ///
    /// # Errors
    ///
    /// [`SpecError`] says what is wrong with it.
    pub fn check(&self, payload_bytes_max: usize) -> Result<(), SpecError> {
        if payload_bytes_max < self.payload.len() {
            return Err(SpecError::Payload(self.payload.len(), payload_bytes_max));
        }
        if Self::AFTER_MAX < self.after.len() {
            return Err(SpecError::After(self.after.len()));
        }
        if self.retry.attempts_max == 0 {
            return Err(SpecError::NoAttempts);
        }
        if self.crashes_max == 0 {
            return Err(SpecError::NoCrashes);
        }
        match self.spans().into_iter().find(|(_, span)| Self::SPAN_MAX < *span) {
            Some((what, span)) => Err(SpecError::Span(what, span)),
            None => Ok(()),
        }
    }

    fn spans(&self) -> [(&'static str, Duration); 5] {
        let delay = match self.start {
            Start::After(delay) => delay,
            Start::At(_) | Start::Now => Duration::ZERO,
        };
        let unique = match self.unique.as_ref().map(|unique| unique.span) {
            Some(UniqueSpan::For(span)) => span,
            _ => Duration::ZERO,
        };
        [
            ("delay", delay),
            ("timeout", self.timeout.unwrap_or_default()),
            ("keep", self.keep),
            ("unique", unique),
            ("retry budget", self.retry.budget.unwrap_or_default()),
        ]
    }
}

impl Priority {
    /// The least urgent.
    pub const LEAST: Self = Self(9);
    /// How many there are.
    pub const COUNT: usize = 10;

    /// The priority with this number, or the least urgent where the number is beyond it.
    #[must_use]
    pub const fn new(number: u8) -> Self {
        if number < Self::LEAST.0 { Self(number) } else { Self::LEAST }
    }

    /// Its number.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl Default for Priority {
    fn default() -> Self {
        Self(5)
    }
}

impl TryFrom<u8> for Priority {
    type Error = PriorityError;

    fn try_from(number: u8) -> Result<Self, Self::Error> {
        if number <= Self::LEAST.0 { Ok(Self(number)) } else { Err(PriorityError(number)) }
    }
}

impl From<Priority> for u8 {
    fn from(priority: Priority) -> Self {
        priority.0
    }
}

impl Start {
    /// The time of it, for a job that is submitted now. Never before now.
    #[must_use]
    pub fn due(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Now => now,
            Self::After(delay) => now + delay,
            Self::At(at) => at.max(now),
        }
    }
}

const fn crashes_max() -> u32 {
    3
}

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_usual(crashes: &u32) -> bool {
    *crashes == crashes_max()
}

#[cfg(feature = "serde")]
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl fmt::Display for PriorityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "priority {} is beyond 9, the least urgent; 0 is the most urgent", self.0)
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Payload(len, max) => write!(
                f,
                "the payload has {len} bytes, allowed are {max}; store it elsewhere and send where \
                 it is",
            ),
            Self::After(count) => write!(
                f,
                "the job waits for {count} others, allowed are {}; let it wait for fewer",
                JobSpec::AFTER_MAX,
            ),
            Self::NoAttempts => {
                f.write_str("attempts_max is 0, so it would never run; say 1 for a single try")
            }
            Self::NoCrashes => {
                f.write_str("crashes_max is 0, so it would never run; say 1 for a single crash")
            }
            Self::Span(what, span) => {
                write!(f, "the {what} of {} s is longer than a hundred years", span.as_secs())
            }
        }
    }
}

impl std::error::Error for PriorityError {}
impl std::error::Error for SpecError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    #[allow(clippy::needless_pass_by_value, reason = "a table reads better with values")]
    fn check(change: impl FnOnce(&mut JobSpec), expected: Result<(), SpecError>) {
        let mut spec = JobSpec::new("kind".parse().expect("a name"), vec![b' '; 10]);
        change(&mut spec);
        assert_eq!(spec.check(10), expected);
    }

    #[test]
    fn what_could_not_run_is_refused() {
        check(|_| {}, Ok(()));
        check(|spec| spec.payload.push(b' '), Err(SpecError::Payload(11, 10)));
        check(|spec| spec.retry.attempts_max = 0, Err(SpecError::NoAttempts));
        check(|spec| spec.crashes_max = 0, Err(SpecError::NoCrashes));
        check(|spec| spec.keep = JobSpec::SPAN_MAX, Ok(()));
        let long = JobSpec::SPAN_MAX + Duration::from_secs(1);
        check(|spec| spec.start = Start::After(long), Err(SpecError::Span("delay", long)));
        let many = vec![JobId::new(0, 0); JobSpec::AFTER_MAX + 1];
        check(|spec| spec.after = many, Err(SpecError::After(JobSpec::AFTER_MAX + 1)));
    }
}
