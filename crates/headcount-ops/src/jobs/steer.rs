//! The routes that steer jobs: one, or all of a state.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use headcount_core::jobs::port::{Command, Listing, Which};
use headcount_core::jobs::{JobId, Label, State as JobState};
use serde::Deserialize;
use serde_json::json;

use super::list::{job_state, missing};
use crate::answer::{Answer, Refusal, json};
use crate::app::App;
use crate::request;

/// How often a command is repeated for one request, each for at most [`Which::AT_ONCE_MAX`] jobs.
/// What is left is told, so that the request can be repeated.
const ROUNDS_MAX: usize = 100;

/// What is done to jobs.
pub(crate) type Act = fn(Which) -> Command;

/// What can be done to jobs.
pub(crate) mod act {
    use super::{Act, Command};

    pub(crate) const RETRY: Act = Command::Revive;
    pub(crate) const CANCEL: Act = Command::Cancel;
    pub(crate) const DELETE: Act = Command::Delete;
}

pub(crate) async fn single(
    State(app): State<Arc<App>>,
    Path((queue, id)): Path<(String, String)>,
    act: Act,
) -> Answer {
    let queue: Label = request::parsed(&queue)?;
    let id: JobId = request::parsed(&id)?;
    let found = app.ask(app.store.list(&queue, Listing::Ids(vec![id]))).await?;
    let Some(job) = found.jobs.first() else { return Err(missing(&queue, id)) };
    let concerned = app.ask(app.store.steer(&queue, act(Which::Ids(vec![id])))).await?;
    if concerned == 0 {
        let sentence = format!("job {id} is {}, so this cannot be done to it", job.state);
        return Err(Refusal::new(StatusCode::CONFLICT, sentence));
    }
    Ok(answer(&queue, concerned, false))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Selection {
    state: String,
}

pub(crate) async fn bulk(
    State(app): State<Arc<App>>,
    Path(queue): Path<String>,
    body: Body,
    act: Act,
) -> Answer {
    let queue: Label = request::parsed(&queue)?;
    let selection: Selection = request::body(&app, body).await?;
    let state = job_state(&selection.state)?;
    app.known(&queue).await?;
    // Running jobs stay in their state while their holders are asked to stop them, so to repeat it
    // would concern the same ones again.
    let rounds = if state == JobState::Running { 1 } else { ROUNDS_MAX };
    let mut concerned = 0;
    for _ in 0..rounds {
        let round = app.ask(app.store.steer(&queue, act(Which::In(state)))).await?;
        concerned += round;
        if round < Which::AT_ONCE_MAX as u64 {
            return Ok(answer(&queue, concerned, false));
        }
    }
    Ok(answer(&queue, concerned, true))
}

fn answer(queue: &Label, jobs: u64, more: bool) -> Response {
    json(StatusCode::OK, &json!({"queue": queue.as_str(), "jobs": jobs, "more": more}))
}
