//! The workers to keep where new ones come too late for the task that needs them.
//!
//! Three numbers make the floor. The *load* is how many workers the tasks that come keep busy, as
//! a mean over a part of the time that a worker takes to start. What is *staffed* for it is
//! Erlang's answer: as many as let one task in a hundred wait for longer than it may. And a peak is
//! *remembered* for a while, as the next one would come before the workers do.
//!
//! A queue is no load: it is there because workers came late, and with them it would not have been.
//! The pool hires for it by itself; it is not remembered.
//!
//! How long a peak is remembered decides what all of this costs: to forget it at once is best where
//! the load wanders, to keep it for an hour where it comes in bursts. So several spans are
//! remembered, and each keeps an account: what it would have missed, what it would have kept for
//! nothing, what it would have hired. The one with the smallest account holds. A peak that was
//! never seen before is held for the middle one at first: nobody knows yet whether it comes again.

use std::time::Duration;

use crate::scaling::decide::peers::staffed;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::observation::PoolSnapshot;
use crate::{Situation, Timestamp};

/// The share of tasks that may wait for longer than the budget.
const LATE_MAX: f64 = 0.01;
/// How long peaks are remembered, in times of a start.
const MEMORIES: [f64; 5] = [1.0, 3.0, 10.0, 30.0, 100.0];
/// The one that holds before anything is known, and what each step away from it is charged with
/// beforehand: for each worker that was never needed before, in times of a start.
const MIDDLE: usize = 2;
const UNTRIED: f64 = 2.5;
/// A worker that is missed counts as much as so many that idle: to be late is what all of this is
/// there to avoid, and a few idle workers are its price.
const MISSED: f64 = 100.0;
/// What a hire costs beside the start, in times of a start.
const HIRE: f64 = 1.0;
/// Buckets in the time of a start. What was decided so many ago is what is there now.
const BUCKETS: usize = 8;
/// Which part of a start the load is a mean over. A longer one would come late itself.
const MEAN_PART: f64 = 6.0;
/// Starts over which it is learnt what a task takes.
const SERVICE_SPAN: f64 = 4.0;
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
    /// Tasks that came, in all and a second.
    submitted: u64,
    rate: f64,
    /// The workers that they keep busy.
    load: Option<f64>,
    /// The highest that it ever was.
    highest: f64,
    /// Seconds that a task takes, and that one under way still takes.
    service: Option<f64>,
    residual: f64,
    /// The bucket that is being filled: seconds, and the load, times seconds.
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
    /// The workers kept, by bucket: what was decided `BUCKETS` ago is there now.
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

    /// Books what a bucket would have cost in which so much was needed, where these workers are
    /// kept from now on. A time of a start is 1.
    fn book(&mut self, bucket: u64, needed: f64, keeps: f64, forgotten: f64) {
        let place = usize::try_from(bucket % BUCKETS as u64).unwrap_or(0);
        let there = self.kept[place];
        let hired = (keeps - self.kept[(place + BUCKETS - 1) % BUCKETS]).max(0.0);
        self.kept[place] = keeps;
        let span = 1.0 / BUCKETS as f64;
        let missed = MISSED * (needed - there).max(0.0);
        let idle = (there - needed).max(0.0);
        let cost = (missed + idle) * span + hired * (HIRE + 1.0);
        self.account = (self.account * forgotten + cost).min(LOAD_MAX);
    }
}

impl Forecast {
    /// Takes in a tick of a pool whose workers take `delay` to start and whose tasks may wait for
    /// `wait_budget`. Where it is known what a task takes at rest, that many seconds are it.
    pub(super) fn observe(
        &mut self,
        situation: &Situation<'_>,
        delay: Duration,
        at_rest: Option<f64>,
        wait_budget: Duration,
    ) {
        let (now, pool) = (situation.now(), situation.pool());
        let delay = delay.as_secs_f64().min(SECONDS_MAX);
        // Accounts are kept in times of a start; with quite another one they begin anew.
        if !(0.5 * self.delay..=2.0 * self.delay).contains(&delay) {
            let Self { service, residual, .. } = *self;
            *self = Self { delay, service, residual, ..Self::default() };
        }
        let submitted = std::mem::replace(&mut self.submitted, pool.counters.submitted);
        let Some(before) = self.last.replace(now) else { return };
        let seconds = now.since(before).as_secs_f64().min(SECONDS_MAX);
        self.learn_tasks(pool, seconds);
        if seconds <= 0.0 {
            return;
        }
        let came = pool.counters.submitted.saturating_sub(submitted) as f64;
        let rate = (came / seconds).min(LOAD_MAX);
        self.rate += self.share(seconds) * (rate - self.rate);
        let needed = self.needed(pool, at_rest);
        let load = self.load.unwrap_or(needed);
        self.load = Some(load + self.share(seconds) * (needed - load));
        self.open.0 += seconds;
        self.open.1 += needed * seconds;
        if delay / BUCKETS as f64 <= self.open.0 {
            self.close(wait_budget);
        }
    }

