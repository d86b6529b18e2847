//! Which jobs of the demo were done, as their handler saw it.

use std::sync::{Mutex, PoisonError};

/// Which jobs were done, by number.
#[derive(Debug, Default)]
pub(super) struct Tally(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// Whether the job of each number is done.
    done: Vec<bool>,
    retried: u64,
}

impl Tally {
    pub(super) fn done(&self, number: u64) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = usize::try_from(number).expect("a demo has few jobs");
        if counts.done.len() <= place {
            counts.done.resize(place + 1, false);
        }
        counts.done[place] = true;
    }

    pub(super) fn retried(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retried += 1;
    }

    /// How many different jobs are done, and how many tries failed.
    pub(super) fn counts(&self) -> (u64, u64) {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (counts.done.iter().filter(|done| **done).count() as u64, counts.retried)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_ran_twice_is_done_once() {
        let tally = Tally::default();
        for number in [4, 0, 4] {
            tally.done(number);
        }
        tally.retried();
        assert_eq!(tally.counts(), (2, 1));
    }
}
