//! How vitals become a score: weights, thresholds, and where a resource is exhausted.
//!
//! The defaults are those of the health design this project was asked for in; the thresholds of
//! kernel pressure and of exhaustion are ours, because that design has none.

use super::zone::Zone;

/// How vitals become a score.
///
/// ```
/// use headcount_core::health::{HealthRules, Thresholds};
///
/// let rules = HealthRules {
///     memory: Thresholds { low: 85.0, high: 95.0 },
///     ..HealthRules::default()
/// };
/// let faults = rules.check().expect_err("a percentage where a share belongs");
/// assert_eq!(faults[0].to_string(), "memory.low is 85; a number from 0 to 1 is allowed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct HealthRules {
    /// How a reading between its thresholds is scored. Default: smooth.
    pub scoring: Scoring,
    /// How much each resource counts.
    pub weights: Weights,
    /// Thresholds of [`Vitals::io_wait`](super::Vitals::io_wait). Default: 0.20 and 0.40.
    pub io_wait: Thresholds,
    /// Thresholds of [`Vitals::load_per_core`](super::Vitals::load_per_core). Default: 2 and 3.
    pub load_per_core: Thresholds,
    /// Thresholds of [`Vitals::db_pool`](super::Vitals::db_pool). Default: 0.75 and 0.90.
    pub db_pool: Thresholds,
    /// Thresholds of [`Vitals::memory`](super::Vitals::memory). Default: 0.85 and 0.95.
    pub memory: Thresholds,
    /// Thresholds of [`Pressure::io`](super::Pressure::io). Default: 0.40 and 0.80, twice those of
    /// I/O wait, because one busy reader alone on the machine already stalls most of the time.
    pub io_pressure: Thresholds,
    /// Thresholds of [`Pressure::cpu`](super::Pressure::cpu). Default: 0.70 and 0.95, because two
    /// tasks on every core already come near 1.
    pub cpu_pressure: Thresholds,
    /// Thresholds of [`Pressure::memory`](super::Pressure::memory). Default: 0.10 and 0.40, because
    /// a machine with enough memory hardly ever stalls for it.
    pub memory_pressure: Thresholds,
    /// Whether one resource can limit the score by itself. Default: it can.
    pub exhaustion: Exhaustion,
}

impl HealthRules {
    /// The rules exactly as they were first written down: steps, and weights alone.
    ///
    /// They are kept for comparison. With them memory at 99 % alone scores 90, which is safe.
    #[must_use]
    pub fn syshealth() -> Self {
        Self { scoring: Scoring::Stepped, exhaustion: Exhaustion::Ignored, ..Self::default() }
    }

    /// Where each vital is exhausted, if that is to count.
    pub(super) fn exhausted(&self) -> Option<Exhausted> {
        match self.exhaustion {
            Exhaustion::Ignored => None,
            Exhaustion::Limits(exhausted) => Some(exhausted),
        }
    }
}

impl Default for HealthRules {
    fn default() -> Self {
        let between = |low, high| Thresholds { low, high };
        Self {
            scoring: Scoring::default(),
            weights: Weights::default(),
            io_wait: between(0.20, 0.40),
            load_per_core: between(2.0, 3.0),
            db_pool: between(0.75, 0.90),
            memory: between(0.85, 0.95),
            io_pressure: between(0.40, 0.80),
            cpu_pressure: between(0.70, 0.95),
            memory_pressure: between(0.10, 0.40),
            exhaustion: Exhaustion::default(),
        }
    }
}

/// How a reading between its two thresholds is scored.
///
/// ```
/// use headcount_core::health::{Health, HealthRules, Scoring, Vitals};
/// use headcount_core::Timestamp;
///
/// let vitals = Vitals { io_wait: Some(0.25), ..Vitals::default() };
/// let score = |scoring| {
///     let rules = HealthRules { scoring, ..HealthRules::default() };
///     Health::assess(&rules, &vitals, Timestamp::ORIGIN).map(|health| health.score.round())
/// };
/// assert_eq!(score(Scoring::Smooth), Some(75.0), "a quarter of the way");
/// assert_eq!(score(Scoring::Stepped), Some(50.0), "anywhere between the two");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Scoring {
    /// On a straight line from 0 at the low threshold to 100 at the high one, so that a reading
    /// that wavers about a threshold does not make the score jump.
    #[default]
    Smooth,
    /// In steps: 0 below the low threshold, 100 above the high one, 50 between and at them.
    Stepped,
}

impl Scoring {
    /// How strained a resource is at `value`, from 0 to 100.
    pub(super) fn strain(self, value: f64, thresholds: Thresholds) -> f64 {
        let Thresholds { low, high } = thresholds;
        match self {
            _ if value < low => 0.0,
            _ if high < value => 100.0,
            Self::Stepped => 50.0,
            // At most 100, so that rounding cannot make the threshold worse than what is past it.
            Self::Smooth => (100.0 * (value - low) / (high - low)).min(100.0),
        }
    }
}

