//! Why a load in a regime has no bound.

use std::fmt;

use crate::bound::BoundError;

/// Why a load in a regime has no bound.
///
/// ```
/// use headcount_sim::contest::NoBound;
///
/// let why = NoBound::SickMachine.to_string();
/// assert_eq!(why, "it knows of no machine that is sick");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoBound {
    /// D: somebody has to be late.
    TooFewWorkers,
    /// E: what a sick machine gets done depends on how many work on it.
    SickMachine,
    /// It cannot be worked out, or nobody can keep the promise.
    Unknown(BoundError),
}

impl fmt::Display for NoBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewWorkers => f.write_str("there may be fewer workers than the peak needs"),
            Self::SickMachine => f.write_str("it knows of no machine that is sick"),
            Self::Unknown(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for NoBound {}
