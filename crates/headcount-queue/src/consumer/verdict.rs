//! What follows from how a handler ended.

use std::time::Duration;

use headcount_core::jobs::Verdict;
use headcount_core::jobs::port::Ending;

use super::events::Ended;
use crate::handler::{Follows, JobError, Run, Stop};

/// How a handler ended.
#[derive(Debug)]
pub(super) enum End {
    /// With a result, or an error of its own.
    Itself(Result<Option<Vec<u8>>, JobError>),
    /// In a panic that said this.
    Panicked(String),
    /// It did not: it was stopped from outside, or never began.
    Stopped,
}

/// How long a handler waits that stopped without having been asked to.
const STOPPED_UNASKED: Duration = Duration::from_secs(1);

/// What the store is told. `None`: nothing, for it knows better.
///
/// `chance` lies between 0 and 1.
pub(super) fn ending(run: &Run, end: End, chance: f64) -> Option<Ending> {
    let told = run.told();
    match end {
        End::Itself(Ok(result)) => Some(done(run, result)),
        // What was to be cancelled need not say why it did not succeed.
        End::Itself(Err(_)) | End::Stopped if told == Stop::Cancelled => Some(Ending::Cancelled),
        End::Itself(Err(_)) | End::Stopped if told == Stop::TimedOut => {
            let timeout = run.job.spec.timeout.unwrap_or_default();
            let error = format!("it ran longer than its timeout of {} s", timeout.as_secs_f64());
            Some(retried(run, None, error, chance))
        }
        End::Itself(Err(error)) => Some(failed(run, error, chance)),
        End::Panicked(said) => Some(retried(run, None, format!("it panicked: {said}"), chance)),
        End::Stopped if told == Stop::Lost => None,
        End::Stopped => Some(Ending::Release { checkpoint: run.unsent_checkpoint() }),
    }
}

fn done(run: &Run, result: Option<Vec<u8>>) -> Ending {
    match &result {
        Some(bytes) if run.grip.bytes_max < bytes.len() => {
            let (len, len_max) = (bytes.len(), run.grip.bytes_max);
            let error = format!(
                "it was done, but its result has {len} bytes, allowed are {len_max}; store it \
                 elsewhere and give where it is"
            );
            Ending::Dead { error }
        }
        _ => Ending::Done { result: result.filter(|_| !run.job.spec.keep.is_zero()) },
    }
}

fn failed(run: &Run, error: JobError, chance: f64) -> Ending {
    match error.follows {
        Follows::Retry => retried(run, None, error.into_why(), chance),
        Follows::RetryAfter(after) => retried(run, Some(after), error.into_why(), chance),
        Follows::Dead => Ending::Dead { error: error.into_why() },
        Follows::Snooze(after) => Ending::Snooze { after, checkpoint: run.unsent_checkpoint() },
        Follows::Preempted => preempted(run),
    }
}

/// One that stops although nobody asked it to would come straight back: it waits a little.
fn preempted(run: &Run) -> Ending {
    let checkpoint = run.unsent_checkpoint();
    match run.told() {
        Stop::No => Ending::Snooze { after: STOPPED_UNASKED, checkpoint },
        _ => Ending::Release { checkpoint },
    }
}

fn retried(run: &Run, after: Option<Duration>, error: String, chance: f64) -> Ending {
    let retry = &run.job.spec.retry;
    let attempts = run.job.attempts.saturating_add(1);
    let verdict = match after {
        Some(after) => retry.after_waiting(attempts, run.age(), after),
        None => retry.after(attempts, run.age(), chance),
    };
    match verdict {
        Verdict::Again(after) => Ending::Retry { after, error },
        Verdict::Enough => Ending::Dead { error },
    }
}

/// The ending in a word, and why.
pub(super) fn told(ending: &Ending) -> (Ended, Option<&str>) {
    match ending {
        Ending::Done { .. } => (Ended::Done, None),
        Ending::Retry { error, .. } => (Ended::Failed, Some(error)),
        Ending::Dead { error } => (Ended::Dead, Some(error)),
        Ending::Release { .. } => (Ended::Released, None),
        Ending::Snooze { .. } => (Ended::Snoozed, None),
        Ending::Cancelled => (Ended::Cancelled, None),
    }
}
