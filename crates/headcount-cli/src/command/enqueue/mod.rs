//! `headcount enqueue`: submits jobs, one or many, and waits for them if asked to.

mod arguments;
mod moment;

mod lines;
mod submission;

mod many;
mod retrying;
mod waiting;

use std::io::{Read, Write};
use std::time::Duration;

use headcount_core::jobs::JobSpec;
use serde_json::{Value, json};
use tokio::time::Instant;

pub(crate) use arguments::Arguments;

use super::crew::say;
use super::reach::{Path, Remote, Unanswered, waited};
use crate::Stop;
use retrying::insistent;
use submission::{Form, Ids};

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Stop> {
    waited(async {
        let payload = match arguments.stdin {
            true => None,
            false => Some(payload(arguments.payload.as_deref())?),
        };
        let remote = arguments.reach.remote().await?;
        if arguments.wait.is_some() && !remote.is_served() {
            return Err(Stop::Failed(
                "no server runs here, so nobody would run the job; start `headcount serve`, or \
                 leave out --wait"
                    .to_owned(),
            ));
        }
        match payload {
            Some(payload) => one(arguments, &remote, payload, out).await,
            None => many::submit_lines(arguments, &remote, out).await,
        }
    })
}

/// What the handler is given.
fn payload(written: Option<&str>) -> Result<Value, Stop> {
    let text = match written {
        None => return Ok(Value::Null),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin().lock().read_to_string(&mut text)?;
            text
        }
        Some(text) => text.to_owned(),
    };
    serde_json::from_str(&text).map_err(|error| {
        let why = lines::told(&error);
        Stop::Misused(format!("the payload: {why}; a text needs quotes: '\"text\"'"))
    })
}

async fn one(
    arguments: &Arguments,
    remote: &Remote,
    payload: Value,
    out: &mut impl Write,
) -> Result<(), Stop> {
    let id = arguments.id.unwrap_or_else(|| Ids::default().next());
    let job = Form::of(arguments).filled(id, payload);
    let taken = submit(arguments, remote, &job).await?;
    let Some(taken) = taken.first() else {
        return Err(Stop::Failed("the server took the job and said nothing".to_owned()));
    };
    match arguments.wait {
        Some(span) => {
            let code = end_of(arguments, remote, taken, (deadline(span), out)).await?;
            if code == 0 { Ok(()) } else { Err(Stop::Ended(code)) }
        }
        None => {
            if taken["outcome"] == "existing" {
                say("that is a job which was there already");
            }
            print(taken, arguments.reach.json, out)
        }
    }
}

/// Submits one job or several, and answers what each counts as.
async fn submit(
    arguments: &Arguments,
    remote: &Remote,
    jobs: &Value,
) -> Result<Vec<Value>, Unanswered> {
    let path = Path::of(&["queues", arguments.queue.as_str(), "jobs"]);
    let taken = insistent(|| remote.post(&path, jobs)).await?;
    Ok(match taken {
        Value::Array(taken) => taken,
        one => vec![one],
    })
}

/// Waits for the end of a job that was taken, tells it, and gives its exit code.
async fn end_of(
    arguments: &Arguments,
    remote: &Remote,
    taken: &Value,
    (until, out): (Instant, &mut impl Write),
) -> Result<u8, Stop> {
    let id = taken["id"].as_str().unwrap_or_default();
    let (outcome, job) = waiting::wait(remote, &arguments.queue, id, until).await?;
    match arguments.reach.json {
        true => writeln!(out, "{job}")?,
        false => waiting::tell(outcome, &job, out)?,
    }
    Ok(outcome.code())
}

/// When waiting ends; never later than a job can be kept.
fn deadline(span: Duration) -> Instant {
    Instant::now() + span.min(JobSpec::SPAN_MAX)
}

fn print(taken: &Value, as_json: bool, out: &mut impl Write) -> Result<(), Stop> {
    match as_json {
        true => writeln!(out, "{}", json!({"id": taken["id"], "outcome": taken["outcome"]}))?,
        false => writeln!(out, "{}", taken["id"].as_str().unwrap_or_default())?,
    }
    Ok(())
}
