//! Waits until a job has ended, and says how.

use std::io::Write;
use std::time::Duration;

use headcount_core::jobs::{Label, State};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::retrying::insistent;
use crate::Stop;
use crate::command::crew::say;
use crate::command::reach::{Path, Remote, Unanswered};

/// How soon it looks again, at first and at last.
const LOOK_FIRST: Duration = Duration::from_millis(10);
const LOOK_LAST: Duration = Duration::from_millis(500);

/// How a job that was waited for came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Ended(State),
    /// It ended and was forgotten, or was taken away.
    Gone,
    /// It had not ended in time.
    Late,
}

impl Outcome {
    pub(super) fn code(self) -> u8 {
        match self {
            Self::Ended(State::Done) => 0,
            Self::Ended(State::Quarantined) => 4,
            Self::Ended(State::Cancelled) => 5,
            Self::Ended(_) => 3,
            Self::Gone => 1,
            Self::Late => 6,
        }
    }
}

/// Waits until the job has ended or the time is up.
pub(super) async fn wait(
    remote: &Remote,
    queue: &Label,
    id: &str,
    until: Instant,
) -> Result<(Outcome, Value), Stop> {
    let path = Path::of(&["queues", queue.as_str(), "jobs", id]);
    let mut look = LOOK_FIRST;
    loop {
        let job = match insistent(|| remote.get(&path)).await {
            Ok(job) => job,
            Err(Unanswered::Unknown(_)) => return Ok((Outcome::Gone, json!({"id": id}))),
            Err(unanswered) => return Err(unanswered.into()),
        };
        let state = job["state"].as_str().and_then(|state| state.parse::<State>().ok());
        match state.filter(|state| state.is_final()) {
            Some(state) => return Ok((Outcome::Ended(state), job)),
            None if until <= Instant::now() => return Ok((Outcome::Late, job)),
            None => tokio::time::sleep_until(until.min(Instant::now() + look)).await,
        }
        look = (look * 2).min(LOOK_LAST);
    }
}

/// Prints the result of a job, or says what became of it.
pub(super) fn tell(outcome: Outcome, job: &Value, out: &mut impl Write) -> Result<(), Stop> {
    let id = job["id"].as_str().unwrap_or_default();
    let because = match job["error"].as_str() {
        Some(error) => format!(": {error}"),
        None => String::new(),
    };
    let sentence = match outcome {
        Outcome::Ended(State::Done) => {
            let result = job.get("result").unwrap_or(&Value::Null);
            return Ok(writeln!(out, "{result}")?);
        }
        Outcome::Ended(state) => format!("job {id} is {state}{because}"),
        Outcome::Gone => format!("job {id} has ended and was not kept, or it was taken away"),
        Outcome::Late => {
            let state = job["state"].as_str().unwrap_or("unknown");
            format!("job {id} has not ended in time, it is {state}{because}")
        }
    };
    say(&sentence);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_its_code() {
        let codes = State::ALL.map(|state| Outcome::Ended(state).code());
        // Those before the last four are no ends, and never told.
        assert_eq!(codes[5..], [0, 3, 4, 5]);
        assert_eq!([Outcome::Gone.code(), Outcome::Late.code()], [1, 6]);
    }
}
