//! The workers to keep where new ones come too late for the task that needs them.
//!
//! Three numbers make the floor. The *load* is what waits and runs, as a mean over half of the time
//! that a worker takes to start. What is *staffed* for it is Erlang's answer: as many as let one
//! task in a hundred wait for longer than it may. And a peak is *remembered* for a while, as the
//! next one would come before the workers do.
//!
//! How long a peak is remembered decides what all of this costs: to forget it at once is best where
//! the load wanders, to keep it for an hour where it comes in bursts. So several spans are
//! remembered, and each keeps an account: what it would have missed, what it would have kept for
//! nothing, what it would have hired. The one with the smallest account holds.

use std::time::Duration;

use crate::scaling::decide::peers::staffed;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::{Situation, Timestamp};

/// The share of tasks that may wait for longer than the budget.
const LATE_MAX: f64 = 0.01;
/// How long peaks are remembered, in times of a start.
const MEMORIES: [f64; 5] = [1.0, 3.0, 10.0, 30.0, 100.0];
/// A worker that is missed counts as much as so many that idle: to be late is what all of this is
/// there to avoid, and a few idle workers are its price.
const MISSED: f64 = 30.0;
/// What a hire costs beside the start, in times of a start.
const HIRE: f64 = 1.0;
/// Buckets in the time of a start. What was decided so many ago is what is there now.
const BUCKETS: usize = 8;
/// Starts after which half of an account is forgotten.
const HALF_LIFE: f64 = 100.0;
/// No pool has more to do.
const LOAD_MAX: f64 = 1e12;
/// Nothing takes longer: thirty years.
const SECONDS_MAX: f64 = 1e9;

/// What to keep.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Forecast {
    last: Option<Timestamp>,
    /// The time that a worker takes to start, in seconds, as it was when the accounts were opened.
    delay: f64,
    /// What waits and runs, over half of that.
    load: Option<f64>,
    /// Seconds that a task takes.
    service: Option<f64>,
    /// The bucket that is being filled: seconds, and what waited and ran, times seconds.
    open: (f64, f64),
    buckets: u64,
    memories: [Memory; MEMORIES.len()],
}

/// One span for which peaks are remembered.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    /// The highest of this stretch and of the one before.
    peak: f64,
    peak_before: f64,
    /// When this stretch began, in buckets.
    since: u64,
    /// What was kept, by bucket: what was decided `BUCKETS` ago is there now.
    kept: [f64; BUCKETS],
    /// What it would have cost.
    account: f64,
}

impl Memory {
    /// Remembers what is needed at this bucket, where a stretch is so many of them long.
    fn remember(&mut self, bucket: u64, needed: f64, stretch: u64) {
        if stretch <= bucket.saturating_sub(self.since) {
            (self.peak_before, self.peak) = (self.peak, 0.0);
            self.since = bucket;
        }
        self.peak = self.peak.max(needed);
    }

    fn keeps(&self) -> f64 {
        self.peak.max(self.peak_before)
    }

    /// Books what a bucket would have cost in which so much was needed. A time of a start is 1.
    fn book(&mut self, bucket: u64, needed: f64, forgotten: f64) {
        let place = usize::try_from(bucket % BUCKETS as u64).unwrap_or(0);
        let there = self.kept[place];
        let hired = (self.keeps() - self.kept[(place + BUCKETS - 1) % BUCKETS]).max(0.0);
        self.kept[place] = self.keeps();
        let span = 1.0 / BUCKETS as f64;
        let missed = MISSED * (needed - there).max(0.0);
        let idle = (there - needed).max(0.0);
        let cost = (missed + idle) * span + hired * (HIRE + 1.0);
        self.account = (self.account * forgotten + cost).min(LOAD_MAX);
    }
}

impl Forecast {
    /// Takes in a tick of a pool whose workers take `delay` to start.
    pub(super) fn observe(&mut self, situation: &Situation<'_>, delay: Duration) {
        let (now, pool) = (situation.now(), situation.pool());
        let delay = delay.as_secs_f64().min(SECONDS_MAX);
        // Accounts are kept in times of a start; with quite another one they begin anew.
        if !(0.5 * self.delay..=2.0 * self.delay).contains(&delay) {
            *self = Self { delay, service: self.service, ..Self::default() };
        }
        let before = self.last.replace(now);
        let Some(before) = before else { return };
        let seconds = now.since(before).as_secs_f64().min(SECONDS_MAX);
        if let Some(service) = pool.service {
            let mean = service.mean.as_secs_f64().min(SECONDS_MAX);
            let known = self.service.get_or_insert(mean);
            *known += (1.0 - (-seconds / (4.0 * delay)).exp()) * (mean - *known);
        }
        if seconds <= 0.0 {
            return;
        }
        let pending = (pool.pending() as f64).min(LOAD_MAX);
        let load = self.load.get_or_insert(pending);
        *load += (1.0 - (-2.0 * seconds / delay).exp()) * (pending - *load);
        self.open.0 += seconds;
        self.open.1 += pending * seconds;
        if delay / BUCKETS as f64 <= self.open.0 {
            self.close();
        }
    }

