//! The jobs under way in one pool, which all go on at one speed.
//!
//! A job of size `s` that begins when the work clock shows `v` ends when it shows `v + s`. The
//! clock goes at full speed where nobody stands in another's way, and slower where many do; so a
//! change of speed moves the end of every job without touching any of them.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::Duration;

use headcount_core::Timestamp;
use headcount_core::roster::WorkerId;

use super::line::Queued;

/// A job under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running {
    pub(super) worker: WorkerId,
    pub(super) queued: Queued,
    pub(super) began: Timestamp,
    /// What the work clock shows when it ends, in seconds.
    ends: f64,
    /// Of two that end at once, the one that began first is the first.
    order: u64,
}

impl Running {
    /// From when the job came until this try of it began.
    pub(super) fn waited(&self) -> Duration {
        self.began.since(self.queued.job.at)
    }
}

impl PartialEq for Running {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Running {}

impl PartialOrd for Running {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Running {
    /// The first to end is the greatest, as a heap has it on top.
    fn cmp(&self, other: &Self) -> Ordering {
        other.ends.total_cmp(&self.ends).then(other.order.cmp(&self.order))
    }
}

/// The jobs under way in one pool.
#[derive(Clone, Debug)]
pub(super) struct Work {
    running: BinaryHeap<Running>,
    clock: f64,
    /// When the clock was last read.
    read_at: Timestamp,
    slowness: f64,
    begun: u64,
    /// When the newest of all that began was put in the line.
    newest: Timestamp,
    /// The job that ended last, and when.
    ended: Option<(Running, Timestamp)>,
}

impl Default for Work {
    fn default() -> Self {
        Self {
            running: BinaryHeap::new(),
            clock: 0.0,
            read_at: Timestamp::ORIGIN,
            slowness: 1.0,
            begun: 0,
            newest: Timestamp::ORIGIN,
            ended: None,
        }
    }
}

impl Work {
    pub(super) fn len(&self) -> usize {
        self.running.len()
    }

    pub(super) fn begin(&mut self, worker: WorkerId, queued: Queued, now: Timestamp) {
        self.advance(now);
        self.begun += 1;
        self.newest = self.newest.max(queued.since);
        let ends = self.clock + queued.job.size.as_secs_f64();
        self.running.push(Running { worker, queued, began: now, ends, order: self.begun });
    }

    /// From now on everything takes so many times as long.
    pub(super) fn slow_down(&mut self, slowness: f64, now: Timestamp) {
        if (slowness - self.slowness).abs() < 1e-12 {
            return;
        }
        self.advance(now);
        self.slowness = slowness;
    }

    /// When the next job ends.
    pub(super) fn next_end(&self) -> Option<Timestamp> {
        let next = self.running.peek()?;
        let seconds = ((next.ends - self.clock) * self.slowness).max(0.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Saturates.
        let nanos = (seconds * 1e9).round() as u64;
        Some(Timestamp::from_nanos(self.read_at.as_nanos().saturating_add(nanos)))
    }

    /// The job that ends now.
    pub(super) fn end(&mut self, now: Timestamp) -> Running {
        self.advance(now);
        let ended = self.running.pop().expect("an end is announced by a job under way");
        // What was rounded off on the way does not add up.
        self.clock = self.clock.max(ended.ends);
        self.ended = Some((ended, now));
        ended
    }

    pub(super) fn slowness(&self) -> f64 {
        self.slowness
    }

    /// When the newest of all jobs that began was put in the line.
    pub(super) fn newest(&self) -> Timestamp {
        self.newest
    }

    /// By how much the job that ended last was quicker than a job can be.
    pub(super) fn skipped(&self) -> Duration {
        self.ended.map_or(Duration::ZERO, |(running, at)| {
            running.queued.job.size.saturating_sub(at.since(running.began))
        })
    }

    fn advance(&mut self, now: Timestamp) {
        self.clock += now.since(self.read_at).as_secs_f64() / self.slowness;
        self.read_at = now;
    }
}
