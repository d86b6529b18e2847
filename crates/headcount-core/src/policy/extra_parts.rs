//! Which parts of an autoscaler are not its policy's own, so that a recorded run can be replayed
//! without their code.
//!
//! What such a part said stands in every decision: readings, the proposal, rulings. Who replays a
//! run takes that from the recorded decision and works out everything else again. So all that has
//! to be recorded beside the policy is who the parts were, and the memory of everything but them.

use std::sync::Arc;
use std::time::Duration;

use super::check::{Extras, Policy};
use super::inspection::Fault;
use crate::decide::Decider;
use crate::guard::{Guard, Ruling};
use crate::scaling::signal::Signal;
use crate::{Autoscaler, Name, Observation, Proposal, Reason, Situation, Staffing};

/// The names of the parts beside a policy's own: what a trace knows of [`Extras`].
///
/// ```
/// use headcount_core::guard::ErrorVeto;
/// use headcount_core::{ExtraParts, Extras, Policy, Preset};
/// use std::sync::Arc;
///
/// let policy = Policy::check(&Preset::gopipe().config(), 8).expect("the preset is right");
/// let extras = Extras { guards: vec![Arc::new(ErrorVeto::default())], ..Extras::default() };
/// let autoscaler = policy.build_with(extras);
/// assert_eq!(autoscaler.extras().guards[0].as_str(), "error_veto");
/// assert!(ExtraParts::default().is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct ExtraParts {
    /// The signals, in their order.
    pub signals: Vec<Name>,
    /// Whether a decider stands in place of the policy's, or of a part of it.
    pub decider: bool,
    /// The guards, in their order.
    pub guards: Vec<Name>,
    /// How far back the guards look at proposals.
    pub looks_back: Duration,
    /// Whether one of the guards looks after the machine's health.
    pub watches_health: bool,
}

/// What kind a part is whose words are taken from a recording, as notes know it.
pub(crate) const REPLAYED: &str = "replayed";

impl ExtraParts {
    /// Whether everything is the policy's own.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn of(extras: &Extras) -> Self {
        // Parts whose names are no names are refused before anybody asks for these.
        let name = |text: &str| Name::new(text).ok();
        Self {
            signals: extras.signals.iter().filter_map(|signal| name(signal.name())).collect(),
            decider: extras.decider.is_some() || !extras.parts.is_empty(),
            guards: extras.guards.iter().filter_map(|guard| name(guard.name())).collect(),
            looks_back: extras
                .guards
                .iter()
                .map(|guard| guard.looks_back())
                .max()
                .unwrap_or_default(),
            watches_health: extras.guards.iter().any(|guard| guard.watches_health()),
        }
    }

    /// Parts of these names that say nothing themselves.
    fn stand_ins(&self) -> Extras {
        let &Self { looks_back, watches_health, .. } = self;
        let guard = |name: &Name| {
            let guard = StandInGuard { name: *name, looks_back, watches_health };
            Arc::new(guard) as Arc<dyn Guard>
        };
        Extras {
            signals: self.signals.iter().map(|name| Box::new(StandIn(*name)) as _).collect(),
            decider: self.decider.then(|| Box::new(StandInDecider) as _),
            parts: Vec::new(),
            guards: self.guards.iter().map(guard).collect(),
        }
    }
}

impl Policy {
    /// An autoscaler for [`Autoscaler::tick_again`], which knows of the parts beside the policy's
    /// own only what a recording says of them.
    ///
    /// It takes back what [`Autoscaler::save_to_replay`] wrote.
    ///
    /// # Errors
    ///
    /// When there are too many parts, or when one has a name that is taken.
    ///
    /// ```
    /// use headcount_core::signal::External;
    /// use headcount_core::{Extras, Name, Observation, Policy, Preset};
    ///
    /// let policy = Policy::check(&Preset::gopipe().config(), 8).expect("the preset is right");
    /// let lag = External { name: Name::new("lag").expect("a name") };
    /// let extras = Extras { signals: vec![Box::new(lag)], ..Extras::default() };
    /// let mut live = policy.build_with(extras);
    /// let mut observation = Observation::default();
    /// observation.externals.set(lag.name, 7.0).expect("there is room");
    ///
    /// let mut again = policy.build_to_replay(live.extras()).expect("it was built before");
    /// again.restore(&live.save_to_replay()).expect("its own notes");
    /// let decision = live.tick(&observation);
    /// // Nobody has to know how the signal came by its number.
    /// let replayed = again.tick_again(&Observation::default(), &decision);
    /// assert_eq!(replayed.readings, decision.readings);
    /// ```
    pub fn build_to_replay(&self, parts: &ExtraParts) -> Result<Autoscaler, Fault> {
        let mut autoscaler = self.try_build_with(parts.stand_ins())?;
        autoscaler.take_as_recorded(|name| Box::new(StandIn(name)));
        Ok(autoscaler)
    }
}

#[derive(Clone, Debug)]
struct StandIn(Name);

impl Signal for StandIn {
    fn name(&self) -> &str {
        self.0.as_str()
    }

    fn read(&mut self, _: &Observation) -> Option<f64> {
        None
    }

    fn kind(&self, text: &mut String) {
        text.push_str(REPLAYED);
    }
}

#[derive(Clone, Debug)]
struct StandInDecider;

impl Decider for StandInDecider {
    fn decide(&mut self, _: &Situation<'_>) -> Proposal {
        Proposal::abstain(Reason::External)
    }

    fn kind(&self, text: &mut String) {
        text.push_str(REPLAYED);
    }
}

#[derive(Debug)]
struct StandInGuard {
    name: Name,
    looks_back: Duration,
    watches_health: bool,
}

impl Guard for StandInGuard {
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn looks_back(&self) -> Duration {
        self.looks_back
    }

    fn watches_health(&self) -> bool {
        self.watches_health
    }

    fn review(&self, _: &Situation<'_>, _: Staffing) -> Ruling {
        Ruling::Allow
    }
}
