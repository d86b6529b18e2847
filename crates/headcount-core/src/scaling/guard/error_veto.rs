//! Refuses growth while too many tasks fail.
//!
//! A slow or broken downstream makes tasks longer and queues deeper, which asks for more workers,
//! which makes it worse. Errors tell that story apart from real load.

use super::{Because, Guard, Ruling};
use crate::{Name, Situation, Staffing};

/// Refuses growth while too many tasks fail.
///
/// ```
/// use headcount_core::guard::{Because, ErrorVeto, Guard, Ruling};
/// use headcount_core::signal::Reading;
/// use headcount_core::{History, Observation, PoolSnapshot, Situation, Staffing};
///
/// let veto = ErrorVeto::default();
/// let readings = [Reading { name: veto.signal, value: Some(0.25), ..Reading::default() }];
/// let pool = PoolSnapshot::of(Staffing::exactly(4));
/// let observation = Observation { pool, ..Observation::default() };
/// let history = History::default();
/// let situation = Situation { observation: &observation, readings: &readings, history: &history };
/// assert_eq!(veto.review(&situation, Staffing::exactly(5)), Ruling::Hold(Because::Errors(0.25)));
/// assert_eq!(veto.review(&situation, Staffing::exactly(3)), Ruling::Allow);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct ErrorVeto {
    /// The signal that reads the share of tasks that fail. Default: `error_rate`.
    pub signal: Name,
    /// The share from which growth is refused. Default: 0.1.
    pub rate_max: f64,
}

impl Default for ErrorVeto {
    fn default() -> Self {
        Self { signal: Name::cut("error_rate"), rate_max: 0.1 }
    }
}

impl Guard for ErrorVeto {
    fn name(&self) -> &'static str {
        "error_veto"
    }

    fn review(&self, situation: &Situation<'_>, wanted: Staffing) -> Ruling {
        let from = situation.from();
        match situation.reading(self.signal.as_str()) {
            Some(known) if self.rate_max < known.value => {
                Ruling::of(from, wanted, wanted.no_more_than(from), Because::Errors(known.value))
            }
            // No task ended, so none failed: without a reading there is nothing to refuse on.
            _ => Ruling::Allow,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::guard::harness::{Scene, check};

    #[test]
    fn errors_stop_growth_and_nothing_else() {
        let scene = Scene::at(0).reads("error_rate", 0.4);
        scene.check(&ErrorVeto::default(), 4, 8, "error_veto (40 % fail) 4");
        scene.check(&ErrorVeto::default(), 4, 2, "yes 2");
        Scene::at(0).reads("error_rate", 0.1).check(&ErrorVeto::default(), 4, 8, "yes 8");
        check(&ErrorVeto::default(), 4, 8, "yes 8");
    }
}
