//! Has jobs of a queue done by what the file says, and by what is built in.

use std::sync::Arc;

use headcount::config::{JobQueueConfig, MissedTicks, ScheduleConfig};
use headcount::jobs::{Context, Handler, Missed, Queue, Running, Schedule};

use super::built_in;
use super::unhandled::Unhandled;
use crate::Stop;

/// What the file has, and then what is built in, where the file has nothing of that name.
pub(super) fn add_to(queue: &Queue, config: Option<&JobQueueConfig>) -> Result<(), Stop> {
    let name = queue.name();
    for configured in config.into_iter().flat_map(|config| &config.handlers) {
        let kind = configured.kind.as_str();
        let refused = |why: String| Stop::Failed(format!("queue {name}, handler {kind}: {why}"));
        let handler = configured.handler().map_err(|error| refused(error.to_string()))?;
        let added = queue.handle_with(kind, Configured(handler));
        added.map_err(|error| refused(error.to_string()))?;
    }
    built_in::add_to(queue).map_err(|error| Stop::Failed(error.to_string()))?;
    queue.middleware(Unhandled::of(queue));
    Ok(())
}

/// A handler that is made already.
struct Configured(Arc<dyn Handler>);

impl Handler for Configured {
    fn run(&self, ctx: Context) -> Running<'_> {
        self.0.run(ctx)
    }
}

/// The queue's schedules, as its file has them.
pub(super) fn schedules_of(config: &JobQueueConfig) -> Result<Vec<Schedule>, Stop> {
    config.schedules.iter().map(|schedule| schedule_of(config, schedule)).collect()
}

fn schedule_of(config: &JobQueueConfig, written: &ScheduleConfig) -> Result<Schedule, Stop> {
    let job = config.job(written.kind.clone(), written.payload.clone().into_bytes());
    let missed = match written.missed {
        MissedTicks::Once => Missed::Once,
        MissedTicks::Skip => Missed::Skip,
    };
    let name = written.name.as_str();
    let made = Schedule::of_spec(name, &written.cron, job)
        .and_then(|schedule| schedule.zone(&written.timezone));
    match made {
        Ok(schedule) => Ok(schedule.missed(missed)),
        Err(error) => Err(Stop::Failed(format!("queue {}, schedule {name}: {error}", config.name))),
    }
}
