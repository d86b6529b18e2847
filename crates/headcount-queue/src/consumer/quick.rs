//! Whether jobs are so quick that handing them to another thread costs more than doing them.

use std::time::Duration;

/// What a lease of jobs may take in all to be done where it arrived: about as long as it takes to
/// wake another thread and to be woken by it in turn.
const HERE_MAX: Duration = Duration::from_micros(50);
/// A job that takes this long is no quick one, and those behind it would have waited for it.
const LONG: Duration = Duration::from_millis(1);
/// How many jobs must be seen to be short before the next are trusted: at first, and after many
/// that were trusted in vain.
const DISTRUST_MIN: u32 = 64;
const DISTRUST_MAX: u32 = 4096;
/// One part in so many of what is typical is the last job.
const MEMORY: u32 = 16;

/// How long jobs have taken of late, and how far that is trusted.
///
/// Each job that was trusted and turns out long doubles the number of short ones that it takes to
/// be trusted again, so where one in some hundred is long hardly any of them meets those that
/// trusted it.
#[derive(Debug)]
pub(super) struct Quick {
    typical: Duration,
    /// How many more must be short before any is trusted.
    distrust: u32,
    /// How many it will be after the next one that is trusted in vain.
    penalty: u32,
    /// How many were short since, while they were trusted.
    trusted: u32,
}

impl Default for Quick {
    fn default() -> Self {
        Self { typical: LONG, distrust: DISTRUST_MIN, penalty: DISTRUST_MIN, trusted: 0 }
    }
}

impl Quick {
    /// Whether so many jobs may be done where they arrived.
    pub(super) fn trusts(&self, jobs: usize) -> bool {
        let jobs = u32::try_from(jobs).unwrap_or(u32::MAX);
        self.distrust == 0 && self.typical.saturating_mul(jobs) <= HERE_MAX
    }

    /// A job has ended, so long after its handler began.
    pub(super) fn ended(&mut self, took: Duration) {
        self.typical = (self.typical * (MEMORY - 1) + took.min(LONG)) / MEMORY;
        if LONG <= took && self.distrust == 0 {
            self.disappointed();
        } else if LONG <= took {
            // It is known already, or nobody trusted it: the count begins anew.
            self.distrust = self.penalty;
        } else if 0 < self.distrust {
            self.distrust -= 1;
        } else {
            self.trusted += 1;
            if self.trusted == DISTRUST_MAX {
                (self.trusted, self.penalty) = (0, DISTRUST_MIN);
            }
        }
    }

    /// A job that was trusted did not end at once.
    pub(super) fn disappointed(&mut self) {
        (self.distrust, self.trusted) = (self.penalty, 0);
        self.penalty = (self.penalty * 2).min(DISTRUST_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICRO: Duration = Duration::from_micros(1);

    /// After so many jobs of a microsecond.
    fn seen(jobs: u32) -> Quick {
        let mut quick = Quick::default();
        (0..jobs).for_each(|_| quick.ended(MICRO));
        quick
    }

    /// How many short jobs it takes until ten are trusted.
    fn until_trusted(quick: &mut Quick) -> u32 {
        let mut jobs = 0;
        while !quick.trusts(10) {
            quick.ended(MICRO);
            jobs += 1;
        }
        jobs
    }

    #[test]
    fn jobs_are_trusted_once_many_were_short() {
        assert!(!Quick::default().trusts(1));
        assert!(!seen(DISTRUST_MIN).trusts(10), "the unknown weighs on what is typical");
        assert!(seen(200).trusts(10));
    }

    #[test]
    fn as_many_are_trusted_as_take_less_than_waking_another_thread() {
        let quick = seen(1000);
        assert!(quick.trusts(40));
        assert!(!quick.trusts(60));
        let mut slower = seen(1000);
        (0..100).for_each(|_| slower.ended(10 * MICRO));
        assert!(slower.trusts(4));
        assert!(!slower.trusts(10));
    }

    #[test]
    fn each_disappointment_doubles_what_it_takes_up_to_a_limit() {
        let mut quick = seen(1000);
        let mut last = 0;
        for _ in 0..3 {
            quick.disappointed();
            let took = until_trusted(&mut quick);
            assert!(2 * last <= took, "{last}, then {took}");
            last = took;
        }
        (0..20).for_each(|_| quick.ended(LONG));
        assert!(until_trusted(&mut quick) <= DISTRUST_MAX + 200);
    }

    #[test]
    fn a_long_calm_makes_up_for_it() {
        let mut quick = seen(1000);
        (0..20).for_each(|_| quick.disappointed());
        (0..2 * DISTRUST_MAX).for_each(|_| quick.ended(MICRO));
        quick.disappointed();
        assert_eq!(until_trusted(&mut quick), DISTRUST_MIN);
    }
}
