//! A floor for the load to come: as many workers as a forecast of the arrivals asks for.
//!
//! For pools whose workers take long to start, as a part of a composite or beside a pool that
//! hires by itself: it proposes no ceiling. Arrivals are counted in buckets and forecast by the
//! best of several models, or by the last bucket where none is better; the quantile of that, times
//! what tasks take, is the load that Erlang's formula staffs for.

use std::time::Duration;

use super::Decider;
use super::peers::meter::{Look, Meter, Passed};
use super::peers::staffed;
use crate::forecast::{Best, BestConfig, HORIZON_MAX, SEASON_MAX};
use crate::policy::Inspection;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::signal::Unit;
use crate::{Proposal, Reason, Situation};

/// More than any sum of a bucket comes to.
const SUM_MAX: f64 = 1e60;

/// A floor for the load to come, by the season and the trend of the arrivals.
///
/// ```
/// use headcount_core::decide::{DeciderConfig, ForecastConfig};
/// use headcount_core::{Policy, PolicyConfig};
/// use std::time::Duration;
///
/// let day = ForecastConfig { horizon: Duration::from_mins(2), ..ForecastConfig::default() };
/// let decider = Some(DeciderConfig::Forecast(day));
/// assert!(Policy::check(&PolicyConfig { decider, ..PolicyConfig::default() }, 8).is_ok());
///
/// let week = ForecastConfig { bucket: Duration::from_secs(1), ..ForecastConfig::default() };
/// let decider = Some(DeciderConfig::Forecast(week));
/// let faults = Policy::check(&PolicyConfig { decider, ..PolicyConfig::default() }, 8);
/// assert!(faults.expect_err("86,400 buckets").len() == 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct ForecastConfig {
    /// Over which time arrivals are counted. Default: 1 min.
    pub bucket: Duration,
    /// After which time they come again. Default: 24 h.
    pub season: Duration,
    /// How far ahead: as long as a worker takes to start. Default: 1 min.
    pub horizon: Duration,
    /// The share of the time that the load should be no more than what is staffed for. Default:
    /// 0.95.
    pub quantile: f64,
    /// By which share a model must be better than the last bucket. Default: 0.05.
    pub margin: f64,
    /// How long a task may wait. Default: 100 ms.
    pub wait_budget: Duration,
    /// The share of tasks that may wait longer. Default: 0.01.
    pub late_max: f64,
}

impl Default for ForecastConfig {
    fn default() -> Self {
        Self {
            bucket: Duration::from_mins(1),
            season: Duration::from_hours(24),
            horizon: Duration::from_mins(1),
            quantile: 0.95,
            margin: 0.05,
            wait_budget: Duration::from_millis(100),
            late_max: 0.01,
        }
    }
}

impl ForecastConfig {
    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        inspection.some_time("bucket", self.bucket);
        inspection.inner_share("quantile", self.quantile);
        inspection.inner_share("late_max", self.late_max);
        if !(0.0 <= self.margin && self.margin < 1.0) {
            inspection.fault("margin", self.margin, "a share from 0 to below 1 is needed");
        }
        for (field, span, most) in
            [("season", self.season, SEASON_MAX), ("horizon", self.horizon, HORIZON_MAX)]
        {
            if !self.bucket.is_zero() && f64::from(most) < self.buckets(span) {
                let allowed = format!("at most {most} times bucket are looked at");
                inspection.fault(field, format!("{span:?}"), &allowed);
            }
        }
    }

    pub(crate) fn build(&self) -> Forecast {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
        let buckets = |span: Duration| self.buckets(span).ceil() as u32;
        let (season, horizon) = (buckets(self.season), buckets(self.horizon));
        let best = BestConfig { season, horizon, quantile: self.quantile, margin: self.margin };
        Forecast {
            config: *self,
            meter: Meter::default(),
            best: Best::new(best),
            open: Open::default(),
            service: None,
        }
    }

    fn buckets(&self, span: Duration) -> f64 {
        span.as_secs_f64() / self.bucket.as_secs_f64()
    }
}

/// The decider.
#[derive(Clone, Debug)]
pub(crate) struct Forecast {
    config: ForecastConfig,
    meter: Meter,
    best: Best,
    open: Open,
    /// Seconds that a task took in the last bucket in which one ended.
    service: Option<f64>,
}

/// The bucket that is being filled.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    seconds: f64,
    arrived: f64,
    ended: f64,
    busy_seconds: f64,
}

