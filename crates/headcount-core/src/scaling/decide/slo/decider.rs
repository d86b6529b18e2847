//! Puts trust region, knee and forecast together.

use super::config::SloConfig;
use super::forecast::Forecast;
use super::knee::Knee;
use super::trust::Trust;
use crate::decide::Decider;
use crate::scaling::notes::{Notes, NotesReader};
use crate::scaling::signal::Unit;
use crate::{Comparison, Evidence, Name, Proposal, Reason, Situation, Staffing};

/// How many times as long as a start a task takes before the start is nothing to plan for.
const DELAYS_SLIGHT: f64 = 100.0;

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
    trust: Trust,
    knee: Knee,
    forecast: Forecast,
}

impl Slo {
    pub(super) fn new(config: SloConfig) -> Self {
        Self {
            config,
            trust: Trust::new(&config),
            knee: Knee::new(config.inflation_max),
            forecast: Forecast::default(),
        }
    }

    /// The most workers that may be.
    fn ceiling(&mut self) -> u32 {
        let ceiling = match self.knee.limit() {
            Some(limit) => limit.min(self.trust.region()),
            None => self.trust.show(),
        };
        whole(ceiling).max(1)
    }

    fn observe(&mut self, situation: &Situation<'_>) {
        let finding = self.knee.observe(situation, &self.trust);
        self.trust.observe(situation.observation, finding);
    }

    /// The workers to keep: only where one comes too late for its task.
    fn floor(&mut self, situation: &Situation<'_>) -> Option<u32> {
        let pool = situation.pool();
        let delay = pool.spawn_delay.filter(|delay| !delay.is_zero())?;
        // Against what the task itself takes, some delays are none, however small the budget. The
        // last few may all have been small by chance, so what is known of many goes first.
        let few = || pool.service.map(|few| few.mean.as_secs_f64());
        let task = self.knee.task_seconds().or_else(few).or_else(|| self.forecast.service());
        let is_slight = task.is_some_and(|task| delay.as_secs_f64() < task / DELAYS_SLIGHT);
        if is_slight || delay < self.config.start_max() {
            return None;
        }
        let service = self.knee.task_seconds();
        self.forecast.observe(situation, delay, service, self.config.wait_budget);
        self.forecast.workers(self.config.wait_budget)
    }

    /// What speaks for a limit.
    fn evidence(&self) -> Option<Evidence> {
        self.knee.limit()?;
        let (value, limit) = (self.knee.inflation()?, self.config.inflation_max);
        let comparison = match limit < value {
            true => Comparison::Above,
            false => Comparison::AtMost,
        };
        // A probe out of habit has no evidence yet; it goes and gets it.
        if comparison == Comparison::AtMost && self.knee.bound().is_none() {
            return None;
        }
        Some(Evidence {
            name: Name::cut("inflation"),
            unit: Unit::Number,
            value,
            comparison,
            limit,
        })
    }
}

impl Decider for Slo {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        self.observe(situation);
        let floor = self.floor(situation);
        let ceiling = self.ceiling();
        let floor = floor.unwrap_or(0);

        let reason = match (self.knee.bound(), self.knee.limit()) {
            (Some(_), _) => Reason::Knee,
            (None, Some(_)) => Reason::Probe,
            (None, None) => Reason::WaitBudget,
        };
        let mut proposal = Proposal::want(Staffing::between(floor, ceiling), reason);
        proposal.evidence = self.evidence();
        proposal.estimate("wait_budget", Unit::Seconds, self.config.wait_budget.as_secs_f64());
        proposal.estimate("trust", Unit::Count, self.trust.region());
        proposal.estimate("worked", Unit::Count, self.trust.worked());
        self.knee.estimates(&mut proposal);
        if let Some(delay) = situation.pool().spawn_delay {
            proposal.estimate("spawn_delay", Unit::Seconds, delay.as_secs_f64());
        }
        if let Some(load) = self.forecast.load().filter(|_| 0 < floor) {
            proposal.estimate("forecast_load", Unit::Count, load);
        }
        proposal
    }

    fn save(&self, notes: &mut Notes) {
        self.trust.save(notes);
        self.knee.save(notes);
        self.forecast.save(notes);
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        self.trust.load(notes)?;
        self.knee.load(notes)?;
        self.forecast.restore(notes)
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
fn whole(workers: f64) -> u32 {
    workers.round() as u32
}
