//! How fast workers that block are replaced. Pure.
//!
//! The first few at once: a processor stands idle. Then ever more slowly, because whoever blocks
//! may be waiting for the very thing that more workers would only ask for more often. One for each
//! core is free; from there on each waits 25 ms longer for every further round over the cores, and
//! 250 ms at most.

use std::time::Duration;

use headcount_core::Timestamp;

const STEP: Duration = Duration::from_millis(25);
const DELAY_MAX: Duration = Duration::from_millis(250);

/// The schedule by which replacements are granted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Injection {
    cores: u32,
    last: Timestamp,
}

impl Injection {
    pub(crate) fn new(cores: u32) -> Self {
        Self { cores: cores.max(1), last: Timestamp::ORIGIN }
    }

    /// When another one may be replaced, while `replaced` are.
    pub(crate) fn next_at(&self, replaced: u32) -> Timestamp {
        let Some(beyond) = replaced.checked_sub(self.cores) else { return self.last };
        let rounds = beyond / self.cores + 1;
        self.last + STEP.saturating_mul(rounds).min(DELAY_MAX)
    }

    /// One was replaced.
    pub(crate) fn granted(&mut self, now: Timestamp) {
        self.last = now;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// When each of `count` that block from the beginning is replaced, in milliseconds.
    fn check(cores: u32, count: u32, expected: &[u64]) {
        let mut injection = Injection::new(cores);
        let told: Vec<u64> = (0..count)
            .map(|replaced| {
                let at = injection.next_at(replaced);
                injection.granted(at);
                at.as_nanos() / 1_000_000
            })
            .collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn one_for_each_core_is_free_and_then_it_takes_ever_longer() {
        check(2, 8, &[0, 0, 25, 50, 100, 150, 225, 300]);
        check(1, 4, &[0, 25, 75, 150]);
    }

    #[test]
    fn it_never_takes_longer_than_a_quarter_of_a_second() {
        let mut injection = Injection::new(1);
        injection.granted(Timestamp::from_secs(1));
        assert_eq!(injection.next_at(1_000), Timestamp::from_millis(1_250));
    }
}
