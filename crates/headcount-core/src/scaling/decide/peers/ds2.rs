//! As many workers as the load needs at the rate that a busy one has: DS2, as Flink runs it.
//!
//! The true rate of a worker is what it would do if it were always busy: tasks ended over busy
//! time. Over it go the load, with some room, and what it takes to catch up with what waits. That
//! arrives in one step. After each change it waits, and then measures for a whole window.
//!
//! *Ineffective growth*: where the last growth brought less than a tenth of the capacity that was
//! expected of it, there is no more of it until the pool has shrunk. Flink has this switched off
//! by default; it is what keeps the rule from running away behind a knee, so here it is on.
//!
//! That a shrink waits for an hour, and how far it goes, are guards: `hold_peak`, `step`.

use std::time::Duration;

use super::meter::{Look, Meter};
use super::pace::Pace;
use super::sliding::Sliding;
use super::whole_above;
use crate::decide::Decider;
use crate::policy::Inspection;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::signal::Unit;
use crate::{Proposal, Reason, Situation, Staffing, Timestamp};

/// More than any pool can do in a second.
const RATE_MAX: f64 = 1e60;

/// As many workers as the load needs, at the rate of a busy one.
///
/// ```
/// use headcount_core::decide::Ds2Config;
/// use std::time::Duration;
///
/// let quick = Ds2Config { window: Duration::from_secs(60), ..Ds2Config::default() };
/// assert_eq!(quick.utilization, 0.7);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Ds2Config {
    /// How busy workers should be. Default: 0.7.
    pub utilization: f64,
    /// How far from that is near enough. Default: 0.3.
    pub band: f64,
    /// Within which time to catch up with what waits. Default: 30 min.
    pub catch_up: Duration,
    /// For how long tasks pile up while a change is made. Default: 5 min.
    pub restart: Duration,
    /// How long to measure. Default: 15 min.
    pub window: Duration,
    /// How long to wait after a change before measuring. Default: 5 min.
    pub settling: Duration,
    /// How often it decides. Default: 1 min.
    pub period: Duration,
    /// The share of the expected capacity that a growth must bring; 0 asks for nothing. Default:
    /// 0.1.
    pub gain_min: f64,
}

impl Default for Ds2Config {
    fn default() -> Self {
        Self {
            utilization: 0.7,
            band: 0.3,
            catch_up: Duration::from_mins(30),
            restart: Duration::from_mins(5),
            window: Duration::from_mins(15),
            settling: Duration::from_mins(5),
            period: Duration::from_mins(1),
            gain_min: 0.1,
        }
    }
}

impl Ds2Config {
    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        inspection.share("utilization", self.utilization);
        if !(0.0 <= self.band && self.band < self.utilization) {
            let allowed = "0 or more is needed, and less than utilization";
            inspection.fault("band", self.band, allowed);
        }
        inspection.some_time("catch_up", self.catch_up);
        inspection.some_time("window", self.window);
        inspection.some_time("period", self.period);
        if !(0.0 <= self.gain_min && self.gain_min <= 1.0) {
            inspection.fault("gain_min", self.gain_min, "a share from 0 to 1 is needed");
        }
    }

    pub(crate) fn build(&self) -> Ds2 {
        Ds2 {
            config: *self,
            meter: Meter::default(),
            pace: Pace::default(),
            sums: Sliding::default(),
            begun: None,
            size: None,
            capacity: None,
            growth: None,
        }
    }

    /// The tasks a second for which there should be room, with workers this busy.
    fn capacity(&self, flow: &Flow, utilization: f64, restart: Duration) -> f64 {
        let catch_up = self.catch_up.as_secs_f64();
        let piled_up = flow.waiting + flow.arrivals * restart.as_secs_f64();
        flow.arrivals / utilization + piled_up / catch_up
    }
}

/// The decider.
#[derive(Clone, Debug)]
pub(crate) struct Ds2 {
    config: Ds2Config,
    meter: Meter,
    pace: Pace,
    /// Tasks that came, tasks that ended, busy seconds.
    sums: Sliding<3>,
    /// When the measuring begins, or began.
    begun: Option<Timestamp>,
    /// The size in force, to see when it changes.
    size: Option<u32>,
    /// What the pool could do when it was last measured.
    capacity: Option<f64>,
    /// The capacity before the last growth, and what it should have become.
    growth: Option<(f64, f64)>,
}

/// What comes, what waits, and what a busy worker does in a second.
#[derive(Clone, Copy, Debug)]
struct Flow {
    arrivals: f64,
    waiting: f64,
    rate: f64,
}

impl Ds2 {
    fn observe(&mut self, situation: &Situation<'_>) {
        let (now, pool) = (situation.now(), situation.pool());
        let look = self.meter.look(situation);
        if matches!(look, Look::First) {
            (self.begun, self.size, self.capacity, self.growth) = (Some(now), None, None, None);
            self.sums = Sliding::default();
        }
        if self.size != Some(pool.ceiling) {
            self.resized(pool.ceiling);
            let settling = self.size.map_or(Duration::ZERO, |_| self.config.settling);
            self.begun = Some(now + settling);
            self.size = Some(pool.ceiling);
            self.sums = Sliding::default();
        } else if let Look::Next(passed) = look
            && self.begun.is_some_and(|begun| begun < now)
        {
            let amounts = [passed.submitted, passed.ended, passed.busy_seconds];
            self.sums.add(now, self.config.window, passed.seconds, amounts);
        }
    }

    /// Notes what a growth is expected to bring; a shrink makes it a matter of the past.
    fn resized(&mut self, to: u32) {
        let grown = self.size.filter(|from| *from < to);
        self.growth = grown.zip(self.capacity).map(|(from, capacity)| {
            let factor = f64::from(to) / f64::from(from.max(1));
            (capacity, (capacity * factor).min(RATE_MAX))
        });
    }

