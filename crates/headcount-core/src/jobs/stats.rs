//! A queue in numbers.

use crate::Timestamp;

use super::state::State;

/// A queue in numbers, at one instant of its store.
///
/// ```
/// use headcount_core::jobs::{QueueStats, State};
///
/// let mut stats = QueueStats::default();
/// stats.jobs[State::Ready] = 3;
/// stats.jobs[State::Running] = 2;
/// assert_eq!(stats.demand(), 5);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueStats {
    /// How many jobs are in each state. Those that are done count while they are kept.
    pub jobs: StateCounts,
    /// The store's time.
    pub now: Timestamp,
    /// Since when the job at the head of the most urgent line that is not empty has been waiting
    /// for a worker; with several lines, the earliest of their heads.
    pub oldest_ready_at: Option<Timestamp>,
    /// When the next job that waits for its time is due.
    pub next_due_at: Option<Timestamp>,
    /// Whether nothing is handed out.
    pub paused: bool,
    /// How many holders have a lease.
    pub holders: u32,
    /// What has happened since the queue began.
    pub totals: Totals,
}

/// How many jobs are in each state.
///
/// ```
/// use headcount_core::jobs::{State, StateCounts};
///
/// let mut counts = StateCounts::default();
/// counts[State::Dead] += 1;
/// assert_eq!(counts[State::Dead], 1);
/// assert_eq!(counts.iter().map(|(_, count)| count).sum::<u64>(), 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateCounts([u64; State::ALL.len()]);

/// What has happened in a queue since it began. Numbers only rise.
///
/// ```
/// use headcount_core::jobs::Totals;
///
/// assert_eq!(Totals::default().submitted, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct Totals {
    /// Jobs taken in.
    pub submitted: u64,
    /// Submits that were another's again.
    pub existing: u64,
    /// Jobs that ended well.
    pub done: u64,
    /// Times that a handler failed and there was another try.
    pub failed: u64,
    /// Jobs that failed for good.
    pub died: u64,
    /// Jobs put aside because they took workers with them.
    pub quarantined: u64,
    /// Jobs cancelled.
    pub cancelled: u64,
    /// Times that a job's holder was lost.
    pub crashed: u64,
    /// Times that a job was given back unfinished.
    pub preempted: u64,
    /// Leases of holders that ran out while they held something.
    pub leases_expired: u64,
    /// Settlements and notes refused because their writer no longer held the job.
    pub stale: u64,
    /// Records found in a state that cannot be, and put right.
    pub repaired: u64,
}

impl QueueStats {
    /// How many jobs want a worker now, those that have one included.
    #[must_use]
    pub fn demand(&self) -> u64 {
        self.jobs[State::Ready] + self.jobs[State::Running]
    }
}

impl StateCounts {
    /// Each state and how many jobs are in it.
    pub fn iter(&self) -> impl Iterator<Item = (State, u64)> + '_ {
        State::ALL.into_iter().zip(self.0)
    }
}

impl std::ops::Index<State> for StateCounts {
    type Output = u64;

    fn index(&self, state: State) -> &u64 {
        &self.0[state as usize]
    }
}

impl std::ops::IndexMut<State> for StateCounts {
    fn index_mut(&mut self, state: State) -> &mut u64 {
        &mut self.0[state as usize]
    }
}
