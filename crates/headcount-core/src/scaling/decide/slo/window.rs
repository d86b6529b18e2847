//! Gathers ticks into a window with enough tasks in it to be compared with another.
//!
//! Tasks that began under another limit tell of that limit, so a window opens only once most of
//! them must be over: two service times after the limit in force has moved by a tenth. And a
//! window tells of one thing: as soon as work begins to wait at the limit, it begins anew.
//!
//! Service times come from [`LogSums`]. Where a pool keeps none, Little's law gives their mean
//! from the counters: busy time over tasks ended. (Not from `PoolSnapshot::service`: its window is
//! the pool's own and reaches back beyond the change that is being judged. Only its spread is
//! used.) Where no task ends, nothing was measured, and the window stays open.

use std::time::Duration;

use super::measure::{Basis, Measure};
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::observation::{LogSums, PoolSnapshot};
use crate::{Situation, Timestamp};

/// Service times that must pass before a changed limit is measured.
const SETTLING: u32 = 2;
/// The change of the limit, as a share, from which that is so.
const CHANGE_MIN: f64 = 0.1;
/// More than all workers can be busy for until time ends.
const BUSY_SECONDS_MAX: f64 = 1e20;
/// The share of the limit that must be busy for the limit to be what holds the pool.
const FULL: f64 = 0.95;

/// A window that is being filled.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    opened: Option<Opening>,
    /// Seconds since the opening: of busy workers, held at the limit, waiting for a start.
    busy_seconds: f64,
    held_seconds: f64,
    ramp_seconds: f64,
    /// Of the first of these: what was done at the limit, and all of it times who was busy then.
    full_seconds: f64,
    around_seconds: f64,
    /// Workers busy at the opening.
    busy_first: f64,
    ticks: u32,
    /// The last tick: when it was, how many tasks had ended by then, how many workers were busy and
    /// whether work waited at the limit.
    last_tick: Timestamp,
    completed: u64,
    was_busy: u32,
    was_held: bool,
    /// When the limit was last changed, and to what.
    epoch: Timestamp,
    ceiling: u32,
}

/// The cumulative counts when the window was opened.
#[derive(Clone, Copy, Debug)]
struct Opening {
    at: Timestamp,
    logs: Option<LogSums>,
    completed: u64,
    failed: u64,
}

impl Window {
    /// Begins anew, because the limit is about to change: what runs now began under the old one.
    pub(super) fn restart(&mut self, now: Timestamp) {
        self.opened = None;
        self.epoch = now;
    }

    /// Begins the next window where the last one ends.
    pub(super) fn reopen(&mut self, situation: &Situation<'_>) {
        self.open(situation.now(), situation.pool());
    }

    /// Adds a tick, and measures what there is so far.
    pub(super) fn add(&mut self, situation: &Situation<'_>) -> Option<Measure> {
        let (now, pool) = (situation.now(), situation.pool());
        self.leave_the_past(now, pool);
        let ended = pool.counters.completed.saturating_sub(self.completed);
        let (was_busy, was_held) = (self.was_busy, self.was_held);
        (self.completed, self.was_busy) = (pool.counters.completed, pool.busy);
        self.was_held = is_held(pool);
        let Some(opening) = self.opened else {
            let service = pool.service.map_or(Duration::ZERO, |service| service.mean);
            if service.saturating_mul(SETTLING) <= now.since(self.epoch) {
                self.open(now, pool);
            }
            self.last_tick = now;
            return None;
        };
        let seconds = now.since(self.last_tick).as_secs_f64();
        self.last_tick = now;
        self.ticks = self.ticks.saturating_add(1);
        let busy = busy_seconds(pool, was_busy, ended as f64, seconds);
        self.busy_seconds += busy;
        let around = busy * f64::from(pool.busy.max(was_busy));
        self.around_seconds = (self.around_seconds + around).min(BUSY_SECONDS_MAX);
        if is_held(pool) {
            self.held_seconds += held_seconds(pool, was_held, seconds);
            self.full_seconds += busy;
        }
        self.ramp_seconds += if is_ramping(pool) { seconds } else { 0.0 };
        self.measure(&opening, pool)
    }

