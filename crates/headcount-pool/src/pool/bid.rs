//! What a submitter wants if the line is full, and what ends its waiting.

use headcount_core::Timestamp;

use crate::CancelToken;
use crate::task::{Overflow, Refusal};

/// One task's wish to be let in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bid<'a> {
    pub(crate) overflow: Overflow,
    /// Nobody waits for room for longer.
    pub(crate) until: Timestamp,
    /// Nobody waits for room once this is cancelled.
    pub(crate) token: Option<&'a CancelToken>,
}

impl Bid<'_> {
    pub(crate) fn new(overflow: Overflow) -> Self {
        Self { overflow, until: Timestamp::MAX, token: None }
    }

    /// The same, from now on, when it begins to wait.
    pub(super) fn begun(self, now: impl FnOnce() -> Timestamp) -> Self {
        match self.overflow {
            Overflow::WaitFor(timeout) => Self { until: self.until.min(now() + timeout), ..self },
            _ => self,
        }
    }

    /// Whether anything but room can end its waiting.
    pub(super) fn can_end(&self) -> bool {
        let has_time = matches!(self.overflow, Overflow::WaitFor(_));
        has_time || self.until < Timestamp::MAX || self.token.is_some()
    }

    /// Whether its submitter waits on; if not, why.
    pub(super) fn waits_on(&self, now: impl FnOnce() -> Timestamp) -> Result<(), Refusal> {
        if self.token.is_some_and(CancelToken::is_cancelled) {
            return Err(Refusal::Cancelled);
        }
        match self.until < Timestamp::MAX && self.until <= now() {
            true => Err(Refusal::TimedOut),
            false => Ok(()),
        }
    }
}
