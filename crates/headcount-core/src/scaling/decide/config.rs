//! The data form of every decider, and the one table of their names.

use super::{
    Aimd, AllBusy, Backlog, CompositeConfig, Decider, HealthZones, PidConfig, QueueDepth,
    ScheduleConfig, SloConfig, Step, Target, Threshold, ThroughputConfig,
};
use crate::Bounds;
use crate::policy::Inspection;

/// A decider as data.
///
/// ```
/// use headcount_core::decide::{DeciderConfig, Target};
/// use headcount_core::{Observation, Policy, PolicyConfig, PoolSnapshot, Staffing};
///
/// let decider = Some(DeciderConfig::Target(Target { setpoint: 0.5, ..Target::default() }));
/// let config = PolicyConfig { decider, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 8).expect("no fault").build();
/// let pool = PoolSnapshot { busy: 3, ..PoolSnapshot::of(Staffing::exactly(4)) };
/// let decision = autoscaler.tick(&Observation { pool, ..Observation::default() });
/// assert_eq!(decision.to, Staffing::exactly(6), "of six workers three are half");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "type", rename_all = "snake_case"))]
#[non_exhaustive]
pub enum DeciderConfig {
    /// Ours: a wait budget, and a limit where more workers stop helping.
    Slo(SloConfig),
    /// Ours for a heap of work: more workers for as long as more gets done.
    Throughput(ThroughputConfig),
    /// Any rule grows, all rules shrink.
    Threshold(Threshold),
    /// All busy grows, idle time shrinks.
    AllBusy(AllBusy),
    /// A long queue grows, idle time shrinks.
    QueueDepth(QueueDepth),
    /// The machine's health alone.
    HealthZones(HealthZones),
    /// Additive increase, multiplicative decrease.
    Aimd(Aimd),
    /// A PID controller.
    Pid(PidConfig),
    /// In proportion to a set-point.
    Target(Target),
    /// The load and what waits.
    Backlog(Backlog),
    /// The time of day.
    Schedule(ScheduleConfig),
    /// Several of these.
    Composite(CompositeConfig),
}

impl DeciderConfig {
    /// The name that a policy file calls it by.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Slo(_) => "slo",
            Self::Throughput(_) => "throughput",
            Self::Threshold(_) => "threshold",
            Self::AllBusy(_) => "all_busy",
            Self::QueueDepth(_) => "queue_depth",
            Self::HealthZones(_) => "health_zones",
            Self::Aimd(_) => "aimd",
            Self::Pid(_) => "pid",
            Self::Target(_) => "target",
            Self::Backlog(_) => "backlog",
            Self::Schedule(_) => "schedule",
            Self::Composite(_) => "composite",
        }
    }

    /// Whether it only limits how far the pool hires by itself, in place of naming a size.
    #[must_use]
    pub fn leaves_hiring_to_the_pool(&self) -> bool {
        matches!(self, Self::Slo(_) | Self::Throughput(_))
    }

    /// How far one step up and one step down go, for somebody who scales by hand. One worker, where
    /// a decider has no steps.
    #[must_use]
    pub fn steps(&self) -> (Step, Step) {
        match self {
            Self::Threshold(config) => (config.grow_step, config.shrink_step),
            Self::QueueDepth(config) => (config.grow_step, config.shrink_step),
            Self::Aimd(config) => (Step::Add(config.grow_step), Step::Add(1)),
            Self::Composite(config) => {
                let first = config.parts.first();
                first.map_or((Step::Add(1), Step::Add(1)), |part| part.decider.steps())
            }
            _ => (Step::Add(1), Step::Add(1)),
        }
    }

    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        self.inspect_at(0, inspection);
    }

    /// The same for a decider that stands `depth` composites deep.
    pub(crate) fn inspect_at(&self, depth: usize, inspection: &mut Inspection) {
        match self {
            Self::Slo(config) => config.inspect(inspection),
            Self::Throughput(config) => config.inspect(inspection),
            Self::Threshold(config) => config.inspect(inspection),
            Self::AllBusy(config) => config.inspect(inspection),
            Self::QueueDepth(config) => config.inspect(inspection),
            Self::HealthZones(_) => {}
            Self::Aimd(config) => config.inspect(inspection),
            Self::Pid(config) => config.inspect(inspection),
            Self::Target(config) => config.inspect(inspection),
            Self::Backlog(config) => config.inspect(inspection),
            Self::Schedule(config) => config.inspect(inspection),
            Self::Composite(config) => config.inspect(depth, inspection),
        }
    }

    /// Builds the decider for a pool with these bounds.
    pub(crate) fn build(&self, bounds: Bounds) -> Box<dyn Decider> {
        match self {
            Self::Slo(config) => Box::new(config.build()),
            Self::Throughput(config) => Box::new(config.build()),
            Self::Threshold(config) => Box::new(config.clone()),
            Self::AllBusy(config) => Box::new(*config),
            Self::QueueDepth(config) => Box::new(*config),
            Self::HealthZones(_) => {
                Box::new(HealthZones { workers_min: bounds.min, workers_max: bounds.max })
            }
            Self::Aimd(config) => Box::new(*config),
            Self::Pid(config) => Box::new(config.build()),
            Self::Target(config) => Box::new(*config),
            Self::Backlog(config) => Box::new(*config),
            Self::Schedule(config) => Box::new(config.build()),
            Self::Composite(config) => Box::new(config.build(bounds)),
        }
    }
}
