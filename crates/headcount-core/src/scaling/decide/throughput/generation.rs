//! What a generation of tasks took, and how much of it went well.
//!
//! Throughput is counted in two ways. Where no task failed it is the busy workers over what a task
//! took, which knows no edges: tasks that take the same time end in bursts, and to count bursts in
//! a window is to count wrongly. Where some failed, the good ones are counted, for a failure may
//! take no time at all.

use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::observation::PoolSnapshot;
use crate::{LogSums, Situation, Timestamp};

/// No log-mean is better known than by this spread of single tasks.
const LOG_VARIANCE_MIN: f64 = 0.002;
/// From this spread on tasks differ: by half, up or down.
const LOG_VARIANCE_VARIED: f64 = 0.2;
/// Tasks in the first generations, which would otherwise be of one or two; and where tasks differ,
/// as the luck of four would be taken for speed.
const TASKS_MIN: f64 = 4.0;
const TASKS_MIN_VARIED: f64 = 12.0;

/// What was counted when a generation began, and since.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Generation {
    pub(super) begun: Timestamp,
    last_tick: Timestamp,
    logs: LogSums,
    completed: u64,
    failed: u64,
    busy_seconds: f64,
}

/// What a whole generation tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measure {
    /// Tasks that ended.
    pub(super) count: f64,
    /// Of those, the share that failed.
    pub(super) error_rate: f64,
    /// Workers at tasks, on average.
    pub(super) busy: f64,
    /// Tasks that went well, each second.
    good_per_second: f64,
    /// The logarithm of what a task took, and how it varied.
    log_mean: f64,
    log_variance: f64,
}

impl Generation {
    pub(super) fn begin(now: Timestamp, pool: &PoolSnapshot) -> Self {
        Self {
            begun: now,
            last_tick: now,
            logs: logs(pool),
            completed: pool.counters.completed,
            failed: pool.counters.failed,
            busy_seconds: 0.0,
        }
    }

    /// Whether these are the counters of another pool, or the clock of another time.
    pub(super) fn is_of_another(&self, now: Timestamp, pool: &PoolSnapshot) -> bool {
        let counters = pool.counters;
        let fell = counters.completed < self.completed || counters.failed < self.failed;
        fell || now < self.last_tick || logs(pool).count < self.logs.count
    }

    /// Takes in a tick, and says what there is so far.
    pub(super) fn add(&mut self, situation: &Situation<'_>) -> Option<Measure> {
        let (now, pool) = (situation.now(), situation.pool());
        self.busy_seconds += f64::from(pool.busy) * now.since(self.last_tick).as_secs_f64();
        self.last_tick = now;
        let seconds = now.since(self.begun).as_secs_f64();
        let ended = (pool.counters.completed - self.completed) as f64;
        let failed = (pool.counters.failed - self.failed) as f64;
        let sums = logs(pool);
        let count = (sums.count - self.logs.count) as f64;
        if seconds <= 0.0 || ended < 1.0 || count < 1.0 {
            return None;
        }
        let log_mean = (sums.sum - self.logs.sum) / count;
        let mean_square = (sums.sum_of_squares - self.logs.sum_of_squares) / count;
        let log_variance = (mean_square - log_mean * log_mean).max(LOG_VARIANCE_MIN);
        let measure = Measure {
            count: ended,
            error_rate: (failed / ended).min(1.0),
            busy: self.busy_seconds / seconds,
            good_per_second: (ended - failed).max(0.0) / seconds,
            log_mean,
            log_variance,
        };
        Some(measure).filter(Measure::is_sound)
    }
}

impl Measure {
    /// What a task took, in seconds.
    pub(super) fn service(&self) -> f64 {
        self.log_mean.exp()
    }

    /// Workers that were of use, if a task of use takes as long as in `rest`: throughput times
    /// that. Tasks that end now began in a smaller crowd, so what they took says too much where
    /// the crowd grows; what was counted does not.
    pub(super) fn useful(&self, rest: &Self) -> f64 {
        let counted = self.good_per_second * rest.service();
        match self.error_rate {
            0.0 => counted.min(self.busy * (rest.log_mean - self.log_mean).exp()),
            _ => counted,
        }
    }

