//! Keeps a pool that cannot start workers from trying in a hot loop.

use std::time::Duration;

use crate::Timestamp;

/// How long nobody is hired after the first failed start.
pub const BACKOFF_MIN: Duration = Duration::from_millis(10);

/// How long nobody is hired after many failed starts in a row.
pub const BACKOFF_MAX: Duration = Duration::from_secs(10);

/// The failed starts in a row, and how long they bar further ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
    retry_at: Timestamp,
}

impl Backoff {
    /// Notes a failed start; returns when to try again.
    pub(super) fn failed(&mut self, now: Timestamp) -> Timestamp {
        // Starts that were under way when the first one failed share its fate: one setback, not
        // many, or a burst of ten would bar hiring a thousand times as long as a single one.
        if self.failures == 0 || self.retry_at <= now {
            self.retry_at = now + span_after(self.failures);
            self.failures = self.failures.saturating_add(1);
        }
        self.retry_at
    }

    /// Notes that a worker has started.
    pub(super) fn cleared(&mut self) {
        *self = Self::default();
    }

    /// Whether hires wait for a start under way to tell if starting works again.
    pub(super) fn awaits(self, starting: u32) -> bool {
        0 < self.failures && 0 < starting
    }

    /// The first moment from `at` on when a hire may be tried.
    pub(super) fn not_before(self, at: Timestamp) -> Timestamp {
        at.max(self.retry_at)
    }

    /// Until when hiring is barred. `None`: the last start went well.
    pub(super) fn retry_at(self) -> Option<Timestamp> {
        (0 < self.failures).then_some(self.retry_at)
    }
}

fn span_after(failures: u32) -> Duration {
    // More doublings than ten are beyond the limit anyway, and this many cannot overflow.
    (BACKOFF_MIN * (1 << failures.min(10))).min(BACKOFF_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_span_doubles_up_to_its_limit() {
        let mut backoff = Backoff::default();
        let mut now = Timestamp::ORIGIN;
        let mut spans = Vec::new();
        for _ in 0..13 {
            let retry_at = backoff.failed(now);
            spans.push(retry_at.since(now).as_millis());
            now = retry_at;
        }
        assert_eq!(
            spans,
            [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10_000, 10_000, 10_000]
        );
    }

    #[test]
    fn a_burst_of_failures_is_one_setback() {
        let mut backoff = Backoff::default();
        for _ in 0..10 {
            assert_eq!(backoff.failed(Timestamp::ORIGIN), Timestamp::from_millis(10));
        }
        backoff.cleared();
        assert_eq!(backoff.retry_at(), None);
        assert_eq!(backoff.not_before(Timestamp::ORIGIN), Timestamp::ORIGIN);
    }
}
