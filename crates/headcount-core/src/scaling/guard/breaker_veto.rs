//! Refuses growth while the circuit breaker is not closed.

use super::{Because, Guard, Ruling};
use crate::{Breaker, Situation, Staffing};

/// Refuses growth while the circuit breaker is open or half open.
///
/// ```
/// use headcount_core::guard::{Because, BreakerVeto, Guard, Ruling};
/// use headcount_core::{Breaker, History, Observation, PoolSnapshot, Situation, Staffing};
///
/// let pool = PoolSnapshot::of(Staffing::exactly(4));
/// let observation = Observation { pool, breaker: Some(Breaker::Open), ..Observation::default() };
/// let history = History::default();
/// let situation = Situation { observation: &observation, readings: &[], history: &history };
/// let review = |size| BreakerVeto {}.review(&situation, Staffing::exactly(size));
/// assert_eq!(review(5), Ruling::Hold(Because::Breaker(Breaker::Open)));
/// assert_eq!(review(3), Ruling::Allow, "a shrink harms nobody");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct BreakerVeto {}

impl Guard for BreakerVeto {
    fn name(&self) -> &'static str {
        "breaker_veto"
    }

    fn review(&self, situation: &Situation<'_>, wanted: Staffing) -> Ruling {
        let from = situation.from();
        match situation.observation.breaker {
            Some(breaker @ (Breaker::Open | Breaker::HalfOpen)) => {
                Ruling::of(from, wanted, wanted.no_more_than(from), Because::Breaker(breaker))
            }
            Some(Breaker::Closed) | None => Ruling::Allow,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::guard::harness::Scene;

    #[test]
    fn an_open_breaker_stops_growth() {
        let breaker = |state| Scene::at(0).with(move |o| o.breaker = Some(state));
        breaker(Breaker::Open).check(&BreakerVeto {}, 4, 8, "breaker_veto 4");
        breaker(Breaker::HalfOpen).check(&BreakerVeto {}, 4, 8, "breaker_veto 4");
        breaker(Breaker::Closed).check(&BreakerVeto {}, 4, 8, "yes 8");
        breaker(Breaker::Open).check(&BreakerVeto {}, 4, 1, "yes 1");
    }
}
