//! `headcount work`: workers for a store that others serve, without an API.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use super::crew::{Crew, CrewArguments, Log, Plan, Signals, Surroundings, farewell, say};
use super::reach::open_for_work;
use crate::Stop;

/// What the command takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "The first SIGTERM, Ctrl-C or SIGHUP lets running jobs finish within \
    --grace, the second stops at once; either way what has not ended is given back to the store.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    crew: CrewArguments,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Stop> {
    let plan = Plan::of(&arguments.crew)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let worked = runtime.block_on(work(&arguments.crew, &plan, out));
    // Not for ever, should a handler block.
    runtime.shutdown_timeout(Duration::from_secs(2));
    worked
}

async fn work(arguments: &CrewArguments, plan: &Plan, out: &mut impl Write) -> Result<(), Stop> {
    let mut signals = Signals::listen()?;
    let opened = open_for_work(&plan.place, plan.durability, None).await?;
    let store = Arc::clone(&opened.store);
    let around = Surroundings { store, sampler: None, log: Log::new(arguments.verbose) };
    let crew = Crew::hire(plan, &around, |_| {}).await?;
    for queue in &plan.queues {
        let (name, min, max) = (&queue.name, queue.workers.min, queue.workers.max);
        writeln!(out, "working on queue {name} of {}, with {min} to {max} workers", plan.place)?;
    }
    for warning in &opened.warnings {
        writeln!(out, "warning {warning}")?;
    }
    out.flush()?;

    signals.heard().await;
    say("draining; once more stops at once");
    farewell(crew.drain(arguments.grace, &mut signals).await)
}
