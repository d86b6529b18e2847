//! Whether the process lives, and whether it should get work.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use tokio::time::timeout;

use crate::answer::{Answer, Refusal, ok};
use crate::app::App;

/// How long the store may take to answer whoever asks whether the process is ready.
const READY_TIME_MAX: Duration = Duration::from_secs(1);

/// Lives: that it answers at all is the answer. A store that is gone is no reason to restart it.
/// Which store it has is told by its name only, which asks nothing of the store.
pub(crate) async fn alive(State(app): State<Arc<App>>) -> Answer {
    match &app.store_name {
        Some(name) => ok(&json!({"alive": true, "store": name})),
        None => ok(&json!({"alive": true})),
    }
}

/// Should get work: it is not ending, and its store answers.
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Answer {
    let why = match app.unready() {
        Some(why) => Some(why),
        None => match timeout(READY_TIME_MAX, app.store.queues()).await {
            Ok(Ok(_)) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some(format!("the store did not answer within {READY_TIME_MAX:?}")),
        },
    };
    match why {
        None => ok(&json!({"ready": true})),
        Some(why) => Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, why)),
    }
}