    fn learn_tasks(&mut self, pool: &PoolSnapshot, seconds: f64) {
        let Some(tasks) = pool.service else { return };
        let mean = tasks.mean.as_secs_f64().min(SECONDS_MAX);
        let scv = if tasks.scv.is_finite() { tasks.scv.max(0.0) } else { 1.0 };
        // Of long tasks more are under way than begin.
        let residual = (mean * (1.0 + scv) / 2.0).min(SECONDS_MAX);
        let share = match self.service {
            None => 1.0,
            Some(_) => 1.0 - (-seconds / (SERVICE_SPAN * self.delay)).exp(),
        };
        let known = self.service.get_or_insert(mean);
        *known += share * (mean - *known);
        self.residual += share * (residual - self.residual);
    }

    /// How much of so many seconds is taken over into a mean.
    fn share(&self, seconds: f64) -> f64 {
        1.0 - (-MEAN_PART * seconds / self.delay).exp()
    }

    /// The workers that are needed now: as many as what comes keeps busy, by Little's law. There
    /// are no more than tasks. Those that are busy are among them where nothing waits; where
    /// something does they work off what came before, and a queue is no load.
    fn needed(&self, pool: &PoolSnapshot, at_rest: Option<f64>) -> f64 {
        let pending = (pool.pending() as f64).min(LOAD_MAX);
        let busy = f64::from(pool.busy).min(pending);
        let least = if pool.queued == 0 { busy } else { 0.0 };
        // The last few are the short ones where a burst begins, and the long ones after it.
        match (at_rest.or(self.service), pool.counters.submitted) {
            // Who does not count what comes knows the queue only.
            (None, _) | (_, 0) => pending,
            (Some(service), _) => (self.rate * service).clamp(least, pending),
        }
    }

