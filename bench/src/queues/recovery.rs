//! How long the jobs of a killed worker wait until they are run by another one.
//!
//! That takes a minute and more, nearly all of it waiting, so everybody is killed and watched at
//! the same time, on the same Redis, and there is one round.

use std::thread;
use std::time::Duration;

use super::Place;
use super::contest::{Figures, Ledger, Title};
use super::crew::Crew;
use super::field::{Contestant, Store};
use super::orders::{How, Order, Shift, Work};
use super::stage::{PAYLOAD, Stage};
use crate::Row;

const JOBS: usize = 10;
/// Nobody is watched for longer than this.
const RECOVERY_MAX: Duration = Duration::from_secs(75);
/// How long the jobs may take to start before the worker is killed.
const START_MAX: Duration = Duration::from_secs(5);

pub(super) fn title(stage: &Stage) -> Title {
    let conditions = stage.conditions(Store::Redis);
    let row = format!("recovery: kill -9 of a worker with {JOBS} jobs, concurrency {JOBS}");
    Title::cost(format!("{row}, {conditions}, until all ran again"), "s")
}

/// One round of everybody.
pub(super) fn row(stage: &Stage, title: Title, field: &[Contestant]) -> Result<Row, String> {
    let redis = &stage.clear(Store::Redis)?;
    let field: Vec<_> = field.iter().filter(|it| it.store == Store::Redis).collect();
    let figures: Vec<Figures> = thread::scope(|scope| {
        let watch = |contestant| scope.spawn(move || recover(stage, contestant, redis));
        let watched: Vec<_> = field.iter().copied().map(watch).collect();
        let figures = watched.into_iter().map(|it| it.join());
        figures.map(|it| it.unwrap_or_else(|_| Err("panicked".to_owned()))).collect()
    });
    let entry = |(it, figures): (&&Contestant, Figures)| (it.name, it.consuming, vec![figures]);
    let entries = field.iter().zip(figures).map(entry).collect();
    let mut rows = Ledger { titles: vec![title], entries }.rows();
    Ok(rows.pop().expect("one title is one row"))
}

fn recover(stage: &Stage, contestant: &Contestant, place: &Place) -> Figures {
    let shift = |work| Shift { concurrency: JOBS, work };
    let mut killed = Crew::start(stage, contestant, place, shift(Work::Hold))?;
    let order = Order { how: How::Single, jobs: JOBS, width: 1, warm_up: 0, payload: PAYLOAD };
    stage.produce(contestant, place, order)?;
    // One of several processes may hold back jobs that it has no room for; they count too.
    killed.wait_until(START_MAX, |report| JOBS as u64 <= report.started)?;
    if killed.report()?.started == 0 {
        return Err("stalled before the kill".to_owned());
    }
    let mut heir = Crew::start(stage, contestant, place, shift(Work::Nothing))?;
    killed.kill();
    let took = heir.wait_until(RECOVERY_MAX, |report| JOBS as u64 <= report.ran)?;
    eprintln!("recovery: {} {took:.1?}", contestant.name);
    match took {
        Some(took) => Ok(vec![took.as_secs_f64()]),
        None => Err(format!("> {} s", RECOVERY_MAX.as_secs())),
    }
}