    fn is_measured(&self, now: Timestamp) -> bool {
        self.begun.is_some_and(|begun| self.config.window <= now.since(begun))
    }

    fn flow(&self, situation: &Situation<'_>) -> Option<Flow> {
        let now = situation.now();
        let (seconds, [arrived, ended, busy]) = self.sums.sums(now, self.config.window);
        let is_known = 0.0 < seconds && 1.0 <= ended && 0.0 < busy;
        is_known.then(|| Flow {
            arrivals: (arrived / seconds).min(RATE_MAX),
            waiting: situation.pool().queued as f64,
            rate: (ended / busy).clamp(1e-30, RATE_MAX),
        })
    }

    fn is_ineffective(&self, capacity: f64) -> bool {
        self.growth.is_some_and(|(before, expected)| {
            capacity - before < self.config.gain_min * (expected - before)
        })
    }

    fn size(&mut self, flow: &Flow, situation: &Situation<'_>) -> Proposal {
        let Ds2Config { utilization, band, restart, .. } = self.config;
        let live = situation.pool().live.max(1);
        let capacity = (f64::from(live) * flow.rate).min(RATE_MAX);
        self.capacity = Some(capacity);
        let least = self.config.capacity(flow, (utilization + band).min(1.0), Duration::ZERO);
        let most = self.config.capacity(flow, utilization - band, restart);
        if least <= capacity && capacity <= most {
            return Proposal::want(situation.from(), Reason::Steady);
        }
        let needed = self.config.capacity(flow, utilization, restart);
        let size = whole_above(needed / flow.rate);
        let mut proposal = match live < size && self.is_ineffective(capacity) {
            true => Proposal::want(situation.from(), Reason::Knee),
            false => Proposal::want(Staffing::exactly(size), Reason::Backlog),
        };
        proposal.estimate("capacity", Unit::Number, capacity);
        proposal.estimate("capacity_needed", Unit::Number, needed);
        proposal
    }
}

impl Decider for Ds2 {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        self.observe(situation);
        let now = situation.now();
        if !self.pace.is_due(now, self.config.period) || !self.is_measured(now) {
            return Proposal::abstain(Reason::Steady);
        }
        let pool = situation.pool();
        match self.flow(situation) {
            Some(flow) => self.size(&flow, situation),
            // Nothing ran for a whole window, and nothing waits: there is nothing to do.
            None if pool.queued == 0 => {
                Proposal::want(Staffing::exactly(pool.busy), Reason::Backlog)
            }
            None => Proposal::abstain(Reason::NoData),
        }
    }

    fn save(&self, notes: &mut Notes) {
        (self.meter, (self.pace, self.sums)).write(notes);
        (self.begun, (self.size, (self.capacity, self.growth))).write(notes);
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        (self.meter, (self.pace, self.sums)) = Noted::read(notes)?;
        (self.begun, (self.size, (self.capacity, self.growth))) = Noted::read(notes)?;
        let is_rate = |rate: f64| (0.0..=RATE_MAX).contains(&rate);
        let is_sound = |(before, expected)| is_rate(before) && is_rate(expected);
        let is_known = self.capacity.is_none_or(is_rate) && self.growth.is_none_or(is_sound);
        is_known.then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Pool, run};
    use super::*;

    /// Ten-fold as quick as in stock, at 10 tasks a second for each busy worker.
    fn size_after(config: Ds2Config, pool: Pool, minutes: u64) -> u32 {
        run(&mut config.build(), pool, minutes * 60).snapshot.ceiling
    }

    #[test]
    fn it_arrives_in_one_step_after_a_whole_window() {
        // 100 tasks a second of 0.1 s each keep 10 busy: at 70 %, 14.3; and for five minutes of
        // tasks piled up, to be caught up with in thirty, 1.7 more.
        let pool = || Pool::of(8).busy(8).arrivals(100.0);
        assert_eq!(size_after(Ds2Config::default(), pool(), 15), 8, "not measured yet");
        assert_eq!(size_after(Ds2Config::default(), pool(), 17), 16);
    }

    #[test]
    fn what_waits_is_caught_up_with_in_half_an_hour() {
        // 18,000 tasks in 30 min are 10 a second: one worker more.
        let pool = Pool::of(8).busy(8).arrivals(100.0).queued(18_000);
        assert_eq!(size_after(Ds2Config::default(), pool, 17), 17);
    }

    #[test]
    fn within_the_band_it_stays() {
        let config = Ds2Config { restart: Duration::ZERO, ..Ds2Config::default() };
        assert_eq!(size_after(config, Pool::of(10).busy(10).arrivals(100.0), 17), 10);
        assert_eq!(size_after(config, Pool::of(25).busy(10).arrivals(100.0), 17), 25);
        assert_eq!(size_after(config, Pool::of(26).busy(10).arrivals(100.0), 17), 15);
    }

    #[test]
    fn growth_that_brought_nothing_is_not_repeated() {
        let grow = |gain_min| {
            let mut ds2 = Ds2Config { gain_min, ..Ds2Config::default() }.build();
            let grown = run(&mut ds2, Pool::of(8).busy(8).arrivals(100.0), 17 * 60);
            assert_eq!(grown.snapshot.ceiling, 16);
            // Behind a knee twice the workers take twice the time.
            run(&mut ds2, grown.service(0.2).arrivals(100.0), 22 * 60).snapshot.ceiling
        };
        assert_eq!(grow(0.1), 16, "twice the workers, and not a task a second more");
        assert_eq!(grow(0.0), 32, "without the test it runs away");
    }
}
