//! Deciders propose a staffing from readings.
//!
//! They know nothing of bounds, cooldowns or budgets: those are guards. One file each; the data
//! form of a decider builds it.

mod aimd;
mod all_busy;
mod backlog;
mod composite;
mod config;
mod forecasting;
mod health_zones;
mod peers;
mod pid;
mod queue_depth;
mod schedule;
mod slo;
mod steps;
mod target;
mod threshold;
mod throughput;

use std::fmt;

pub use aimd::Aimd;
pub use all_busy::AllBusy;
pub use backlog::Backlog;
pub use composite::{Combine, Composite, CompositeConfig, PartConfig, PartPath};
pub use config::DeciderConfig;
pub use forecasting::ForecastConfig;
pub use health_zones::HealthZones;
pub use peers::{
    ArcConfig, Ds2Config, EnvoyConfig, ErlangConfig, Gradient2Config, HillClimbConfig,
    HorizonConfig, KnativeConfig, Load, OnDemand, TrackingConfig, VegasConfig,
};
pub use pid::{Pid, PidConfig};
pub use queue_depth::QueueDepth;
pub use schedule::{Schedule, ScheduleConfig, ShiftConfig};
pub use slo::{Slo, SloConfig};
pub use steps::Step;
pub use target::Target;
pub use threshold::{Rule, Threshold};
pub use throughput::{Throughput, ThroughputConfig};

use super::notes::{Notes, NotesReader};
use super::proposal::Proposal;
use super::situation::Situation;

/// Proposes a staffing.
///
/// A decider is asked once a tick at most, in order of time; not while the autoscaler is off or
/// somebody has set the size, so there may be gaps. It may remember; what it remembers it writes in
/// `save` and takes back in `load`. It must not assume that its proposal is applied: the staffing
/// in force stands in the situation.
///
/// ```
/// use headcount_core::decide::Decider;
/// use headcount_core::{Extras, Observation, Policy, PolicyConfig, Proposal, Reason};
/// use headcount_core::{Situation, Staffing};
///
/// /// One worker for every ten waiting tasks.
/// #[derive(Clone, Debug)]
/// struct OnePerTen;
///
/// impl Decider for OnePerTen {
///     fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
///         let tens = situation.pool().queued.div_ceil(10);
///         Proposal::want(Staffing::exactly(tens as u32), Reason::QueueDepth)
///     }
/// }
///
/// let policy = Policy::check(&PolicyConfig::default(), 8).expect("no fault");
/// let mut observation = Observation::default();
/// observation.pool.queued = 35;
/// let decision = policy.build_with(Extras::decider(OnePerTen)).tick(&observation);
/// assert_eq!(decision.to, Staffing::exactly(4));
/// ```
pub trait Decider: Send + CloneDecider + fmt::Debug {
    /// Proposes what should be, or abstains.
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal;

    /// What kind it is, as notes know it: notes are only read back by the same kinds. The name of
    /// the type, unless it holds others; then those too.
    fn kind(&self, text: &mut String) {
        text.push_str(std::any::type_name::<Self>());
    }

    /// Writes down what it remembers.
    fn save(&self, _notes: &mut Notes) {}

    /// Takes back what `save` wrote, or returns `None` where the notes do not fit.
    fn load(&mut self, _notes: &mut NotesReader<'_>) -> Option<()> {
        Some(())
    }
}

/// Copies a decider behind a box; every `Clone` decider has it.
///
/// ```
/// use headcount_core::decide::Decider;
/// use headcount_core::{Extras, Observation, Policy, PolicyConfig, Proposal, Reason};
/// use headcount_core::{Situation, Staffing};
///
/// /// Wants one worker more each time that it is asked.
/// #[derive(Clone, Debug)]
/// struct Counting(u32);
///
/// impl Decider for Counting {
///     fn decide(&mut self, _: &Situation<'_>) -> Proposal {
///         self.0 += 1;
///         Proposal::want(Staffing::exactly(self.0), Reason::External)
///     }
/// }
///
/// let policy = Policy::check(&PolicyConfig::default(), 8).expect("no fault");
/// let mut autoscaler = policy.build_with(Extras::decider(Counting(4)));
/// let observation = Observation::default();
/// // To evaluate asks a copy, so the decider itself does not move on.
/// assert_eq!(autoscaler.evaluate(&observation).to, Staffing::exactly(5));
/// assert_eq!(autoscaler.tick(&observation).to, Staffing::exactly(5));
/// ```
pub trait CloneDecider {
    /// A copy with the same memory.
    fn clone_box(&self) -> Box<dyn Decider>;
}

impl<T: Decider + Clone + 'static> CloneDecider for T {
    fn clone_box(&self) -> Box<dyn Decider> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Decider> {
    fn clone(&self) -> Self {
        (**self).clone_box()
    }
}

#[cfg(test)]
pub(crate) mod harness;
