//! How long a worker that finds nothing waits for the next task before it parks. Pure.
//!
//! To be parked and woken costs a worker and its submitter more than a short wait does. So where
//! the last tasks came soon after one another, it waits as long as that; where they did not, it
//! parks almost at once. One that came late among many that came soon, because its submitter was
//! held up for a moment, does not end that; the next one would have to wake it for nothing.

use std::time::Duration;

use headcount_core::Timestamp;

/// A worker waits for the next task at most so long: three times what it takes to wake it.
const WAIT_MAX: Duration = Duration::from_micros(75);
/// So many tasks more must have come within that than not.
const SOON_RUN: u32 = 4;
/// A task that came late counts for as many as this that came soon.
const LATE_COSTS: u32 = 4;
/// No more of them are remembered, so that two late ones in a row are enough.
const SOON_MAX: u32 = SOON_RUN + LATE_COSTS;

/// One worker's expectation of the next task.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    idle_since: Option<Timestamp>,
    /// Tasks that came soon, without those that late ones have cost.
    soon: u32,
}

impl Patience {
    /// It has found nothing.
    pub(crate) fn idle(&mut self, now: Timestamp) {
        self.idle_since.get_or_insert(now);
    }

    /// It has a task again.
    pub(crate) fn resumed(&mut self, now: Timestamp) {
        let Some(since) = self.idle_since.take() else { return };
        self.soon = match now.since(since) < WAIT_MAX {
            true => (self.soon + 1).min(SOON_MAX),
            false => self.soon.saturating_sub(LATE_COSTS),
        };
    }

    /// Whether it is worth a look or two more. Where tasks come far apart it is not: a thread that
    /// gives way before it sleeps has had its turn, for the system, and is woken behind others.
    pub(crate) fn expects_soon(&self) -> bool {
        0 < self.soon
    }

    /// Until when it is worth waiting, if it is at all.
    pub(crate) fn waits_until(&self) -> Option<Timestamp> {
        self.idle_since.filter(|_| SOON_RUN <= self.soon).map(|since| since + WAIT_MAX)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Idles for each of these spans in microseconds, and tells how long it would wait after that.
    fn check(gaps: &[u64], expected: Option<u64>) {
        let (mut patience, mut now) = (Patience::default(), Timestamp::ORIGIN);
        for gap in gaps {
            patience.idle(now);
            now = now + Duration::from_micros(*gap);
            patience.resumed(now);
        }
        patience.idle(now);
        let told = patience.waits_until().map(|until| until.since(now).as_micros());
        assert_eq!(told, expected.map(u128::from), "{gaps:?}");
    }

    #[test]
    fn it_waits_where_tasks_come_soon() {
        check(&[50, 50, 50, 50], Some(75));
    }

    #[test]
    fn it_does_not_wait_before_it_knows() {
        check(&[], None);
        check(&[50, 50, 50], None);
    }

    #[test]
    fn it_does_not_even_look_again_where_none_came_soon() {
        let expects = |gaps: &[u64]| {
            let (mut patience, mut now) = (Patience::default(), Timestamp::ORIGIN);
            for gap in gaps {
                patience.idle(now);
                now = now + Duration::from_micros(*gap);
                patience.resumed(now);
            }
            patience.expects_soon()
        };
        assert!(!expects(&[]) && !expects(&[1_000, 1_000]));
        assert!(expects(&[50]) && expects(&[1_000, 50]));
        assert!(!expects(&[50, 50, 50, 50, 1_000]), "those are over");
    }

    #[test]
    fn a_long_gap_after_a_few_short_ones_ends_its_patience() {
        check(&[50, 50, 50, 50, 50, 1_000], None);
        check(&[1_000, 50, 50, 50, 50], Some(75));
    }

    #[test]
    fn a_long_gap_among_many_short_ones_does_not() {
        check(&[50, 50, 50, 50, 50, 50, 50, 50, 1_000], Some(75));
        check(&[50, 50, 50, 50, 50, 50, 50, 50, 50, 1_000, 1_000], None);
        let often = [[50; 4].as_slice(), &[1_000]].concat().repeat(9);
        check(&often, None);
        check(&[often.as_slice(), &[50; 5]].concat(), Some(75));
    }

    #[test]
    fn it_waits_from_when_it_first_found_nothing() {
        let mut patience = Patience { idle_since: None, soon: SOON_RUN };
        patience.idle(Timestamp::ORIGIN);
        patience.idle(Timestamp::ORIGIN + Duration::from_micros(30));
        assert_eq!(patience.waits_until(), Some(Timestamp::ORIGIN + WAIT_MAX));
    }
}
