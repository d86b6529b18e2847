//! A window of looks, as a limiter of concurrency has it: how long tasks took, and how many ran.
//!
//! What a pool counts has no mean of the tasks that ended in a window, and no median; it has the
//! sum of their logarithms. So the typical service time is the *geometric* mean. Limiters compare
//! service times with one another, so that a fixed factor between two kinds of means cancels out;
//! and it jumps less than the arithmetic mean of a few tasks, which does them no harm. Where a
//! pool keeps no logarithms it is busy time over tasks ended.

use super::meter::{Look, Meter, Passed};
use crate::Situation;
use crate::scaling::notes::{Noted, Notes, NotesReader};

/// No task takes less or more, in seconds.
const SPAN_MIN: f64 = 1e-9;
const SPAN_MAX: f64 = 1e12;
/// More than all sums of a window come to.
const SUM_MAX: f64 = 1e60;

/// What was seen since the window was opened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    meter: Meter,
    pub(super) seconds: f64,
    /// Tasks that ended, and those that failed.
    pub(super) ended: f64,
    pub(super) failed: f64,
    pub(super) started: f64,
    busy_seconds: f64,
    log_count: f64,
    log_sum: f64,
    /// The most workers that were busy at a look.
    pub(super) busy_max: u32,
    /// Whether everybody that may be was busy at a look.
    pub(super) was_full: bool,
}

impl Window {
    /// Takes in a look. Where there is nothing to compare it with, the window begins anew.
    pub(super) fn add(&mut self, situation: &Situation<'_>) {
        let pool = situation.pool();
        match self.meter.look(situation) {
            Look::First => self.restart(),
            Look::Again => {}
            Look::Next(passed) => self.count(&passed),
        }
        self.busy_max = self.busy_max.max(pool.busy);
        self.was_full |= 0 < pool.ceiling && pool.ceiling <= pool.busy;
    }

    fn count(&mut self, passed: &Passed) {
        let add = |sum: &mut f64, more: f64| *sum = (*sum + more).clamp(-SUM_MAX, SUM_MAX);
        add(&mut self.seconds, passed.seconds);
        add(&mut self.ended, passed.ended);
        add(&mut self.failed, passed.failed);
        add(&mut self.started, passed.started);
        add(&mut self.busy_seconds, passed.busy_seconds);
        add(&mut self.log_count, passed.logs.0);
        add(&mut self.log_sum, passed.logs.1);
    }

    /// Begins anew where it is.
    pub(super) fn restart(&mut self) {
        *self = Self { meter: self.meter, ..Self::default() };
    }

    /// Whether it spans so much time, but for the last bits of the sum.
    pub(super) fn spans(&self, seconds: f64) -> bool {
        0.0 < self.seconds && seconds <= self.seconds * (1.0 + 1e-9)
    }

    /// What tasks typically took, in seconds. `None`: none ended.
    pub(super) fn service(&self) -> Option<f64> {
        let seconds = match (1.0 <= self.log_count, 1.0 <= self.ended) {
            (true, _) => (self.log_sum / self.log_count).exp(),
            (false, true) => self.busy_seconds / self.ended,
            _ => return None,
        };
        Some(seconds.clamp(SPAN_MIN, SPAN_MAX))
    }
}

/// A service time that was written down.
pub(super) fn is_span(seconds: f64) -> bool {
    (SPAN_MIN..=SPAN_MAX).contains(&seconds)
}

impl Noted for Window {
    fn write(&self, notes: &mut Notes) {
        self.meter.write(notes);
        (self.seconds, (self.ended, (self.failed, self.started))).write(notes);
        (self.busy_seconds, (self.log_count, self.log_sum)).write(notes);
        (self.busy_max, self.was_full).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let meter = Meter::read(notes)?;
        let (seconds, (ended, (failed, started))) = Noted::read(notes)?;
        let (busy_seconds, (log_count, log_sum)): (f64, (f64, f64)) = Noted::read(notes)?;
        let (busy_max, was_full) = Noted::read(notes)?;
        let counts: [f64; 6] = [seconds, ended, failed, started, busy_seconds, log_count];
        let is_sound = counts.iter().all(|count| (0.0..=SUM_MAX).contains(count));
        let window = Self {
            meter,
            seconds,
            ended,
            failed,
            started,
            busy_seconds,
            log_count,
            log_sum,
            busy_max,
            was_full,
        };
        (is_sound && log_sum.abs() <= SUM_MAX).then_some(window)
    }
}