    /// Gives up a window that would mix two worlds.
    fn leave_the_past(&mut self, now: Timestamp, pool: &PoolSnapshot) {
        // A clock with a new origin: what was remembered lies in no past of this one.
        if now < self.last_tick {
            self.restart(now);
            self.last_tick = now;
        }
        let change = f64::from(pool.ceiling) - f64::from(self.ceiling);
        let is_moved = CHANGE_MIN * f64::from(self.ceiling) < change.abs();
        if is_moved {
            self.ceiling = pool.ceiling;
        }
        let Some(opening) = self.opened else {
            if is_moved {
                self.epoch = now;
            }
            return;
        };
        let was_held = 0.0 < self.held_seconds;
        if opening.is_of_another(pool) || is_moved && (was_held || is_held(pool)) {
            self.restart(now);
        } else if is_held(pool) && !was_held && opening.at < self.last_tick {
            self.open(now, pool);
        }
    }

    fn open(&mut self, now: Timestamp, pool: &PoolSnapshot) {
        let counters = pool.counters;
        let (completed, failed) = (counters.completed, counters.failed);
        self.opened = Some(Opening { at: now, logs: logs(pool), completed, failed });
        (self.busy_seconds, self.held_seconds, self.ramp_seconds) = (0.0, 0.0, 0.0);
        (self.full_seconds, self.around_seconds) = (0.0, 0.0);
        self.busy_first = f64::from(pool.busy);
        self.ticks = 0;
        self.last_tick = now;
    }

    fn measure(&self, opening: &Opening, pool: &PoolSnapshot) -> Option<Measure> {
        let seconds = self.last_tick.since(opening.at).as_secs_f64();
        let completed = pool.counters.completed.checked_sub(opening.completed)?;
        let failed = pool.counters.failed.checked_sub(opening.failed)?.min(completed);
        if completed == 0 || seconds <= 0.0 {
            return None;
        }
        let ended = completed as f64;
        let spread = match opening.logs {
            Some(before) => Spread::of_logs(before, logs(pool)?)?,
            None => Spread::of_counters(self.busy_seconds / ended, ended, pool),
        };
        let Spread { basis, count, log_mean, log_variance } = spread;
        let measure = Measure {
            basis,
            count,
            log_mean,
            log_variance,
            mean: self.busy_seconds / ended,
            busy: self.busy_seconds / seconds,
            rise: f64::from(pool.busy) - self.busy_first,
            throughput: ended / seconds,
            error_rate: failed as f64 / ended,
            held: (self.held_seconds / seconds).min(1.0),
            full: (self.full_seconds / self.busy_seconds.max(1e-9)).min(1.0),
            around: self.around_seconds / self.busy_seconds.max(1e-9),
            ramping: (self.ramp_seconds / seconds).min(1.0),
            seconds,
            ticks: self.ticks,
        };
        Some(measure).filter(Measure::is_sound)
    }
}

impl Opening {
    /// Whether counters fell, or service times are no longer, or only now, counted.
    fn is_of_another(&self, pool: &PoolSnapshot) -> bool {
        let fell = match (self.logs, logs(pool)) {
            (Some(before), Some(now)) => now.count < before.count,
            (None, None) => false,
            _ => true,
        };
        let counters = pool.counters;
        fell || counters.completed < self.completed || counters.failed < self.failed
    }
}

/// How long tasks took, on the logarithm.
struct Spread {
    basis: Basis,
    count: f64,
    log_mean: f64,
    log_variance: f64,
}

impl Spread {
    fn of_logs(before: LogSums, now: LogSums) -> Option<Self> {
        let count = now.count.checked_sub(before.count).filter(|count| 0 < *count)? as f64;
        let log_mean = (now.sum - before.sum) / count;
        let mean_square = (now.sum_of_squares - before.sum_of_squares) / count;
        let log_variance = (mean_square - log_mean * log_mean).max(1e-6);
        Some(Self { basis: Basis::Logs, count, log_mean, log_variance })
    }

    /// The logarithm of a mean varies by the squared coefficient of variation of its parts; that
    /// of an exponential is assumed where it was not measured.
    fn of_counters(mean: f64, count: f64, pool: &PoolSnapshot) -> Self {
        let scv = pool.service.map_or(1.0, |service| service.scv);
        let log_variance = if scv.is_finite() { scv.clamp(0.1, 100.0) } else { 1.0 };
        Self { basis: Basis::Counters, count, log_mean: mean.max(1e-9).ln(), log_variance }
    }
}

/// How long workers were busy in the seconds before a tick, in which so many tasks ended.
///
/// As many as in the middle between then and now. But a pool at rest is looked at rarely, and again
/// when a burst has filled it: who is busy then came just before, and all that came since take no
/// longer than such tasks do.
pub(super) fn busy_seconds(pool: &PoolSnapshot, was_busy: u32, ended: f64, seconds: f64) -> f64 {
    let busy = f64::from(pool.busy);
    let between = f64::midpoint(busy, f64::from(was_busy)) * seconds;
    match pool.service {
        Some(service) if was_busy == 0 => between.min((busy + ended) * service.mean.as_secs_f64()),
        _ => between,
    }
}

