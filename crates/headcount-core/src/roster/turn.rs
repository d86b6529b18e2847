//! Whose turn it is: the oldest first, until that would make everybody late.

use std::time::Duration;

/// Which end of the line is served next.
///
/// First in, first out is fair as long as it is quick. Where more comes than can be done, it makes
/// everybody wait as long as the longest, and soon nobody is served in time. Then those who have
/// just come are served first: they can still be in time, and those before them cannot. The others
/// are passed over, not forgotten: they are served whenever nobody newer waits.
///
/// ```
/// use headcount_core::roster::Turn;
/// use std::time::Duration;
///
/// let after = Some(Duration::from_millis(100));
/// assert_eq!(Turn::of(after, Duration::from_millis(99)), Turn::Oldest);
/// assert_eq!(Turn::of(after, Duration::from_millis(101)), Turn::Newest);
/// assert_eq!(Turn::of(None, Duration::MAX), Turn::Oldest, "nobody asked for it");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Whoever has waited for longest.
    Oldest,
    /// Whoever came last.
    Newest,
}

impl Turn {
    /// Whose turn it is where the oldest has waited for `oldest_waited`.
    #[must_use]
    pub fn of(newest_first_after: Option<Duration>, oldest_waited: Duration) -> Self {
        match newest_first_after {
            Some(after) if after < oldest_waited => Self::Newest,
            _ => Self::Oldest,
        }
    }
}
