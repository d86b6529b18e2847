//! What a recorded run tells of its arrivals.

use std::collections::BTreeSet;
use std::path::Path;

use headcount::trace::{Row, TraceReader};
use headcount_core::{Observation, Timestamp};

use super::record::{COUNTS_MAX, Record, Times};
use super::words::rate;
use crate::Stop;
use crate::command::opened::is_no_folder;

/// The arrivals of `pool`, or of the only pool there is, in the run recorded in `path`.
pub(super) fn read(path: &Path, pool: Option<&str>) -> Result<Record, Stop> {
    let refused = |why: &str| Stop::Refused(format!("{}: {why}", path.display()));
    let mut run = Run::default();
    let mut pools = BTreeSet::new();
    is_no_folder(path).map_err(|error| refused(&error.to_string()))?;
    for row in TraceReader::open(path).map_err(|error| refused(&error.to_string()))? {
        let Row::Tick { pool: of, observation, .. } =
            row.map_err(|error| refused(&error.to_string()))?
        else {
            continue;
        };
        if pool.is_none_or(|pool| pool == of) {
            run.add(&observation).map_err(refused)?;
        }
        pools.insert(of);
    }
    let names = || pools.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    match pool {
        Some(pool) if !pools.contains(pool) => {
            Err(refused(&format!("no pool is called {pool:?}; there are {}", names())))
        }
        None if 1 < pools.len() => {
            Err(refused(&format!("it tells of several pools; choose one with --pool: {}", names())))
        }
        _ => {
            let record = run.record().map_err(refused)?;
            let no_rate = record.no_rate.map(|why| format!("{}: {why}", path.display()));
            Ok(Record { no_rate, ..record })
        }
    }
}

/// What was seen of one pool.
#[derive(Debug, Default)]
struct Run {
    /// When, and how many had arrived by then since the beginning.
    seen: Vec<(Timestamp, u64)>,
    /// What the pool itself had counted.
    submitted: Option<u64>,
    /// How many had ended at the first look, and at the last.
    ended: Option<(u64, u64)>,
    times: Times,
    spawn: Option<f64>,
}

impl Run {
    fn add(&mut self, observation: &Observation) -> Result<(), &'static str> {
        let pool = &observation.pool;
        let submitted = pool.counters.submitted;
        // A pool that was made anew counts from 0.
        let come =
            self.submitted.map_or(0, |before| submitted.checked_sub(before).unwrap_or(submitted));
        self.submitted = Some(submitted);
        let ended = pool.counters.completed;
        self.ended = Some((self.ended.map_or(ended, |(first, _)| first), ended));
        let (last, arrived) = self.seen.last().copied().unwrap_or((observation.at, 0));
        if observation.at < last {
            return Err("its times go backwards; record it anew");
        }
        if COUNTS_MAX <= self.seen.len() {
            return Err("it is too long; plan from a part of it");
        }
        self.seen.push((observation.at, arrived + come));
        if let Some(service) = pool.service {
            self.times.add_many(service.count as f64, service.mean.as_secs_f64(), service.scv);
        }
        self.spawn = pool.spawn_delay.map(|delay| delay.as_secs_f64()).or(self.spawn);
        Ok(())
    }

    fn record(&self) -> Result<Record, &'static str> {
        let too_short = "it has fewer than two looks at the pool; record a longer run";
        let [(from, _), .., (to, _)] = self.seen[..] else { return Err(too_short) };
        let step = to.since(from).as_secs_f64() / (self.seen.len() - 1) as f64;
        let service = self.times.service().transpose();
        let service = service.map_err(|_| "its tasks took no time; give --service")?;
        match 0.0 < step {
            true => Ok(Record {
                step,
                counts: self.counts(step),
                service,
                spawn: self.spawn,
                no_rate: self.no_rate(to.since(from).as_secs_f64()),
            }),
            false => Err(too_short),
        }
    }

    /// What to do with a batch: all of it was there before the first look.
    fn no_rate(&self, seconds: f64) -> Option<String> {
        if self.seen.last().is_some_and(|(_, arrived)| 0 < *arrived) {
            return None;
        }
        let (first, last) = self.ended.unwrap_or_default();
        let done = last.saturating_sub(first);
        let advice = match done {
            0 => "as in --rate 10/s".to_owned(),
            _ => {
                let rate = rate(done as f64 / seconds);
                format!("as in --rate {rate}, which is how fast {done} tasks were done")
            }
        };
        Some(format!(
            "no task came while it was recorded, so that there is no rate: a batch is there from \
             the beginning; give --rate, {advice}"
        ))
    }

    /// Looks are taken at any time; counts are of equal steps. Between two looks arrivals are
    /// taken as even.
    fn counts(&self, step: f64) -> Vec<u64> {
        let begin = self.seen[0].0;
        let mut looks = self.seen.windows(2);
        let mut pair = looks.next();
        let mut before = 0;
        let mut counts = Vec::with_capacity(self.seen.len());
        for k in 1..self.seen.len() {
            let at = k as f64 * step;
            while let Some([_, (to, _)]) = pair
                && to.since(begin).as_secs_f64() < at
                && let Some(next) = looks.next()
            {
                pair = Some(next);
            }
            let arrived = pair.map_or(0, |pair| between(begin, pair, at));
            counts.push(arrived.saturating_sub(before));
            before = arrived.max(before);
        }
        counts
    }
}

/// How many had arrived `at` seconds after `begin`, between two looks.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a count")]
fn between(begin: Timestamp, looks: &[(Timestamp, u64)], at: f64) -> u64 {
    let [(from, few), .., (to, many)] = looks[..] else { return 0 };
    let (from, to) = (from.since(begin).as_secs_f64(), to.since(begin).as_secs_f64());
    let part = if from < to { ((at - from) / (to - from)).clamp(0.0, 1.0) } else { 1.0 };
    few + ((many - few) as f64 * part).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use headcount_core::{Counters, PoolSnapshot};

    fn check(looks: &[(u64, u64)], expected: &str) {
        let mut run = Run::default();
        let told = looks
            .iter()
            .try_for_each(|(millis, submitted)| {
                let counters = Counters { submitted: *submitted, ..Counters::default() };
                let pool = PoolSnapshot { counters, ..PoolSnapshot::default() };
                run.add(&Observation::new(Timestamp::from_millis(*millis), pool))
            })
            .and_then(|()| run.record());
        let told = match told {
            Ok(record) => format!("{:?} every {} s", record.counts, record.step),
            Err(why) => why.split(';').next().unwrap_or_default().to_owned(),
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn looks_become_counts_of_equal_steps() {
        check(&[(0, 5), (1000, 15), (2000, 18)], "[10, 3] every 1 s");
        check(&[(0, 0), (500, 10), (2000, 40)], "[20, 20] every 1 s");
        check(&[(9000, 7), (10_000, 9), (11_000, 4), (12_000, 5)], "[2, 4, 1] every 1 s");
    }

    #[test]
    fn what_cannot_be_planned_from_is_said() {
        check(&[], "it has fewer than two looks at the pool");
        check(&[(1000, 1)], "it has fewer than two looks at the pool");
        check(&[(1000, 1), (1000, 2)], "it has fewer than two looks at the pool");
        check(&[(2000, 1), (1000, 2)], "its times go backwards");
    }
}
