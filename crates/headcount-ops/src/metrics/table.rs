//! Every metric there is, in one table.

/// A metric, as it is documented and exposed.
///
/// ```
/// use headcount_ops::{METRICS, MetricKind};
///
/// // What ends in `_total` only rises, and what only rises ends in `_total`.
/// for metric in &METRICS {
///     assert_eq!(metric.name.ends_with("_total"), metric.kind == MetricKind::Counter);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// What it is called.
    pub name: &'static str,
    /// How its numbers move.
    pub kind: MetricKind,
    /// What its series are told apart by.
    pub labels: &'static [&'static str],
    /// What it means, in one sentence.
    pub help: &'static str,
}

/// How the numbers of a metric move.
///
/// ```
/// use headcount_ops::MetricKind;
///
/// assert_eq!(MetricKind::Histogram.as_str(), "histogram");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// Up only.
    Counter,
    /// Up and down.
    Gauge,
    /// How often something took how long.
    Histogram,
}

impl MetricKind {
    /// The kind as Prometheus calls it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

pub(super) const fn row(
    name: &'static str,
    kind: MetricKind,
    labels: &'static [&'static str],
    help: &'static str,
) -> Metric {
    Metric { name, kind, labels, help }
}

pub(super) const COUNTER: MetricKind = MetricKind::Counter;
pub(super) const GAUGE: MetricKind = MetricKind::Gauge;
const HISTOGRAM: MetricKind = MetricKind::Histogram;

const POOL: &[&str] = &["pool"];
const QUEUE: &[&str] = &["queue"];
const KIND: &[&str] = &["queue", "kind"];

/// Every metric there is, in the order in which they are exposed.
pub const METRICS: [Metric; 33] = [
    row("headcount_pool_workers", GAUGE, POOL, "Workers that exist."),
    row("headcount_pool_workers_busy", GAUGE, POOL, "Workers that run a task."),
    row("headcount_pool_workers_target", GAUGE, POOL, "The most workers wanted now."),
    row("headcount_pool_workers_floor", GAUGE, POOL, "The fewest workers allowed now."),
    row("headcount_pool_workers_demand", GAUGE, POOL, "Tasks that wait or run."),
    row("headcount_pool_workers_min", GAUGE, POOL, "The fewest workers of the policy."),
    row("headcount_pool_workers_max", GAUGE, POOL, "The most workers of the policy."),
    row("headcount_pool_held", GAUGE, POOL, "1 while somebody holds the size by hand."),
    row(
        "headcount_pool_resizes_total",
        COUNTER,
        &["pool", "direction"],
        "Changes of size that were applied.",
    ),
    row(
        "headcount_decisions_total",
        COUNTER,
        &["pool", "outcome"],
        "Decisions: applied, suppressed, or to leave all as it is.",
    ),
    row("headcount_pool_decision_panics_total", COUNTER, POOL, "Decisions that panicked."),
    row(
        "headcount_pool_last_tick_timestamp_seconds",
        GAUGE,
        POOL,
        "When the pool was last decided upon, since 1970.",
    ),
    row(
        "headcount_health_score",
        GAUGE,
        POOL,
        "How well the machine is, as the pool knows it, from 0 to 100.",
    ),
    row("headcount_health_zone", GAUGE, &["pool", "zone"], "1 for the zone the machine is in."),
    row(
        "headcount_health_sample_age_seconds",
        GAUGE,
        POOL,
        "How long ago the machine was measured.",
    ),
    row(
        "headcount_jobs_throttled_total",
        COUNTER,
        POOL,
        "Tasks that had to wait because of the machine's health.",
    ),
    row("headcount_queues", GAUGE, &[], "Queues in the store, those not shown included."),
    row("headcount_queue_jobs", GAUGE, &["queue", "state"], "Jobs in each state."),
    row(
        "headcount_queue_oldest_job_age_seconds",
        GAUGE,
        QUEUE,
        "How long the oldest ready job has been waiting; 0 where none waits.",
    ),
    row("headcount_queue_paused", GAUGE, QUEUE, "1 while nothing is handed out."),
    row("headcount_queue_holders", GAUGE, QUEUE, "Processes that have a lease."),
    row("headcount_jobs_submitted_total", COUNTER, QUEUE, "Jobs taken in."),
    row("headcount_jobs_existing_total", COUNTER, QUEUE, "Submits that were another's again."),
    row(
        "headcount_jobs_finished_total",
        COUNTER,
        &["queue", "outcome"],
        "Runs of jobs and jobs without a run that came to an end, by how.",
    ),
    row("headcount_leases_expired_total", COUNTER, QUEUE, "Leases that ran out with jobs."),
    row(
        "headcount_stale_acks_rejected_total",
        COUNTER,
        QUEUE,
        "Writes refused because their writer no longer held the job.",
    ),
    row("headcount_store_repairs_total", COUNTER, QUEUE, "Impossible records put right."),
    row("headcount_job_wait_seconds", HISTOGRAM, KIND, "From when a job was due to its start."),
    row("headcount_job_run_seconds", HISTOGRAM, KIND, "From the start of a run to its end."),
    row("headcount_store_connected", GAUGE, &[], "1 while the store answers, 0 while not."),
    row(
        "headcount_store_commit_seconds",
        HISTOGRAM,
        &[],
        "What a commit of the store in a folder took, its sync included.",
    ),
    row("headcount_http_responses_total", COUNTER, &["code"], "Answers by class of status."),
    row("headcount_build_info", GAUGE, &["version"], "Always 1; the label says what runs."),
];
