//! Gathers ticks into a window with enough tasks in it to be compared with another.
//!
//! Tasks that began under another limit tell of that limit, so a window opens only once most of
//! them must be over: two service times after the limit changed.

use std::time::Duration;

use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::observation::{LogSums, PoolSnapshot};
use crate::{Situation, Timestamp};

/// What one window measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measure {
    /// Tasks that ended.
    pub(super) count: f64,
    /// Mean and variance of the logarithm of their service times.
    pub(super) log_mean: f64,
    pub(super) log_variance: f64,
    /// Workers busy, over time.
    pub(super) busy: f64,
    /// Tasks ended a second.
    pub(super) throughput: f64,
    /// The share of them that failed.
    pub(super) error_rate: f64,
    /// How long the window was, in seconds.
    pub(super) seconds: f64,
}

impl Measure {
    /// The mean service time in seconds, of tasks whose logarithms are spread like these.
    pub(super) fn service(&self) -> f64 {
        (self.log_mean + self.log_variance / 2.0).exp()
    }

    /// How surely `other` took longer: the difference of the means in standard errors.
    pub(super) fn z_score(&self, other: &Self) -> f64 {
        let error = self.log_variance / self.count + other.log_variance / other.count;
        (other.log_mean - self.log_mean) / error.sqrt().max(1e-9)
    }

    /// How many times as long `other` took.
    pub(super) fn inflation(&self, other: &Self) -> f64 {
        (other.log_mean - self.log_mean).clamp(-50.0, 50.0).exp()
    }

    /// Moves this measure a share of the way to `other`.
    pub(super) fn drift(&mut self, other: &Self, share: f64) {
        let blend = |ours: &mut f64, theirs: f64| *ours += share * (theirs - *ours);
        blend(&mut self.log_mean, other.log_mean);
        blend(&mut self.log_variance, other.log_variance);
        blend(&mut self.busy, other.busy);
        blend(&mut self.throughput, other.throughput);
        self.count = (self.count + other.count).min(COUNT_MAX);
    }
}

/// Beyond so many tasks a mean is as sure as it needs to be; the world changes meanwhile.
const COUNT_MAX: f64 = 2000.0;

/// A window that is being filled.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    opened: Option<Opening>,
    /// Busy workers times seconds since the opening.
    busy_seconds: f64,
    last_tick: Timestamp,
    /// When the limit was last changed.
    epoch: Timestamp,
}

/// The cumulative counts when the window was opened.
#[derive(Clone, Copy, Debug)]
struct Opening {
    at: Timestamp,
    logs: LogSums,
    completed: u64,
    failed: u64,
}

impl Window {
    /// Begins anew, because the limit changed: what runs now began under the old one.
    pub(super) fn restart(&mut self, now: Timestamp) {
        self.opened = None;
        self.epoch = now;
    }

    /// Adds a tick. The window is returned, and a new one opened, once it holds `tasks_min` tasks
    /// and lasted for `services_min` service times.
    pub(super) fn add(
        &mut self,
        situation: &Situation<'_>,
        tasks_min: f64,
        services_min: f64,
    ) -> Option<Measure> {
        let (now, pool) = (situation.now(), situation.pool());
        // A sum that is no number would be compared with for ever, and could not be written down.
        let is_known = |logs: &LogSums| logs.sum.is_finite() && logs.sum_of_squares.is_finite();
        let logs = pool.service_logs.filter(is_known)?;
        let Some(opening) = self.opened else {
            let settling =
                pool.service.map_or(Duration::ZERO, |service| service.mean.saturating_mul(2));
            if settling <= now.since(self.epoch) {
                self.open(now, pool, logs);
            }
            return None;
        };
        self.busy_seconds += f64::from(pool.busy) * now.since(self.last_tick).as_secs_f64();
        self.last_tick = now.max(self.last_tick);
        let Some(measure) = opening.until(now, pool, logs, self.busy_seconds) else {
            // Counters fell: another pool stands in this one's place.
            if logs.count < opening.logs.count {
                self.restart(now);
            }
            return None;
        };
        if measure.count < tasks_min || measure.seconds < services_min * measure.service() {
            return None;
        }
        self.open(now, pool, logs);
        Some(measure)
    }

    fn open(&mut self, now: Timestamp, pool: &PoolSnapshot, logs: LogSums) {
        let counters = pool.counters;
        let (completed, failed) = (counters.completed, counters.failed);
        self.opened = Some(Opening { at: now, logs, completed, failed });
        self.busy_seconds = 0.0;
        self.last_tick = now;
    }
}

impl Opening {
    fn until(
        &self,
        now: Timestamp,
        pool: &PoolSnapshot,
        logs: LogSums,
        busy_seconds: f64,
    ) -> Option<Measure> {
        let count = logs.count.checked_sub(self.logs.count).filter(|count| 0 < *count)? as f64;
        let completed = pool.counters.completed.checked_sub(self.completed)?.max(1) as f64;
        let failed = pool.counters.failed.checked_sub(self.failed)? as f64;
        let seconds = now.since(self.at).as_secs_f64();
        let log_mean = (logs.sum - self.logs.sum) / count;
        let mean_square = (logs.sum_of_squares - self.logs.sum_of_squares) / count;
        let log_variance = (mean_square - log_mean * log_mean).max(1e-6);
        let known = log_mean.is_finite() && log_variance.is_finite() && 0.0 < seconds;
        known.then_some(Measure {
            count,
            log_mean,
            log_variance,
            busy: busy_seconds / seconds,
            throughput: count / seconds,
            error_rate: failed / completed,
            seconds,
        })
    }
}

impl Noted for Measure {
    fn write(&self, notes: &mut Notes) {
        (self.count, (self.log_mean, self.log_variance)).write(notes);
        (self.busy, (self.throughput, (self.error_rate, self.seconds))).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (count, (log_mean, log_variance)) = Noted::read(notes)?;
        let (busy, (throughput, (error_rate, seconds))) = Noted::read(notes)?;
        Some(Self { count, log_mean, log_variance, busy, throughput, error_rate, seconds })
    }
}

impl Noted for Opening {
    fn write(&self, notes: &mut Notes) {
        (self.at, (self.completed, self.failed)).write(notes);
        (self.logs.count, (self.logs.sum, self.logs.sum_of_squares)).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (at, (completed, failed)) = Noted::read(notes)?;
        let (count, (sum, sum_of_squares)) = Noted::read(notes)?;
        Some(Self { at, logs: LogSums { count, sum, sum_of_squares }, completed, failed })
    }
}

impl Noted for Window {
    fn write(&self, notes: &mut Notes) {
        (self.opened, self.busy_seconds).write(notes);
        (self.last_tick, self.epoch).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (opened, busy_seconds) = Noted::read(notes)?;
        let (last_tick, epoch) = Noted::read(notes)?;
        Some(Self { opened, busy_seconds, last_tick, epoch })
    }
}
