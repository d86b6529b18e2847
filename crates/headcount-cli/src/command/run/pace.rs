//! How many jobs end a second, of late.
//!
//! Of short jobs many end between two looks, of long ones none for minutes. So the rate is taken
//! over as much of the past as holds a few ends, and over all there is where that is not enough.

use std::collections::VecDeque;
use std::time::Duration;

/// Ends that make a rate.
const ENDS: u64 = 20;
/// What is older than this is forgotten, where fewer ended since.
const SPAN_MAX: Duration = Duration::from_secs(60);
/// The shortest span that a rate is taken over.
const SPAN_MIN: Duration = Duration::from_secs(1);
/// How far apart moments are that are remembered: three hundred fit into the longest span.
const APART: Duration = Duration::from_millis(200);

/// How many jobs end a second, of late.
#[derive(Debug)]
pub(super) struct Pace {
    /// Moments since the beginning, and how many had ended by then; the first is what the rate is
    /// taken since.
    seen: VecDeque<(Duration, u64)>,
}

impl Pace {
    /// Nothing has ended.
    pub(super) fn new() -> Self {
        Self { seen: VecDeque::from([(Duration::ZERO, 0)]) }
    }

    /// The rate now, so long after the beginning, when so many have ended.
    pub(super) fn per_second(&mut self, now: Duration, ended: u64) -> f64 {
        while let Some((at, before)) = self.seen.get(1).copied() {
            let (span, ends) = (now.saturating_sub(at), ended.saturating_sub(before));
            if SPAN_MAX < span || SPAN_MIN <= span && ENDS <= ends {
                self.seen.pop_front();
            } else {
                break;
            }
        }
        let (since, before) = self.seen.front().copied().unwrap_or_default();
        let last = self.seen.back().map_or(Duration::ZERO, |(at, _)| *at);
        if APART <= now.saturating_sub(last) {
            self.seen.push_back((now, ended));
        }
        let seconds = now.saturating_sub(since).as_secs_f64();
        if seconds <= 0.0 { 0.0 } else { ended.saturating_sub(before) as f64 / seconds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rate after these spans, each with so many ends a second, looked at five times a second.
    fn after(spans: &[(f64, f64)]) -> f64 {
        let (mut pace, mut now, mut ended, mut rate) = (Pace::new(), 0.0, 0.0, 0.0);
        for (seconds, per_second) in spans {
            let end = now + seconds;
            while now < end {
                now += 0.2;
                ended += per_second * 0.2;
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let whole = ended as u64;
                rate = pace.per_second(Duration::from_secs_f64(now), whole);
            }
        }
        rate
    }

    #[track_caller]
    fn check(spans: &[(f64, f64)], expected: std::ops::RangeInclusive<f64>) {
        let rate = after(spans);
        assert!(expected.contains(&rate), "{rate} after {spans:?}");
    }

    #[test]
    fn it_follows_short_jobs_and_waits_for_long_ones() {
        check(&[(10.0, 100.0)], 95.0..=105.0);
        check(&[(10.0, 100.0), (3.0, 1000.0)], 950.0..=1050.0);
        // One every ten seconds, just ended or just begun.
        check(&[(55.0, 0.1)], 0.08..=0.12);
        check(&[(59.0, 0.1)], 0.08..=0.12);
    }

    #[test]
    fn a_stall_shows_slowly_and_is_not_remembered_for_ever() {
        check(&[(10.0, 100.0), (2.0, 0.0)], 1.0..=100.0);
        check(&[(10.0, 100.0), (100.0, 0.0)], 0.0..=0.0);
        check(&[(10.0, 100.0), (100.0, 0.0), (5.0, 100.0)], 95.0..=105.0);
    }

    #[test]
    fn it_remembers_no_more_than_it_needs() {
        let mut pace = Pace::new();
        for look in 0..10_000 {
            let _rate = pace.per_second(Duration::from_millis(50 * look), 0);
        }
        assert!(pace.seen.len() < 310, "{}", pace.seen.len());
    }
}
