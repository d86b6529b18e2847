//! The written form of a policy.

use std::time::Duration;

use crate::decide::DeciderConfig;
use crate::guard::{
    Cooldown, ErrorVeto, FlapDamper, HealthBrake, HoldPeak, MemoryLimit, StepLimit, WarmUp,
};
use crate::scaling::signal::{Smoothing, Source};
use crate::{Mode, Name};

/// A policy as somebody wrote it: every field may be left out.
///
/// ```
/// use headcount_core::{Policy, PolicyConfig, Preset};
///
/// // A preset, with a maximum of one's own.
/// let config = PolicyConfig { workers_max: Some(32), ..PolicyConfig::default() };
/// let policy = Policy::check(&config.or(Preset::gopipe().config()), 8).expect("no fault");
/// assert_eq!(policy.bounds().max, 32);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct PolicyConfig {
    /// The fewest workers. Default: 1.
    pub workers_min: Option<u32>,
    /// The most workers. Default: the number of cores, or `workers_min` where that is more.
    pub workers_max: Option<u32>,
    /// The largest `workers_max` that this policy is meant for. Default: 100,000.
    pub workers_max_allowed: Option<u32>,
    /// How far the autoscaler may go by itself. Default: automatic.
    pub mode: Option<Mode>,
    /// How often it decides. Default: 1 s.
    pub tick: Option<Duration>,
    /// How many samples are kept for people to look back on. Default: 60.
    pub samples_kept: Option<u32>,
    /// The signals. What a decider or guard calls by the name of a source needs no declaration.
    /// Default: none.
    pub signals: Option<Vec<SignalConfig>>,
    /// The decider. Default: `slo`.
    pub decider: Option<DeciderConfig>,
    /// The guards. Default: the ones that are always there.
    pub guards: GuardsConfig,
}

/// A signal as somebody wrote it: a source, and what is done to it.
///
/// ```
/// use headcount_core::decide::{DeciderConfig, Target};
/// use headcount_core::signal::{Smoothing, Source};
/// use headcount_core::{
///     Name, Observation, Policy, PolicyConfig, PoolSnapshot, SignalConfig, Staffing, Timestamp,
/// };
///
/// let (name, source) = (Name::new("load").expect("a name"), Source::Utilization);
/// let smoothing = vec![Smoothing::Mean { samples: 3 }];
/// let signals = Some(vec![SignalConfig { name, source, smoothing }]);
/// let decider = Some(DeciderConfig::Target(Target { signal: name, ..Target::default() }));
/// let config = PolicyConfig { signals, decider, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 8).expect("no fault").build();
/// let pool = PoolSnapshot { busy: 4, ..PoolSnapshot::of(Staffing::exactly(4)) };
/// let mut size_at = |second| {
///     autoscaler.tick(&Observation::new(Timestamp::from_secs(second), pool)).to.ceiling
/// };
/// assert_eq!([0, 1, 2].map(&mut size_at), [4, 4, 6], "it decides on three samples");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct SignalConfig {
    /// What deciders and guards call it by.
    pub name: Name,
    /// What it reads.
    pub source: Source,
    /// What is done to the reading, in order. Default: nothing.
    #[cfg_attr(feature = "serde", serde(default))]
    pub smoothing: Vec<Smoothing>,
}

/// The guards that can be set.
///
/// Three more are always there and have nothing to set: the breaker veto, the hold while draining
/// and the allowance. So are the bounds.
///
/// One that a preset has is switched off by a value that never binds: a cooldown or window of 0, a
/// rate of 1.
///
/// ```
/// use headcount_core::guard::StepLimit;
/// use headcount_core::{
///     GuardsConfig, Observation, Policy, PolicyConfig, PoolSnapshot, Preset, Staffing,
/// };
///
/// let step = Some(StepLimit { grow_max: Some(2), ..StepLimit::default() });
/// let guards = GuardsConfig { step, ..GuardsConfig::default() };
/// let config = PolicyConfig { guards, ..Default::default() }.or(Preset::syshealth().config());
/// let mut autoscaler = Policy::check(&config, 8).expect("no fault").build();
/// let pool = PoolSnapshot::of(Staffing::exactly(1));
/// let decision = autoscaler.tick(&Observation { pool, ..Observation::default() });
/// assert_eq!(
///     decision.explain().to_string(),
///     "grow 1 to 3: wants 5 (health) -> step 3 -> bounds 3"
/// );
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct GuardsConfig {
    /// Limits how far one decision goes. Default: no limit.
    pub step: Option<StepLimit>,
    /// Keeps changes apart in time. Default: none.
    pub cooldown: Option<Cooldown>,
    /// Keeps the highest proposal of a window. Default: none.
    pub hold_peak: Option<HoldPeak>,
    /// Lets a new pool come to itself. Default: for ten ticks.
    pub warm_up: Option<WarmUp>,
    /// Refuses growth while tasks fail. Default: none.
    pub error_veto: Option<ErrorVeto>,
    /// Makes a pool that keeps turning around wait. Default: none.
    pub flap_damper: Option<FlapDamper>,
    /// Brings the pool down while the machine is unwell. Default: none.
    pub health: Option<HealthBrake>,
    /// Keeps the workers within memory. Default: none.
    pub memory: Option<MemoryLimit>,
}

impl PolicyConfig {
    /// The same, with what is left out taken from `base`.
    ///
    /// A part is taken whole, from here or from there: a cooldown that is written here stands
    /// alone, without those of its fields that `base` has.
    #[must_use]
    pub fn or(self, base: Self) -> Self {
        Self {
            workers_min: self.workers_min.or(base.workers_min),
            workers_max: self.workers_max.or(base.workers_max),
            workers_max_allowed: self.workers_max_allowed.or(base.workers_max_allowed),
            mode: self.mode.or(base.mode),
            tick: self.tick.or(base.tick),
            samples_kept: self.samples_kept.or(base.samples_kept),
            signals: self.signals.or(base.signals),
            decider: self.decider.or(base.decider),
            guards: self.guards.or(base.guards),
        }
    }
}

impl GuardsConfig {
    /// The same, with what is left out taken from `base`.
    #[must_use]
    pub fn or(self, base: Self) -> Self {
        Self {
            step: self.step.or(base.step),
            cooldown: self.cooldown.or(base.cooldown),
            hold_peak: self.hold_peak.or(base.hold_peak),
            warm_up: self.warm_up.or(base.warm_up),
            error_veto: self.error_veto.or(base.error_veto),
            flap_damper: self.flap_damper.or(base.flap_damper),
            health: self.health.or(base.health),
            memory: self.memory.or(base.memory),
        }
    }
}
