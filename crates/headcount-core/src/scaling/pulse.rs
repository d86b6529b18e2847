//! How long until the next look: soon while things move, rarely at rest.
//!
//! A policy names its interval, and some of its parts count in it ("five samples in a row"). So
//! while anything moves, or is left to be done, the interval is kept. Only a pool at rest, with as
//! few workers as there may be and nothing asked of it, is looked at less and less often; the first
//! task that has to wait ends that at once.

use std::time::Duration;

use crate::{Counters, Decision, Observation, Policy, Timestamp};

/// At rest the interval is doubled, as long as it is no longer than this.
const REST_MAX: Duration = Duration::from_secs(2);
/// So many uneventful looks in a row are rest.
const QUIET_LOOKS: u32 = 3;
/// A pool that calls is looked at, but not sooner after the last look than this part of the
/// interval.
const CALLED_PART: u32 = 4;

/// When a pool is to be looked at.
///
/// ```
/// use headcount_core::{NextLook, Timestamp};
///
/// let next = NextLook { due: Timestamp::from_secs(2), called: Timestamp::from_secs(1) };
/// assert!(next.called < next.due, "a pool that calls is looked at sooner");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextLook {
    /// If nothing happens.
    pub due: Timestamp,
    /// If it calls.
    pub called: Timestamp,
}

/// Says when to look again.
///
/// ```
/// use headcount_core::{Observation, Policy, PoolSnapshot, Preset, Pulse, Staffing, Timestamp};
///
/// let policy = Policy::check(&Preset::gopipe().config(), 8).expect("no fault");
/// let (mut autoscaler, mut pulse) = (policy.build(), Pulse::of(&policy));
/// let busy = PoolSnapshot::at_work(Staffing::exactly(2), 2);
/// let observation = Observation::new(Timestamp::from_secs(5), busy);
/// let next = pulse.looked(&observation, &autoscaler.tick(&observation));
/// assert_eq!(next.due, Timestamp::from_secs(6), "gopipe looks every second");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Pulse {
    tick: Duration,
    /// Whether a look between two ticks does no harm: nothing counts them.
    any_time: bool,
    quiet: u32,
    interval: Duration,
    counters: Option<Counters>,
}

impl Pulse {
    /// As a policy has it. Those that leave hiring to the pool go by time, whatever the number of
    /// looks; others may count them.
    #[must_use]
    pub fn of(policy: &Policy) -> Self {
        Self::new(policy.tick(), policy.decider().leaves_hiring_to_the_pool())
    }

    /// Every `tick`, and sooner when called where a look at any time does no harm.
    fn new(tick: Duration, any_time: bool) -> Self {
        Self { tick, any_time, quiet: 0, interval: tick, counters: None }
    }

    /// Looked, and decided this: says when to look again.
    pub fn looked(&mut self, observation: &Observation, decision: &Decision) -> NextLook {
        let counters = observation.pool.counters;
        let moved = self.counters.replace(counters) != Some(counters);
        self.quiet = match moved || !is_at_rest(observation, decision) {
            true => 0,
            false => self.quiet.saturating_add(1),
        };
        self.interval = match self.quiet < QUIET_LOOKS {
            true => self.tick,
            false => (self.interval * 2).min(REST_MAX).max(self.tick),
        };
        let called = if self.any_time { self.tick / CALLED_PART } else { self.tick };
        NextLook { due: observation.at + self.interval, called: observation.at + called }
    }

    /// It could not be looked at: when to try again.
    #[must_use]
    pub fn missed(&self, now: Timestamp) -> NextLook {
        NextLook { due: now + self.tick, called: now + self.tick }
    }
}

/// Whether nothing happens, nothing is wanted, and nobody is there who could still leave.
fn is_at_rest(observation: &Observation, decision: &Decision) -> bool {
    let pool = &observation.pool;
    let idle = pool.busy == 0 && pool.queued == 0 && pool.starting == 0 && pool.retiring == 0;
    let settled = decision.from == decision.to && !decision.is_suppressed();
    idle && settled && pool.live <= pool.floor
}

#[cfg(test)]
mod tests {
    use crate::{PoolSnapshot, Preset, Staffing};

    use super::*;

    /// Looks whenever it is time, at a pool with this many busy workers by look: the intervals.
    fn check(busy: &[u32], expected_ms: &[u128]) {
        let policy = Policy::check(&Preset::slo(Duration::from_millis(100)).config(), 8);
        let policy = policy.expect("no fault");
        let mut autoscaler = policy.build();
        let mut pulse = Pulse::new(policy.tick(), true);
        let (mut at, mut intervals, mut done) = (Timestamp::ORIGIN, Vec::new(), 0);
        for busy in busy {
            done += u64::from(*busy);
            let mut pool = PoolSnapshot::at_work(Staffing::between(1, 8), *busy);
            pool.counters = Counters { submitted: done, completed: done, ..Counters::default() };
            let observation = Observation::new(at, pool);
            let next = pulse.looked(&observation, &autoscaler.tick(&observation));
            intervals.push(next.due.since(at).as_millis());
            at = next.due;
        }
        assert_eq!(intervals, expected_ms);
    }

    #[test]
    fn slower_at_rest_and_at_once_back() {
        check(
            &[1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0],
            &[200, 200, 200, 200, 400, 800, 1600, 2000, 2000, 2000, 200, 200],
        );
    }

    #[test]
    fn a_call_is_heard_soon_unless_looks_are_counted() {
        let policy = Policy::check(&Preset::gopipe().config(), 8).expect("no fault");
        let observation = Observation::new(Timestamp::from_secs(1), PoolSnapshot::default());
        let decision = policy.build().tick(&observation);
        for (any_time, called_ms) in [(true, 1050), (false, 1200)] {
            let mut pulse = Pulse::new(Duration::from_millis(200), any_time);
            let next = pulse.looked(&observation, &decision);
            assert_eq!(next.called, Timestamp::from_millis(called_ms));
        }
    }
}
