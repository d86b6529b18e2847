//! How well a run went: what was promised, what was kept, and what it cost.

use std::time::Duration;

use headcount_core::Timestamp;

use super::books::Books;

/// How well a run went.
///
/// ```
/// use headcount_sim::run::Score;
/// use std::time::Duration;
///
/// let score = Score {
///     jobs: 200,
///     late: 1,
///     worker_seconds: 110.0,
///     work_seconds: 100.0,
///     spawns: 40,
///     spawn_cost: Duration::from_millis(50),
///     ..Score::default()
/// };
/// assert_eq!(score.late_percent(), 0.5);
/// assert_eq!(score.cost_per_work(), 1.12, "112 seconds of workers for 100 of work");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// What it is called.
    pub name: String,
    /// Jobs that came.
    pub jobs: u64,
    /// Jobs that were not served as promised: late, dropped, refused or never done.
    pub late: u64,
    /// Jobs that were done in time.
    pub in_time: u64,
    /// Half of the jobs waited no longer than this.
    pub wait_p50: Duration,
    /// 99 % of the jobs waited no longer than this.
    pub wait_p99: Duration,
    /// 99.9 % of the jobs waited no longer than this.
    pub wait_p999: Duration,
    /// The time of all workers together.
    pub worker_seconds: f64,
    /// The work that came.
    pub work_seconds: f64,
    /// The work that was done by the end.
    pub work_done_seconds: f64,
    /// Workers that were hired.
    pub spawns: u64,
    /// What a hire costs.
    pub spawn_cost: Duration,
    /// The most workers there were.
    pub peak: u32,
    /// How often the number of workers turned around.
    pub reversals: u64,
    /// How long it went on.
    pub span: Duration,
}

impl Score {
    pub(super) fn of(name: &str, books: &mut Books, cost: Duration, end: Timestamp) -> Self {
        books.waits.sort_unstable();
        let at = |share: f64| percentile(&books.waits, share);
        Self {
            name: name.to_owned(),
            jobs: books.arrived,
            late: books.late,
            in_time: books.done_in_time,
            wait_p50: at(0.5),
            wait_p99: at(0.99),
            wait_p999: at(0.999),
            worker_seconds: books.worker_seconds,
            work_seconds: books.work_seconds,
            work_done_seconds: books.work_done_seconds,
            spawns: books.spawns,
            spawn_cost: cost,
            peak: books.peak,
            reversals: books.reversals,
            span: end.since(Timestamp::ORIGIN),
        }
    }

    /// Of a hundred jobs, those that were not served as promised.
    #[must_use]
    pub fn late_percent(&self) -> f64 {
        share(self.late, self.jobs) * 100.0
    }

    /// The share of jobs that were done in time.
    #[must_use]
    pub fn goodput(&self) -> f64 {
        share(self.in_time, self.jobs)
    }

    /// The share of the work that was done by the end.
    #[must_use]
    pub fn done(&self) -> f64 {
        match self.work_seconds {
            none if none <= 0.0 => 1.0,
            work => self.work_done_seconds / work,
        }
    }

    /// What it cost, workers and hires, for each second of work that came. 1 is the least for
    /// whoever does all of it; below 1, some was left undone.
    #[must_use]
    pub fn cost_per_work(&self) -> f64 {
        if self.work_seconds <= 0.0 {
            return 0.0;
        }
        let hires = self.spawns as f64 * self.spawn_cost.as_secs_f64();
        (self.worker_seconds + hires) / self.work_seconds
    }

    /// How often the number of workers turned around, an hour.
    #[must_use]
    pub fn reversals_per_hour(&self) -> f64 {
        let hours = self.span.as_secs_f64() / 3600.0;
        if hours <= 0.0 { 0.0 } else { self.reversals as f64 / hours }
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn percentile(sorted: &[Duration], share: f64) -> Duration {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // An index, by `min`.
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted
        .get(rank.saturating_sub(1).min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or_default()
}
