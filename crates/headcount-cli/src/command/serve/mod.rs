//! `headcount serve`: a store, workers that size themselves, and an API, in one process.

mod arguments;
mod banner;
mod timing;

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use headcount::SystemClock;
use headcount::jobs::Queue;
use headcount::jobs::embedded::Committed;
use headcount::ops::{Machine, Observer, Ops, ScalerPools};
use headcount::probes::{Host, Sampler, SamplerConfig};

pub(crate) use arguments::Arguments;

use super::crew::{Crew, Log, Plan, Signals, Surroundings, farewell, say};
use super::reach::{Opened, Place, Posted, Served, open_for_work};
use crate::Stop;
use timing::Timing;

/// How long requests that are being answered may take at the end.
const GOODBYE: Duration = Duration::from_secs(2);
/// Where settings made by the API are kept, in the data directory.
const SETTINGS: &str = "settings.json";

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Stop> {
    let plan = Plan::of(&arguments.crew)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(serve(arguments, &plan, out));
    // Not for ever, should a handler block.
    runtime.shutdown_timeout(GOODBYE);
    served
}

async fn serve(arguments: &Arguments, plan: &Plan, out: &mut impl Write) -> Result<(), Stop> {
    // First of all, so that a signal which comes early is not the end of a store half open.
    let mut signals = Signals::listen()?;
    let observer = Arc::new(Observer::default());
    let commits = Arc::clone(&observer);
    let committed: Committed = Arc::new(move |took| commits.committed(took));
    let opened = open_for_work(&plan.place, plan.durability, Some(committed)).await?;
    let around = Surroundings {
        store: Arc::clone(&opened.store),
        sampler: sampler(),
        log: Log::new(arguments.crew.verbose),
    };
    let time = |queue: &Queue| queue.middleware(Timing(Arc::clone(&observer)));
    let crew = Crew::hire(plan, &around, time).await?;
    let ops = match api(arguments, plan, &opened, (&crew, &around, &observer)).await {
        Ok(ops) => ops,
        Err(stop) => {
            // What the workers have taken by now is not theirs to keep.
            crew.drain_now().await;
            return Err(stop);
        }
    };
    let posted = post(plan, ops.as_ref())?;
    banner::write(plan, &opened, ops.as_ref(), out)?;

    signals.heard().await;
    say("draining; once more stops at once");
    if let Some(ops) = &ops {
        ops.unready("draining: this process is about to end");
    }
    let drained = crew.drain(arguments.crew.grace, &mut signals).await;
    if let Some(ops) = ops {
        ops.stop(GOODBYE).await;
    }
    drop(posted);
    farewell(drained)
}

/// The API, unless nobody wants it.
async fn api(
    arguments: &Arguments,
    plan: &Plan,
    opened: &Opened,
    (crew, around, observer): (&Crew, &Surroundings, &Arc<Observer>),
) -> Result<Option<Ops>, Stop> {
    if arguments.no_api {
        return Ok(None);
    }
    let pools = ScalerPools::new();
    crew.scalers().for_each(|scaler| pools.add(scaler));
    let mut builder = Ops::builder()
        .store(Arc::clone(&opened.store))
        .pools(Arc::new(pools))
        .observer(Arc::clone(observer));
    for config in plan.queues.iter().filter_map(|queue| queue.config.as_ref()) {
        builder = builder.usual(config.name.clone(), config.job(config.name.clone(), Vec::new()));
    }
    if arguments.syshealth_metrics {
        let sampler = around.sampler.clone();
        builder = builder.aliases(move || machine(sampler.as_ref()));
    }
    if let Some(name) = plan.place.name() {
        builder = builder.store_name(name);
    }
    if let Place::Directory(directory) = &plan.place {
        builder = builder.settings_file(directory.join(SETTINGS));
    }
    let bound = builder.bind(arguments.listen).await.map_err(|error| {
        Stop::Failed(format!("{error}; --listen names another place, --no-api does without"))
    })?;
    Ok(Some(bound))
}

/// Leaves a note for other commands, where there is a directory to leave it in.
fn post(plan: &Plan, ops: Option<&Ops>) -> Result<Option<Posted>, Stop> {
    let Place::Directory(directory) = &plan.place else { return Ok(None) };
    let addr = ops.map(|ops| ops.local_addr().to_string());
    let served = Served { addr, pid: std::process::id() };
    let posted = served.post(directory);
    let posted = posted.map_err(|error| {
        Stop::Failed(format!("{}: no note can be left there: {error}", directory.display()))
    })?;
    Ok(Some(posted))
}

/// The machine as it was measured last.
fn machine(sampler: Option<&Sampler>) -> Machine {
    let Some(latest) = sampler.and_then(Sampler::latest) else { return Machine::default() };
    let vitals = latest.sample.vitals();
    let load = latest.sample.load.map(|load| [load.one, load.five, load.fifteen]);
    Machine { io_wait: vitals.io_wait, load, memory: vitals.memory, db_pool: vitals.db_pool }
}

/// Where the machine cannot be measured, nothing is held down by its health.
fn sampler() -> Option<Sampler> {
    Sampler::start(Host::new(), SamplerConfig::default(), Arc::new(SystemClock)).ok()
}
