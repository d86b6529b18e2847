//! When waiting tasks were submitted, without a look into the line.
//!
//! Tasks are numbered as they are let in. The times of the newest are kept one by one, those of
//! older ones at regular distances; what lies between is as old as the next older one that is
//! known. So ages are never told too short by more than what the clock was not read for.

use headcount_core::Timestamp;

use crate::sync::atomic::{AtomicU64, Ordering};

/// How many of the newest are kept one by one.
const FINE: u64 = if cfg!(loom) { 2 } else { 64 };
/// How many older ones are kept.
const COARSE: u64 = if cfg!(loom) { 2 } else { 256 };
/// While tasks are tiny only each of so many reads the clock.
pub(crate) const SAMPLE: u64 = 16;

/// The times at which tasks were submitted, by number.
#[derive(Debug)]
pub(crate) struct Stamps {
    fine: Box<[AtomicU64]>,
    coarse: Box<[AtomicU64]>,
    /// A power of two.
    distance: u64,
}

impl Stamps {
    /// For a line of at most `len_max` tasks.
    pub(crate) fn new(len_max: u64) -> Self {
        let cells = |count: u64| (0..count).map(|_| AtomicU64::new(0)).collect();
        let distance = len_max.div_ceil(COARSE - 1).max(SAMPLE).checked_next_power_of_two();
        Self { fine: cells(FINE), coarse: cells(COARSE), distance: distance.unwrap_or(1 << 62) }
    }

    /// Task `number` was submitted `at`.
    pub(crate) fn note(&self, number: u64, at: Timestamp) {
        cell(&self.fine, number).store(at.as_nanos(), Ordering::Relaxed);
        if number.is_multiple_of(self.distance) {
            cell(&self.coarse, number / self.distance).store(at.as_nanos(), Ordering::Relaxed);
        }
    }

    /// About when task `number` was submitted, if `admitted` were let in so far.
    pub(crate) fn submitted(&self, number: u64, admitted: u64) -> Timestamp {
        let sampled = number - number % SAMPLE;
        let nanos = match admitted.saturating_sub(sampled) <= FINE {
            // Not every one of them has a time of its own: then it is as old as the last that has.
            true => self.fine(number).max(self.fine(sampled)),
            false => cell(&self.coarse, number / self.distance).load(Ordering::Relaxed),
        };
        Timestamp::from_nanos(nanos)
    }

    fn fine(&self, number: u64) -> u64 {
        cell(&self.fine, number).load(Ordering::Relaxed)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the remainder is less than a length")]
fn cell(cells: &[AtomicU64], number: u64) -> &AtomicU64 {
    &cells[(number % cells.len() as u64) as usize]
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn stamps_of(count: u64, sampled: bool) -> Stamps {
        let stamps = Stamps::new(65_536);
        for number in 0..count {
            if !sampled || number % SAMPLE == 0 {
                stamps.note(number, Timestamp::from_nanos(1_000 + number));
            }
        }
        stamps
    }

    #[test]
    fn a_short_line_is_known_exactly() {
        let stamps = stamps_of(1_000, false);
        for number in 960..1_000 {
            let told = stamps.submitted(number, 1_000).as_nanos();
            assert_eq!(told, 1_000 + number);
        }
    }

    #[test]
    fn a_long_line_is_known_to_the_next_older_mark() {
        let admitted = 60_000;
        let stamps = stamps_of(admitted, false);
        for number in (0..admitted).step_by(97) {
            let told = stamps.submitted(number, admitted).as_nanos();
            let truth = 1_000 + number;
            assert!(told <= truth && truth < told + stamps.distance, "{told} for {truth}");
        }
    }

    #[test]
    fn sampled_times_are_as_old_as_the_last_sample() {
        let stamps = stamps_of(1_000, true);
        for number in 960..1_000 {
            let told = stamps.submitted(number, 1_000).as_nanos();
            let truth = 1_000 + number;
            assert!(told <= truth && truth < told + SAMPLE, "{told} for {truth}");
        }
    }
}
