//! One door to all guards: a scene, what is wanted, and what is left of it as text.

use super::{Bounds, Guard};
use crate::health::Health;
use crate::scaling::decision::Decision;
use crate::scaling::signal::{Reading, Unit};
use crate::{
    History, List, Mode, Name, Observation, PoolSnapshot, Proposal, Reason, Situation, Staffing,
    Timestamp,
};
use std::time::Duration;

/// A moment, with a past.
pub(crate) struct Scene {
    observation: Observation,
    history: History,
    readings: Vec<Reading>,
}

impl Scene {
    pub(crate) fn at(seconds: u64) -> Self {
        let now = Timestamp::from_secs(seconds);
        Self {
            observation: Observation::new(now, PoolSnapshot::default()),
            history: History::over(Duration::from_secs(60)),
            readings: Vec::new(),
        }
    }

    pub(crate) fn grew(mut self, seconds: u64) -> Self {
        let (few, many) = (Staffing::exactly(1), Staffing::exactly(2));
        self.history.applied(Timestamp::from_secs(seconds), few, many);
        self
    }

    pub(crate) fn shrank(mut self, seconds: u64) -> Self {
        let (few, many) = (Staffing::exactly(1), Staffing::exactly(2));
        self.history.applied(Timestamp::from_secs(seconds), many, few);
        self
    }

    pub(crate) fn wanted(mut self, proposals: &[(u64, u32)]) -> Self {
        for (seconds, size) in proposals {
            self.history.decided(&decision(*seconds, *size));
        }
        self
    }

    pub(crate) fn braked(mut self, seconds: u64, ceiling: u32) -> Self {
        self.history.braked(Timestamp::from_secs(seconds), ceiling);
        self
    }

    pub(crate) fn reads(mut self, name: &str, value: f64) -> Self {
        let name = Name::cut(name);
        self.readings.push(Reading {
            name,
            unit: Unit::Number,
            reason: Reason::External,
            value: Some(value),
        });
        self
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Observation)) -> Self {
        change(&mut self.observation);
        self
    }

    pub(crate) fn check(&self, guard: &dyn Guard, from: u32, wanted: u32, expected: &str) {
        self.check_staffing(guard, Staffing::exactly(from), Staffing::exactly(wanted), expected);
    }

    pub(crate) fn check_staffing(
        &self,
        guard: &dyn Guard,
        from: Staffing,
        wanted: Staffing,
        expected: &str,
    ) {
        let mut observation = self.observation.clone();
        observation.pool =
            PoolSnapshot { draining: observation.pool.draining, ..PoolSnapshot::of(from) };
        let (readings, history) = (self.readings.as_slice(), &self.history);
        let situation = Situation { observation: &observation, readings, history };
        let ruling = guard.review(&situation, wanted);
        let left = ruling.applied_to(from, wanted);
        let text = match ruling.because() {
            None => format!("yes {left}"),
            Some(because) => format!("{}{} {left}", guard.name(), because.brief()),
        };
        assert_eq!(text, expected, "{} from {from}, wanted {wanted}", guard.name());
    }
}

/// A scene without a past, at the first moment.
pub(crate) fn check(guard: &dyn Guard, from: u32, wanted: u32, expected: &str) {
    Scene::at(0).check(guard, from, wanted, expected);
}

/// The same with a range of workers.
pub(crate) fn check_staffing(guard: &dyn Guard, from: Staffing, wanted: Staffing, expected: &str) {
    Scene::at(0).check_staffing(guard, from, wanted, expected);
}

/// Health with this score, measured at this second.
pub(crate) fn health(score: f64, seconds: u64) -> impl FnOnce(&mut Observation) {
    let measured_at = Timestamp::from_secs(seconds);
    move |observation| {
        observation.health = Some(Health { measured_at, score, worst: None });
    }
}

fn decision(seconds: u64, size: u32) -> Decision {
    Decision {
        at: Timestamp::from_secs(seconds),
        mode: Mode::Automatic,
        bounds: Bounds { min: 0, max: u32::MAX },
        from: Staffing::exactly(size),
        to: Staffing::exactly(size),
        readings: List::default(),
        proposal: Proposal::want(Staffing::exactly(size), Reason::Steady),
        rulings: List::default(),
    }
}
