//! The fewest workers with which hardly a task waits too long, by Erlang's formula.
//!
//! Arrivals and service times are measured over a window, and taken for independent of one
//! another: `P(wait > t) = C(c, R) exp(-(c - R) t / (S v))` with the load `R = rate x S`, Erlang's
//! `C` and `v`, half of one plus the squared coefficient of variation of the service times. It is
//! exact where that is 1. What waits already is not in the formula, and neither is a load that
//! changes within the window; and service times that grow because of the workers look like load.

use std::time::Duration;

use super::meter::{Look, Meter};
use super::sliding::Sliding;
use crate::decide::Decider;
use crate::policy::Inspection;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::signal::Unit;
use crate::{Policy, Proposal, Reason, Situation, Staffing};

/// The fewest workers with which hardly a task waits too long, by Erlang's formula.
///
/// ```
/// use headcount_core::decide::ErlangConfig;
/// use std::time::Duration;
///
/// // For P(wait > 50 ms) of 1 % at most, with 1000 tasks a second of 59.7 ms.
/// let strict = ErlangConfig { wait_budget: Duration::from_millis(50), ..Default::default() };
/// assert_eq!(strict.late_max, 0.01);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct ErlangConfig {
    /// How long a task may wait. Default: 100 ms.
    pub wait_budget: Duration,
    /// The share of tasks that may wait longer. Default: 0.01.
    pub late_max: f64,
    /// Over which time arrivals and service times are measured. Default: 60 s.
    pub window: Duration,
}

impl Default for ErlangConfig {
    fn default() -> Self {
        let (wait_budget, window) = (Duration::from_millis(100), Duration::from_secs(60));
        Self { wait_budget, late_max: 0.01, window }
    }
}

impl ErlangConfig {
    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        inspection.inner_share("late_max", self.late_max);
        inspection.some_time("window", self.window);
    }

    pub(crate) fn build(&self) -> Erlang {
        Erlang { config: *self, meter: Meter::default(), sums: Sliding::default() }
    }
}

/// The decider.
#[derive(Clone, Debug)]
pub(crate) struct Erlang {
    config: ErlangConfig,
    meter: Meter,
    /// Tasks that came, tasks that ended, busy seconds.
    sums: Sliding<3>,
}

impl Erlang {
    fn observe(&mut self, situation: &Situation<'_>) {
        match self.meter.look(situation) {
            Look::First => self.sums = Sliding::default(),
            Look::Again => {}
            Look::Next(passed) => {
                let amounts = [passed.submitted, passed.ended, passed.busy_seconds];
                self.sums.add(situation.now(), self.config.window, passed.seconds, amounts);
            }
        }
    }
}

impl Decider for Erlang {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        self.observe(situation);
        let pool = situation.pool();
        let (seconds, [arrived, ended, busy]) = self.sums.sums(situation.now(), self.config.window);
        if seconds <= 0.0 || ended < 1.0 || busy <= 0.0 {
            let is_quiet = 0.0 < seconds && arrived == 0.0 && pool.queued == 0;
            return match is_quiet {
                true => Proposal::want(Staffing::exactly(pool.busy), Reason::WaitBudget),
                false => Proposal::abstain(Reason::NoData),
            };
        }
        let service = busy / ended;
        let load = arrived / seconds * service;
        let scv = pool.service.map_or(1.0, |service| service.scv);
        let variability =
            if scv.is_finite() { f64::midpoint(1.0, scv.clamp(0.0, 100.0)) } else { 1.0 };
        let patience = self.config.wait_budget.as_secs_f64() / service / variability;
        let size = staffed(load, patience, self.config.late_max);
        let mut proposal = Proposal::want(Staffing::exactly(size), Reason::WaitBudget);
        proposal.estimate("load", Unit::Count, load);
        proposal.estimate("service", Unit::Seconds, service);
        proposal
    }

    fn save(&self, notes: &mut Notes) {
        (self.meter, self.sums).write(notes);
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        (self.meter, self.sums) = Noted::read(notes)?;
        Some(())
    }
}

/// The fewest workers with which no more than `late_max` of the tasks wait for longer than
/// `patience`, in service times.
pub(in crate::scaling::decide) fn staffed(load: f64, patience: f64, late_max: f64) -> u32 {
    if load.is_nan() || f64::from(Policy::WORKERS_MAX) <= load {
        return Policy::WORKERS_MAX;
    }
    // Erlang's B for one worker after another, which stays within 0 and 1 for any number.
    let mut blocked = 1.0;
    for workers in 1..Policy::WORKERS_MAX {
        let count = f64::from(workers);
        blocked = load * blocked / (count + load * blocked);
        if count <= load {
            continue;
        }
        let waits = blocked / (1.0 - load / count * (1.0 - blocked));
        if waits * (-(count - load) * patience).exp() <= late_max {
            return workers;
        }
    }
    Policy::WORKERS_MAX
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Pool, run};
    use super::*;

    #[test]
    fn as_many_as_the_tables_say() {
        // Known values for exponential service: P(wait > one service time) of 1 % at most.
        let utilization = |load: f64| load / f64::from(staffed(load, 1.0, 0.01));
        for (load, expected) in [(1.0, 0.25), (4.0, 0.57), (10.0, 0.71), (50.0, 0.93)] {
            let found = utilization(load);
            assert!((found - expected).abs() < 0.09, "{load}: {found}");
        }
        // Nobody may wait at all: square-root staffing, R + 2.5 sqrt(R) or so.
        assert_eq!(staffed(59.7, 0.0, 0.01), 80);
    }

    #[test]
    fn a_load_beyond_all_bounds_ends_somewhere() {
        assert_eq!(staffed(1e30, 0.0, 0.01), Policy::WORKERS_MAX);
        assert_eq!(staffed(f64::NAN, 0.0, 0.01), Policy::WORKERS_MAX);
        assert_eq!(staffed(0.0, 0.0, 0.01), 1);
    }

    #[test]
    fn the_load_is_measured_by_busy_time() {
        // 100 tasks a second of 0.1 s: a load of 10, and a budget of one service time.
        let mut erlang = ErlangConfig::default().build();
        let pool = run(&mut erlang, Pool::of(10).busy(10).arrivals(100.0).service(0.1), 2);
        assert_eq!(pool.snapshot.ceiling, staffed(10.0, 1.0, 0.01));
    }
}
