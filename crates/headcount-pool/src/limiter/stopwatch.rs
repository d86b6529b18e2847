//! For how long permits are held, without the clock costing more than they do.
//!
//! A reading of the clock takes longer than coming and going. So where permits are held for a
//! moment only, one of many is timed and stands for all of them. Which one is left to chance before
//! anybody knows how long it will be held, so what is measured has no bias. It is told the time.

use std::num::NonZeroU32;
use std::time::Duration;

use headcount_core::Timestamp;
use headcount_core::spans::Spans;

use crate::spans::SharedSpans;
use crate::sync::atomic::{AtomicU32, Ordering};

/// Where permits are held for a moment only, one of so many is timed.
const SHARE: NonZeroU32 = NonZeroU32::new(64).expect("more than none");
/// A permit held for less than this was held for a moment only.
const QUICK: Duration = Duration::from_micros(1);
/// One of many that was held for as long as this was not.
const NOT_QUICK: Duration = Duration::from_micros(2);
/// So many in a row are timed before one stands for many.
const QUICK_RUN: u32 = 32;

/// What was measured so far, and who is measured next.
///
/// Two threads that count at once may lose a count of `quick` or throw the same dice. Neither
/// matters: the former only says how much is measured, not what.
#[derive(Debug, Default)]
pub(super) struct Stopwatch {
    /// Permits in a row that were held for a moment only.
    quick: AtomicU32,
    dice: AtomicU32,
    held: SharedSpans,
}

/// A permit that is timed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub(super) since: Timestamp,
    pub(super) stands_for: NonZeroU32,
}

impl Stopwatch {
    /// For how many the next one stands, if it is timed. In the models nobody is: what is measured
    /// says nothing about who is let in, and would only make for more orders to try.
    pub(super) fn next(&self) -> Option<NonZeroU32> {
        if cfg!(loom) {
            return None;
        }
        if self.quick.load(Ordering::Relaxed) < QUICK_RUN {
            return Some(NonZeroU32::MIN);
        }
        // The generator of Numerical Recipes; its upper bits are the good ones.
        let dice = self.dice.load(Ordering::Relaxed);
        let next = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.dice.store(next, Ordering::Relaxed);
        (next < u32::MAX / SHARE).then_some(SHARE)
    }

    /// The permit was held until now.
    pub(super) fn ended(&self, timing: Timing, now: Timestamp) {
        let held = now.since(timing.since);
        self.held.add(held, timing.stands_for.get());
        let quick = self.quick.load(Ordering::Relaxed);
        let bound = if quick < QUICK_RUN { QUICK } else { NOT_QUICK };
        let next = if held < bound { (quick + 1).min(QUICK_RUN) } else { 0 };
        if next != quick {
            self.quick.store(next, Ordering::Relaxed);
        }
    }

    /// All that was measured. From here on each is timed again, until they are known to be quick:
    /// so a change is seen by the next reading.
    pub(super) fn read(&self) -> Spans {
        self.quick.store(0, Ordering::Relaxed);
        let mut held = Spans::default();
        self.held.add_to(&mut held);
        held
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use headcount_core::spans::Window;

    use super::*;

    /// Holds permits for these nanoseconds, and says how many were timed.
    fn hold(stopwatch: &Stopwatch, nanos: impl IntoIterator<Item = u64>) -> u32 {
        let mut timed = 0;
        for nanos in nanos {
            if let Some(stands_for) = stopwatch.next() {
                let timing = Timing { since: Timestamp::ORIGIN, stands_for };
                stopwatch.ended(timing, Timestamp::ORIGIN + Duration::from_nanos(nanos));
                timed += 1;
            }
        }
        timed
    }

    #[test]
    fn each_is_timed_until_they_are_known_to_be_quick() {
        let check = |nanos: u64, expected: std::ops::RangeInclusive<u32>| {
            let stopwatch = Stopwatch::default();
            assert_eq!(hold(&stopwatch, [nanos; 32]), 32);
            let timed = hold(&stopwatch, vec![nanos; 6400]);
            assert!(expected.contains(&timed), "{timed} of 6400 held for {nanos} ns");
        };
        check(0, 80..=120);
        check(999, 80..=120);
        check(1_000, 6400..=6400);
    }

    #[test]
    fn one_that_is_not_quick_has_all_of_them_timed_again() {
        let stopwatch = Stopwatch::default();
        hold(&stopwatch, [10; 32]);
        assert!(hold(&stopwatch, [1_999; 640]) < 30, "not yet");
        hold(&stopwatch, [2_000; 640]);
        assert_eq!(hold(&stopwatch, [2_000; 100]), 100);
    }

    #[test]
    fn after_a_reading_each_is_timed_again() {
        let stopwatch = Stopwatch::default();
        hold(&stopwatch, [10; 640]);
        drop(stopwatch.read());
        assert_eq!(hold(&stopwatch, [10; 32]), 32);
    }

    /// Short ones of all lengths, and one in a hundred for which all of them are timed again.
    #[test]
    fn what_is_measured_has_no_bias() {
        let nanos: Vec<u64> = (0..1_000_000_u64)
            .map(|n| if n.wrapping_mul(7_919) % 100 == 0 { 50_000 } else { n * n % 997 })
            .collect();
        let stopwatch = Stopwatch::default();
        let timed = hold(&stopwatch, nanos.iter().copied());
        assert!((20_000..900_000).contains(&timed), "{timed} is all or nothing");
        let told = Window::default().statistics(&stopwatch.read(), Timestamp::ORIGIN);
        let told = told.expect("many were timed");
        let mean = nanos.iter().sum::<u64>() as f64 / 1e15;
        let near = |told: f64, exact: f64| (told / exact - 1.0).abs() < 0.03;
        assert!(near(told.count as f64, 1e6), "{} in all", told.count);
        assert!(near(told.mean.as_secs_f64(), mean), "{:?} and not {mean}", told.mean);
    }
}
