//! The route by which jobs come in.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use headcount_core::jobs::port::{NewJob, Submitted};
use headcount_core::jobs::{JobId, JobSpec, Label};
use serde::Serialize;

use super::submission::Submission;
use crate::answer::{Answer, Refusal, json};
use crate::app::{App, now_ms};
use crate::request;
use crate::server::Limits;

#[derive(Serialize)]
struct Outcome {
    id: String,
    outcome: &'static str,
}

/// Takes one job, or several in an array: all of them, or none where something is wrong with one.
pub(crate) async fn submit(
    State(app): State<Arc<App>>,
    Path(queue): Path<String>,
    body: Body,
) -> Answer {
    let queue: Label = request::parsed(&queue)?;
    let submissions = submissions(&request::bytes(&app, body).await?)?;
    let jobs = checked(submissions, app.usual.get(&queue), app.limits.payload_bytes_max)?;
    let submitted = app.ask(app.store.enqueue(&queue, jobs)).await?;
    let outcomes: Vec<Outcome> = submitted.into_iter().map(outcome).collect();
    Ok(json(StatusCode::OK, &outcomes))
}

fn submissions(body: &[u8]) -> Result<Vec<Submission>, Refusal> {
    let parsed = match body.trim_ascii_start().first() {
        Some(b'[') => serde_json::from_slice(body),
        _ => serde_json::from_slice(body).map(|one| vec![one]),
    };
    let submissions: Vec<Submission> = parsed.map_err(|error| {
        Refusal::bad(format!("the body is no job and no list of jobs: {error}"))
    })?;
    if Limits::JOBS_MAX < submissions.len() {
        let sentence =
            format!("{} jobs at once, allowed are {}", submissions.len(), Limits::JOBS_MAX);
        return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, sentence));
    }
    Ok(submissions)
}

fn checked(
    submissions: Vec<Submission>,
    usual: Option<&JobSpec>,
    payload_max: usize,
) -> Result<Vec<NewJob>, Refusal> {
    let (mut jobs, mut faults) = (Vec::with_capacity(submissions.len()), Vec::new());
    let alone = submissions.len() == 1;
    for (index, submission) in submissions.into_iter().enumerate() {
        match submission.job(fresh_id()?, usual, payload_max) {
            Ok(job) => jobs.push(job),
            Err(found) if alone => faults.extend(found),
            Err(found) => {
                faults.extend(found.iter().map(|fault| format!("job {}: {fault}", index + 1)));
            }
        }
    }
    if faults.is_empty() { Ok(jobs) } else { Err(Refusal::faulty(faults)) }
}

fn fresh_id() -> Result<JobId, Refusal> {
    let mut chance = [0; 16];
    getrandom::fill(&mut chance)
        .map_err(|error| Refusal::busy(format!("the machine gives no chance: {error}")))?;
    Ok(JobId::new(now_ms(), u128::from_ne_bytes(chance)))
}

fn outcome(submitted: Submitted) -> Outcome {
    let outcome = match submitted {
        Submitted::New(_) => "new",
        Submitted::Existing(_) => "existing",
    };
    Outcome { id: submitted.id().to_string(), outcome }
}
