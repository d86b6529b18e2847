//! The route of metrics: asks everybody for their numbers, and does not wait for long.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use headcount_core::jobs::port::StoreError;
use headcount_core::jobs::{Label, QueueStats};
use tokio::time::timeout;

use super::text::{CONTENT_TYPE, Exposition};
use crate::answer::Answer;
use crate::app::{App, now_ms};
use crate::pools::PoolView;

/// How long the store, and the pools beside it, may take. Whoever scrapes waits a second.
const STORE_TIME_MAX: Duration = Duration::from_millis(700);
/// So many queues are shown, by name, so that names made up by clients stay bounded.
const QUEUES_MAX: usize = 256;
/// The zones that a machine can be in.
const ZONES: [&str; 3] = ["safe", "warning", "critical"];

pub(crate) async fn scrape(State(app): State<Arc<App>>) -> Answer {
    let mut exposition = Exposition::new();
    let pools = timeout(STORE_TIME_MAX, app.pools(|pools| Ok(pools.pools())));
    let (pools, store) = tokio::join!(pools, gathered(&app));
    let pools = pools.ok().and_then(Result::ok).unwrap_or_default();
    for pool in &pools {
        add_pool(&mut exposition, pool);
    }
    exposition.add("store_connected", &[], f64::from(u8::from(store.is_whole)));
    if let Some(queues) = store.queues {
        exposition.count("queues", &[], queues as u64);
    }
    for (queue, stats) in &store.stats {
        add_queue(&mut exposition, queue.as_str(), stats);
    }
    app.observer.each(|queue, kind, times| {
        let labels = [queue.as_str(), kind.as_str()];
        exposition.histogram("job_wait_seconds", &labels, &times.waited.cumulative());
        exposition.histogram("job_run_seconds", &labels, &times.ran.cumulative());
    });
    let commits = app.observer.commits.cumulative();
    if 0 < commits.count {
        exposition.histogram("store_commit_seconds", &[], &commits);
    }
    for (code, answered) in ["1xx", "2xx", "3xx", "4xx", "5xx"].into_iter().zip(&app.answered) {
        exposition.count("http_responses_total", &[code], answered.load(Ordering::Relaxed));
    }
    exposition.add("build_info", &[env!("CARGO_PKG_VERSION")], 1.0);
    let aliases = app.aliases.as_ref().map(|aliases| aliases.text(&pools)).unwrap_or_default();
    let mut response = Response::new(Body::from(exposition.text() + &aliases));
    let kind = HeaderValue::from_static(CONTENT_TYPE);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

/// What the store said before time was up.
#[derive(Default)]
struct Gathered {
    is_whole: bool,
    queues: Option<usize>,
    stats: Vec<(Label, QueueStats)>,
}

async fn gathered(app: &App) -> Gathered {
    let mut gathered = Gathered::default();
    let asked = timeout(STORE_TIME_MAX, gather(app, &mut gathered)).await;
    gathered.is_whole = matches!(asked, Ok(Ok(())));
    gathered
}

async fn gather(app: &App, gathered: &mut Gathered) -> Result<(), StoreError> {
    let queues = app.store.queues().await?;
    gathered.queues = Some(queues.len());
    for queue in queues.into_iter().take(QUEUES_MAX) {
        let stats = app.store.stats(&queue).await?;
        gathered.stats.push((queue, stats));
    }
    Ok(())
}

fn add_pool(exposition: &mut Exposition, pool: &PoolView) {
    let name = [pool.name.as_str()];
    let sizes = [
        ("pool_workers", pool.live),
        ("pool_workers_busy", pool.busy),
        ("pool_workers_target", pool.target),
        ("pool_workers_floor", pool.floor),
        ("pool_workers_min", pool.min),
        ("pool_workers_max", pool.max),
        ("pool_held", u32::from(pool.held.is_some())),
    ];
    for (metric, size) in sizes {
        exposition.add(metric, &name, size.into());
    }
    exposition.count("pool_workers_demand", &name, pool.demand);
    let totals = &pool.totals;
    exposition.count("pool_resizes_total", &[name[0], "grow"], totals.grows);
    exposition.count("pool_resizes_total", &[name[0], "shrink"], totals.shrinks);
    let applied = totals.grows + totals.shrinks;
    let unchanged = totals.decisions.saturating_sub(applied + totals.suppressed);
    exposition.count("decisions_total", &[name[0], "applied"], applied);
    exposition.count("decisions_total", &[name[0], "suppressed"], totals.suppressed);
    exposition.count("decisions_total", &[name[0], "unchanged"], unchanged);
    exposition.count("pool_decision_panics_total", &name, totals.panics);
    exposition.count("jobs_throttled_total", &name, totals.throttled);
    if let Some(ago) = pool.decided_ms_ago {
        let at = seconds(now_ms().saturating_sub(ago));
        exposition.add("pool_last_tick_timestamp_seconds", &name, at);
    }
    if let Some(health) = &pool.health {
        exposition.add("health_score", &name, health.score);
        exposition.add("health_sample_age_seconds", &name, seconds(health.measured_ms_ago));
        for zone in ZONES {
            let is_in = u8::from(health.zone == zone);
            exposition.add("health_zone", &[name[0], zone], is_in.into());
        }
    }
}

fn add_queue(exposition: &mut Exposition, queue: &str, stats: &QueueStats) {
    let name = [queue];
    for (state, jobs) in stats.jobs.iter() {
        exposition.count("queue_jobs", &[queue, state.as_str()], jobs);
    }
    let oldest = stats.oldest_ready_at.map_or(Duration::ZERO, |since| stats.now.since(since));
    exposition.add("queue_oldest_job_age_seconds", &name, oldest.as_secs_f64());
    exposition.add("queue_paused", &name, u8::from(stats.paused).into());
    exposition.add("queue_holders", &name, stats.holders.into());
    let totals = &stats.totals;
    exposition.count("jobs_submitted_total", &name, totals.submitted);
    exposition.count("jobs_existing_total", &name, totals.existing);
    let outcomes = [
        ("ok", totals.done),
        ("error", totals.failed),
        ("dead", totals.died),
        ("quarantined", totals.quarantined),
        ("cancelled", totals.cancelled),
        ("crashed", totals.crashed),
        ("preempted", totals.preempted),
    ];
    for (outcome, jobs) in outcomes {
        exposition.count("jobs_finished_total", &[queue, outcome], jobs);
    }
    exposition.count("leases_expired_total", &name, totals.leases_expired);
    exposition.count("stale_acks_rejected_total", &name, totals.stale);
    exposition.count("store_repairs_total", &name, totals.repaired);
}

fn seconds(millis: u64) -> f64 {
    millis as f64 / 1000.0
}
