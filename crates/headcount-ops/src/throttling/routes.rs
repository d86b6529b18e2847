//! The routes of the settings.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::Value;

use super::config::{EXAMPLE, Throttling};
use super::settings::{Applied, Unchanged};
use crate::answer::{Answer, Refusal, ok};
use crate::app::App;
use crate::pools::Pools;
use crate::request;

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    throttling: Throttling,
    /// Whether somebody set it. Defaults that nobody set are applied to nothing.
    set: bool,
    /// Whether it is still so after a restart.
    kept: bool,
    /// After a change, the pools that took it, and why others did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pools: Option<Applied>,
}

pub(crate) async fn common(State(app): State<Arc<App>>) -> Answer {
    shown(&app, None, None)
}

pub(crate) async fn set_common(State(app): State<Arc<App>>, body: Body) -> Answer {
    change(app, None, body).await
}

pub(crate) async fn of_pool(State(app): State<Arc<App>>, Path(name): Path<String>) -> Answer {
    known(&app, &name).await?;
    shown(&app, Some(&name), None)
}

pub(crate) async fn set_of_pool(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    body: Body,
) -> Answer {
    known(&app, &name).await?;
    change(app, Some(name), body).await
}

pub(crate) async fn forget(State(app): State<Arc<App>>, Path(name): Path<String>) -> Answer {
    known(&app, &name).await?;
    let (settings, pool) = (app.settings.clone(), name.clone());
    let forget = move |pools: &dyn Pools| Ok(settings.forget(&pool, pools));
    let applied = app.pools(forget).await?.map_err(Refusal::from)?;
    shown(&app, Some(&name), Some(applied))
}

async fn known(app: &App, name: &str) -> Result<(), Refusal> {
    let name = name.to_owned();
    app.pools(move |pools| pools.pool(&name)).await.map(drop)
}

async fn change(app: Arc<App>, pool: Option<String>, body: Body) -> Answer {
    let document: Value =
        request::body(&app, body).await.map_err(|refusal| refusal.with_example(EXAMPLE))?;
    let (settings, name) = (app.settings.clone(), pool.clone());
    let change = move |pools: &dyn Pools| Ok(settings.change(name.as_deref(), &document, pools));
    let applied = app.pools(change).await?.map_err(Refusal::from)?;
    shown(&app, pool.as_deref(), Some(applied))
}

impl From<Unchanged> for Refusal {
    fn from(unchanged: Unchanged) -> Self {
        match unchanged {
            Unchanged::Faulty(faults) => {
                let faults = faults.iter().map(ToString::to_string).collect();
                Self::faulty(faults).with_example(EXAMPLE)
            }
            Unchanged::Unwritten(why) => Self::new(StatusCode::INSUFFICIENT_STORAGE, why),
        }
    }
}

fn shown(app: &App, pool: Option<&str>, pools: Option<Applied>) -> Answer {
    let (throttling, set) = app.settings.of(pool);
    ok(&Shown { throttling, set, kept: app.settings.is_kept(), pools })
}