/// How much each resource counts; only their proportions matter.
///
/// A weight of 0 leaves the resource out altogether, its exhaustion too.
///
/// ```
/// use headcount_core::health::{Health, HealthRules, Vitals, Weights};
/// use headcount_core::Timestamp;
///
/// let weights = Weights { memory: 0.0, ..Weights::default() };
/// let rules = HealthRules { weights, ..HealthRules::default() };
/// let vitals = Vitals { memory: Some(0.99), io_wait: Some(0.0), ..Vitals::default() };
/// let health = Health::assess(&rules, &vitals, Timestamp::ORIGIN).expect("I/O is measured");
/// assert_eq!(health.worst, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Weights {
    /// Of I/O. Default: 0.4.
    pub io: f64,
    /// Of the processors. Default: 0.3.
    pub cpu: f64,
    /// Of the database connections. Default: 0.2.
    pub db_pool: f64,
    /// Of memory. Default: 0.1.
    pub memory: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self { io: 0.4, cpu: 0.3, db_pool: 0.2, memory: 0.1 }
    }
}

/// Where a reading begins to count, and where it counts in full.
///
/// ```
/// use headcount_core::health::{HealthRules, Thresholds};
///
/// let io_wait = Thresholds { low: 0.5, high: 0.3 };
/// let faults = HealthRules { io_wait, ..HealthRules::default() }.check();
/// let text = faults.expect_err("they cross")[0].to_string();
/// assert_eq!(text, "io_wait.low (0.5) is not below io_wait.high (0.3)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Thresholds {
    /// Below this nothing is wrong.
    pub low: f64,
    /// Above this the resource counts as fully strained.
    pub high: f64,
}

impl Thresholds {
    /// The highest score that a machine with this reading may have, where it is exhausted at
    /// `exhausted`.
    ///
    /// From 100 at the high threshold it falls in a straight line, reaches the critical zone at
    /// `exhausted`, and goes on at the same slope. Nothing jumps.
    pub(super) fn score_max(self, value: f64, exhausted: f64) -> f64 {
        if value <= self.high {
            return 100.0;
        }
        let part = (value - self.high) / (exhausted - self.high);
        (100.0 - (100.0 - Zone::CRITICAL_MAX) * part).clamp(0.0, 100.0)
    }
}

/// Whether one resource can limit the score by itself.
///
/// ```
/// use headcount_core::health::{Exhaustion, Health, HealthRules, Vitals, Zone};
/// use headcount_core::Timestamp;
///
/// let vitals = Vitals { memory: Some(0.99), io_wait: Some(0.0), ..Vitals::default() };
/// let zone = |exhaustion| {
///     let rules = HealthRules { exhaustion, ..HealthRules::default() };
///     Health::assess(&rules, &vitals, Timestamp::ORIGIN).map(|health| Zone::of(health.score))
/// };
/// assert_eq!(zone(Exhaustion::default()), Some(Zone::Critical));
/// assert_eq!(zone(Exhaustion::Ignored), Some(Zone::Safe));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Exhaustion {
    /// Past its high threshold a resource limits the score, down to critical where it is
    /// exhausted.
    Limits(Exhausted),
    /// Weights alone decide.
    Ignored,
}

impl Default for Exhaustion {
    fn default() -> Self {
        Self::Limits(Exhausted::default())
    }
}

/// Where a single reading makes the machine critical, however well the others are.
///
/// Pressure on processors and disks is not among them: both come near 1 on a machine that is
/// merely busy, so they can say that a resource is contended but not that it is exhausted.
///
/// ```
/// use headcount_core::health::{Exhausted, Exhaustion, HealthRules};
///
/// let early = Exhausted { memory: 0.9, ..Exhausted::default() };
/// let rules = HealthRules { exhaustion: Exhaustion::Limits(early), ..HealthRules::default() };
/// let text = rules.check().expect_err("it begins to count at 0.95")[0].to_string();
/// assert_eq!(text, "memory.high (0.95) is not below exhaustion.limits.memory (0.9)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Exhausted {
    /// I/O wait. Default: 0.80.
    pub io_wait: f64,
    /// Load for each core. Default: 8.
    pub load_per_core: f64,
    /// Database connections in use. Default: 1.0, when the next task must wait for one.
    pub db_pool: f64,
    /// Memory in use. Default: 0.98.
    pub memory: f64,
    /// Time stalled for memory. Default: 0.60.
    pub memory_pressure: f64,
}

impl Default for Exhausted {
    fn default() -> Self {
        Self {
            io_wait: 0.80,
            load_per_core: 8.0,
            db_pool: 1.0,
            memory: 0.98,
            memory_pressure: 0.60,
        }
    }
}
