//! How many workers a pool may have: never fewer than the floor, never more than the ceiling.

use std::fmt;

/// The bounds in force on the number of workers.
///
/// Between them the pool hires and lets go by itself. Where both are one number the pool has
/// exactly that many workers.
///
/// ```
/// use headcount_core::Staffing;
///
/// assert_eq!(Staffing::exactly(4).to_string(), "4");
/// assert_eq!(Staffing::between(2, 8).to_string(), "2..8");
/// assert_eq!(Staffing::between(9, 3), Staffing::exactly(3), "the ceiling wins");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Written"))]
pub struct Staffing {
    /// The least number of workers.
    pub floor: u32,
    /// The greatest number of workers.
    pub ceiling: u32,
}

/// A staffing as it stands in a file, where the ends may cross.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Written {
    floor: u32,
    ceiling: u32,
}

#[cfg(feature = "serde")]
impl From<Written> for Staffing {
    fn from(written: Written) -> Self {
        Self::between(written.floor, written.ceiling)
    }
}

impl Staffing {
    /// Exactly `n` workers.
    #[must_use]
    pub const fn exactly(n: u32) -> Self {
        Self { floor: n, ceiling: n }
    }

    /// From `floor` to `ceiling` workers. The ceiling wins where they cross.
    #[must_use]
    pub fn between(floor: u32, ceiling: u32) -> Self {
        Self { floor: floor.min(ceiling), ceiling }
    }

    /// The same, with at most `n` workers.
    #[must_use]
    pub fn at_most(self, n: u32) -> Self {
        Self { floor: self.floor.min(n), ceiling: self.ceiling.min(n) }
    }

    /// The same, with at least `n` workers allowed and kept.
    #[must_use]
    pub fn at_least(self, n: u32) -> Self {
        Self { floor: self.floor.max(n), ceiling: self.ceiling.max(n) }
    }

    /// The same with both ends brought into `min..=max`; `max` wins where those cross.
    #[must_use]
    pub fn within(self, min: u32, max: u32) -> Self {
        self.at_least(min).at_most(max)
    }

    /// The same without growth over `other`: neither end is higher than there.
    #[must_use]
    pub fn no_more_than(self, other: Self) -> Self {
        Self { floor: self.floor.min(other.floor), ceiling: self.ceiling.min(other.ceiling) }
    }

    /// The same without a shrink below `other`: neither end is lower than there.
    #[must_use]
    pub fn no_less_than(self, other: Self) -> Self {
        Self { floor: self.floor.max(other.floor), ceiling: self.ceiling.max(other.ceiling) }
    }
}

impl fmt::Display for Staffing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.floor == self.ceiling {
            return write!(f, "{}", self.ceiling);
        }
        write!(f, "{}..{}", self.floor, self.ceiling)
    }
}
