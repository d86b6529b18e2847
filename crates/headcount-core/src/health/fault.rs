//! What can be wrong with the rules of health, in words that name the field and its range.

use std::fmt;

use super::rules::{Exhausted, HealthRules, Thresholds, Weights};

impl HealthRules {
    /// Reports everything that is wrong, not only the first thing.
    ///
    /// # Errors
    ///
    /// When a weight is negative or all are 0, when thresholds cross, or when a number is not
    /// finite or out of its range.
    pub fn check(&self) -> Result<(), Vec<HealthFault>> {
        let mut faults = self.weights.faults();
        for limits in self.limits() {
            limits.report(&mut faults);
        }
        if faults.is_empty() {
            return Ok(());
        }
        Err(faults)
    }

    fn limits(&self) -> [Limits; 7] {
        let exhausted = self.exhausted();
        let at = |field: fn(Exhausted) -> f64| exhausted.map(field);
        let limits =
            |field, most, thresholds, exhausted| Limits { field, most, thresholds, exhausted };
        [
            limits("io_wait", 1.0, self.io_wait, at(|e| e.io_wait)),
            limits("load_per_core", f64::MAX, self.load_per_core, at(|e| e.load_per_core)),
            limits("db_pool", 1.0, self.db_pool, at(|e| e.db_pool)),
            limits("memory", 1.0, self.memory, at(|e| e.memory)),
            limits("io_pressure", 1.0, self.io_pressure, None),
            limits("cpu_pressure", 1.0, self.cpu_pressure, None),
            limits("memory_pressure", 1.0, self.memory_pressure, at(|e| e.memory_pressure)),
        ]
    }
}

impl Weights {
    fn faults(&self) -> Vec<HealthFault> {
        let named = [
            ("weights.io", self.io),
            ("weights.cpu", self.cpu),
            ("weights.db_pool", self.db_pool),
            ("weights.memory", self.memory),
        ];
        let wrong = |value: f64| !(value.is_finite() && 0.0 <= value);
        let mut faults: Vec<_> = named
            .into_iter()
            .filter(|(_, value)| wrong(*value))
            .map(|(field, value)| HealthFault::Weight { field, value })
            .collect();
        if named.iter().all(|(_, value)| *value == 0.0) {
            faults.push(HealthFault::NoWeight);
        }
        faults
    }
}

/// All the limits of one vital, side by side for checking.
struct Limits {
    field: &'static str,
    most: f64,
    thresholds: Thresholds,
    exhausted: Option<f64>,
}

impl Limits {
    fn report(&self, faults: &mut Vec<HealthFault>) {
        let Self { field, most, thresholds: Thresholds { low, high }, exhausted } = *self;
        let edges = [("low", Some(low)), ("high", Some(high)), ("exhausted", exhausted)];
        let known = faults.len();
        for (edge, value) in edges {
            if let Some(value) = value.filter(|value| !(0.0 <= *value && *value <= most)) {
                faults.push(HealthFault::Outside { field, edge, value, most });
            }
        }
        // Numbers out of range are not compared: one mistake is reported once.
        if known < faults.len() {
            return;
        }
        if high <= low {
            faults.push(HealthFault::Crossed { field, low, high });
        }
        if let Some(exhausted) = exhausted.filter(|exhausted| *exhausted <= high) {
            faults.push(HealthFault::ExhaustedEarly { field, high, exhausted });
        }
    }
}

/// Something that is wrong with [`HealthRules`].
///
/// ```
/// use headcount_core::health::{HealthRules, Weights};
///
/// let weights = Weights { io: -1.0, ..Weights::default() };
/// let faults = HealthRules { weights, ..HealthRules::default() }.check();
/// let text = faults.expect_err("less than nothing")[0].to_string();
/// assert_eq!(text, "weights.io is -1; a finite number of at least 0 is allowed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs)] // The fields are the names and values that the message shows.
pub enum HealthFault {
    /// A weight is negative or not finite.
    Weight { field: &'static str, value: f64 },
    /// Every weight is 0, so nothing counts.
    NoWeight,
    /// A number is not one that its vital can have.
    Outside { field: &'static str, edge: &'static str, value: f64, most: f64 },
    /// The low threshold is not below the high one.
    Crossed { field: &'static str, low: f64, high: f64 },
    /// The vital is exhausted before it counts in full.
    ExhaustedEarly { field: &'static str, high: f64, exhausted: f64 },
}

impl fmt::Display for HealthFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Weight { field, value } => {
                write!(f, "{field} is {value}; a finite number of at least 0 is allowed")
            }
            Self::NoWeight => write!(f, "weights are all 0; at least one must be above 0"),
            Self::Outside { field, edge, value, most } => {
                match edge {
                    "exhausted" => write!(f, "exhaustion.limits.{field} is {value}; ")?,
                    _ => write!(f, "{field}.{edge} is {value}; ")?,
                }
                match most {
                    f64::MAX => write!(f, "a finite number of at least 0 is allowed"),
                    _ => write!(f, "a number from 0 to {most} is allowed"),
                }
            }
            Self::Crossed { field, low, high } => {
                write!(f, "{field}.low ({low}) is not below {field}.high ({high})")
            }
            Self::ExhaustedEarly { field, high, exhausted } => {
                write!(
                    f,
                    "{field}.high ({high}) is not below exhaustion.limits.{field} ({exhausted})"
                )
            }
        }
    }
}

impl std::error::Error for HealthFault {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::Exhaustion;

    fn check(rules: HealthRules, faults: &[&str]) {
        let found = rules.check().err().unwrap_or_default();
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), faults);
    }

    #[test]
    fn the_defaults_are_without_fault() {
        check(HealthRules::default(), &[]);
        check(HealthRules::syshealth(), &[]);
    }

    #[test]
    fn every_fault_is_reported_at_once() {
        let rules = HealthRules {
            weights: Weights { io: f64::NAN, cpu: -0.3, ..Weights::default() },
            load_per_core: Thresholds { low: 3.0, high: 3.0 },
            cpu_pressure: Thresholds { low: 0.5, high: f64::INFINITY },
            exhaustion: Exhaustion::Limits(Exhausted { db_pool: 1.2, ..Exhausted::default() }),
            ..HealthRules::default()
        };
        check(
            rules,
            &[
                "weights.io is NaN; a finite number of at least 0 is allowed",
                "weights.cpu is -0.3; a finite number of at least 0 is allowed",
                "load_per_core.low (3) is not below load_per_core.high (3)",
                "exhaustion.limits.db_pool is 1.2; a number from 0 to 1 is allowed",
                "cpu_pressure.high is inf; a number from 0 to 1 is allowed",
            ],
        );
    }

    #[test]
    fn something_has_to_count() {
        let weights = Weights { io: 0.0, cpu: 0.0, db_pool: 0.0, memory: 0.0 };
        check(
            HealthRules { weights, ..HealthRules::default() },
            &["weights are all 0; at least one must be above 0"],
        );
    }

    #[test]
    fn what_is_ignored_is_not_checked() {
        let memory = Thresholds { low: 0.85, high: 0.99 };
        check(
            HealthRules { memory, ..HealthRules::default() },
            &["memory.high (0.99) is not below exhaustion.limits.memory (0.98)"],
        );
        let exhaustion = Exhaustion::Ignored;
        check(HealthRules { memory, exhaustion, ..HealthRules::default() }, &[]);
    }
}
