//! What a decider would like, and on what evidence.

use std::fmt;

use super::signal::Unit;
use super::staffing::Staffing;
use crate::{List, Name};

/// What a decider would like, before anybody limits it.
///
/// ```
/// use headcount_core::{Proposal, Reason, Staffing};
///
/// let proposal = Proposal::want(Staffing::exactly(9), Reason::Latency);
/// assert_eq!(proposal.wanted, Some(Staffing::exactly(9)));
/// assert_eq!(Proposal::abstain(Reason::NoData).wanted, None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Proposal {
    /// The staffing wanted. `None`: the decider abstains, and the pool stays as it is.
    pub wanted: Option<Staffing>,
    /// Whether only its floor is meant, and the ceiling is left to others.
    pub floor_only: bool,
    /// Why.
    pub reason: Reason,
    /// The comparison that decided it, where there was one.
    pub evidence: Option<Evidence>,
    /// What the decider believes, for people and for replay.
    pub estimates: List<Estimate, { Proposal::ESTIMATES_MAX }>,
}

impl Proposal {
    /// How many estimates a proposal carries.
    pub const ESTIMATES_MAX: usize = 16;

    /// Proposes `staffing`.
    #[must_use]
    pub fn want(staffing: Staffing, reason: Reason) -> Self {
        Self { wanted: Some(staffing), reason, ..Self::default() }
    }

    /// Proposes at least `workers`, and nothing about how many more there may be.
    #[must_use]
    pub fn at_least(workers: u32, reason: Reason) -> Self {
        Self { floor_only: true, ..Self::want(Staffing::exactly(workers), reason) }
    }

    /// Puts in the ceiling where only a floor is meant: that of a pool at `from`, if it is high
    /// enough.
    pub(crate) fn complete(&mut self, from: Staffing) {
        if let Some(wanted) = &mut self.wanted
            && self.floor_only
        {
            wanted.ceiling = from.ceiling.max(wanted.floor);
        }
    }

    /// Proposes nothing.
    #[must_use]
    pub fn abstain(reason: Reason) -> Self {
        Self { reason, ..Self::default() }
    }

    /// The same, with the comparison that decided it.
    #[must_use]
    pub fn because(self, evidence: Evidence) -> Self {
        Self { evidence: Some(evidence), ..self }
    }

    /// Adds an estimate. One too many, or one that is not finite, is left out.
    pub fn estimate(&mut self, name: &str, unit: Unit, value: f64) {
        if value.is_finite() {
            let _full = self.estimates.push(Estimate { name: Name::cut(name), unit, value });
        }
    }
}

impl Proposal {
    /// Adds what another proposal estimates, as far as there is room.
    pub(crate) fn also_estimates(&mut self, other: &Self) {
        for estimate in &other.estimates {
            let _full = self.estimates.push(*estimate);
        }
    }
}

/// One number that a decider believes.
///
/// ```
/// use headcount_core::signal::Unit;
/// use headcount_core::{Proposal, Reason, Staffing};
///
/// let mut proposal = Proposal::want(Staffing::exactly(5), Reason::Backlog);
/// proposal.estimate("service_time", Unit::Seconds, 0.05);
/// proposal.estimate("load", Unit::Count, f64::NAN);
/// let told: Vec<String> = proposal.estimates.iter().map(ToString::to_string).collect();
/// assert_eq!(told, ["service time 50 ms"], "what is not finite is left out");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Estimate {
    /// What it is.
    pub name: Name,
    /// What it counts.
    pub unit: Unit,
    /// How much.
    pub value: f64,
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name.spoken(), self.unit.show(self.value))
    }
}