impl Open {
    fn add(&mut self, passed: &Passed) {
        let add = |sum: &mut f64, more: f64| *sum = (*sum + more).min(SUM_MAX);
        add(&mut self.seconds, passed.seconds);
        add(&mut self.arrived, passed.submitted);
        add(&mut self.ended, passed.ended);
        add(&mut self.busy_seconds, passed.busy_seconds);
    }
}

impl Forecast {
    fn observe(&mut self, situation: &Situation<'_>) {
        match self.meter.look(situation) {
            // What was learnt of the season is still good.
            Look::First => self.open = Open::default(),
            Look::Again => {}
            Look::Next(passed) => {
                self.open.add(&passed);
                self.close();
            }
        }
    }

    /// Hands over what is full. A long gap fills several buckets alike, and no more than a season.
    fn close(&mut self) {
        let Open { seconds, arrived, ended, busy_seconds } = self.open;
        let bucket = self.config.bucket.as_secs_f64();
        // But for the last bits of the sum.
        let full = (seconds / bucket * (1.0 + 1e-9)).floor().min(f64::from(SEASON_MAX));
        if full < 1.0 {
            return;
        }
        let rate = arrived / seconds;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // At most a season.
        (0..full as u32).for_each(|_| self.best.observe(rate));
        if 1.0 <= ended && 0.0 < busy_seconds {
            self.service = Some(busy_seconds / ended);
        }
        let left = (seconds - full * bucket).clamp(0.0, bucket);
        self.open = Open { seconds: left, arrived: rate * left, ..Open::default() };
    }
}

impl Decider for Forecast {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        self.observe(situation);
        let (Some(arrivals), Some(service)) = (self.best.forecast(), self.service) else {
            return Proposal::abstain(Reason::NoData);
        };
        let load = arrivals.max(0.0) * service;
        let patience = self.config.wait_budget.as_secs_f64() / service;
        let floor = if load <= 0.0 { 0 } else { staffed(load, patience, self.config.late_max) };
        let mut proposal = Proposal::at_least(floor, Reason::WaitBudget);
        proposal.estimate("arrivals_forecast", Unit::Number, arrivals);
        proposal.estimate("load_forecast", Unit::Count, load);
        proposal
    }

    fn save(&self, notes: &mut Notes) {
        (self.meter, self.service).write(notes);
        let Open { seconds, arrived, ended, busy_seconds } = self.open;
        (seconds, (arrived, (ended, busy_seconds))).write(notes);
        self.best.save(notes);
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        (self.meter, self.service) = Noted::read(notes)?;
        let (seconds, (arrived, (ended, busy_seconds))) = Noted::read(notes)?;
        self.open = Open { seconds, arrived, ended, busy_seconds };
        self.best.load(notes)?;
        let sums = [seconds, arrived, ended, busy_seconds];
        let is_sound = |sum: f64| (0.0..=SUM_MAX).contains(&sum);
        let is_known = self.service.is_none_or(|service| 0.0 < service && is_sound(service));
        (is_known && sums.into_iter().all(is_sound)).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::decide::peers::harness::Pool;

    /// A day of 24 buckets of ten seconds: nothing but one busy hour.
    fn floors(days: u64) -> Vec<u32> {
        let mut forecast = ForecastConfig {
            bucket: Duration::from_secs(10),
            season: Duration::from_secs(240),
            horizon: Duration::from_secs(20),
            ..ForecastConfig::default()
        }
        .build();
        let mut pool = Pool::of(20).busy(10).service(0.1);
        let mut floors = Vec::new();
        for second in 0..days * 240 {
            let is_busy = (100..120).contains(&(second % 240));
            pool = pool.arrivals(if is_busy { 100.0 } else { 5.0 });
            let proposal = pool.look(&mut forecast);
            floors.push(proposal.wanted.map_or(0, |wanted| wanted.floor));
            pool.pass();
        }
        floors
    }

    #[test]
    fn the_floor_is_there_before_the_load() {
        let floors = floors(12);
        let last = &floors[11 * 240..];
        assert!(10 <= last[99], "the rush begins at second 100: {}", last[99]);
        assert!(last[75] < 8, "and nobody is kept for it long before: {}", last[75]);
    }

    #[test]
    fn the_first_day_nobody_knows() {
        assert!(floors(1)[99] < 8);
    }
}
