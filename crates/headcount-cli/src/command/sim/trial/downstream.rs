//! What jobs call: where its knee is and how that changes, and when it refuses.

use std::time::Duration;

use headcount_core::Timestamp;
use headcount_sim::bound::KneeStep;
use headcount_sim::world::{Downstream, Refusal};

use super::arguments::Arguments;
use super::numbers::{number, share};
use crate::command::duration;

/// How many steps a knee drifts in.
const DRIFT_STEPS: u32 = 50;

/// How many jobs at once are served at full speed, and what each beyond costs the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Knee {
    workers: f64,
    crowding: f64,
}

impl Knee {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (workers, crowding) = crowded(text)?;
        Ok(Self { workers: workers_of(workers)?, crowding })
    }
}

/// From when on the knee is another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct KneeChange {
    at: Duration,
    workers: f64,
}

impl KneeChange {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let Some((at, workers)) = text.split_once('=') else {
            return Err(format!("{text:?} is no change of the knee; write 60s=20"));
        };
        Ok(Self { at: duration::parse(at)?, workers: workers_of(workers)? })
    }
}

/// Where the knee is at the beginning and at the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drift {
    from: f64,
    to: f64,
    crowding: f64,
}

impl Drift {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (ends, crowding) = crowded(text)?;
        let Some((from, to)) = ends.split_once("..") else {
            return Err(format!("{text:?} is no drift of the knee; write 60..40"));
        };
        Ok(Self { from: workers_of(from)?, to: workers_of(to)?, crowding })
    }

    fn downstream(self, span: Duration) -> Downstream {
        let step = |step: u32| {
            let share = f64::from(step) / f64::from(DRIFT_STEPS);
            (Timestamp::ORIGIN + span.mul_f64(share), self.from + share * (self.to - self.from))
        };
        let changes = (1..=DRIFT_STEPS).map(step).collect();
        Downstream { crowding: self.crowding, changes, ..Downstream::with_knee(self.from) }
    }
}

/// With how many jobs at once some are refused, and which share of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Refused(Refusal);

impl Refused {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split_once(",share=");
        let above = parts.and_then(|(above, _)| number(above).ok());
        let Some((above, (_, part))) = above.zip(parts) else {
            return Err(format!("{text:?} is no refusal; write 50,share=30%"));
        };
        Ok(Self(Refusal { above, share: share(part)? }))
    }
}

/// A knee, and the crowding behind it.
fn crowded(text: &str) -> Result<(&str, f64), String> {
    match text.split_once(",crowding=") {
        Some((knee, crowding)) => Ok((knee, number(crowding)?)),
        None => Ok((text, Downstream::CROWDING)),
    }
}

fn workers_of(text: &str) -> Result<f64, String> {
    let workers = number(text).ok().filter(|workers| 1.0 <= *workers);
    workers.ok_or_else(|| format!("{text:?} is no knee; write a number of workers, as in 40"))
}

/// What jobs call while they come for `span`, where it does anything to them.
pub(super) fn downstream(arguments: &Arguments, span: Duration) -> Option<Downstream> {
    let refusal = arguments.refuse.map(|Refused(refusal)| refusal);
    let downstream = with_knee(arguments, span);
    let downstream = downstream.or_else(|| refusal.map(|_| Downstream::free()))?;
    Some(Downstream { refusal, ..downstream })
}

/// What jobs call, where it has a knee.
fn with_knee(arguments: &Arguments, span: Duration) -> Option<Downstream> {
    if let Some(drift) = arguments.knee_drift {
        return Some(drift.downstream(span));
    }
    let Knee { workers, crowding } = arguments.knee?;
    let changes = arguments.knee_change.iter();
    let mut changes: Vec<(Timestamp, f64)> =
        changes.map(|change| (Timestamp::ORIGIN + change.at, change.workers)).collect();
    changes.sort_by_key(|(at, _)| *at);
    Some(Downstream { crowding, changes, ..Downstream::with_knee(workers) })
}

/// The knee over time, for the bound. Empty where there is none.
pub(super) fn knee_steps(arguments: &Arguments, span: Duration) -> Vec<KneeStep> {
    let Some(downstream) = with_knee(arguments, span) else { return Vec::new() };
    let first = (Timestamp::ORIGIN, downstream.knee);
    let steps = std::iter::once(first).chain(downstream.changes);
    steps.map(|(from, workers)| KneeStep { from, workers }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_knee_is_a_number_and_may_crowd() {
        let knee = |workers, crowding| Ok(Knee { workers, crowding });
        assert_eq!(Knee::parse("40"), knee(40.0, 0.02));
        assert_eq!(Knee::parse("40,crowding=0.1"), knee(40.0, 0.1));
        for text in ["", "0", "x", "-1", "inf", "40,crowd=1", "40,crowding=x"] {
            assert!(Knee::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn it_changes_at_a_time() {
        let at = Duration::from_secs(60);
        assert_eq!(KneeChange::parse("60s=20"), Ok(KneeChange { at, workers: 20.0 }));
        for text in ["60s", "x=20", "60s=0"] {
            assert!(KneeChange::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn it_drifts_evenly_from_one_to_another() {
        let drift = Drift::parse("60..40,crowding=0.1").expect("a drift");
        let downstream = drift.downstream(Duration::from_secs(100));
        let knees = [0, 50, 100, 999].map(|at| downstream.knee_at(Timestamp::from_secs(at)));
        assert_eq!(format!("{knees:?} {}", downstream.crowding), "[60.0, 50.0, 40.0, 40.0] 0.1");
        for text in ["", "60", "60..", "..40", "60..0", "60..x"] {
            assert!(Drift::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn beyond_so_many_a_share_is_refused() {
        let refusal = Refusal { above: 50.0, share: 0.3 };
        assert_eq!(Refused::parse("50,share=30%"), Ok(Refused(refusal)));
        for text in ["", "50", "x,share=30%", "50,share=300%", "-1,share=1%"] {
            assert!(Refused::parse(text).is_err(), "{text}");
        }
    }
}
