//! The states of a job, and the one function that says which follows from which.

use std::fmt;

/// Where a job is in its life.
///
/// ```
/// use headcount_core::jobs::{Event, State, transition};
///
/// let running = transition(State::Ready, Event::Leased).expect("what is ready can be taken");
/// assert_eq!(running, State::Running);
/// assert!(!running.is_final());
/// assert_eq!("dead".parse(), Ok(State::Dead));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum State {
    /// It waits for other jobs to end.
    Blocked,
    /// It waits for its time.
    Scheduled,
    /// It waits for a worker.
    Ready,
    /// Somebody holds it.
    Running,
    /// It failed, and waits for its next try.
    Retrying,
    /// It ended well.
    Done,
    /// It failed for good, and is kept to be looked at.
    Dead,
    /// It took too many workers with it or cannot be read, and is kept to be looked at.
    Quarantined,
    /// Somebody did not want it any more.
    Cancelled,
}

/// What can happen to a job.
///
/// ```
/// use headcount_core::jobs::{Event, State, transition};
///
/// assert_eq!(transition(State::Running, Event::Crashed), Ok(State::Ready));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// Its time has come.
    Due,
    /// The last job that it waited for has ended, and it may run now.
    Unblocked,
    /// The last job that it waited for has ended, and its time is still to come.
    UnblockedEarly,
    /// A job that it needed ended badly.
    Orphaned,
    /// A consumer took it.
    Leased,
    /// Its handler succeeded.
    Succeeded,
    /// Its handler failed, and there is another try.
    Failed,
    /// Its handler failed, and that was the last try.
    Died,
    /// Its consumer gave it back unfinished, through no fault of its own.
    Released,
    /// Its handler asked to be called later, which is no failure.
    Snoozed,
    /// Its holder was lost.
    Crashed,
    /// Its holder was lost once more than is allowed.
    Poisoned,
    /// What is stored of it cannot be read.
    Garbled,
    /// Somebody does not want it any more; one that runs is only told, and ends by its holder.
    Cancelled,
    /// An operator wants it to be tried again.
    Revived,
}

/// An event that cannot happen to a job in this state.
///
/// ```
/// use headcount_core::jobs::{Event, State, transition};
///
/// let error = transition(State::Done, Event::Leased).expect_err("it has ended");
/// assert_eq!(error.to_string(), "a job that is done cannot be leased");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoTransition {
    /// Where the job is.
    pub state: State,
    /// What was to happen to it.
    pub event: Event,
}

/// The state after the event: the only place that knows.
///
/// # Errors
///
/// [`NoTransition`] when that cannot happen to a job in that state.
#[allow(clippy::match_same_arms, reason = "a line for each step, in the order of a life")]
pub fn transition(state: State, event: Event) -> Result<State, NoTransition> {
    use Event as E;
    use State as S;
    match (state, event) {
        (S::Blocked, E::Unblocked) => Ok(S::Ready),
        (S::Blocked, E::UnblockedEarly) => Ok(S::Scheduled),
        (S::Blocked, E::Orphaned) => Ok(S::Dead),
        (S::Scheduled | S::Retrying, E::Due) => Ok(S::Ready),
        (S::Ready, E::Leased) => Ok(S::Running),
        (S::Running, E::Succeeded) => Ok(S::Done),
        (S::Running, E::Failed) => Ok(S::Retrying),
        (S::Running, E::Died) => Ok(S::Dead),
        (S::Running, E::Released | E::Crashed) => Ok(S::Ready),
        (S::Running, E::Snoozed) => Ok(S::Scheduled),
        (S::Running, E::Poisoned) => Ok(S::Quarantined),
        // Whoever meets it first finds out: a worker that takes it, or whoever opens the store.
        (S::Blocked | S::Scheduled | S::Ready | S::Retrying | S::Running, E::Garbled) => {
            Ok(S::Quarantined)
        }
        (S::Blocked | S::Scheduled | S::Ready | S::Retrying | S::Running, E::Cancelled) => {
            Ok(S::Cancelled)
        }
        // An operator may be in a hurry: what waits for its time need not.
        (S::Dead | S::Quarantined | S::Cancelled | S::Scheduled | S::Retrying, E::Revived) => {
            Ok(S::Ready)
        }
        (state, event) => Err(NoTransition { state, event }),
    }
}