/// For how long of the seconds before a tick work waited at the limit, which it does now: for no
/// longer than the oldest waits, where none did at the tick before.
fn held_seconds(pool: &PoolSnapshot, was_held: bool, seconds: f64) -> f64 {
    match pool.oldest_wait {
        Some(oldest) if !was_held => oldest.as_secs_f64().min(seconds),
        _ => seconds,
    }
}

/// A sum that is no number would be compared with for ever, and could not be written down.
fn logs(pool: &PoolSnapshot) -> Option<LogSums> {
    pool.service_logs.filter(|logs| logs.sum.is_finite() && logs.sum_of_squares.is_finite())
}

/// Work waits, and everybody that may be is busy.
fn is_held(pool: &PoolSnapshot) -> bool {
    0 < pool.queued && FULL * f64::from(pool.ceiling) <= f64::from(pool.busy)
}

/// Work waits for workers that are on their way.
fn is_ramping(pool: &PoolSnapshot) -> bool {
    0 < pool.queued && 0 < pool.starting && !is_held(pool)
}

impl Noted for Opening {
    fn write(&self, notes: &mut Notes) {
        (self.at, (self.completed, self.failed)).write(notes);
        let logs = self.logs.map(|logs| (logs.count, (logs.sum, logs.sum_of_squares)));
        logs.write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (at, (completed, failed)) = Noted::read(notes)?;
        let logs = <Option<(u64, (f64, f64))>>::read(notes)?;
        let logs =
            logs.map(|(count, (sum, sum_of_squares))| LogSums { count, sum, sum_of_squares });
        Some(Self { at, logs, completed, failed })
    }
}

impl Noted for Window {
    fn write(&self, notes: &mut Notes) {
        (self.opened, (self.busy_seconds, (self.held_seconds, self.ramp_seconds))).write(notes);
        (self.ticks, (self.last_tick, (self.epoch, self.ceiling))).write(notes);
        (self.busy_first, (self.completed, (self.was_busy, self.was_held))).write(notes);
        (self.full_seconds, self.around_seconds).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (opened, (busy_seconds, (held_seconds, ramp_seconds))) = Noted::read(notes)?;
        let (ticks, (last_tick, (epoch, ceiling))) = Noted::read(notes)?;
        let (busy_first, (completed, (was_busy, was_held))) = Noted::read(notes)?;
        let (full_seconds, around_seconds) = Noted::read(notes)?;
        let sums =
            [busy_seconds, held_seconds, ramp_seconds, busy_first, full_seconds, around_seconds];
        sums.iter().all(|sum| (0.0..=BUSY_SECONDS_MAX).contains(sum)).then_some(Self {
            opened,
            busy_seconds,
            held_seconds,
            ramp_seconds,
            full_seconds,
            around_seconds,
            busy_first,
            ticks,
            last_tick,
            completed,
            was_busy,
            was_held,
            epoch,
            ceiling,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Statistics;

    const TENTH: Duration = Duration::from_millis(100);

    /// A pool whose tasks take a tenth of a second, with so many busy workers and no other.
    fn full(busy: u32) -> PoolSnapshot {
        let service = Statistics::of(&[TENTH; 3]);
        PoolSnapshot { busy, ceiling: busy, queued: 1, service, ..PoolSnapshot::default() }
    }

    #[test]
    fn who_fills_a_pool_after_a_rest_came_just_before() {
        let check = |was_busy, ended, seconds, expected: f64| {
            let seconds = busy_seconds(&full(60), was_busy, ended, seconds);
            assert!((seconds - expected).abs() < 1e-9, "{seconds}");
        };
        check(60, 100.0, 0.2, 12.0);
        check(40, 100.0, 0.2, 10.0);
        // Of the two seconds of a rest these 60, and the 20 that have ended, fill no more.
        check(0, 20.0, 2.0, 8.0);
        check(0, 0.0, 0.05, 1.5);
    }

    #[test]
    fn work_has_waited_at_the_limit_for_no_longer_than_the_oldest() {
        let pool = PoolSnapshot { oldest_wait: Some(TENTH), ..full(60) };
        assert!((held_seconds(&pool, false, 2.0) - 0.1).abs() < 1e-9);
        assert!((held_seconds(&pool, false, 0.05) - 0.05).abs() < 1e-9);
        assert!((held_seconds(&pool, true, 0.2) - 0.2).abs() < 1e-9, "it was full before, too");
    }
}
