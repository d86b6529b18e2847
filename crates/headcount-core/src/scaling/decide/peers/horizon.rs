//! One worker more every few seconds while anything waits, one fewer while nothing does: Laravel
//! Horizon's `auto` balancing with the strategy `time`.
//!
//! Horizon gives each queue the share of its processes that the time to clear it has in the time
//! to clear all, and moves there by `balanceMaxShift` processes every `balanceCooldown` seconds. A
//! pool is one queue: as soon as anything waits its share is all of them, and where nothing waits
//! it is the minimum. What is left is the shift.

use std::time::Duration;

use super::pace::Pace;
use crate::decide::{Decider, Step};
use crate::policy::Inspection;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::{Proposal, Reason, Situation, Staffing};

/// So many workers more or fewer every few seconds, as anything or nothing waits.
///
/// ```
/// use headcount_core::decide::{DeciderConfig, HorizonConfig};
/// use headcount_core::{Observation, Policy, PolicyConfig, PoolSnapshot, Staffing};
///
/// let decider = Some(DeciderConfig::Horizon(HorizonConfig { shift: 2, ..Default::default() }));
/// let config = PolicyConfig { decider, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 8).expect("no fault").build();
/// let pool = PoolSnapshot { queued: 1, ..PoolSnapshot::at_work(Staffing::exactly(4), 4) };
/// let decision = autoscaler.tick(&Observation { pool, ..Observation::default() });
/// assert_eq!(decision.to, Staffing::exactly(6));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct HorizonConfig {
    /// Workers more or fewer at once. Default: 1.
    pub shift: u32,
    /// How often. Default: 3 s.
    pub period: Duration,
}

impl Default for HorizonConfig {
    fn default() -> Self {
        Self { shift: 1, period: Duration::from_secs(3) }
    }
}

impl HorizonConfig {
    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        inspection.at_least_one("shift", self.shift);
        inspection.some_time("period", self.period);
    }

    pub(crate) fn build(&self) -> Horizon {
        Horizon { config: *self, pace: Pace::default() }
    }
}

/// The decider.
#[derive(Clone, Debug)]
pub(crate) struct Horizon {
    config: HorizonConfig,
    pace: Pace,
}

impl Decider for Horizon {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        if !self.pace.is_due(situation.now(), self.config.period) {
            return Proposal::abstain(Reason::Steady);
        }
        let (pool, shift) = (situation.pool(), Step::Add(self.config.shift));
        let size = match 0 < pool.queued {
            true => shift.up(pool),
            false => shift.down(pool),
        };
        Proposal::want(Staffing::exactly(size), Reason::QueueDepth)
    }

    fn save(&self, notes: &mut Notes) {
        self.pace.write(notes);
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        self.pace = Noted::read(notes)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Pool, story};
    use super::*;

    #[test]
    fn one_more_every_three_seconds_while_anything_waits() {
        let horizon = HorizonConfig::default().build();
        story(horizon, Pool::of(4).queued(900), 9, "0s:5 3s:6 6s:7 9s:8");
    }

    #[test]
    fn and_one_fewer_while_nothing_does() {
        story(HorizonConfig::default().build(), Pool::of(4).busy(4), 6, "0s:3 3s:2 6s:1");
    }
}
