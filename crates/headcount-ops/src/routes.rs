//! Every route there is, in one table.

use std::sync::Arc;

use axum::Router;
use axum::routing::{MethodRouter, delete, get, post, put};

use crate::app::App;
use crate::jobs::act;
use crate::{health, jobs, metrics, pools, throttling};

/// One method of one path, and who serves it.
type Route = (&'static str, &'static str, MethodRouter<Arc<App>>);

/// The address under which the settings of health throttling were known first.
const SETTINGS: &str = "/admin/extraction/embedding/config";

/// The method and the path of every route, for documentation and tests.
///
/// ```
/// assert!(headcount_ops::routes().contains(&("GET", "/healthz")));
/// ```
#[must_use]
pub fn routes() -> Vec<(&'static str, &'static str)> {
    table().into_iter().map(|(method, path, _)| (method, path)).collect()
}

pub(crate) fn router(app: Arc<App>) -> Router {
    let add = |router: Router<Arc<App>>, (_, path, serve): Route| router.route(path, serve);
    table().into_iter().fold(Router::new(), add).with_state(app)
}

fn table() -> Vec<Route> {
    let mut table = vec![
        ("GET", "/healthz", get(health::alive)),
        ("GET", "/ready", get(health::ready)),
        ("GET", "/metrics", get(metrics::scrape)),
        ("GET", SETTINGS, get(throttling::common)),
        ("POST", SETTINGS, post(throttling::set_common)),
    ];
    table.extend(of_queues());
    table.extend(of_jobs());
    table.extend(of_pools());
    table
}

fn of_queues() -> Vec<Route> {
    vec![
        ("GET", "/api/v1/queues", get(jobs::all)),
        ("GET", "/api/v1/queues/{queue}", get(jobs::one)),
        ("POST", "/api/v1/queues/{queue}/pause", post(jobs::pause)),
        ("POST", "/api/v1/queues/{queue}/resume", post(jobs::resume)),
        ("POST", "/api/v1/queues/{queue}/purge", post(jobs::purge)),
        ("GET", "/api/v1/queues/{queue}/rules", get(jobs::rules)),
        ("PUT", "/api/v1/queues/{queue}/rules", put(jobs::set_rules)),
    ]
}

fn of_jobs() -> Vec<Route> {
    vec![
        ("POST", "/api/v1/queues/{queue}/jobs", post(jobs::submit)),
        ("GET", "/api/v1/queues/{queue}/jobs", get(jobs::list)),
        ("GET", "/api/v1/queues/{queue}/jobs/{id}", get(jobs::show)),
        (
            "POST",
            "/api/v1/queues/{queue}/jobs/{id}/retry",
            post(|app, job| jobs::single(app, job, act::RETRY)),
        ),
        (
            "POST",
            "/api/v1/queues/{queue}/jobs/{id}/cancel",
            post(|app, job| jobs::single(app, job, act::CANCEL)),
        ),
        (
            "DELETE",
            "/api/v1/queues/{queue}/jobs/{id}",
            delete(|app, job| jobs::single(app, job, act::DELETE)),
        ),
        (
            "POST",
            "/api/v1/queues/{queue}/retry",
            post(|app, queue, body| jobs::bulk(app, queue, body, act::RETRY)),
        ),
        (
            "POST",
            "/api/v1/queues/{queue}/cancel",
            post(|app, queue, body| jobs::bulk(app, queue, body, act::CANCEL)),
        ),
        (
            "POST",
            "/api/v1/queues/{queue}/delete",
            post(|app, queue, body| jobs::bulk(app, queue, body, act::DELETE)),
        ),
    ]
}

fn of_pools() -> Vec<Route> {
    vec![
        ("GET", "/api/v1/pools", get(pools::all)),
        ("GET", "/api/v1/pools/{pool}", get(pools::one)),
        ("GET", "/api/v1/pools/{pool}/why", get(pools::why)),
        ("GET", "/api/v1/pools/{pool}/decisions", get(pools::decisions)),
        ("POST", "/api/v1/pools/{pool}/scale", post(pools::scale)),
        ("GET", "/api/v1/pools/{pool}/policy", get(pools::policy)),
        ("PUT", "/api/v1/pools/{pool}/policy", put(pools::set_policy)),
        ("GET", "/api/v1/pools/{pool}/throttling", get(throttling::of_pool)),
        ("PUT", "/api/v1/pools/{pool}/throttling", put(throttling::set_of_pool)),
        ("DELETE", "/api/v1/pools/{pool}/throttling", delete(throttling::forget)),
    ]
}
