//! The load of the demo: a quiet start, a rush, a quiet end; the same every time.

use std::time::Duration;

/// Jobs a second while it is quiet, and in the rush.
const QUIET: f64 = 15.0;
const RUSH: f64 = 150.0;
/// From when to when the rush is, as shares of the whole.
const RUSH_FROM: f64 = 0.2;
const RUSH_TO: f64 = 0.55;
/// Every so manieth job fails at its first try.
const FAILS_EVERY: u64 = 20;
/// How long jobs take: from this, in steps, to almost three times this.
const SHORTEST_MS: u64 = 40;

/// The load of the demo.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wave {
    span: Duration,
}

impl Wave {
    pub(super) fn new(span: Duration) -> Self {
        Self { span }
    }

    /// How many jobs have come by then, in all.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Small and not negative.
    pub(super) fn come_by(self, now: Duration) -> u64 {
        let whole = self.span.as_secs_f64();
        let now = now.as_secs_f64().min(whole);
        let rush = (now.min(whole * RUSH_TO) - whole * RUSH_FROM).max(0.0);
        (QUIET * (now - rush) + RUSH * rush) as u64
    }

    /// Whether it is over by then.
    pub(super) fn is_over(self, now: Duration) -> bool {
        self.span <= now
    }

    pub(super) fn span(self) -> Duration {
        self.span
    }
}

/// How long the job of this number takes.
pub(super) fn takes(number: u64) -> Duration {
    Duration::from_millis(SHORTEST_MS + number * 37 % 80)
}

/// Whether its first try fails.
pub(super) fn fails_first(number: u64) -> bool {
    number % FAILS_EVERY == FAILS_EVERY - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rush_is_a_part_of_the_whole() {
        let wave = Wave::new(Duration::from_secs(100));
        let come = [0, 20, 55, 100, 200].map(|secs| wave.come_by(Duration::from_secs(secs)));
        assert_eq!(come, [0, 300, 5550, 6225, 6225]);
        assert!(!wave.is_over(Duration::from_secs(99)) && wave.is_over(Duration::from_secs(100)));
    }

    #[test]
    fn jobs_differ_and_some_fail() {
        let failing = (0..100).filter(|number| fails_first(*number)).count();
        assert_eq!(failing, 5);
        let spans: Vec<Duration> = (0..80).map(takes).collect();
        let (shortest, longest) = (spans.iter().min(), spans.iter().max());
        assert_eq!(shortest, Some(&Duration::from_millis(40)));
        assert_eq!(longest, Some(&Duration::from_millis(119)));
    }
}
