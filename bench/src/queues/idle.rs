//! What workers cost that have nothing to do.

use std::thread;
use std::time::{Duration, Instant};

use super::contest::{Figures, Scenario, Title};
use super::crew::Crew;
use super::field::{Contestant, Store};
use super::orders::{Shift, Work};
use super::stage::Stage;

const WORKERS: usize = 100;
/// Until they have come to rest.
const SETTLE: Duration = Duration::from_secs(2);

/// Workers on an empty queue.
pub(super) struct Idle;

fn watch(stage: &Stage) -> Duration {
    Duration::from_secs(if stage.options.quick { 2 } else { 5 })
}

impl Scenario for Idle {
    fn store(&self) -> Store {
        Store::Redis
    }

    fn titles(&self, stage: &Stage) -> Vec<Title> {
        let durability = stage.options.durability;
        let row = |what: &str, unit| {
            Title::cost(format!("idle: {WORKERS} workers, no job, {durability}, {what}"), unit)
        };
        vec![
            row("CPU of the worker process", "% of a core"),
            row("CPU of Redis", "% of a core"),
            row("commands to Redis", "1/s"),
        ]
    }

    fn remark(&self, contestant: &Contestant) -> &'static str {
        contestant.consuming
    }

    fn round(&self, stage: &Stage, contestant: &Contestant) -> Figures {
        let place = stage.clear(Store::Redis)?;
        let shift = Shift { concurrency: WORKERS, work: Work::Nothing };
        let mut crew = Crew::start(stage, contestant, &place, shift)?;
        thread::sleep(SETTLE);
        let (since, redis, worker) = (Instant::now(), stage.redis()?, crew.report()?);
        thread::sleep(watch(stage));
        let (redis_after, worker_after) = (stage.redis()?, crew.report()?);

        let seconds = since.elapsed().as_secs_f64();
        let share = |cpu_us: f64| 100.0 * cpu_us / 1e6 / seconds;
        // The first of our two questions is among the commands.
        let commands = redis_after.commands - redis.commands - 1.0;
        Ok(vec![
            share(worker_after.cpu_us - worker.cpu_us),
            share(redis_after.cpu_us - redis.cpu_us),
            commands / seconds,
        ])
    }
}