    /// How much more got done than in `before`, on the logarithm.
    pub(super) fn gain(&self, before: &Self) -> f64 {
        if self.error_rate == 0.0 && before.error_rate == 0.0 {
            return self.step(before) - (self.log_mean - before.log_mean);
        }
        self.counted_gain(before)
    }

    /// The same on the ramp, where all of them began together: of tasks that differ the short ones
    /// end first, so what those took says too little, and they are counted.
    pub(super) fn first_gain(&self, before: &Self) -> f64 {
        match self.varies_as(before) {
            true => self.counted_gain(before),
            false => self.gain(before),
        }
    }

    /// How many more ended well in a second than in `before`, on the logarithm.
    pub(super) fn counted_gain(&self, before: &Self) -> f64 {
        (self.good_per_second.max(1e-9) / before.good_per_second.max(1e-9)).ln()
    }

    /// Whether the tasks of both differ. That is for `before` to say, as beyond a knee all do,
    /// unless it had too few for that.
    fn varies_as(&self, before: &Self) -> bool {
        before.is_varied() || (self.is_varied() && before.count < TASKS_MIN_VARIED)
    }

    /// Whether tasks differ, by half or more.
    fn is_varied(&self) -> bool {
        LOG_VARIANCE_VARIED <= self.log_variance
    }

    /// How many tasks a generation of the ramp has at least.
    pub(super) fn tasks_min(&self) -> f64 {
        if self.is_varied() { TASKS_MIN_VARIED } else { TASKS_MIN }
    }

    /// How many more workers were busy than in `before`, on the logarithm.
    pub(super) fn step(&self, before: &Self) -> f64 {
        (self.busy.max(1e-9) / before.busy.max(1e-9)).ln()
    }

    /// The standard error of a gain over `before`.
    pub(super) fn noise(&self, before: &Self) -> f64 {
        (self.log_variance / self.count + before.log_variance / before.count).sqrt()
    }

    /// How large a shortfall of a first gain over `before` may be by chance: a standard error, or
    /// two where tasks are counted, as those that end soon by luck end together.
    pub(super) fn first_doubt(&self, before: &Self) -> f64 {
        match self.varies_as(before) {
            true => 2.0 * (1.0 / self.count + 1.0 / before.count).sqrt(),
            false => self.noise(before),
        }
    }

    /// How many tasks it takes to see a `step` of the workers: the error of a gain is then half of
    /// it.
    pub(super) fn tasks_to_see(&self, step: f64) -> f64 {
        8.0 * self.log_variance / step.powi(2)
    }

    fn is_sound(&self) -> bool {
        let numbers = [self.busy, self.good_per_second, self.log_mean, self.log_variance];
        numbers.iter().all(|number| number.is_finite())
    }
}

/// A pool that keeps no logarithms has none; then nothing is measured.
fn logs(pool: &PoolSnapshot) -> LogSums {
    let sound = |logs: &LogSums| logs.sum.is_finite() && logs.sum_of_squares.is_finite();
    pool.service_logs.filter(sound).unwrap_or_default()
}

impl Noted for Generation {
    fn write(&self, notes: &mut Notes) {
        (self.begun, (self.last_tick, self.busy_seconds)).write(notes);
        (self.completed, self.failed).write(notes);
        (self.logs.count, (self.logs.sum, self.logs.sum_of_squares)).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (begun, (last_tick, busy_seconds)) = Noted::read(notes)?;
        let (completed, failed) = Noted::read(notes)?;
        let (count, (sum, sum_of_squares)) = Noted::read(notes)?;
        let logs = LogSums { count, sum, sum_of_squares };
        Some(Self { begun, last_tick, logs, completed, failed, busy_seconds })
    }
}

impl Noted for Measure {
    fn write(&self, notes: &mut Notes) {
        (self.count, (self.error_rate, self.busy)).write(notes);
        (self.good_per_second, (self.log_mean, self.log_variance)).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (count, (error_rate, busy)) = Noted::read(notes)?;
        let (good_per_second, (log_mean, log_variance)) = Noted::read(notes)?;
        let is_sound = 1.0 <= count && LOG_VARIANCE_MIN <= log_variance;
        let measure = Self { count, error_rate, busy, good_per_second, log_mean, log_variance };
        Some(measure).filter(|_| is_sound)
    }
}
