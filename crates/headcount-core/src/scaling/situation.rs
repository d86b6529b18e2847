//! What deciders and guards are shown.

use super::history::History;
use super::observation::{Observation, PoolSnapshot};
use super::signal::Reading;
use super::staffing::Staffing;
use crate::Timestamp;

/// What deciders and guards are shown: the present, the readings and the past.
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// Where it comes from.
    pub reading: Reading,
    /// The value.
    pub value: f64,
}
