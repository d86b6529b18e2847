//! Puts trust region, knee and forecast together.

use std::time::Duration;

use super::config::SloConfig;
use super::forecast::Forecast;
use super::knee::Knee;
use crate::decide::Decider;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::signal::Unit;
use crate::{Comparison, Evidence, Name, Proposal, Reason, Situation, Staffing};

/// How much of the trusted concurrency is forgotten at each tick that does not use it.
const TRUST_DECAY: f64 = 0.9995;
/// Standard deviations of a Poisson load that the floor covers: a wait for one task in forty.
const HEADROOM: f64 = 2.0;

/// Keeps waits within a budget, and stops where more workers stop helping.
///
/// ```
/// use headcount_core::decide::{Decider, SloConfig};
/// use headcount_core::{History, Observation, PoolSnapshot, Situation, Staffing, Timestamp};
///
/// let mut slo = SloConfig::default().build();
/// let pool = PoolSnapshot::of(Staffing::between(0, 8));
/// let observation = Observation::new(Timestamp::ORIGIN, pool);
/// let history = History::default();
/// let situation = Situation { observation: &observation, readings: &[], history: &history };
/// let proposal = slo.decide(&situation);
/// assert_eq!(proposal.wanted, Some(Staffing::between(0, 64)), "what is trusted unmeasured");
/// ```
#[derive(Clone, Debug)]
pub struct Slo {
    config: SloConfig,
    /// The concurrency that demonstrably worked.
    effective: f64,
    knee: Knee,
    forecast: Forecast,
}

impl Slo {
    pub(super) fn new(config: SloConfig) -> Self {
        Self {
            config,
            effective: 0.0,
            knee: Knee::new(config.inflation_max),
            forecast: Forecast::default(),
        }
    }

    fn trust(&self) -> f64 {
        (self.effective * self.config.trust_factor).max(f64::from(self.config.trust_start))
    }

    /// The most workers that may be.
    fn ceiling(&self) -> f64 {
        let trusted = self.trust();
        match (self.knee.limit(), self.knee.probe()) {
            (Some(limit), _) => limit.min(trusted),
            (None, Some(probe)) => trusted.max(probe),
            (None, None) => trusted,
        }
    }

    fn observe(&mut self, situation: &Situation<'_>) {
        let ceiling = self.ceiling();
        self.knee.observe(situation, ceiling);
        self.effective *= TRUST_DECAY;
        if self.knee.is_clean() && 0 < situation.pool().counters.completed {
            self.effective = self.effective.max(f64::from(situation.pool().busy));
        }
    }

    /// The load to staff for ahead of time: only where a worker comes too late for its task.
    fn forecast_load(&mut self, situation: &Situation<'_>) -> Option<f64> {
        let delay = situation.pool().spawn_delay.unwrap_or(Duration::ZERO);
        self.forecast.observe(situation, delay);
        if delay < self.config.wait_budget / 2 || delay.is_zero() {
            return None;
        }
        let service = situation.pool().service?.mean.as_secs_f64();
        Some(self.forecast.arrivals(delay)? * service)
    }
}

impl Decider for Slo {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        self.observe(situation);
        let load = self.forecast_load(situation);
        let ceiling = whole(self.ceiling()).max(1);
        let floor = load.map_or(0, |load| whole((load + HEADROOM * load.sqrt()).ceil()));

        let reason = if self.knee.limit().is_some() { Reason::Knee } else { Reason::WaitBudget };
        let mut proposal = Proposal::want(Staffing::between(floor, ceiling), reason);
        if let Some(times) = self.knee.inflation().filter(|_| reason == Reason::Knee) {
            let above = self.config.inflation_max < times;
            proposal = proposal.because(Evidence {
                name: Name::cut("inflation"),
                unit: Unit::Number,
                value: times,
                comparison: if above { Comparison::Above } else { Comparison::AtMost },
                limit: self.config.inflation_max,
            });
        }
        proposal.estimate("wait_budget", Unit::Seconds, self.config.wait_budget.as_secs_f64());
        proposal.estimate("trust", Unit::Count, self.trust());
        self.knee.estimates(&mut proposal);
        if let Some(delay) = situation.pool().spawn_delay {
            proposal.estimate("spawn_delay", Unit::Seconds, delay.as_secs_f64());
        }
        if let Some(load) = load {
            proposal.estimate("forecast_load", Unit::Count, load);
        }
        proposal
    }

    fn save(&self, notes: &mut Notes) {
        self.effective.write(notes);
        self.knee.save(notes);
        self.forecast.save(notes);
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        self.effective = Noted::read(notes)?;
        self.knee.load(notes)?;
        self.forecast.load(notes)
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
fn whole(workers: f64) -> u32 {
    workers.round() as u32
}
