//! From flags and files to a question.

use std::collections::BTreeSet;

use headcount_sim::maths::{BadNumber, Measured, Service, Slo, Traffic};
use headcount_sim::plan::{self, Rates, Stage, Stages};

use super::arguments::Arguments;
use super::record::Record;
use super::{arrivals_file, recorded, words};
use crate::Stop;

/// What is asked, and what is known of the past.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) question: Question,
    pub(super) rates: Option<Rates>,
    pub(super) bytes_per_worker: Option<u64>,
}

#[derive(Debug)]
pub(super) enum Question {
    Pool(plan::Question),
    Stages(Stages),
}

impl Asked {
    pub(super) fn of(arguments: &Arguments) -> Result<Self, Stop> {
        let slo = slo(arguments)?;
        let record = record(arguments)?;
        let (question, rates) = match arguments.stage.is_empty() {
            true => pool(arguments, slo, record.as_ref())?,
            false => stages(arguments, slo, record.as_ref())?,
        };
        Ok(Self { question, rates, bytes_per_worker: arguments.bytes_per_worker })
    }

    /// What so many workers take of memory. `None`: it is not known what one takes.
    pub(super) fn bytes(&self, workers: u64) -> Option<u64> {
        self.bytes_per_worker.map(|bytes| bytes.saturating_mul(workers))
    }
}

fn slo(arguments: &Arguments) -> Result<Slo, Stop> {
    let slo = match (arguments.wait, arguments.latency) {
        (Some(wait), _) => Slo::wait(wait.as_secs_f64(), arguments.late),
        (None, Some(latency)) => Slo::latency(latency.as_secs_f64(), arguments.late),
        (None, None) => {
            let sentence = "what must hold is not said; give --wait 50ms, or --latency 200ms";
            return Err(Stop::Misused(sentence.to_owned()));
        }
    };
    slo.map_err(misused)
}

fn record(arguments: &Arguments) -> Result<Option<Record>, Stop> {
    match (&arguments.trace, &arguments.recorded) {
        (Some(path), _) => arrivals_file::read(path, arguments.jobs.as_deref()).map(Some),
        (None, Some(path)) => recorded::read(path, arguments.pool.as_deref()).map(Some),
        (None, None) => Ok(None),
    }
}

fn pool(
    arguments: &Arguments,
    slo: Slo,
    record: Option<&Record>,
) -> Result<(Question, Option<Rates>), Stop> {
    if record.is_none() {
        rate(arguments, None)?;
    }
    let service = service(arguments, record)?;
    has_a_rate(arguments, record)?;
    let rates = rates(arguments, record, &slo, service.mean())?;
    let rate = rate(arguments, rates.as_ref())?;
    quieter_than(rate, arguments.quiet_rate)?;
    let traffic = Traffic::poisson(rate, service)
        .and_then(|traffic| traffic.with_arrivals_scv(arguments.arrivals_scv));
    let question = plan::Question::new(traffic.map_err(misused)?, slo);
    let spawn = arguments.spawn.map(|spawn| spawn.as_secs_f64());
    let question = plan::Question {
        quiet_rate: arguments.quiet_rate.or(rates.map(|rates| rates.quietest)),
        spawn: spawn.or(record.and_then(|record| record.spawn)).unwrap_or(question.spawn),
        bytes_per_worker: arguments.bytes_per_worker,
        present: arguments.workers,
        ..question
    };
    Ok((Question::Pool(question), rates))
}

/// When it is quietest, no more comes than when it is busiest.
fn quieter_than(rate: f64, quiet: Option<f64>) -> Result<(), Stop> {
    match quiet.filter(|quiet| rate < *quiet) {
        None => Ok(()),
        Some(quiet) => Err(Stop::Misused(format!(
            "--quiet-rate is {}, above the {} of the busiest time; make it smaller",
            words::rate(quiet),
            words::rate(rate)
        ))),
    }
}

fn stages(
    arguments: &Arguments,
    slo: Slo,
    record: Option<&Record>,
) -> Result<(Question, Option<Rates>), Stop> {
    let stages = arguments.stage.clone();
    each_has_a_name(&stages)?;
    has_a_rate(arguments, record)?;
    let rates = rates(arguments, record, &slo, stages.iter().map(Stage::demand).sum())?;
    let rate = rate(arguments, rates.as_ref())?;
    let arrivals_scv = arguments.arrivals_scv;
    Ok((Question::Stages(Stages { rate, arrivals_scv, slo, stages }), rates))
}

/// A name that is there twice says of neither what is meant.
fn each_has_a_name(stages: &[Stage]) -> Result<(), Stop> {
    let mut names = BTreeSet::new();
    match stages.iter().find(|stage| !names.insert(&stage.name)) {
        None => Ok(()),
        Some(Stage { name, .. }) => {
            Err(Stop::Misused(format!("two stages are called {name:?}; rename one of them")))
        }
    }
}

/// What the record tells, in windows as long as a burst that can be waited out.
fn rates(
    arguments: &Arguments,
    record: Option<&Record>,
    slo: &Slo,
    service_mean: f64,
) -> Result<Option<Rates>, Stop> {
    let bearable = match slo.measured() {
        Measured::Wait => slo.limit() + service_mean,
        Measured::Latency => slo.limit(),
    };
    let window = arguments.window.map_or(bearable, |window| window.as_secs_f64());
    let told = |record: &Record| Rates::of(record.step, &record.counts, window, slo.share());
    // What comes was said, so that what came is of no interest.
    record.filter(|_| arguments.rate.is_none()).map(told).transpose().map_err(misused)
}

/// A batch has none; somebody has to say it.
fn has_a_rate(arguments: &Arguments, record: Option<&Record>) -> Result<(), Stop> {
    let why = record.and_then(|record| record.no_rate.clone());
    match why.filter(|_| arguments.rate.is_none()) {
        Some(why) => Err(Stop::Refused(why)),
        None => Ok(()),
    }
}

/// What was said counts before what was recorded.
fn rate(arguments: &Arguments, rates: Option<&Rates>) -> Result<f64, Stop> {
    arguments.rate.or(rates.map(|rates| rates.planned)).ok_or_else(|| {
        let sentence = "how much comes is not said; give --rate 1000/s, --trace FILE or --recorded \
                        FILE";
        Stop::Misused(sentence.to_owned())
    })
}

fn service(arguments: &Arguments, record: Option<&Record>) -> Result<Service, Stop> {
    let service = match (arguments.service, arguments.service_p50, arguments.service_p99) {
        (Some(mean), ..) => Service::new(mean.as_secs_f64(), arguments.scv),
        (None, Some(p50), Some(p99)) => Service::lognormal(p50.as_secs_f64(), p99.as_secs_f64()),
        _ => return service_of_files(arguments, record),
    };
    service.map_err(misused)
}

/// What is known from files alone; with a trace its jobs were read already.
fn service_of_files(arguments: &Arguments, record: Option<&Record>) -> Result<Service, Stop> {
    match (record, &arguments.jobs) {
        (None, Some(jobs)) => arrivals_file::service(jobs),
        _ => record.and_then(|record| record.service).ok_or_else(|| {
            let sentence = "how long a job takes is not said; give --service 60ms and --scv, \
                            --service-p50 and --service-p99, or --jobs FILE";
            Stop::Misused(sentence.to_owned())
        }),
    }
}

fn misused(bad: BadNumber) -> Stop {
    Stop::Misused(bad.to_string())
}
