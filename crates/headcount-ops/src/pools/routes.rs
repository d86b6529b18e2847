//! The routes of pools.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::Uri;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::port::Scale;
use crate::answer::{Answer, Refusal, ok};
use crate::app::App;
use crate::request;

/// The most decisions that are shown.
const DECISIONS_MAX: usize = 1000;
/// The longest that a size by hand can be asked for: thirty days.
const HOLD_SECS_MAX: u64 = 30 * 24 * 3600;
/// The longest reason that is kept, in bytes.
const REASON_LEN_MAX: usize = 500;

pub(crate) async fn all(State(app): State<Arc<App>>) -> Answer {
    ok(&app.pools(|pools| Ok(pools.pools())).await?)
}

pub(crate) async fn one(State(app): State<Arc<App>>, Path(name): Path<String>) -> Answer {
    ok(&app.pools(move |pools| pools.pool(&name)).await?)
}

pub(crate) async fn why(State(app): State<Arc<App>>, Path(name): Path<String>) -> Answer {
    let pool = name.clone();
    let why = app.pools(move |pools| pools.why(&pool)).await?;
    ok(&json!({"pool": name, "why": why}))
}

pub(crate) async fn decisions(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    uri: Uri,
) -> Answer {
    let parameters = request::query(&uri, &["limit"])?;
    let limit = request::number(parameters.get("limit"), "limit", DECISIONS_MAX)?;
    ok(&app.pools(move |pools| pools.decisions(&name, limit)).await?)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    #[serde(deserialize_with = "Option::deserialize")]
    workers: Option<u32>,
    for_s: Option<u64>,
    reason: Option<String>,
}

pub(crate) async fn scale(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    body: Body,
) -> Answer {
    let wanted: Wanted = request::body(&app, body).await?;
    if wanted.for_s.is_some_and(|secs| secs == 0 || HOLD_SECS_MAX < secs) {
        let sentence = format!("for_s must be from 1 to {HOLD_SECS_MAX}, which is thirty days");
        return Err(Refusal::bad(sentence));
    }
    if wanted.reason.as_ref().is_some_and(|reason| REASON_LEN_MAX < reason.len()) {
        return Err(Refusal::bad(format!("the reason has more than {REASON_LEN_MAX} bytes")));
    }
    let span = wanted.for_s.map(Duration::from_secs);
    let scale = Scale { workers: wanted.workers, span, reason: wanted.reason };
    ok(&app.pools(move |pools| pools.scale(&name, &scale)).await?)
}

pub(crate) async fn policy(State(app): State<Arc<App>>, Path(name): Path<String>) -> Answer {
    let policy = app.pools(move |pools| pools.policy(&name)).await?;
    ok(&RawValue::from_string(policy).map_err(|error| {
        Refusal::busy(format!("the pool tells its policy in something that is no JSON: {error}"))
    })?)
}

pub(crate) async fn set_policy(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    body: Body,
) -> Answer {
    let wanted: Box<RawValue> = request::body(&app, body).await?;
    let (pool, text) = (name.clone(), wanted.to_string());
    app.pools(move |pools| pools.set_policy(&pool, &text)).await?;
    policy(State(app), Path(name)).await
}
