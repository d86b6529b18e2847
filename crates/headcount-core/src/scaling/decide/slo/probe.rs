//! A step back, to see whether the workers that are given up were of any use.
//!
//! Held at its limit with work waiting, a pool's throughput depends on its workers alone. So a
//! third of them is given up for a moment: where throughput falls along, they were needed; where
//! it stays or rises, they stood in each other's way. It is a step *back* because that heals what
//! it finds, while a step forward would press on a downstream that may be failing; and because it
//! works at the maximum, too. The price, a third of the workers for a moment, is paid only by
//! pools that are late anyway.
//!
//! The two hypotheses, "throughput follows the workers in full" and "not at all", are weighed
//! against each other until the odds are clear (Wald's sequential test).

use std::time::Duration;

use super::measure::Measure;
use crate::Timestamp;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::observation::PoolSnapshot;

/// Workers from which on giving up a third tells anything.
pub(super) const PROBE_BUSY_MIN: f64 = 2.5;
/// How many times fewer workers a probe allows.
const STEP: f64 = 1.5;
/// The change of busy workers, on the logarithm, from which a probe tells anything.
const STEP_MIN: f64 = 0.1;
/// Logarithms of the odds that settle it. To bind a healthy pool is the worse mistake.
const ODDS_FOLLOWS: f64 = 3.0;
const ODDS_STOPS: f64 = 4.6;
/// Tasks and time after which it must be settled, and the effect below which it then is that the
/// workers were of no use: less than half, in favour of the workers.
const EFFECT_MAX: f64 = 0.25;
/// The odds that it takes to bind a pool then.
const ODDS_LIKELY: f64 = 1.0;
const TASKS_MAX: f64 = 1000.0;
const SPAN_MAX: Duration = Duration::from_secs(10);
const SERVICES_MAX: f64 = 10.0;
/// Where tasks are few it may take longer: until so many could have ended, after those that began
/// before it.
const TASKS_AWAITED: f64 = 120.0;
const SERVICES_BEFORE: f64 = 4.0;

/// Fewer workers, for a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Probe {
    /// What all the workers brought.
    pub(super) before: Measure,
    pub(super) since: Timestamp,
}

/// What a probe says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// Not yet anything.
    Open,
    /// Nothing, and it never will: the load went away, or nobody let the workers go.
    Void,
    /// Throughput fell with the workers.
    Follows,
    /// Throughput did not fall: fewer do as well.
    Stops,
}

impl Probe {
    /// The workers that are allowed meanwhile.
    pub(super) fn cap(&self) -> f64 {
        (self.before.busy / STEP).max(1.0)
    }

    /// Whether the ceiling in force has come down to it.
    pub(super) fn is_granted(&self, pool: &PoolSnapshot) -> bool {
        f64::from(pool.ceiling) <= self.cap() + 1.0
    }

    /// How much of the change of workers was seen in throughput: 1 is all, 0 nothing.
    pub(super) fn effect(&self, now: &Measure) -> f64 {
        self.gain(now) / self.step(now).min(-1e-9)
    }

    /// What `now`, measured under the cap, says.
    pub(super) fn judge(&self, now: &Measure) -> Verdict {
        let step = self.step(now);
        if -STEP_MIN < step {
            return Verdict::Open;
        }
        // That the load went away explains a fall, but nothing explains a rise.
        if !now.is_held() && self.gain(now) < 0.0 {
            return Verdict::Open;
        }
        let odds = self.odds(now);
        if ODDS_STOPS < odds {
            return Verdict::Stops;
        }
        if odds < -ODDS_FOLLOWS {
            return Verdict::Follows;
        }
        match now.count < TASKS_MAX {
            true => Verdict::Open,
            false => self.likelier(now),
        }
    }

    /// What is taken for true at the end of its time.
    pub(super) fn settle(&self, now: Option<&Measure>) -> Verdict {
        match now {
            Some(now) if self.step(now) <= -STEP_MIN && now.is_held() => self.likelier(now),
            _ => Verdict::Void,
        }
    }

    /// Whether its time is up.
    pub(super) fn is_over(&self, now: Timestamp) -> bool {
        let awaited = TASKS_AWAITED * STEP / self.before.throughput.max(1e-9);
        let service = self.before.service();
        let seconds = (service * SERVICES_MAX).max(service * SERVICES_BEFORE + awaited).min(1e9);
        let span = SPAN_MAX.max(Duration::try_from_secs_f64(seconds).unwrap_or(SPAN_MAX));
        span <= now.since(self.since)
    }

    fn likelier(&self, now: &Measure) -> Verdict {
        match self.effect(now) < EFFECT_MAX {
            // Chance alone may have done it. A limit on that would only be the first of many.
            true if self.odds(now) < ODDS_LIKELY => Verdict::Void,
            true => Verdict::Stops,
            false => Verdict::Follows,
        }
    }

    /// The logarithm of the odds that the workers were of no use.
    fn odds(&self, now: &Measure) -> f64 {
        let step = self.step(now);
        let noise = self.before.noise() + now.noise();
        -step * (self.gain(now) - step / 2.0) / noise
    }

    fn step(&self, now: &Measure) -> f64 {
        (now.busy.max(1e-9) / self.before.busy.max(1e-9)).ln()
    }

    fn gain(&self, now: &Measure) -> f64 {
        (now.goodput() / self.before.goodput()).ln()
    }
}

impl Noted for Probe {
    fn write(&self, notes: &mut Notes) {
        (self.before, self.since).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (before, since) = Noted::read(notes)?;
        Some(Self { before, since })
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure::tests::measure;
    use super::*;

    /// What is taken for true at the end of a probe of 30 workers at 30 tasks a second, where the
    /// logarithms of their times are spread so.
    fn settled(log_variance: f64, throughput: f64) -> Verdict {
        let measured = |busy: f64, throughput: f64| Measure {
            held: 1.0,
            full: 1.0,
            log_variance,
            count: 200.0,
            throughput,
            ..measure(1.0, busy)
        };
        let probe = Probe { before: measured(30.0, 30.0), since: Timestamp::ORIGIN };
        probe.settle(Some(&measured(20.0, throughput)))
    }

    #[test]
    fn what_chance_alone_can_do_binds_nobody() {
        assert_eq!(settled(0.7, 30.0), Verdict::Stops);
        assert_eq!(settled(3.4, 30.0), Verdict::Void, "a few long tasks more or less do as much");
        assert_eq!(settled(0.7, 20.0), Verdict::Follows);
        assert_eq!(settled(3.4, 20.0), Verdict::Follows, "to free a pool takes less");
    }

    #[test]
    fn few_tasks_are_given_the_time_that_they_take() {
        let is_over = |busy, seconds| {
            let probe = Probe { before: measure(1.0, busy), since: Timestamp::ORIGIN };
            probe.is_over(Timestamp::from_secs(seconds))
        };
        assert!(is_over(40.0, 10), "27 of them end each second");
        assert!(!is_over(9.0, 20) && is_over(9.0, 24), "6 of them end each second");
    }
}