    /// A bucket is full.
    fn close(&mut self) {
        let (seconds, pending) = std::mem::take(&mut self.open);
        let needed = pending / seconds;
        self.buckets += 1;
        let forgotten = (-1.0 / (HALF_LIFE * BUCKETS as f64)).exp2();
        let load = self.load.unwrap_or(needed);
        for (memory, span) in self.memories.iter_mut().zip(MEMORIES) {
            memory.remember(self.buckets, load, stretch(span));
            memory.book(self.buckets, needed, forgotten);
        }
    }

    /// Seconds that a task takes, where one was seen.
    pub(super) fn service(&self) -> Option<f64> {
        self.service
    }

    /// The peak that is worth being prepared for, where anything is known.
    pub(super) fn load(&self) -> Option<f64> {
        let now = self.load?;
        let cheapest = self.memories.iter().min_by(|a, b| a.account.total_cmp(&b.account))?;
        Some(cheapest.keeps().max(now))
    }

    /// The workers that it takes, where tasks may wait for so long.
    pub(super) fn workers(&self, wait_budget: Duration) -> Option<u32> {
        let (load, service) = (self.load()?, self.service.filter(|service| 0.0 < *service)?);
        if load < 0.01 {
            return Some(0);
        }
        // A mean over so short a time is off by this much, one way or the other.
        let doubt = (load * service / self.delay.max(1e-9)).sqrt();
        Some(staffed(load + doubt, wait_budget.as_secs_f64() / service, LATE_MAX))
    }

    pub(super) fn save(&self, notes: &mut Notes) {
        (self.last, (self.delay, (self.load, self.service))).write(notes);
        (self.open, self.buckets).write(notes);
        self.memories.iter().for_each(|memory| memory.write(notes));
    }

    pub(super) fn restore(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        (self.last, (self.delay, (self.load, self.service))) = Noted::read(notes)?;
        (self.open, self.buckets) = Noted::read(notes)?;
        for memory in &mut self.memories {
            *memory = Noted::read(notes)?;
        }
        let is_sound = |number: f64| (0.0..=LOAD_MAX).contains(&number);
        let numbers = [self.delay, self.open.0];
        let is_known = numbers.into_iter().chain(self.load).chain(self.service).all(is_sound);
        let sums = LOAD_MAX * 2.0 * SECONDS_MAX;
        (is_known && (0.0..=sums).contains(&self.open.1)).then_some(())
    }
}

/// How many buckets a stretch is long: of two that are remembered, one is complete.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // At most 800.
fn stretch(span: f64) -> u64 {
    (span * BUCKETS as f64 / 2.0).ceil() as u64
}

impl Noted for Memory {
    fn write(&self, notes: &mut Notes) {
        (self.peak, (self.peak_before, (self.since, self.account))).write(notes);
        self.kept.iter().for_each(|kept| kept.write(notes));
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (peak, (peak_before, (since, account))) = Noted::read(notes)?;
        let mut memory = Self { peak, peak_before, since, account, ..Self::default() };
        for kept in &mut memory.kept {
            *kept = Noted::read(notes)?;
        }
        let numbers = [peak, peak_before, account];
        let is_sound = |number: &f64| (0.0..=LOAD_MAX).contains(number);
        (numbers.iter().chain(&memory.kept).all(is_sound)).then_some(memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{History, Observation, PoolSnapshot, Statistics};

    /// A pool whose workers take 10 s to start and whose tasks take one, with so much to do at each
    /// second: the peak that it is prepared for in the end.
    fn prepared_for(seconds: u64, pending: impl Fn(u64) -> u32) -> f64 {
        let mut forecast = Forecast::default();
        let service = Statistics::of(&[Duration::from_secs(1)]);
        for second in 0..seconds {
            let pool = PoolSnapshot { busy: pending(second), service, ..PoolSnapshot::default() };
            let observation = Observation::new(Timestamp::from_secs(second), pool);
            let history = History::default();
            let readings = &[];
            let situation = Situation { observation: &observation, readings, history: &history };
            forecast.observe(&situation, Duration::from_secs(10));
        }
        forecast.load().expect("it was told")
    }

    #[test]
    fn bursts_that_come_again_are_waited_for() {
        // Half a minute of 40, a minute of nothing; the last silence is nearly over.
        let bursts = |second| if second % 90 < 30 { 40 } else { 0 };
        assert!(30.0 < prepared_for(90 * 20 - 1, bursts));
    }

    #[test]
    fn a_peak_that_never_came_again_is_forgotten() {
        let once = |second| if (100..130).contains(&second) { 40 } else { 4 };
        let load = prepared_for(3600, once);
        assert!((3.9..4.5).contains(&load), "{load}");
    }

    #[test]
    fn a_load_that_wanders_is_followed() {
        // Up and down between 10 and 30 in the course of an hour.
        let wave = |second: u64| 10 + u32::try_from(20 - (second / 90 % 40).abs_diff(20)).unwrap();
        for (at, now) in [(3600 * 3 + 9, 10.0), (3600 * 3 + 1830, 30.0)] {
            let load = prepared_for(at, wave);
            assert!((now - 0.1..now + 6.0).contains(&load), "{load} at a load of {now}");
        }
    }
}