    /// A bucket is full.
    fn close(&mut self, wait_budget: Duration) {
        let (seconds, needed) = std::mem::take(&mut self.open);
        let needed = needed / seconds;
        self.buckets += 1;
        let forgotten = (-1.0 / (HALF_LIFE * BUCKETS as f64)).exp2();
        let load = self.load.unwrap_or(needed);
        let news = (load - self.highest).max(0.0) * UNTRIED;
        self.highest = self.highest.max(load);
        for (place, span) in MEMORIES.into_iter().enumerate() {
            let mut memory = self.memories[place];
            memory.remember(self.buckets, load, stretch(span));
            let keeps = self.staff(memory.keeps(), wait_budget);
            memory.book(self.buckets, needed, f64::from(keeps), forgotten);
            let untried = news * place.abs_diff(MIDDLE) as f64;
            memory.account = (memory.account + untried).min(LOAD_MAX);
            self.memories[place] = memory;
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
        self.service.filter(|service| 0.0 < *service)?;
        Some(self.staff(self.load()?, wait_budget))
    }

    /// The workers that such a load takes.
    fn staff(&self, load: f64, wait_budget: Duration) -> u32 {
        if load < 0.01 {
            return 0;
        }
        // By the time they are there it is another one: those under way have ended, or not yet.
        let doubt = (load * (self.residual / self.delay.max(1e-9)).min(1.0)).sqrt();
        // A queue behind long tasks goes as slowly as they end, however many short ones there are.
        let patience = wait_budget.as_secs_f64() / self.residual.max(1e-9);
        staffed(load + doubt, patience, LATE_MAX)
    }

    pub(super) fn save(&self, notes: &mut Notes) {
        (self.last, (self.delay, (self.load, self.service))).write(notes);
        (self.submitted, (self.rate, (self.highest, self.residual))).write(notes);
        (self.open, self.buckets).write(notes);
        self.memories.iter().for_each(|memory| memory.write(notes));
    }

    pub(super) fn restore(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        (self.last, (self.delay, (self.load, self.service))) = Noted::read(notes)?;
        (self.submitted, (self.rate, (self.highest, self.residual))) = Noted::read(notes)?;
        (self.open, self.buckets) = Noted::read(notes)?;
        for memory in &mut self.memories {
            *memory = Noted::read(notes)?;
        }
        let is_sound = |number: f64| (0.0..=LOAD_MAX).contains(&number);
        let numbers = [self.delay, self.open.0, self.rate, self.highest, self.residual];
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
    use crate::{Counters, History, Observation, Statistics};

    /// A pool whose workers take 10 s to start and whose tasks take one, or as these do.
    fn forecast(
        services: &[Duration],
        seconds: u64,
        pool: impl Fn(u64) -> PoolSnapshot,
    ) -> Forecast {
        let mut forecast = Forecast::default();
        let service = Statistics::of(services);
        for second in 0..seconds {
            let pool = PoolSnapshot { service, ..pool(second) };
            let observation = Observation::new(Timestamp::from_secs(second), pool);
            let (history, readings) = (History::default(), &[]);
            let situation = Situation { observation: &observation, readings, history: &history };
            let (delay, budget) = (Duration::from_secs(10), Duration::from_secs(1));
            forecast.observe(&situation, delay, None, budget);
        }
        forecast
    }

    /// With so much to do at each second: the peak that it is prepared for in the end.
    fn prepared_for(seconds: u64, busy: impl Fn(u64) -> u32) -> f64 {
        let pool = |second| PoolSnapshot { busy: busy(second), ..PoolSnapshot::default() };
        forecast(&[Duration::from_secs(1)], seconds, pool).load().expect("it was told")
    }

    #[test]
    fn bursts_that_come_again_are_waited_for() {
        // Half a minute of 40, a minute of nothing; the last silence is nearly over.
        let bursts = |second| if second % 90 < 30 { 40 } else { 0 };
        assert!(30.0 < prepared_for(90 * 20 - 1, bursts));
        assert!(30.0 < prepared_for(90 - 1, bursts), "the first one may well come again");
    }

    #[test]
    fn a_queue_is_no_load() {
        // Twenty come a second, and five workers leave most of them waiting.
        let pool = |second: u64| PoolSnapshot {
            busy: 5,
            queued: 15 * second,
            counters: Counters { submitted: 20 * second, ..Counters::default() },
            ..PoolSnapshot::default()
        };
        let load = forecast(&[Duration::from_secs(1)], 100, pool).load().expect("it was told");
        assert!((19.0..21.0).contains(&load), "{load}");
    }

    #[test]
    fn who_works_off_a_queue_is_no_load() {
        // Four come a second; the 500 that came at once keep 50 workers busy for ten seconds.
        let pool = |second: u64| PoolSnapshot {
            busy: if second < 10 { 50 } else { 4 },
            queued: 500_u64.saturating_sub(50 * second),
            counters: Counters { submitted: 500 + 4 * second, ..Counters::default() },
            ..PoolSnapshot::default()
        };
        let load = forecast(&[Duration::from_secs(1)], 12, pool).load().expect("it was told");
        assert!(load < 10.0, "{load}");
    }

    #[test]
    fn what_tasks_take_at_rest_goes_before_what_the_last_few_took() {
        let pool = PoolSnapshot {
            busy: 10,
            counters: Counters { submitted: 100, ..Counters::default() },
            queued: 90,
            ..PoolSnapshot::default()
        };
        let forecast = Forecast { rate: 10.0, service: Some(0.2), ..Forecast::default() };
        assert!((forecast.needed(&pool, Some(1.5)) - 15.0).abs() < 1e-9);
        assert!((forecast.needed(&pool, None) - 2.0).abs() < 1e-9, "nothing is known of rest");
    }

    #[test]
    fn who_does_not_count_what_comes_goes_by_the_queue() {
        let pool = |_| PoolSnapshot { busy: 5, queued: 15, ..PoolSnapshot::default() };
        let load = forecast(&[Duration::from_secs(1)], 100, pool).load().expect("it was told");
        assert!((19.0..21.0).contains(&load), "{load}");
    }

    #[test]
    fn more_are_kept_where_some_tasks_are_long() {
        let pool = |_| PoolSnapshot { busy: 40, ..PoolSnapshot::default() };
        let workers = |services: &[Duration]| {
            forecast(services, 100, pool).workers(Duration::from_secs(1)).expect("it was told")
        };
        let mut mixed = [Duration::from_millis(1); 30];
        mixed[0] = Duration::from_secs(30);
        let (alike, mixed) = (workers(&[Duration::from_secs(1)]), workers(&mixed));
        assert!(alike + 3 <= mixed, "{alike} and {mixed}");
    }

    #[test]
    fn a_queue_behind_long_tasks_is_waited_in_for_longer() {
        // Against a start all of them are short, so that it is not for doubt.
        let pool = |_| PoolSnapshot { busy: 40, ..PoolSnapshot::default() };
        let workers = |services: &[Duration]| {
            forecast(services, 100, pool).workers(Duration::from_millis(10)).expect("it was told")
        };
        let mut mixed = [Duration::ZERO; 30];
        mixed[0] = Duration::from_millis(300);
        let (alike, mixed) = (workers(&[Duration::from_millis(10)]), workers(&mixed));
        assert!(alike + 5 <= mixed, "{alike} and {mixed}");
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