/// A reading held against a limit: `wait p99 0.9 s > 0.5 s`.
///
/// ```
/// use headcount_core::signal::Unit;
/// use headcount_core::{Comparison, Evidence, Name};
///
/// let name = Name::new("utilization").expect("a name");
/// let (unit, comparison) = (Unit::Ratio, Comparison::Above);
/// let evidence = Evidence { name, unit, value: 0.9, comparison, limit: 0.8 };
/// assert_eq!(evidence.to_string(), "utilization 90 % > 80 %");
/// let close = Evidence { value: 0.800_001, ..evidence };
/// assert_eq!(close.to_string(), "utilization 0.800001 > 0.8", "rounded they would be equal");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Evidence {
    /// The signal.
    pub name: Name,
    /// What its number counts.
    pub unit: Unit,
    /// The number read.
    pub value: f64,
    /// How it compares.
    pub comparison: Comparison,
    /// The limit it was held against.
    pub limit: f64,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value| self.unit.show(value).to_string();
        let (name, comparison) = (self.name.spoken(), self.comparison);
        let (value, limit) = (shown(self.value), shown(self.limit));
        match value == limit && f64::EPSILON < (self.value - self.limit).abs() {
            // So near that rounding hides the difference: then the number as it is.
            true => write!(f, "{name} {} {comparison} {}", self.value, self.limit),
            false => write!(f, "{name} {value} {comparison} {limit}"),
        }
    }
}

/// How a reading compares with a limit.
///
/// ```
/// use headcount_core::Comparison;
///
/// assert!(Comparison::AtLeast.holds(0.8, 0.8));
/// assert!(!Comparison::Above.holds(0.8, 0.8));
/// assert!(!Comparison::Above.holds(f64::NAN, 0.8), "what is no number is above nothing");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Comparison {
    /// More than the limit.
    Above,
    /// As much as the limit, or more.
    AtLeast,
    /// Less than the limit.
    Below,
    /// As much as the limit, or less.
    AtMost,
}

impl Comparison {
    /// Whether `value` compares so with `limit`.
    #[must_use]
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Above => limit < value,
            Self::AtLeast => limit <= value,
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Below => "<",
            Self::AtMost => "<=",
        })
    }
}

/// Why a decider proposed what it did.
///
/// ```
/// use headcount_core::{Observation, Policy, PoolSnapshot, Preset, Reason, Staffing};
///
/// let reason_of = |preset: Preset, busy| {
///     let policy = Policy::check(&preset.config(), 8).expect("no fault");
///     let pool = PoolSnapshot { busy, ..PoolSnapshot::of(Staffing::exactly(2)) };
///     policy.build().tick(&Observation { pool, ..Observation::default() }).reason()
/// };
/// assert_eq!(reason_of(Preset::gopipe(), 2), Reason::AllBusy);
/// assert_eq!(reason_of(Preset::gopipe(), 1), Reason::Steady);
/// assert_eq!(reason_of(Preset::target(), 1), Reason::NoData, "one sample is not enough");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Reason {
    /// Tasks wait: the queue is too long, or short enough to give workers back.
    QueueDepth,
    /// Workers are too busy, or too little.
    WorkerUtilization,
    /// Tasks wait too long, or hardly at all.
    Latency,
    /// Somebody said so.
    Manual,
    /// The time of day says so.
    Scheduled,
    /// Every worker has a task.
    AllBusy,
    /// A worker has had no task for long enough.
    Idle,
    /// The state of the machine.
    Health,
    /// Too many tasks fail.
    Errors,
    /// A signal and its set-point.
    SetPoint,
    /// What waits, against what may wait.
    Backlog,
    /// The wait budget, with nothing in its way.
    WaitBudget,
    /// More workers stopped bringing more throughput.
    Knee,
    /// Fewer workers for a moment, to see whether all of them help.
    Probe,
    /// A reading from outside.
    External,
    /// One decider wanted a change and another one the opposite.
    Objection,
    /// Nothing asks for a change.
    #[default]
    Steady,
    /// There are no readings to decide on.
    NoData,
    /// The autoscaler is off.
    Off,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::QueueDepth => "queue depth",
            Self::WorkerUtilization => "worker utilization",
            Self::Latency => "latency",
            Self::Manual => "manual",
            Self::Scheduled => "scheduled",
            Self::AllBusy => "all busy",
            Self::Idle => "idle",
            Self::Health => "health",
            Self::Errors => "errors",
            Self::SetPoint => "set-point",
            Self::Backlog => "backlog",
            Self::WaitBudget => "wait budget",
            Self::Knee => "knee",
            Self::Probe => "probe",
            Self::External => "external reading",
            Self::Objection => "objection",
            Self::Steady => "steady",
            Self::NoData => "no data",
            Self::Off => "off",
        })
    }
}