impl State {
    /// Every state, in the order of a life.
    pub const ALL: [Self; 9] = [
        Self::Blocked,
        Self::Scheduled,
        Self::Ready,
        Self::Running,
        Self::Retrying,
        Self::Done,
        Self::Dead,
        Self::Quarantined,
        Self::Cancelled,
    ];

    /// Whether nothing more happens to it unless an operator wants it to.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Dead | Self::Quarantined | Self::Cancelled)
    }

    /// The state in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Scheduled => "scheduled",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Retrying => "retrying",
            Self::Done => "done",
            Self::Dead => "dead",
            Self::Quarantined => "quarantined",
            Self::Cancelled => "cancelled",
        }
    }
}

impl std::str::FromStr for State {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or_else(|| {
            let all = Self::ALL.map(Self::as_str).join(", ");
            format!("{text:?} is no state of a job; there are {all}")
        })
    }
}

impl Event {
    /// Every event.
    pub const ALL: [Self; 15] = [
        Self::Due,
        Self::Unblocked,
        Self::UnblockedEarly,
        Self::Orphaned,
        Self::Leased,
        Self::Succeeded,
        Self::Failed,
        Self::Died,
        Self::Released,
        Self::Snoozed,
        Self::Crashed,
        Self::Poisoned,
        Self::Garbled,
        Self::Cancelled,
        Self::Revived,
    ];

    /// What happened, as the end of a sentence that begins with "a job is".
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Due => "due",
            Self::Unblocked => "unblocked",
            Self::UnblockedEarly => "unblocked early",
            Self::Orphaned => "orphaned",
            Self::Leased => "leased",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Died => "died",
            Self::Released => "released",
            Self::Snoozed => "snoozed",
            Self::Crashed => "crashed",
            Self::Poisoned => "poisoned",
            Self::Garbled => "garbled",
            Self::Cancelled => "cancelled",
            Self::Revived => "revived",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for NoTransition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a job that is {} cannot be {}", self.state, self.event)
    }
}

impl std::error::Error for NoTransition {}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that can happen, a line per state.
    fn told() -> String {
        let mut lines = Vec::new();
        for state in State::ALL {
            let steps = Event::ALL.into_iter().filter_map(|event| {
                let next = transition(state, event).ok()?;
                Some(format!("{event} -> {next}"))
            });
            let steps: Vec<String> = steps.collect();
            lines.push(format!("{state}: {}", steps.join(", ")));
        }
        lines.join("\n")
    }

    #[test]
    fn a_life_has_these_steps_and_no_others() {
        let expected = "\
blocked: unblocked -> ready, unblocked early -> scheduled, orphaned -> dead, \
garbled -> quarantined, cancelled -> cancelled
scheduled: due -> ready, garbled -> quarantined, cancelled -> cancelled, revived -> ready
ready: leased -> running, garbled -> quarantined, cancelled -> cancelled
running: succeeded -> done, failed -> retrying, died -> dead, released -> ready, \
snoozed -> scheduled, crashed -> ready, poisoned -> quarantined, \
garbled -> quarantined, cancelled -> cancelled
retrying: due -> ready, garbled -> quarantined, cancelled -> cancelled, revived -> ready
done: 
dead: revived -> ready
quarantined: revived -> ready
cancelled: revived -> ready";
        assert_eq!(told(), expected);
    }

    #[test]
    fn nothing_leaves_a_final_state_but_by_an_operator() {
        for state in State::ALL.into_iter().filter(|state| state.is_final()) {
            for event in Event::ALL.into_iter().filter(|event| *event != Event::Revived) {
                assert!(transition(state, event).is_err(), "{state} {event}");
            }
        }
    }

    #[test]
    fn only_a_ready_job_starts() {
        let starts = |state: &State| transition(*state, Event::Leased).is_ok();
        let states: Vec<State> = State::ALL.into_iter().filter(starts).collect();
        assert_eq!(states, [State::Ready]);
    }

    #[test]
    fn a_word_names_its_state() {
        for state in State::ALL {
            assert_eq!(state.to_string().parse(), Ok(state));
        }
        let error = "lost".parse::<State>().expect_err("no such state");
        assert!(error.contains("\"lost\" is no state"), "{error}");
    }
}
