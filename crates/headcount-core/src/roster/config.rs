//! What a roster goes by.

use std::time::Duration;

use crate::Staffing;

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
    /// How long a worker above the floor stays parked. 1 s by default; the best choice is the cost
    /// of starting a worker over the cost of keeping one.
    pub idle_time: Duration,
    /// How many workers may be written off at once, and so exist beyond the ceiling. 0, the
    /// default: a stuck worker keeps its place.
    pub written_off_max: u32,
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
        }
    }

    /// How long a task waits before a worker is hired for it.
    ///
    /// 85 % of the wait budget, less the spawn delay. The rest is a reserve: timers ring late and
    /// some workers start slower than others, and a task served early costs less than a late one.
    #[must_use]
    pub fn patience(&self) -> Duration {
        let reserve = self.wait_budget / 20 * 3;
        self.wait_budget.saturating_sub(reserve).saturating_sub(self.spawn_delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        check(Duration::from_secs(1), Duration::from_secs(1), Duration::ZERO);
        check(Duration::from_secs(2), Duration::from_secs(1), Duration::from_millis(700));
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
