//! What a simulation of a recorded run leaves out.

use std::fmt;

/// Something in a recording that its simulation knows nothing of.
///
/// ```
/// use headcount_sim::replay::Caveat;
///
/// let text = "the machine was unwell at 3 looks; the simulated one never is";
/// assert_eq!(Caveat::Unwell(3).to_string(), text);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Caveat {
    /// The line was at its limit at so many looks: whoever submitted may have waited.
    LineFull(u64),
    /// The machine was unwell at so many looks.
    Unwell(u64),
    /// A budget granted less than the maximum at so many looks.
    Shared(u64),
    /// A circuit breaker was not closed at so many looks.
    Broken(u64),
    /// Somebody sized the pool by hand at so many looks.
    ByHand(u64),
    /// The policy was changed so often.
    Changed(u64),
    /// Numbers from outside came with so many looks.
    External(u64),
}

impl fmt::Display for Caveat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LineFull(looks) => write!(
                f,
                "the line was full at {looks} looks; whoever submits then waits or is refused, so \
                 a faster policy may have been given more"
            ),
            Self::Unwell(looks) => {
                write!(f, "the machine was unwell at {looks} looks; the simulated one never is")
            }
            Self::Shared(looks) => {
                write!(
                    f,
                    "a budget was the limit at {looks} looks; in the simulation there is none"
                )
            }
            Self::Broken(looks) => write!(
                f,
                "a circuit breaker was open at {looks} looks; in the simulation there is none"
            ),
            Self::ByHand(looks) => write!(
                f,
                "somebody sized the pool by hand at {looks} looks; nobody does in the simulation"
            ),
            Self::Changed(times) => write!(
                f,
                "the policy was changed {times} times; the simulation goes by the first one"
            ),
            Self::External(looks) => write!(
                f,
                "numbers from outside came with {looks} looks; the simulation has none of them"
            ),
        }
    }
}
