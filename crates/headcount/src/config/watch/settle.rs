//! Waits until nothing more happens, but not for ever.

use std::time::Duration;

/// When to look after something happened: once it was quiet for a while, or at the latest so long
/// after the first event. Times are counted from any origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settling {
    quiet: Duration,
    latest: Duration,
    first: Duration,
    last: Duration,
}

impl Settling {
    /// Something happened at `now`.
    pub(super) fn begun(quiet: Duration, latest: Duration, now: Duration) -> Self {
        Self { quiet, latest, first: now, last: now }
    }

    /// Something more happened.
    pub(super) fn again(&mut self, now: Duration) {
        self.last = now;
    }

    /// How long to wait still; nothing when it is time to look.
    pub(super) fn left(&self, now: Duration) -> Option<Duration> {
        let due = (self.last + self.quiet).min(self.first + self.latest);
        due.checked_sub(now).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(events: &[u64], now: u64, left: Option<u64>) {
        let ms = Duration::from_millis;
        let mut settling = Settling::begun(ms(50), ms(500), ms(events[0]));
        events[1..].iter().for_each(|event| settling.again(ms(*event)));
        assert_eq!(settling.left(ms(now)), left.map(ms), "{events:?} at {now}");
    }

    #[test]
    fn looks_once_it_was_quiet() {
        check(&[100], 100, Some(50));
        check(&[100], 149, Some(1));
        check(&[100], 150, None);
        check(&[100, 140], 150, Some(40));
        check(&[100, 140], 190, None);
    }

    #[test]
    fn looks_at_the_latest_whatever_happens() {
        check(&[100, 580], 590, Some(10));
        check(&[100, 580], 600, None);
        check(&[100, 5_000], 5_000, None);
    }
}
