//! The routes of queues as a whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use headcount_core::jobs::port::Command;
use headcount_core::jobs::{Label, QueueStats, Rules, Totals};
use serde::Serialize;
use serde_json::json;

use super::view::millis;
use crate::answer::{Answer, Refusal, ok};
use crate::app::App;
use crate::request;

/// The most queues that are shown at once.
const QUEUES_MAX: usize = 1000;

/// A queue as it is shown.
#[derive(Serialize)]
struct QueueView {
    name: String,
    paused: bool,
    jobs: BTreeMap<&'static str, u64>,
    demand: u64,
    oldest_ready_age_ms: Option<u64>,
    next_due_at_ms: Option<u64>,
    holders: u32,
    totals: Totals,
}

impl QueueView {
    fn of(name: &Label, stats: &QueueStats) -> Self {
        let age = |since| u64::try_from(stats.now.since(since).as_millis()).unwrap_or(u64::MAX);
        Self {
            name: name.as_str().to_owned(),
            paused: stats.paused,
            jobs: stats.jobs.iter().map(|(state, count)| (state.as_str(), count)).collect(),
            demand: stats.demand(),
            oldest_ready_age_ms: stats.oldest_ready_at.map(age),
            next_due_at_ms: stats.next_due_at.map(millis),
            holders: stats.holders,
            totals: stats.totals,
        }
    }
}

pub(crate) async fn all(State(app): State<Arc<App>>) -> Answer {
    let queues = app.ask(app.store.queues()).await?;
    let mut views = Vec::new();
    for queue in queues.iter().take(QUEUES_MAX) {
        let stats = app.ask(app.store.stats(queue)).await?;
        views.push(QueueView::of(queue, &stats));
    }
    ok(&views)
}

pub(crate) async fn one(State(app): State<Arc<App>>, Path(queue): Path<String>) -> Answer {
    let queue = request::parsed(&queue)?;
    app.known(&queue).await?;
    ok(&QueueView::of(&queue, &app.ask(app.store.stats(&queue)).await?))
}

pub(crate) async fn pause(state: State<Arc<App>>, queue: Path<String>, body: Body) -> Answer {
    steer(state, queue, body, Command::Pause).await
}

pub(crate) async fn resume(state: State<Arc<App>>, queue: Path<String>, body: Body) -> Answer {
    steer(state, queue, body, Command::Resume).await
}

pub(crate) async fn purge(state: State<Arc<App>>, queue: Path<String>, body: Body) -> Answer {
    steer(state, queue, body, Command::Purge).await
}

async fn steer(
    State(app): State<Arc<App>>,
    Path(queue): Path<String>,
    body: Body,
    command: Command,
) -> Answer {
    let queue: Label = request::parsed(&queue)?;
    let said = request::bytes(&app, body).await?;
    if !matches!(said.trim_ascii(), b"" | b"{}") {
        return Err(Refusal::bad("this takes no body, or {}"));
    }
    app.known(&queue).await?;
    let jobs = app.ask(app.store.steer(&queue, command)).await?;
    ok(&json!({"queue": queue.as_str(), "jobs": jobs}))
}

pub(crate) async fn rules(State(app): State<Arc<App>>, Path(queue): Path<String>) -> Answer {
    let queue = request::parsed(&queue)?;
    app.known(&queue).await?;
    ok(&app.ask(app.store.rules(&queue)).await?)
}

/// Rules may come before the first job, so this makes a queue that is not there.
pub(crate) async fn set_rules(
    State(app): State<Arc<App>>,
    Path(queue): Path<String>,
    body: Body,
) -> Answer {
    let queue: Label = request::parsed(&queue)?;
    let rules: Rules = request::body(&app, body).await?;
    rules.check().map_err(|error| Refusal::faulty(vec![error.to_string()]))?;
    app.ask(app.store.steer(&queue, Command::Rules(Box::new(rules.clone())))).await?;
    ok(&rules)
}
