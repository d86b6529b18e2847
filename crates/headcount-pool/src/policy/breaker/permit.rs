//! The right to one call, as a value that is held.

use std::fmt;

use super::handle::CircuitBreaker;
use super::rules::Ticket;
use super::window::Went;

/// The right to one call. It says how the call went, or by being dropped that there was none.
///
/// A drop counts as neither success nor failure, for a task that is cancelled says nothing about
/// the other side. So whoever leaves early with `?` says [`failed`](Self::failed) first, if that is
/// what it means.
///
/// ```
/// use headcount_pool::policy::CircuitBreaker;
///
/// let breaker = CircuitBreaker::default();
/// let fetch = |answer: Result<u32, String>| {
///     let permit = breaker.try_call().map_err(|open| open.to_string())?;
///     match &answer {
///         Ok(_) => permit.succeeded(),
///         Err(_) => permit.failed(),
///     }
///     answer
/// };
/// for _ in 0..5 {
///     assert_eq!(fetch(Err("no route".into())), Err("no route".into()));
/// }
/// let refused = fetch(Ok(3)).expect_err("it opened after the fifth");
/// assert!(refused.starts_with("the circuit breaker is open"));
/// ```
#[must_use = "to drop a permit is to say that there was no call"]
pub struct BreakerPermit {
    breaker: CircuitBreaker,
    /// `None`: it has reported.
    ticket: Option<Ticket>,
}

impl BreakerPermit {
    pub(super) fn new(breaker: CircuitBreaker, ticket: Ticket) -> Self {
        Self { breaker, ticket: Some(ticket) }
    }

    /// The call succeeded.
    pub fn succeeded(self) {
        self.report(Went::Well);
    }

    /// The call failed.
    pub fn failed(self) {
        self.report(Went::Wrong);
    }

    fn report(mut self, went: Went) {
        if let Some(ticket) = self.ticket.take() {
            self.breaker.reported(ticket, went);
        }
    }
}

impl Drop for BreakerPermit {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.breaker.given_back(ticket);
        }
    }
}

impl fmt::Debug for BreakerPermit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BreakerPermit").field("ticket", &self.ticket).finish_non_exhaustive()
    }
}
