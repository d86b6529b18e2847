//! The right to be in, as a value that is held.

use std::fmt;
use std::thread::panicking;

use super::handle::Limiter;
use super::ledger::Outcome;
use super::stopwatch::Timing;

/// The right to be in. To drop it is to give it back.
///
/// It belongs to whoever holds it and can go with the work to another thread or task. However it
/// is given back, the place is free at once and the next in the queue is called. How the work
/// ended is for the books, on which an autoscaler moves the limit:
///
/// | Given back by | Ends as | Timed |
/// |---|---|---|
/// | [`success`](Self::success), or a plain drop | completed | yes |
/// | [`dropped`](Self::dropped) | completed, failed | yes |
/// | [`ignore`](Self::ignore) | completed | no |
/// | a drop in a panic | completed, failed, panicked | yes |
///
/// Of permits that are held for a moment only some are timed; [`Limiter::snapshot`] says which.
///
/// A plain drop is a success, because most code does nothing else, and a limiter that measured only
/// those who say more would mostly measure nothing. So a `?` between acquiring and the end is a
/// success too, as is a task that is cancelled: if that is wrong, say how it ended.
///
/// ```
/// use headcount_pool::Limiter;
///
/// let limiter = Limiter::new(1);
/// let answer_of = |status: u16| -> Result<u16, headcount_pool::Closed> {
///     let permit = limiter.acquire()?;
///     match status {
///         429 | 503 => permit.dropped(),
///         400..=499 => permit.ignore(),
///         _ => permit.success(),
///     }
///     Ok(status)
/// };
/// for status in [200, 429, 404] {
///     answer_of(status)?;
/// }
/// let counted = limiter.snapshot().counters;
/// assert_eq!((counted.completed, counted.failed), (3, 1));
/// # Ok::<(), headcount_pool::Closed>(())
/// ```
#[must_use = "to drop a permit is to give it back; hold it for as long as the work lasts"]
pub struct Permit {
    limiter: Limiter,
    /// `None`: it is not measured.
    timing: Option<Timing>,
    /// `None`: nobody has said yet.
    outcome: Option<Outcome>,
}

impl Permit {
    pub(super) fn new(limiter: Limiter, timing: Option<Timing>) -> Self {
        Self { limiter, timing, outcome: None }
    }

    /// Gives it back: the work was done.
    pub fn success(self) {
        self.end(Outcome::Success);
    }

    /// Gives it back: how long this took says nothing about the load. A bad request, an answer
    /// from a cache, a caller that went away.
    pub fn ignore(self) {
        self.end(Outcome::Ignored);
    }

    /// Gives it back: the work was refused or timed out downstream. That is what a limit that is
    /// too high looks like.
    pub fn dropped(self) {
        self.end(Outcome::Dropped);
    }

    fn end(mut self, outcome: Outcome) {
        self.outcome = Some(outcome);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        // A panic is an error whoever causes it, and must not count as a fast success.
        let unsaid = if panicking() { Outcome::Panicked } else { Outcome::Success };
        self.limiter.give_back(self.outcome.unwrap_or(unsaid), self.timing);
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("timing", &self.timing).finish_non_exhaustive()
    }
}
