//! How fast a backlog of jobs that do nothing is worked off.

use super::contest::{Figures, Scenario, Title};
use super::crew::Crew;
use super::field::{Contestant, Store};
use super::orders::{How, Order, Shift, Work};
use super::stage::{PAYLOAD, Stage};

const JOBS: usize = 20_000;
const CONCURRENCIES: [usize; 2] = [10, 100];
/// How the backlog is made.
const WIDTH: usize = 100;

/// A backlog, and so many jobs at once.
struct Drain {
    store: Store,
    concurrency: usize,
}

/// At all concurrencies.
pub(super) fn all(store: Store) -> Vec<Box<dyn Scenario>> {
    let drain = |concurrency| Box::new(Drain { store, concurrency }) as Box<dyn Scenario>;
    CONCURRENCIES.map(drain).into()
}

impl Scenario for Drain {
    fn store(&self) -> Store {
        self.store
    }

    fn titles(&self, stage: &Stage) -> Vec<Title> {
        let conditions = stage.conditions(self.store);
        let row = |what: &str| {
            format!("drain: no-op jobs, concurrency {}, {conditions}{what}", self.concurrency)
        };
        let mut titles = vec![
            Title::rate(row(""), "jobs/s"),
            Title::cost(row(", CPU of the worker per job"), "us"),
        ];
        if self.store == Store::Redis {
            titles.push(Title::cost(row(", CPU of Redis per job"), "us"));
        }
        titles
    }

    fn remark(&self, contestant: &Contestant) -> &'static str {
        contestant.consuming
    }

    fn round(&self, stage: &Stage, contestant: &Contestant) -> Figures {
        let place = stage.clear(self.store)?;
        let jobs = stage.options.jobs(JOBS) * contestant.backlog_times / contestant.one_in;
        let jobs = jobs.min(contestant.backlog_max);
        let how = if contestant.has_bulk { How::Bulk } else { How::Concurrent };
        let backlog = Order { how, jobs, width: WIDTH, warm_up: 0, payload: PAYLOAD };
        stage.produce(contestant, &place, backlog)?;

        let before = stage.redis()?;
        let shift = Shift { concurrency: self.concurrency, work: Work::Nothing };
        let mut crew = Crew::start(stage, contestant, &place, shift)?;
        let report = crew.wait_for(jobs)?;
        let redis_us = stage.redis()?.cpu_us - before.cpu_us;

        let seconds = (report.last_ns - report.first_ns) as f64 / 1e9;
        let jobs = jobs as f64;
        let mut figures = vec![jobs / seconds, (report.cpu_us - report.cpu_first_us) / jobs];
        if self.store == Store::Redis {
            figures.push(redis_us / jobs);
        }
        Ok(figures)
    }
}
