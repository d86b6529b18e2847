//! The data form of every decider, and the one table of their names.

use super::{
    Aimd, AllBusy, ArcConfig, Backlog, CompositeConfig, Decider, Ds2Config, EnvoyConfig,
    ErlangConfig, ForecastConfig, Gradient2Config, HealthZones, HillClimbConfig, HorizonConfig,
    KnativeConfig, OnDemand, PartPath, PidConfig, QueueDepth, ScheduleConfig, SloConfig, Step,
    Target, Threshold, ThroughputConfig, TrackingConfig, VegasConfig,
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
    /// A floor for the load to come.
    Forecast(ForecastConfig),
    /// A worker for every task that finds none idle: ants, pond.
    OnDemand(OnDemand),
    /// So much load for each worker, every so often: HPA, KEDA, Celery.
    Tracking(TrackingConfig),
    /// One more or fewer every few seconds: Laravel Horizon.
    Horizon(HorizonConfig),
    /// A calm average and a quick one: Knative.
    Knative(KnativeConfig),
    /// The load over the rate of a busy worker: DS2, Flink.
    Ds2(Ds2Config),
    /// The fewest workers for a wait budget, by Erlang's formula.
    Erlang(ErlangConfig),
    /// A limit by long and short service times: Netflix's Gradient2.
    Gradient2(Gradient2Config),
    /// A limit by the quickest service time: Netflix's Vegas.
    Vegas(VegasConfig),
    /// A limit by usual service times: Vector.
    Arc(ArcConfig),
    /// A limit by a measured best service time: Envoy.
    Envoy(EnvoyConfig),
    /// A wave, and what throughput answers: .NET.
    HillClimb(HillClimbConfig),
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
            Self::Forecast(_) => "forecast",
            Self::OnDemand(_) => "on_demand",
            Self::Tracking(_) => "tracking",
            Self::Horizon(_) => "horizon",
            Self::Knative(_) => "knative",
            Self::Ds2(_) => "ds2",
            Self::Erlang(_) => "erlang",
            Self::Gradient2(_) => "gradient2",
            Self::Vegas(_) => "vegas",
            Self::Arc(_) => "arc",
            Self::Envoy(_) => "envoy",
            Self::HillClimb(_) => "hill_climb",
            Self::Composite(_) => "composite",
        }
    }

    /// Whether it only limits how far the pool hires by itself, in place of naming a size.
    #[must_use]
    pub fn leaves_hiring_to_the_pool(&self) -> bool {
        matches!(self, Self::Slo(_) | Self::Throughput(_) | Self::OnDemand(_))
    }

    /// Whether a pool under it hires for a task that waits, so that it comes back from nothing.
    #[must_use]
    pub fn hires_for_waiting_tasks(&self) -> bool {
        matches!(self, Self::Slo(_) | Self::OnDemand(_))
    }

    /// The workers that it begins with, where it says so.
    #[must_use]
    pub(crate) fn start(&self) -> Option<u32> {
        match self {
            Self::Gradient2(config) => Some(config.start),
            Self::Vegas(config) => Some(config.start),
            Self::Arc(config) => Some(config.start),
            Self::Envoy(config) => Some(config.limit_min),
            _ => None,
        }
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
            Self::HealthZones(_) | Self::OnDemand(_) => {}
            Self::Aimd(config) => config.inspect(inspection),
            Self::Pid(config) => config.inspect(inspection),
            Self::Target(config) => config.inspect(inspection),
            Self::Backlog(config) => config.inspect(inspection),
            Self::Schedule(config) => config.inspect(inspection),
            Self::Forecast(config) => config.inspect(inspection),
            Self::Tracking(config) => config.inspect(inspection),
            Self::Horizon(config) => config.inspect(inspection),
            Self::Knative(config) => config.inspect(inspection),
            Self::Ds2(config) => config.inspect(inspection),
            Self::Erlang(config) => config.inspect(inspection),
            Self::Gradient2(config) => config.inspect(inspection),
            Self::Vegas(config) => config.inspect(inspection),
            Self::Arc(config) => config.inspect(inspection),
            Self::Envoy(config) => config.inspect(inspection),
            Self::HillClimb(config) => config.inspect(inspection),
            Self::Composite(config) => config.inspect(depth, inspection),
        }
    }

    /// Builds the decider for a pool with these bounds, with `own` parts in its composites.
    pub(crate) fn build_with(
        &self,
        bounds: Bounds,
        mut own: Vec<(PartPath, Box<dyn Decider>)>,
    ) -> Box<dyn Decider> {
        match self {
            Self::Composite(config) => Box::new(config.build_with(bounds, &mut own, &[])),
            _ => self.build(bounds),
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
            Self::Forecast(config) => Box::new(config.build()),
            Self::OnDemand(config) => Box::new(*config),
            Self::Tracking(config) => Box::new(config.build()),
            Self::Horizon(config) => Box::new(config.build()),
            Self::Knative(config) => Box::new(config.build()),
            Self::Ds2(config) => Box::new(config.build()),
            Self::Erlang(config) => Box::new(config.build()),
            Self::Gradient2(config) => Box::new(config.build(bounds)),
            Self::Vegas(config) => Box::new(config.build(bounds)),
            Self::Arc(config) => Box::new(config.build(bounds)),
            Self::Envoy(config) => Box::new(config.build(bounds)),
            Self::HillClimb(config) => Box::new(config.build(bounds)),
            Self::Composite(config) => Box::new(config.build(bounds)),
        }
    }
}
