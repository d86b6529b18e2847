//! The names that the document on throttling by health (`syshealth`) asks for, for dashboards that
//! know them. They are exposed beside ours, and only where somebody asks.

use std::fmt;
use std::sync::Arc;

use super::table::{COUNTER, GAUGE, Metric, row};
use super::text::Exposition;
use crate::pools::PoolView;

/// The machine as those names tell it. What was not measured is missing there too.
///
/// ```
/// use headcount_ops::Machine;
///
/// let machine = Machine { io_wait: Some(0.05), ..Machine::default() };
/// assert_eq!(machine.load, None, "nobody has measured it");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Machine {
    /// The share of time that processors idled for want of a disk, 0 to 1.
    pub io_wait: Option<f64>,
    /// The load averages of 1, 5 and 15 minutes.
    pub load: Option<[f64; 3]>,
    /// The share of memory in use that cannot be given back, 0 to 1.
    pub memory: Option<f64>,
    /// The share of the database connections in use, 0 to 1.
    pub db_pool: Option<f64>,
}

/// That the aliases are wanted, and who knows the machine.
#[derive(Clone)]
pub(crate) struct Aliases {
    pub(crate) machine: Arc<dyn Fn() -> Machine + Send + Sync>,
}

const WORKER: &[&str] = &["worker_type"];

/// Every alias, in the order in which they are exposed, after [`METRICS`](super::METRICS).
///
/// ```
/// use headcount_ops::{ALIASES, METRICS};
///
/// assert!(ALIASES.iter().all(|alias| METRICS.iter().all(|metric| metric.name != alias.name)));
/// ```
pub const ALIASES: [Metric; 8] = [
    row("system_health_score", GAUGE, &["zone"], "How well the machine is, from 0 to 100."),
    row("system_io_wait_percent", GAUGE, &[], "Time lost to waiting for disks, from 0 to 100."),
    row("system_cpu_load_avg", GAUGE, &["period"], "Tasks that run or want to, averaged."),
    row("system_memory_utilization_percent", GAUGE, &[], "Memory in use, from 0 to 100."),
    row(
        "system_db_pool_utilization_percent",
        GAUGE,
        &[],
        "Database connections in use, from 0 to 100.",
    ),
    row("extraction_worker_current_concurrency", GAUGE, WORKER, "Workers allowed now."),
    row(
        "extraction_worker_concurrency_adjustments_total",
        COUNTER,
        &["worker_type", "direction", "reason"],
        "Changes of size that were applied.",
    ),
    row(
        "extraction_jobs_throttled_total",
        COUNTER,
        WORKER,
        "Tasks that had to wait because of the machine's health.",
    ),
];

impl Aliases {
    /// The same numbers under the other names.
    pub(super) fn text(&self, pools: &[PoolView]) -> String {
        let mut exposition = Exposition::of(&ALIASES);
        // All pools are on one machine; the latest to have looked knows best.
        let known = pools.iter().filter_map(|pool| pool.health.as_ref());
        if let Some(health) = known.min_by_key(|health| health.measured_ms_ago) {
            exposition.add("system_health_score", &[&health.zone], health.score);
        }
        let machine = (self.machine)();
        let shares = [
            ("system_io_wait_percent", machine.io_wait),
            ("system_memory_utilization_percent", machine.memory),
            ("system_db_pool_utilization_percent", machine.db_pool),
        ];
        for (name, share) in shares {
            if let Some(share) = share {
                exposition.add(name, &[], share * 100.0);
            }
        }
        for (period, load) in ["1m", "5m", "15m"].into_iter().zip(machine.load.iter().flatten()) {
            exposition.add("system_cpu_load_avg", &[period], *load);
        }
        for pool in pools {
            let (name, totals) = (pool.name.as_str(), &pool.totals);
            exposition.add("extraction_worker_current_concurrency", &[name], pool.target.into());
            for (way, times) in [("increase", totals.grows), ("decrease", totals.shrinks)] {
                // Reasons are sentences of their own with us; `why` and the log have them.
                let labels = [name, way, "decision"];
                exposition.count("extraction_worker_concurrency_adjustments_total", &labels, times);
            }
            exposition.count("extraction_jobs_throttled_total", &[name], totals.throttled);
        }
        exposition.text()
    }
}

impl fmt::Debug for Aliases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aliases").finish_non_exhaustive()
    }
}
