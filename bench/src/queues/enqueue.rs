//! How fast jobs are taken in, while nobody works on them.

use super::contest::{Figures, Scenario, Title};
use super::field::{Contestant, Store};
use super::orders::{How, Order};
use super::stage::{PAYLOAD, Stage};

const IN_FLIGHT: usize = 100;
const BATCH: usize = 100;

/// One way of enqueueing.
struct Enqueue {
    store: Store,
    how: How,
    width: usize,
    jobs: usize,
}

/// All ways.
pub(super) fn all(store: Store) -> Vec<Box<dyn Scenario>> {
    let ways = [(How::Single, 1, 10_000), (How::Concurrent, IN_FLIGHT, 50_000)];
    let ways = ways.into_iter().chain([(How::Bulk, BATCH, 50_000)]);
    let enqueue = |(how, width, jobs)| Enqueue { store, how, width, jobs };
    ways.map(|way| Box::new(enqueue(way)) as Box<dyn Scenario>).collect()
}

impl Enqueue {
    fn order(&self, stage: &Stage, contestant: &Contestant) -> Order {
        let jobs = stage.options.jobs(self.jobs) / contestant.one_in;
        Order { how: self.how, jobs, width: self.width, warm_up: jobs / 10, payload: PAYLOAD }
    }
}

impl Scenario for Enqueue {
    fn store(&self) -> Store {
        self.store
    }

    fn titles(&self, stage: &Stage) -> Vec<Title> {
        let way = match self.how {
            How::Single => "enqueue single: 1 producer, one at a time".to_owned(),
            How::Bulk => format!("enqueue bulk: 1 producer, batches of {}", self.width),
            _ => format!("enqueue concurrent: {} in flight", self.width),
        };
        let row = |what: &str| format!("{way}, {}{what}", stage.conditions(self.store));
        let mut titles = vec![
            Title::rate(row(""), "jobs/s"),
            Title::cost(row(", CPU of the producer per job"), "us"),
        ];
        if self.store == Store::Redis {
            titles.push(Title::cost(row(", CPU of Redis per job"), "us"));
        }
        titles
    }

    fn remark(&self, contestant: &Contestant) -> &'static str {
        if self.how == How::Concurrent { contestant.producing } else { "" }
    }

    fn round(&self, stage: &Stage, contestant: &Contestant) -> Figures {
        if self.how == How::Bulk && !contestant.has_bulk {
            return Err("has none".to_owned());
        }
        let place = stage.clear(self.store)?;
        let order = self.order(stage, contestant);
        let before = stage.redis()?;
        let produced = stage.produce(contestant, &place, order)?;
        let redis_us = stage.redis()?.cpu_us - before.cpu_us;

        let jobs = order.jobs as f64;
        let mut figures = vec![jobs / produced.seconds, produced.cpu_us / jobs];
        if self.store == Store::Redis {
            figures.push(redis_us / (order.jobs + order.warm_up) as f64);
        }
        Ok(figures)
    }
}
