//! What deciders and guards are shown.

use super::history::History;
use super::observation::{Observation, PoolSnapshot};
use super::signal::Reading;
use super::staffing::Staffing;
use crate::Timestamp;

/// What deciders and guards are shown: the present, the readings and the past.
///
/// ```
/// use headcount_core::decide::{AllBusy, Decider};
/// use headcount_core::{History, Observation, PoolSnapshot, Situation, Staffing};
///
/// let pool = PoolSnapshot { busy: 4, ..PoolSnapshot::of(Staffing::exactly(4)) };
/// let observation = Observation { pool, ..Observation::default() };
/// let history = History::default();
/// let situation = Situation { observation: &observation, readings: &[], history: &history };
/// let proposal = AllBusy::default().decide(&situation);
/// assert_eq!(proposal.wanted, Some(Staffing::exactly(5)));
/// assert_eq!(situation.reading("utilization"), None, "no signal was read");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// What was observed.
    pub observation: &'a Observation,
    /// What the signals made of it.
    pub readings: &'a [Reading],
    /// What came before.
    pub history: &'a History,
}

impl<'a> Situation<'a> {
    /// The present.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.observation.at
    }

    /// The pool.
    #[must_use]
    pub fn pool(&self) -> &'a PoolSnapshot {
        &self.observation.pool
    }

    /// The staffing in force.
    #[must_use]
    pub fn from(&self) -> Staffing {
        self.observation.pool.staffing()
    }

    /// What the signal called `name` reads, or `None` where it reads nothing.
    #[must_use]
    pub fn reading(&self, name: &str) -> Option<Known> {
        let reading = self.readings.iter().find(|reading| &reading.name == name)?;
        let value = reading.value?;
        Some(Known { reading: *reading, value })
    }
}

/// A reading that has a value.
///
/// ```
/// use headcount_core::signal::{Reading, Unit};
/// use headcount_core::{History, Name, Observation, Situation};
///
/// let reading = |name, value| {
///     let name = Name::new(name).expect("a name");
///     Reading { name, unit: Unit::Seconds, value, ..Reading::default() }
/// };
/// let readings = [reading("wait_p99", Some(0.9)), reading("idle_time", None)];
/// let (observation, history) = (Observation::default(), History::default());
/// let situation = Situation { observation: &observation, readings: &readings, history: &history };
/// let known = situation.reading("wait_p99").expect("it has a value");
/// assert_eq!(known.reading.unit.show(known.value).to_string(), "0.9 s");
/// assert_eq!(situation.reading("idle_time"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// Where it comes from.
    pub reading: Reading,
    /// The value.
    pub value: f64,
}
