//! What a server says when it begins: where it listens, what it keeps, how to use it.

use std::io::Write;

use headcount::config::DurabilityConfig;
use headcount::ops::Ops;

use crate::Stop;
use crate::command::crew::Plan;
use crate::command::reach::{Opened, Place};

pub(super) fn write(
    plan: &Plan,
    opened: &Opened,
    ops: Option<&Ops>,
    out: &mut impl Write,
) -> Result<(), Stop> {
    writeln!(out, "store   {}", stored(plan))?;
    for queue in &plan.queues {
        let (name, min, max) = (&queue.name, queue.workers.min, queue.workers.max);
        writeln!(out, "queue   {name}: {min} to {max} workers; {}", kinds(plan, name.as_str()))?;
    }
    if let Some(ops) = ops {
        let addr = ops.local_addr();
        writeln!(out, "api     http://{addr}/api/v1, /metrics, /healthz, /ready")?;
    }
    writeln!(out, "try     {}", hint(plan))?;
    for warning in &opened.warnings {
        writeln!(out, "warning {warning}")?;
    }
    // Whoever waits for these lines has them now.
    Ok(out.flush()?)
}

fn stored(plan: &Plan) -> String {
    let place = &plan.place;
    match (place, plan.durability) {
        (Place::Directory(_), DurabilityConfig::Synced) => {
            format!("{place}: what was acknowledged is on the disk")
        }
        (Place::Directory(_), DurabilityConfig::Interval(span)) => {
            format!("{place}: what was acknowledged is on the disk within {span:?}")
        }
        _ => format!("{place}: as durable as that Redis is; `headcount redis check` looks"),
    }
}

fn kinds(plan: &Plan, queue: &str) -> String {
    let config =
        plan.queues.iter().find(|q| q.name.as_str() == queue).and_then(|q| q.config.as_ref());
    let kinds: Vec<&str> =
        config.into_iter().flat_map(|c| &c.handlers).map(|handler| handler.kind.as_str()).collect();
    match kinds.is_empty() {
        true => "only the kinds echo and sleep are run, others wait for --config".to_owned(),
        false => format!("runs {}", kinds.join(", ")),
    }
}

/// A command that shows it at work.
fn hint(plan: &Plan) -> String {
    let store = match &plan.place {
        Place::Directory(directory) if Place::usual().ok().as_ref() == Some(&plan.place) => {
            let _ = directory;
            String::new()
        }
        place => format!(" --store {place}"),
    };
    let queue = match plan.queues.first().map(|queue| queue.name.as_str()) {
        Some("default") | None => String::new(),
        Some(name) => format!(" --queue {name}"),
    };
    format!("headcount enqueue echo '\"hello\"' --wait{queue}{store}")
}
