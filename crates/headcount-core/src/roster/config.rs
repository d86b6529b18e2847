//! What a roster goes by.

use std::time::Duration;

use crate::Staffing;

/// The most of a wait budget that is held in reserve, beside a twentieth of it.
const RESERVE_MAX: Duration = Duration::from_millis(100);

/// The settings of a [`Roster`](super::Roster). All can be changed while it works.
///
/// ```
/// use headcount_core::Staffing;
/// use headcount_core::roster::RosterConfig;
/// use std::time::Duration;
///
/// let config = RosterConfig {
///     wait_budget: Duration::from_millis(100),
///     spawn_delay: Duration::from_millis(5),
///     ..RosterConfig::new(Staffing::between(0, 64))
/// };
/// assert_eq!(config.patience(), Duration::from_millis(80));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RosterConfig {
    /// The bounds in force. The ceiling wins where they cross.
    pub staffing: Staffing,
    /// How long a task may wait before a worker runs it. 0, the default: a task that finds nobody
    /// parked has a worker hired at once.
    pub wait_budget: Duration,
    /// How long it takes from hiring a worker until it takes a task. 0 by default; a pool puts in
    /// what it measures, rather a high percentile than the mean.
    pub spawn_delay: Duration,
    /// How long a worker above the floor stays parked. 1 s by default; [`RosterConfig::break_even`]
    /// says what is best.
    pub idle_time: Duration,
    /// How many workers may be written off at once, and so exist beyond the ceiling. 0, the
    /// default: a stuck worker keeps its place.
    pub written_off_max: u32,
    /// How many tasks may wait before others are turned away. Where half as many wait, nobody waits
    /// for a deadline. `None`, the default: nobody is turned away.
    pub queue_len_max: Option<u64>,
}

impl RosterConfig {
    /// The defaults, within `staffing`.
    #[must_use]
    pub const fn new(staffing: Staffing) -> Self {
        Self {
            staffing,
            wait_budget: Duration::ZERO,
            spawn_delay: Duration::ZERO,
            idle_time: Duration::from_secs(1),
            written_off_max: 0,
            queue_len_max: None,
        }
    }

    /// The idle time after which keeping a worker has cost as much as starting another one.
    ///
    /// `start_cost` is what a start costs, in the time of a worker at work; `keep_share` is what a
    /// parked worker costs beside one at work, 1 being as much. Whatever the load does next, a pool
    /// that waits for so long pays at most twice what one would that knew it beforehand.
    ///
    /// Nothing to keep, or nonsense, is for ever.
    #[must_use]
    pub fn break_even(start_cost: Duration, keep_share: f64) -> Duration {
        let seconds = start_cost.as_secs_f64() / keep_share;
        match 0.0 < keep_share {
            true => Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX),
            false => Duration::MAX,
        }
    }

    /// Whether so many wait that the next ones might be turned away.
    ///
    /// Half of the line is left for those who come while workers start.
    #[must_use]
    pub(super) fn may_turn_away(&self, queued: u64) -> bool {
        self.queue_len_max.is_some_and(|most| most <= queued.saturating_mul(2))
    }

    /// How long a task waits before a worker is hired for it.
    ///
    /// The wait budget less a reserve and the spawn delay. The reserve is for timers that ring late
    /// and workers that start slower than others, as a task served early costs less than a late
    /// one: 15 % of the budget, but no more than 5 % and a tenth of a second, as timers are not
    /// later for being set longer. Where a worker takes longer to start than all of that, the delay
    /// is not taken off.
    #[must_use]
    pub fn patience(&self) -> Duration {
        let part = self.wait_budget / 20;
        let reserve = (part * 3).min(part + RESERVE_MAX);
        let patience = self.wait_budget.saturating_sub(reserve);
        match patience < self.spawn_delay {
            // It comes too late for this task anyway. One that waited for so long says that there
            // are too few; one that merely waits says nothing.
            true => patience,
            false => patience.saturating_sub(self.spawn_delay),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_kept_for_as_long_as_another_one_would_cost() {
        let check = |cost, share, expected| {
            assert_eq!(RosterConfig::break_even(cost, share), expected);
        };
        let millis = Duration::from_millis;
        check(millis(50), 1.0, millis(50));
        check(millis(50), 0.1, millis(500));
        check(millis(50), 0.0, Duration::MAX);
        check(millis(50), f64::NAN, Duration::MAX);
        check(Duration::MAX, 0.5, Duration::MAX);
    }

    #[test]
    fn a_long_budget_has_no_longer_reserve_than_timers_need() {
        let check = |wait_budget, expected| {
            let config = RosterConfig { wait_budget, ..RosterConfig::new(Staffing::exactly(1)) };
            assert_eq!(config.patience(), Duration::from_millis(expected));
        };
        check(Duration::from_millis(100), 85);
        check(Duration::from_secs(1), 850);
        check(Duration::from_secs(30), 28_400);
    }

    #[test]
    fn patience_is_never_negative_and_never_overflows() {
        let check = |wait_budget, spawn_delay, expected| {
            let config = RosterConfig {
                wait_budget,
                spawn_delay,
                ..RosterConfig::new(Staffing::exactly(1))
            };
            assert_eq!(config.patience(), expected);
        };
        check(Duration::ZERO, Duration::from_secs(1), Duration::ZERO);
        check(Duration::from_secs(1), Duration::from_millis(850), Duration::ZERO);
        // Nobody comes in time: hired for those behind a task that is nearly late.
        check(Duration::from_secs(1), Duration::from_secs(1), Duration::from_millis(850));
        check(Duration::from_secs(2), Duration::from_secs(1), Duration::from_millis(800));
        assert!(
            Duration::MAX / 2 < {
                let config = RosterConfig {
                    wait_budget: Duration::MAX,
                    ..RosterConfig::new(Staffing::exactly(1))
                };
                config.patience()
            }
        );
    }
}
