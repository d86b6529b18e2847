//! What a signal said, in units that people read.

use std::fmt;

use crate::{Name, Reason};

/// What a number counts, so that people can read it.
///
/// ```
/// use headcount_core::signal::Unit;
///
/// assert_eq!(Unit::Seconds.show(0.05).to_string(), "50 ms");
/// assert_eq!(Unit::Ratio.show(0.8125).to_string(), "81.2 %");
/// assert_eq!(Unit::PerSecond.show(12.0).to_string(), "12/s");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Unit {
    /// A plain number.
    #[default]
    Number,
    /// Seconds.
    Seconds,
    /// A share, 1 being all.
    Ratio,
    /// Tasks or workers.
    Count,
    /// Tasks a second.
    PerSecond,
    /// Points from 0, the worst, to 100.
    Score,
}

impl Unit {
    /// `value` as people read it: `0.9 s`, `81 %`, `12/s`.
    #[must_use]
    pub fn show(self, value: f64) -> impl fmt::Display {
        Shown { unit: self, value }
    }
}

struct Shown {
    unit: Unit,
    value: f64,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            Unit::Number | Unit::Count | Unit::Score => write!(f, "{}", Digits(self.value)),
            Unit::Seconds if self.value.abs() < 0.1 && self.value != 0.0 => {
                write!(f, "{} ms", Digits(self.value * 1e3))
            }
            Unit::Seconds => write!(f, "{} s", Digits(self.value)),
            // A hundred times the largest numbers is none any more.
            Unit::Ratio => {
                write!(f, "{} %", Digits((self.value * 100.0).clamp(f64::MIN, f64::MAX)))
            }
            Unit::PerSecond => write!(f, "{}/s", Digits(self.value)),
        }
    }
}

/// Three figures that count, without trailing zeros.
struct Digits(f64);

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        let places = match size {
            _ if 100.0 <= size || size == 0.0 => 0,
            _ if 10.0 <= size => 1,
            _ if 1.0 <= size => 2,
            _ => 3,
        };
        let text = format!("{:.places$}", self.0);
        // Only behind the point are zeros trailing.
        if !text.contains('.') {
            return f.write_str(&text);
        }
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// One signal's word at one tick.
///
/// ```
/// use headcount_core::{Observation, Policy, Preset, Reason};
///
/// let policy = Policy::check(&Preset::target().config(), 8).expect("no fault");
/// let decision = policy.build().tick(&Observation::default());
/// let reading = decision.readings.as_slice()[0];
/// assert_eq!(reading.name.as_str(), "utilization");
/// assert_eq!(reading.reason, Reason::WorkerUtilization);
/// assert_eq!(reading.value, None, "without workers there is no share of them, not even 0");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Reading {
    /// The signal.
    pub name: Name,
    /// What its number counts.
    pub unit: Unit,
    /// What a decision on it is put down to.
    pub reason: Reason,
    /// The number. `None`: no data, or a number that is not finite.
    pub value: Option<f64>,
}
