//! Guards limit what a decider may have.
//!
//! They are asked in order, the softest first: `step, cooldown, hold_peak, warm_up, error_veto,
//! breaker_veto, drain_hold, flap_damper, health, memory, allowance, bounds`. Each sees what the
//! one before left. `bounds` is last, so that nothing can overrule it.

mod allowance;
mod bounds;
mod breaker_veto;
mod cooldown;
mod drain_hold;
mod error_veto;
mod flap_damper;
mod health_brake;
mod hold_peak;
mod memory;
mod ruling;
mod step;
mod warm_up;

use std::fmt;
use std::time::Duration;

pub use allowance::AllowanceLimit;
pub use bounds::Bounds;
pub use breaker_veto::BreakerVeto;
pub use cooldown::Cooldown;
pub use drain_hold::DrainHold;
pub use error_veto::ErrorVeto;
pub use flap_damper::FlapDamper;
pub use health_brake::HealthBrake;
pub use hold_peak::HoldPeak;
pub use memory::MemoryLimit;
pub use ruling::{Because, Review, Ruling};
pub use step::StepLimit;
pub use warm_up::WarmUp;

use super::situation::Situation;
use super::staffing::Staffing;

/// How many guards an autoscaler may have.
pub const GUARDS_MAX: usize = 16;

/// Limits what a decider may have.
///
/// A guard is stateless: what it needs to remember is in the history of the situation. It may
/// rely on being asked once a tick, after the guards before it and before those behind it. It
/// must not assume that what it rules is applied, nor that the next tick comes soon.
///
/// ```
/// use headcount_core::guard::{Because, Guard, Ruling};
/// use headcount_core::{History, Name, Observation, Situation, Staffing};
///
/// /// Licences for twelve workers, and not one more.
/// #[derive(Debug)]
/// struct Licences;
///
/// impl Guard for Licences {
///     fn name(&self) -> &str {
///         "licences"
///     }
///     fn is_limit(&self) -> bool {
///         true
///     }
///     fn review(&self, situation: &Situation<'_>, wanted: Staffing) -> Ruling {
///         let because = Because::Said(Name::new("twelve").expect("a name"));
///         Ruling::of(situation.from(), wanted, wanted.at_most(12), because)
///     }
/// }
///
/// let (observation, history) = (Observation::default(), History::default());
/// let situation = Situation { observation: &observation, readings: &[], history: &history };
/// let (from, wanted) = (situation.from(), Staffing::exactly(20));
/// let left = Licences.review(&situation, wanted).applied_to(from, wanted);
/// assert_eq!(left, Staffing::exactly(12));
/// ```
pub trait Guard: Send + Sync + fmt::Debug {
    /// What people call it.
    fn name(&self) -> &str;

    /// Whether it binds a manual target too. Guards that only smooth do not.
    fn is_limit(&self) -> bool {
        false
    }

    /// How far back it looks at proposals; the history remembers as long.
    fn looks_back(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether it looks after the machine's health; then the history remembers when that was bad.
    fn watches_health(&self) -> bool {
        false
    }

    /// Says what may come of `wanted`.
    fn review(&self, situation: &Situation<'_>, wanted: Staffing) -> Ruling;
}

#[cfg(test)]
pub(crate) mod harness;
