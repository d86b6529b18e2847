//! Workers that are done and wait to be buried: when, and how many together. Pure.
//!
//! A thread that ends and one that is buried both change the memory of the process, which one
//! thread at a time may. So whoever is buried while others are on their way out keeps those from
//! ending. Those who leave together are buried together: when all have come, or when nobody has
//! come for a while, for one that its own hook holds up is to keep nobody waiting. Where a task
//! waits, and may need a place, it does not matter who else comes.

use std::time::Duration;

use headcount_core::Timestamp;
use headcount_core::roster::WorkerId;

/// Nobody else has come for so long; or, where a task waits, the first has waited for so long.
const PAUSE: Duration = Duration::from_millis(if cfg!(loom) { 0 } else { 5 });
/// Nobody waits for longer, however many come.
const WAIT_MAX: Duration = Duration::from_millis(if cfg!(loom) { 0 } else { 100 });

/// Those who are done.
#[derive(Debug, Default)]
pub(crate) struct Leavers {
    workers: Vec<WorkerId>,
    /// When the first and the last of them came.
    first: Timestamp,
    last: Timestamp,
    /// How many were taken and are not buried yet.
    in_burial: usize,
}

impl Leavers {
    /// A worker is done; `leaving` were told to leave, and it is one of them. Says whether the
    /// keeper is to be told: of the first, who sets its alarm, and of the last.
    pub(crate) fn came(&mut self, worker: WorkerId, leaving: u32, now: Timestamp) -> bool {
        if self.workers.is_empty() {
            self.first = now;
        }
        self.last = now;
        self.workers.push(worker);
        self.workers.len() == 1 || self.all_have_come(leaving)
    }

    /// Whether everybody who was told to leave is done.
    fn all_have_come(&self, leaving: u32) -> bool {
        leaving as usize <= self.workers.len() + self.in_burial
    }

    /// When they are buried, if there are any.
    pub(crate) fn buried_at(&self, leaving: u32, task_waits: bool) -> Timestamp {
        match self.all_have_come(leaving) {
            true => self.first,
            false if task_waits => self.first + PAUSE,
            false => (self.last + PAUSE).min(self.first + WAIT_MAX),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = WorkerId> {
        self.workers.iter().copied()
    }

    /// Takes out those of whom something is left to bury, and that.
    pub(crate) fn take<H>(
        &mut self,
        mut hand_of: impl FnMut(WorkerId) -> Option<H>,
    ) -> Vec<(WorkerId, H)> {
        let mut gone = Vec::new();
        self.workers.retain(|worker| match hand_of(*worker) {
            Some(hand) => {
                gone.push((*worker, hand));
                false
            }
            // It was so quick that whoever started it has not told us yet.
            None => true,
        });
        self.in_burial += gone.len();
        gone
    }

    /// One of those who were taken is gone for good.
    pub(crate) fn buried(&mut self) {
        self.in_burial -= 1;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use headcount_core::Staffing;
    use headcount_core::roster::{Order, Roster, RosterConfig, Spread};

    use super::*;

    fn workers(count: u32) -> Vec<WorkerId> {
        let mut roster = Roster::new(RosterConfig::new(Staffing::exactly(count)));
        let hire = || match roster.next_order(Timestamp::ORIGIN, &Spread::default()) {
            Some(Order::Hire(worker)) => worker,
            other => unreachable!("{other:?}"),
        };
        std::iter::repeat_with(hire).take(count as usize).collect()
    }

    /// Of three that were told to leave, some come at these milliseconds: when they are buried, and
    /// when if a task waits.
    fn check(came: &[u64], expected: (u64, u64)) {
        let mut leavers = Leavers::default();
        for (worker, at) in workers(3).into_iter().zip(came) {
            leavers.came(worker, 3, Timestamp::from_millis(*at));
        }
        let told = [false, true].map(|waits| leavers.buried_at(3, waits).as_nanos() / 1_000_000);
        assert_eq!((told[0], told[1]), expected, "{came:?}");
    }

    #[test]
    fn they_are_buried_when_all_have_come_or_nobody_comes() {
        check(&[10], (15, 15));
        check(&[10, 14], (19, 15));
        check(&[10, 14, 18], (10, 10));
    }

    #[test]
    fn nobody_waits_for_ever() {
        check(&[10, 107], (110, 15));
    }

    #[test]
    fn the_keeper_is_told_of_the_first_and_of_the_last() {
        let mut leavers = Leavers::default();
        let rings = workers(3).into_iter().map(|w| leavers.came(w, 3, Timestamp::ORIGIN));
        assert_eq!(rings.collect::<Vec<_>>(), [true, false, true]);
    }

    #[test]
    fn whose_hand_is_not_known_is_buried_later() {
        let mut leavers = Leavers::default();
        let workers = workers(2);
        for worker in &workers {
            leavers.came(*worker, 2, Timestamp::ORIGIN);
        }
        let known = |worker| (worker == workers[1]).then_some("a hand");
        assert_eq!(leavers.take(known), [(workers[1], "a hand")]);
        assert!(leavers.iter().eq([workers[0]]));
    }
}
