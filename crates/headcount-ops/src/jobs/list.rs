//! The routes that show jobs.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::Uri;
use headcount_core::jobs::port::{Cursor, Listing};
use headcount_core::jobs::{JobId, Label, State as JobState};
use serde::Serialize;

use super::view::{JobView, LISTED_BYTES_MAX};
use crate::answer::{Answer, Refusal, ok};
use crate::app::App;
use crate::request;

/// The longest cursor that is handed on to the store.
const CURSOR_LEN_MAX: usize = 1024;

/// A page of jobs, and where the next begins.
#[derive(Serialize)]
struct Listed<'a> {
    jobs: Vec<JobView>,
    next: Option<&'a str>,
}

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Path(queue): Path<String>,
    uri: Uri,
) -> Answer {
    let queue: Label = request::parsed(&queue)?;
    let parameters = request::query(&uri, &["state", "limit", "cursor"])?;
    let state = parameters.get("state").map_or("ready", String::as_str);
    let state = job_state(state)?;
    let limit = request::number(parameters.get("limit"), "limit", Listing::LIMIT_MAX)?;
    let cursor = parameters.get("cursor").map(|cursor| match cursor.len() <= CURSOR_LEN_MAX {
        true => Ok(Cursor::new(cursor.as_str())),
        false => Err(Refusal::bad("the cursor is longer than any that was given out")),
    });
    app.known(&queue).await?;
    let listing = Listing::In { state, cursor: cursor.transpose()?, limit };
    let page = app.ask(app.store.list(&queue, listing)).await?;
    let jobs = page.jobs.into_iter().map(|job| JobView::of(job, LISTED_BYTES_MAX)).collect();
    ok(&Listed { jobs, next: page.next.as_ref().map(Cursor::as_str) })
}

pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Path((queue, id)): Path<(String, String)>,
) -> Answer {
    let queue: Label = request::parsed(&queue)?;
    let id: JobId = request::parsed(&id)?;
    let page = app.ask(app.store.list(&queue, Listing::Ids(vec![id]))).await?;
    match page.jobs.into_iter().next() {
        Some(job) => ok(&JobView::of(job, usize::MAX)),
        None => Err(missing(&queue, id)),
    }
}

/// Jobs that are done and were not to be kept are forgotten, so that may be why.
pub(super) fn missing(queue: &Label, id: JobId) -> Refusal {
    Refusal::missing(format!(
        "there is no job {id} in queue {:?}; one that is done is forgotten unless it was to be \
         kept",
        queue.as_str(),
    ))
}

pub(super) fn job_state(text: &str) -> Result<JobState, Refusal> {
    text.parse().map_err(|_| {
        let known: Vec<&str> = JobState::ALL.into_iter().map(JobState::as_str).collect();
        Refusal::bad(format!("{text:?} is no state of a job; states are {}", known.join(", ")))
    })
}
