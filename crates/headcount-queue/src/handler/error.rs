//! Why a job was not done.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// Why a handler did not do its job, and what is to follow.
///
/// Any error becomes one with `?`, and the job is tried again as its own rules say. The others are
/// for handlers that know better.
///
/// ```
/// use headcount_queue::JobError;
/// use std::time::Duration;
///
/// fn amount(text: &str) -> Result<u32, JobError> {
///     if text.is_empty() {
///         return Err(JobError::dead("an empty amount will never be a number"));
///     }
///     if text == "later" {
///         return Err(JobError::retry_after(Duration::from_secs(30)).because("not known yet"));
///     }
///     Ok(text.parse()?)
/// }
/// assert_eq!(amount("x").expect_err("no digit").to_string(), "invalid digit found in string");
/// ```
pub struct JobError {
    pub(crate) follows: Follows,
    why: String,
}

/// What follows from a job that was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follows {
    /// Its retries, as the job says.
    Retry,
    /// Its retries, this long from now.
    RetryAfter(Duration),
    /// Nothing: it failed for good.
    Dead,
    /// The same again, this long from now, and it is no failure.
    Snooze(Duration),
    /// It goes on elsewhere, where it was.
    Preempted,
}

impl JobError {
    /// It failed, and is tried again as the job's own rules say.
    pub fn failed(why: impl fmt::Display) -> Self {
        Self { follows: Follows::Retry, why: why.to_string() }
    }

    /// It failed, and is tried again this long from now, if there is another try.
    #[must_use]
    pub fn retry_after(after: Duration) -> Self {
        let why = format!("its handler wants to try again in {} s", after.as_secs_f64());
        Self { follows: Follows::RetryAfter(after), why }
    }

    /// It failed for good: no other try would help.
    pub fn dead(why: impl fmt::Display) -> Self {
        Self { follows: Follows::Dead, why: why.to_string() }
    }

    /// Nothing failed; it wants to be called again this long from now.
    #[must_use]
    pub fn snooze(after: Duration) -> Self {
        let why = format!("its handler wants to be called again in {} s", after.as_secs_f64());
        Self { follows: Follows::Snooze(after), why }
    }

    /// It was asked to stop and did: it goes on elsewhere from its last checkpoint. Answered
    /// without having been asked, it goes on a second later.
    #[must_use]
    pub fn preempted() -> Self {
        Self { follows: Follows::Preempted, why: "its handler stopped as it was asked".to_owned() }
    }

    /// The same, for this reason.
    #[must_use]
    pub fn because(mut self, why: impl fmt::Display) -> Self {
        self.why = why.to_string();
        self
    }

    pub(crate) fn into_why(self) -> String {
        self.why
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for JobError {
    /// Says what went wrong, and what was behind it.
    fn from(error: E) -> Self {
        let mut why = error.to_string();
        let mut behind = error.source();
        while let Some(cause) = behind {
            let cause_text = cause.to_string();
            // Many errors already say what was behind them.
            if !why.ends_with(&cause_text) {
                why = format!("{why}: {cause_text}");
            }
            behind = cause.source();
        }
        Self { follows: Follows::Retry, why }
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl fmt::Debug for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JobError({:?}: {})", self.follows, self.why)
    }
}
