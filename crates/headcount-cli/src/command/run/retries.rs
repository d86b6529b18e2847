//! Jobs that wait for another try. Nobody's worker waits with them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// No pause is longer than this.
const DELAY_MAX: Duration = Duration::from_secs(60);
/// So many may wait before no new item is read.
const WAITING_MAX: usize = 1_000;

/// How long to wait after so many tries: each time twice as long as before.
pub(super) fn delay_after(tries: u32, first: Duration) -> Duration {
    let doublings = tries.saturating_sub(1).min(16);
    first.saturating_mul(1 << doublings).min(DELAY_MAX.max(first))
}

/// Things that are due at a time.
#[derive(Debug)]
pub(super) struct Waiting<T> {
    by_time: Mutex<BTreeMap<(Instant, u64), T>>,
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Self { by_time: Mutex::default() }
    }
}

impl<T> Waiting<T> {
    /// Lets `thing` wait. Of those due at the same time, the lower `number` goes first.
    pub(super) fn put(&self, due: Instant, number: u64, thing: T) {
        self.lock().insert((due, number), thing);
    }

    pub(super) fn take_due(&self, now: Instant) -> Option<T> {
        let mut waiting = self.lock();
        match waiting.first_key_value() {
            Some(((due, _), _)) if *due <= now => waiting.pop_first().map(|(_, thing)| thing),
            _ => None,
        }
    }

    /// When the first is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.lock().first_key_value().map(|((due, _), _)| *due)
    }

    pub(super) fn is_full(&self) -> bool {
        WAITING_MAX <= self.lock().len()
    }

    /// Nothing waits any more; returns what did.
    pub(super) fn clear(&self) -> Vec<T> {
        std::mem::take(&mut *self.lock()).into_values().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(Instant, u64), T>> {
        self.by_time.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pause_is_twice_the_one_before() {
        let seconds = |tries| delay_after(tries, Duration::from_secs(1)).as_secs();
        assert_eq!([1, 2, 3, 6, 7, 1000].map(seconds), [1, 2, 4, 32, 60, 60]);
        assert_eq!(delay_after(9, Duration::ZERO), Duration::ZERO);
        let hours = Duration::from_secs(7200);
        assert_eq!(delay_after(3, hours), hours, "a longer one is as it was asked for");
    }

    #[test]
    fn what_is_due_first_goes_first() {
        let now = Instant::now();
        let later = now + Duration::from_secs(5);
        let waiting = Waiting::default();
        waiting.put(later, 1, "later");
        waiting.put(now, 3, "third");
        waiting.put(now, 2, "second");
        assert_eq!(waiting.next_due(), Some(now));
        let taken = [waiting.take_due(now), waiting.take_due(now), waiting.take_due(now)];
        assert_eq!(taken, [Some("second"), Some("third"), None]);
        assert_eq!(waiting.clear(), ["later"]);
    }
}
