//! A pool in front of a downstream, event by event.
//!
//! Tasks arrive like Poisson, their sizes are lognormal. The downstream serves as many calls as
//! its knee at full speed; each further one slows all of them down, those under way as well. The
//! pool is the inner loop: it hires for a task that has waited for most of its budget, up to the
//! ceiling, and lets go of workers that stay idle.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use headcount_core::{LogSums, PoolSnapshot, Staffing, Statistics};

/// How long a task may wait, and when it is hired for.
pub(crate) const BUDGET: f64 = 0.1;
const PATIENCE: f64 = 0.85 * BUDGET;
/// How long a worker stays idle.
const IDLE: f64 = 0.5;
/// What each call beyond the knee costs all others.
const CROWDING: f64 = 0.02;
/// Tasks in the statistics of a snapshot.
const RECENT: usize = 200;

/// What the world is like for a while.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stage {
    pub(crate) seconds: f64,
    /// Tasks a second.
    pub(crate) rate: f64,
    /// What a task takes where nobody stands in its way.
    pub(crate) service: f64,
    /// Calls that the downstream serves at full speed.
    pub(crate) knee: f64,
    /// The share of tasks that fail while there are more calls than this.
    pub(crate) failing: f64,
    pub(crate) accepted: f64,
}

impl Stage {
    /// A load of so many workers, of tasks of 100 ms, in front of a downstream without a knee.
    pub(crate) fn load(seconds: f64, load: f64) -> Self {
        Self {
            seconds,
            rate: load / 0.1,
            service: 0.1,
            knee: f64::INFINITY,
            failing: 0.0,
            accepted: f64::INFINITY,
        }
    }

    /// The same load of tasks so many times as long, and as many times fewer.
    pub(crate) fn longer(self, times: f64) -> Self {
        Self { service: self.service * times, rate: self.rate / times, ..self }
    }

    pub(crate) fn knee(self, knee: f64) -> Self {
        Self { knee, ..self }
    }

    /// As many tasks, each of them so many times as big.
    pub(crate) fn bigger(self, times: f64) -> Self {
        Self { service: self.service * times, ..self }
    }

    /// A share of the tasks fails while there are more calls than are accepted.
    pub(crate) fn failing(self, failing: f64, accepted: f64) -> Self {
        Self { failing, accepted, ..self }
    }

    /// How many times longer everything takes.
    fn slowness(&self, busy: f64) -> f64 {
        match busy <= self.knee {
            true => 1.0,
            false => busy / self.knee * (1.0 + CROWDING * (busy - self.knee)),
        }
    }
}

/// A pool in front of a downstream.
pub(crate) struct Plant {
    pub(crate) snapshot: PoolSnapshot,
    /// Tasks that waited for longer than they may.
    pub(crate) late: u64,
    pub(crate) now: f64,
    dice: u64,
    scv: f64,
    /// When each waiting task came.
    waiting: VecDeque<f64>,
    /// Since when each idle worker has been so, the longest first.
    idle: Vec<f64>,
    /// When each running task ends, in work done a worker, and when it began.
    running: BinaryHeap<Reverse<(u64, u64)>>,
    work: f64,
    next_arrival: f64,
    logs: LogSums,
    recent: VecDeque<Duration>,
}

impl Plant {
    pub(crate) fn new(ceiling: u32, scv: f64, seed: u64) -> Self {
        Self {
            snapshot: PoolSnapshot::of(Staffing::between(0, ceiling)),
            late: 0,
            now: 0.0,
            dice: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            scv,
            waiting: VecDeque::new(),
            idle: Vec::new(),
            running: BinaryHeap::new(),
            work: 0.0,
            next_arrival: 0.0,
            logs: LogSums::default(),
            recent: VecDeque::new(),
        }
    }

    /// Runs until `end`, event by event.
    pub(crate) fn run(&mut self, stage: &Stage, end: f64) {
        // The rate may have changed: what comes next is drawn anew, as arrivals have no memory.
        self.next_arrival = self.now + self.exponential() / stage.rate.max(1e-9);
        loop {
            let slowness = stage.slowness(self.busy());
            let finish = self.running.peek().map_or(f64::MAX, |Reverse((at, _))| {
                self.now + (nanos_to_seconds(*at) - self.work).max(0.0) * slowness
            });
            let hire = self.next_hire();
            let next = self.next_arrival.min(finish).min(hire).min(end);
            self.work += (next - self.now).max(0.0) / slowness;
            self.now = next.max(self.now);
            if end <= next {
                break;
            }
            if finish <= next {
                self.finish(stage);
            } else if hire <= next {
                self.begin(stage);
            } else {
                self.arrive(stage);
            }
        }
        self.observe();
    }

    fn busy(&self) -> f64 {
        self.running.len() as f64
    }

    fn live(&self) -> usize {
        self.running.len() + self.idle.len()
    }

    fn next_hire(&self) -> f64 {
        match self.waiting.front() {
            Some(since) if self.live() < self.snapshot.ceiling as usize => since + PATIENCE,
            _ => f64::MAX,
        }
    }

    fn arrive(&mut self, stage: &Stage) {
        self.next_arrival = self.now + self.exponential() / stage.rate.max(1e-9);
        self.snapshot.counters.submitted += 1;
        self.waiting.push_back(self.now);
        if self.idle.pop().is_some() {
            self.begin(stage);
        }
    }

    fn begin(&mut self, stage: &Stage) {
        let Some(since) = self.waiting.pop_front() else { return };
        self.late += u64::from(BUDGET * 1.01 < self.now - since);
        self.snapshot.counters.started += 1;
        let end = self.work + stage.service * self.size();
        self.running.push(Reverse((seconds_to_nanos(end), seconds_to_nanos(self.now))));
    }

    fn finish(&mut self, stage: &Stage) {
        let is_crowded = stage.accepted < self.busy();
        let Some(Reverse((_, began))) = self.running.pop() else { return };
        let fails = is_crowded && self.chance() < stage.failing;
        let counters = &mut self.snapshot.counters;
        counters.completed += 1;
        counters.failed += u64::from(fails);
        let took = Duration::from_secs_f64((self.now - nanos_to_seconds(began)).max(0.0));
        self.logs.add(took);
        self.recent.push_back(took);
        if RECENT < self.recent.len() {
            self.recent.pop_front();
        }
        if self.live() < self.snapshot.ceiling as usize {
            match self.waiting.is_empty() {
                true => self.idle.push(self.now),
                false => self.begin(stage),
            }
        }
    }

    fn observe(&mut self) {
        let now = self.now;
        self.idle.retain(|since| now - since < IDLE);
        let room = (self.snapshot.ceiling as usize).saturating_sub(self.running.len());
        self.idle.truncate(room);
        self.recent.make_contiguous();
        let pool = &mut self.snapshot;
        pool.busy = count(self.running.len());
        pool.parked = count(self.idle.len());
        pool.live = pool.busy + pool.parked;
        pool.queued = self.waiting.len() as u64;
        pool.service = Statistics::of(self.recent.as_slices().0);
        pool.service_logs = Some(self.logs);
    }

    /// Lognormal, of mean 1.
    fn size(&mut self) -> f64 {
        let variance = (1.0 + self.scv).ln();
        let bell = (0..12).map(|_| self.chance()).sum::<f64>() - 6.0;
        (bell * variance.sqrt() - variance / 2.0).exp()
    }

    fn exponential(&mut self) -> f64 {
        -self.chance().max(1e-12).ln()
    }

    fn chance(&mut self) -> f64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        (self.dice >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn seconds_to_nanos(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

fn nanos_to_seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}
