//! What a guard says, and why.

use std::fmt;
use std::time::Duration;

use crate::health::Zone;
use crate::scaling::observation::Breaker;
use crate::scaling::signal::Unit;
use crate::{Name, Staffing};

/// What a guard says of what is wanted.
///
/// ```
/// use headcount_core::Staffing;
/// use headcount_core::guard::{Because, Ruling};
///
/// let (from, wanted) = (Staffing::exactly(4), Staffing::exactly(9));
/// let because = Because::Allowance(6);
/// let ruling = Ruling::of(from, wanted, wanted.at_most(6), because);
/// assert_eq!(ruling, Ruling::Amend(Staffing::exactly(6), because));
/// assert_eq!(ruling.applied_to(from, wanted), Staffing::exactly(6));
/// assert_eq!(Ruling::of(from, wanted, from, because), Ruling::Hold(because));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Ruling {
    /// It may be had.
    #[default]
    Allow,
    /// This may be had instead.
    Amend(Staffing, Because),
    /// The pool stays as it is.
    Hold(Because),
}

impl Ruling {
    /// The ruling that leaves `left` of `wanted` to a pool at `from`.
    #[must_use]
    pub fn of(from: Staffing, wanted: Staffing, left: Staffing, because: Because) -> Self {
        match left {
            _ if left == wanted => Self::Allow,
            _ if left == from => Self::Hold(because),
            _ => Self::Amend(left, because),
        }
    }

    /// What is left of `wanted` for a pool at `from`.
    #[must_use]
    pub fn applied_to(self, from: Staffing, wanted: Staffing) -> Staffing {
        match self {
            Self::Allow => wanted,
            Self::Amend(left, _) => left,
            Self::Hold(_) => from,
        }
    }

    /// Why, where it is not simply a yes.
    #[must_use]
    pub fn because(self) -> Option<Because> {
        match self {
            Self::Allow => None,
            Self::Amend(_, because) | Self::Hold(because) => Some(because),
        }
    }
}

/// One guard's ruling, with its name.
///
/// ```
/// use headcount_core::guard::Ruling;
/// use headcount_core::{Breaker, Observation, Policy, PoolSnapshot, Preset, Staffing};
///
/// let policy = Policy::check(&Preset::gopipe().config(), 8).expect("no fault");
/// let pool = PoolSnapshot { busy: 2, ..PoolSnapshot::of(Staffing::exactly(2)) };
/// let observation = Observation { pool, breaker: Some(Breaker::Open), ..Observation::default() };
/// let decision = policy.build().tick(&observation);
/// let mut reviews = decision.rulings.iter();
/// let held = reviews.find(|review| review.ruling != Ruling::Allow).expect("somebody objects");
/// assert_eq!(held.guard.as_str(), "breaker_veto");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Review {
    /// The guard.
    pub guard: Name,
    /// What it said.
    pub ruling: Ruling,
}

/// Why a guard did not simply say yes.
///
/// ```
/// use headcount_core::Name;
/// use headcount_core::guard::Because;
/// use std::time::Duration;
///
/// let cooling = Because::Cooling(Duration::from_secs(20));
/// assert_eq!(cooling.to_string(), "the last change is too recent, 20 s left to wait");
/// // A guard of one's own has a word of its own.
/// let frozen = Because::Said(Name::new("release-freeze").expect("a name"));
/// assert_eq!(frozen.to_string(), "release-freeze");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Because {
    /// One step takes at most this many workers.
    Step(u32),
    /// The last change was too short a while ago; so much is left to wait.
    Cooling(Duration),
    /// This was wanted within the window.
    Peak(Staffing),
    /// The history does not reach back over the window, and will in so long.
    Unremembered(Duration),
    /// The pool began so short a while ago that this is left to wait.
    WarmingUp(Duration),
    /// This share of tasks fails.
    Errors(f64),
    /// The circuit breaker is not closed.
    Breaker(Breaker),
    /// The pool is being drained.
    Draining,
    /// The pool turned around this often, so shrinking waits for so long after each change.
    Flapping {
        /// How often.
        reversals: u32,
        /// How long.
        hold: Duration,
    },
    /// The machine is in this zone.
    Health {
        /// The zone.
        zone: Zone,
        /// Whether the zone is assumed, because nothing fresh is known.
        assumed: bool,
    },
    /// The machine was unwell a short while ago; this many workers are allowed again.
    Recovering(u32),
    /// Memory has room for this many workers.
    Memory(u32),
    /// How much memory there is was not measured.
    MemoryUnknown,
    /// The budget grants this many workers.
    Allowance(u32),
    /// The policy allows this many workers.
    Bounds {
        /// At least.
        min: u32,
        /// At most.
        max: u32,
    },
    /// A guard from outside says so.
    Said(Name),
}

impl Because {
    /// The word or two that the one-line explanation has room for.
    pub(crate) fn brief(self) -> Brief {
        Brief(self)
    }
}

/// A [`Because`] in a word or two, with a space before it; or nothing.
#[derive(Debug)]
pub(crate) struct Brief(Because);

impl fmt::Display for Brief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Because::Cooling(left) | Because::WarmingUp(left) | Because::Unremembered(left) => {
                write!(f, " ({} left)", Unit::Seconds.show(left.as_secs_f64()))
            }
            Because::Errors(rate) => write!(f, " ({} fail)", Unit::Ratio.show(rate)),
            Because::Flapping { reversals, .. } => write!(f, " ({reversals} reversals)"),
            Because::Health { zone, .. } => write!(f, " {zone}"),
            Because::Recovering(_) => write!(f, " recovering"),
            Because::MemoryUnknown => write!(f, " unknown"),
            Because::Said(word) => write!(f, " ({})", word.spoken()),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |span: &Duration| Unit::Seconds.show(span.as_secs_f64());
        match self {
            Self::Step(most) => write!(f, "a step is at most {most}"),
            Self::Cooling(left) => {
                write!(f, "the last change is too recent, {} left to wait", seconds(left))
            }
            Self::Peak(peak) => write!(f, "{peak} was wanted within the window"),
            Self::Unremembered(left) => {
                write!(f, "what was wanted before is not known, {} left to see", seconds(left))
            }
            Self::WarmingUp(left) => write!(f, "warming up, {} left", seconds(left)),
            Self::Errors(rate) => write!(f, "{} of tasks fail", Unit::Ratio.show(*rate)),
            Self::Breaker(Breaker::HalfOpen) => write!(f, "the circuit breaker is half open"),
            Self::Breaker(_) => write!(f, "the circuit breaker is open"),
            Self::Draining => write!(f, "the pool is being drained"),
            Self::Flapping { reversals, hold } => {
                write!(f, "{reversals} reversals, so a shrink waits {}", seconds(hold))
            }
            Self::Health { zone, assumed: true } => {
                write!(f, "health is unknown, taken as {zone}")
            }
            Self::Health { zone, assumed: false } => write!(f, "health is {zone}"),
            Self::Recovering(most) => write!(f, "recovering, {most} allowed again"),
            Self::Memory(most) => write!(f, "memory has room for {most}"),
            Self::MemoryUnknown => write!(f, "memory was not measured, so no growth"),
            Self::Allowance(most) => write!(f, "the budget grants {most}"),
            Self::Bounds { min, max } => write!(f, "the policy allows {min} to {max}"),
            Self::Said(word) => write!(f, "{}", word.spoken()),
        }
    }
}
