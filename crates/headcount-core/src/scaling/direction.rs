//! Which way a change of staffing goes.

use std::fmt;

use super::staffing::Staffing;

/// Which way a change of staffing goes.
///
/// ```
/// use headcount_core::{Direction, Staffing};
///
/// let way = Direction::between(Staffing::exactly(4), Staffing::exactly(6));
/// assert_eq!(way, Direction::Grow);
/// // The ceiling says which way; the floor only where the ceiling stays.
/// let way = Direction::between(Staffing::between(1, 8), Staffing::between(2, 6));
/// assert_eq!(way, Direction::Shrink);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Direction {
    /// More workers.
    Grow,
    /// Fewer workers.
    Shrink,
    /// As many as before.
    #[default]
    Hold,
}

impl Direction {
    /// The way from one staffing to another.
    #[must_use]
    pub fn between(from: Staffing, to: Staffing) -> Self {
        let order = (to.ceiling, to.floor).cmp(&(from.ceiling, from.floor));
        match order {
            std::cmp::Ordering::Greater => Self::Grow,
            std::cmp::Ordering::Less => Self::Shrink,
            std::cmp::Ordering::Equal => Self::Hold,
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Grow => "grow",
            Self::Shrink => "shrink",
            Self::Hold => "hold",
        })
    }
}
