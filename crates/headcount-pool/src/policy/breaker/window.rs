//! The calls that count: those of the last while. Pure: it is told the time.
//!
//! Failures are counted exactly, by remembering as many as it takes to open. Shares are counted in
//! eighths of the window, so that a thousand calls take no more room than ten.

use std::collections::VecDeque;
use std::time::Duration;

use headcount_core::Timestamp;

use super::config::Trip;

/// What happened lately to a closed breaker.
#[derive(Clone, Debug)]
pub(super) struct Window {
    trip: Trip,
    span: Duration,
    /// When calls failed, where failures are counted; the newest last.
    failures: VecDeque<Timestamp>,
    /// What happened in each slot, where shares are counted; the newest last.
    slots: VecDeque<Slot>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    since: Timestamp,
    calls: u64,
    failures: u64,
}

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Went {
    Well,
    Wrong,
}

const SLOTS: u32 = 8;
/// One that has just begun, and the others whole.
const SLOTS_MAX: usize = SLOTS as usize + 1;

impl Window {
    pub(super) fn new(trip: Trip, span: Duration) -> Self {
        Self { trip, span, failures: VecDeque::new(), slots: VecDeque::new() }
    }

    /// Counts a call, and says whether that is too much.
    pub(super) fn trips(&mut self, went: Went, now: Timestamp) -> bool {
        match self.trip {
            Trip::Failures(most) => {
                if went == Went::Wrong {
                    self.failed(now);
                }
                most as usize <= self.failures.len()
            }
            Trip::Share { share, calls_min } => {
                self.slot(now, went);
                let calls: u64 = self.slots.iter().map(|slot| slot.calls).sum();
                let failures: u64 = self.slots.iter().map(|slot| slot.failures).sum();
                u64::from(calls_min) <= calls && share * calls as f64 <= failures as f64
            }
        }
    }

    /// Failures stay fewer than it takes to open, for at so many it opens and begins anew.
    fn failed(&mut self, now: Timestamp) {
        while self.failures.front().is_some_and(|at| self.span <= now.since(*at)) {
            self.failures.pop_front();
        }
        self.failures.push_back(now);
    }

    fn slot(&mut self, now: Timestamp, went: Went) {
        let length = self.span / SLOTS;
        let kept = length.saturating_mul(SLOTS + 1);
        while self.slots.front().is_some_and(|slot| kept <= now.since(slot.since)) {
            self.slots.pop_front();
        }
        if self.slots.back().is_none_or(|slot| length <= now.since(slot.since)) {
            self.slots.push_back(Slot { since: now, calls: 0, failures: 0 });
        }
        assert!(self.slots.len() <= SLOTS_MAX, "slots are at least an eighth apart");
        let slot = self.slots.back_mut().expect("one was just made, if there was none");
        slot.calls += 1;
        slot.failures += u64::from(went == Went::Wrong);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Duration = Duration::from_secs(80);

    /// A second and a letter for each call: `w`ell or wron`g`. Which of them trips?
    fn check(trip: Trip, calls: &str, expected: &str) {
        let mut window = Window::new(trip, SPAN);
        let told = calls.split(' ').filter(|call| {
            let (second, went) = call.split_at(call.len() - 1);
            let went = if went == "w" { Went::Well } else { Went::Wrong };
            window.trips(went, Timestamp::from_secs(second.parse().expect("a second")))
        });
        assert_eq!(told.collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn failures_count_as_long_as_the_window_is() {
        check(Trip::Failures(3), "0g 1g 2w 79g", "79g");
        check(Trip::Failures(3), "0g 1g 80g 81g 82g", "82g");
        check(Trip::Failures(1), "5w 6g", "6g");
    }

    #[test]
    fn a_share_needs_enough_calls() {
        let half = Trip::Share { share: 0.5, calls_min: 4 };
        check(half, "0g 0g 0g 0g", "0g");
        check(half, "0g 0g 0w 0w", "0w");
        check(half, "0g 0w 0w 0w 0g 0g", "0g");
        check(half, "0w 0w 0w 0g 0w 0w", "");
    }

    /// The slot that began at 0 is forgotten at 90: 80 s and an eighth.
    #[test]
    fn a_share_forgets_what_is_older_than_the_window() {
        let all = Trip::Share { share: 1.0, calls_min: 2 };
        check(all, "0w 9w 89g 89g", "");
        check(all, "0w 9w 90g 91g", "91g");
    }

    #[test]
    fn a_window_takes_bounded_room() {
        let mut window = Window::new(Trip::Share { share: 1.0, calls_min: 1 }, SPAN);
        for second in 0..10_000 {
            window.trips(Went::Well, Timestamp::from_secs(second));
            assert!(window.slots.len() <= SLOTS_MAX);
        }
        let mut window = Window::new(Trip::Failures(5), SPAN);
        for second in 0..10_000 {
            assert!(!window.trips(Went::Wrong, Timestamp::from_secs(second * 20)));
            assert!(window.failures.len() < 5);
        }
    }
}
