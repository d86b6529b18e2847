//! How far an autoscaler may go by itself.

use std::fmt;

use crate::Timestamp;

/// How far an autoscaler may go by itself.
///
/// ```
/// use headcount_core::{Mode, Observation, Policy, PoolSnapshot, Preset, Staffing};
///
/// let policy = Policy::check(&Preset::gopipe().config(), 8).expect("no fault");
/// let pool = PoolSnapshot { busy: 2, ..PoolSnapshot::of(Staffing::exactly(2)) };
/// let mut shadow = policy.build();
/// shadow.set_mode(Mode::Advise);
/// let decision = shadow.tick(&Observation { pool, ..Observation::default() });
/// assert_eq!(decision.resize(), None, "nothing to apply");
/// let line = "would grow 2 to 3: wants 3 (all busy) -> bounds 3";
/// assert_eq!(decision.explain().to_string(), line);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Mode {
    /// Decides nothing; the pool stays as it is.
    Off,
    /// Does what it is told with a manual target, and nothing without one.
    Manual,
    /// Decides as if automatic, and applies nothing: a shadow to compare with.
    Advise,
    /// Decides and applies.
    #[default]
    Automatic,
}

impl Mode {
    /// Whether what is decided is to be applied.
    #[must_use]
    pub fn applies(self) -> bool {
        matches!(self, Self::Manual | Self::Automatic)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Manual => "manual",
            Self::Advise => "advise",
            Self::Automatic => "automatic",
        })
    }
}

/// A size that somebody asked for, until it expires.
///
/// It goes past the decider and past the guards that smooth, but not past the ones that limit:
/// memory, allowance, bounds.
///
/// ```
/// use headcount_core::{
///     ManualTarget, Observation, Policy, PoolSnapshot, Preset, Staffing, Timestamp,
/// };
///
/// let policy = Policy::check(&Preset::gopipe().config(), 8).expect("no fault");
/// let pool = PoolSnapshot { busy: 2, ..PoolSnapshot::of(Staffing::exactly(2)) };
/// let mut autoscaler = policy.build();
/// let until = Some(Timestamp::from_secs(60));
/// autoscaler.set_manual(Some(ManualTarget { workers: 20, until }));
/// let mut size_at = |second| {
///     autoscaler.tick(&Observation::new(Timestamp::from_secs(second), pool)).to
/// };
/// assert_eq!(size_at(59), Staffing::exactly(8), "as far as the bounds allow");
/// assert_eq!(size_at(60), Staffing::exactly(3), "expired, it decides by itself again");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ManualTarget {
    /// How many workers.
    pub workers: u32,
    /// Until when. `None`: until it is taken back.
    pub until: Option<Timestamp>,
}

impl ManualTarget {
    /// Whether it is still in force.
    #[must_use]
    pub fn holds_at(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}
