//! What came out of a tick, and why.
//!
//! A [`Decision`] is the log line, the audit record, the answer to "why?" and the row of a replay.
//! A decision that was held back carries as much as one that was not.

use super::direction::Direction;
use super::explain::{Explained, ExplainedFully};
use super::guard::{Bounds, GUARDS_MAX, Review};
use super::mode::Mode;
use super::observation::Observation;
use super::proposal::{Proposal, Reason};
use super::signal::Reading;
use super::staffing::Staffing;
use crate::{List, Timestamp};

/// How many signals an autoscaler may have.
pub const SIGNALS_MAX: usize = 16;

/// What came out of a tick, and why.
///
/// ```
/// use headcount_core::{Observation, PoolSnapshot, Policy, Preset, Staffing, Timestamp};
///
/// let policy = Policy::check(&Preset::gopipe().config(), 8).expect("the preset is right");
/// let mut autoscaler = policy.build();
///
/// let busy = PoolSnapshot::at_work(Staffing::exactly(2), 2);
/// let decision = autoscaler.tick(&Observation::new(Timestamp::from_secs(1), busy));
/// assert_eq!(decision.resize(), Some(Staffing::exactly(3)));
/// assert_eq!(decision.explain().to_string(), "grow 2 to 3: wants 3 (all busy) -> bounds 3");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Decision {
    /// When it was made.
    pub at: Timestamp,
    /// The mode it was made in.
    pub mode: Mode,
    /// What the policy allows.
    pub bounds: Bounds,
    /// The staffing in force.
    pub from: Staffing,
    /// The staffing that should be.
    pub to: Staffing,
    /// What the signals said.
    pub readings: List<Reading, SIGNALS_MAX>,
    /// What the decider would like.
    pub proposal: Proposal,
    /// What each guard said of it, in order.
    pub rulings: List<Review, GUARDS_MAX>,
}

impl Decision {
    /// A decision to be filled in: so far nothing is wanted, and nothing changes.
    pub(crate) fn begun(observation: &Observation, mode: Mode, bounds: Bounds) -> Self {
        let (at, from) = (observation.at, observation.pool.staffing());
        let (readings, rulings, proposal) = (List::new(), List::new(), Proposal::default());
        Self { at, mode, bounds, from, to: from, readings, proposal, rulings }
    }

    /// Which way it goes.
    #[must_use]
    pub fn direction(&self) -> Direction {
        Direction::between(self.from, self.to)
    }

    /// Why the decider proposed what it did.
    #[must_use]
    pub fn reason(&self) -> Reason {
        self.proposal.reason
    }

    /// The staffing to apply, where there is something to apply and the mode allows it.
    #[must_use]
    pub fn resize(&self) -> Option<Staffing> {
        (self.to != self.from && self.mode.applies()).then_some(self.to)
    }

    /// Whether a change was wanted that the bounds allow, and none came of it.
    #[must_use]
    pub fn is_suppressed(&self) -> bool {
        let wanted = self.proposal.wanted.unwrap_or(self.from);
        let allowed = wanted.within(self.bounds.min, self.bounds.max);
        allowed != self.from && self.resize().is_none()
    }

    /// One line for people.
    #[must_use]
    pub fn explain(&self) -> Explained<'_> {
        Explained(self)
    }

    /// The whole chain for people: readings, estimates, proposal, each guard's ruling.
    #[must_use]
    pub fn explain_fully(&self) -> ExplainedFully<'_> {
        ExplainedFully(self)
    }
}
