//! What passed between two looks: differences of the counters of a pool.

use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::observation::{Counters, LogSums, PoolSnapshot};
use crate::{Situation, Timestamp};

/// What was counted at the last look.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::scaling::decide) struct Meter {
    last: Option<Reading>,
}

#[derive(Clone, Copy, Debug)]
struct Reading {
    at: Timestamp,
    counters: Counters,
    logs: Option<(u64, f64)>,
}

/// What passed since the last look.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::scaling::decide) struct Passed {
    pub(in crate::scaling::decide) seconds: f64,
    pub(in crate::scaling::decide) submitted: f64,
    pub(in crate::scaling::decide) started: f64,
    pub(in crate::scaling::decide) ended: f64,
    pub(in crate::scaling::decide) failed: f64,
    /// Seconds that workers were busy for, all together, as far as looks can tell.
    pub(in crate::scaling::decide) busy_seconds: f64,
    /// How many service times were measured, and the sum of their logarithms.
    pub(in crate::scaling::decide) logs: (f64, f64),
}

/// What a look tells.
#[derive(Clone, Copy, Debug)]
pub(in crate::scaling::decide) enum Look {
    /// The first one, or one at another pool or under another clock: nothing to compare with.
    First,
    /// No time has passed.
    Again,
    /// This passed.
    Next(Passed),
}

impl Meter {
    pub(in crate::scaling::decide) fn look(&mut self, situation: &Situation<'_>) -> Look {
        let reading = Reading::of(situation.now(), situation.pool());
        let Some(last) = self.last else {
            self.last = Some(reading);
            return Look::First;
        };
        if reading.at == last.at && !reading.is_of_another(&last) {
            return Look::Again;
        }
        self.last = Some(reading);
        match reading.is_of_another(&last) {
            true => Look::First,
            false => Look::Next(reading.since(&last, situation.pool())),
        }
    }
}

impl Reading {
    fn of(at: Timestamp, pool: &PoolSnapshot) -> Self {
        let sound = |logs: &LogSums| logs.sum.is_finite();
        let logs = pool.service_logs.filter(sound).map(|logs| (logs.count, logs.sum));
        Self { at, counters: pool.counters, logs }
    }

    /// Counters that fell are those of another pool, and an earlier clock that of another time.
    fn is_of_another(&self, last: &Self) -> bool {
        let (now, then) = (&self.counters, &last.counters);
        let fell = now.submitted < then.submitted
            || now.started < then.started
            || now.completed < then.completed
            || now.failed < then.failed;
        let logs_fell = match (self.logs, last.logs) {
            (Some((now, _)), Some((then, _))) => now < then,
            (None, None) => false,
            _ => true,
        };
        fell || logs_fell || self.at < last.at
    }

    fn since(&self, last: &Self, pool: &PoolSnapshot) -> Passed {
        let seconds = self.at.since(last.at).as_secs_f64();
        let (now, then) = (&self.counters, &last.counters);
        let logs = match (self.logs, last.logs) {
            (Some((count, sum)), Some((count_then, sum_then))) => {
                ((count - count_then) as f64, sum - sum_then)
            }
            _ => (0.0, 0.0),
        };
        Passed {
            seconds,
            submitted: (now.submitted - then.submitted) as f64,
            started: (now.started - then.started) as f64,
            ended: (now.completed - then.completed) as f64,
            failed: (now.failed - then.failed) as f64,
            busy_seconds: f64::from(pool.busy) * seconds,
            logs,
        }
    }
}

impl Noted for Meter {
    fn write(&self, notes: &mut Notes) {
        let last = self.last.map(|last| {
            let Counters { submitted, started, completed, failed, .. } = last.counters;
            ((last.at, last.logs), ((submitted, started), (completed, failed)))
        });
        last.write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        type Words = ((Timestamp, Option<(u64, f64)>), ((u64, u64), (u64, u64)));
        let last = Option::<Words>::read(notes)?;
        let last = last.map(|((at, logs), ((submitted, started), (completed, failed)))| {
            let counters =
                Counters { submitted, started, completed, failed, ..Counters::default() };
            Reading { at, counters, logs }
        });
        Some(Self { last })
    }
}
