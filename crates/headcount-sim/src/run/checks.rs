//! The rules that hold after every event, whatever happens.

use std::fmt;
use std::time::Duration;

use headcount_core::Timestamp;
use headcount_core::roster::{Turn, Waiting};

use super::budget::Purse;
use super::pool::Pool;
use super::setup::PoolSetup;

/// What the ends of jobs may be rounded by, all in all.
const ROUNDING: Duration = Duration::from_micros(1);

/// A rule that was broken.
///
/// ```
/// use headcount_core::Timestamp;
/// use headcount_sim::run::Violation;
///
/// let violation = Violation {
///     at: Timestamp::from_secs(3),
///     pool: "web".to_owned(),
///     seed: 7,
///     what: "9 workers under a ceiling of 8".to_owned(),
/// };
/// assert_eq!(violation.to_string(), "seed 7, pool web, 3s: 9 workers under a ceiling of 8");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// When.
    pub at: Timestamp,
    /// In which pool.
    pub pool: String,
    /// In which run.
    pub seed: u64,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, pool, seed, what } = self;
        write!(f, "seed {seed}, pool {pool}, {:?}: {what}", at.since(Timestamp::ORIGIN))
    }
}

impl std::error::Error for Violation {}

/// What a pool was like before an event.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before {
    live: u32,
    spawns: u64,
}

impl Before {
    pub(super) fn of(pool: &Pool) -> Self {
        Self { live: pool.roster.counts().live, spawns: pool.books.spawns }
    }
}

/// What is wrong with a pool after an event, if anything; in its world, everything takes
/// `slowness` times as long.
pub(super) fn broken(pool: &Pool, before: Before, now: Timestamp, slowness: f64) -> Option<String> {
    bounds(pool)
        .or_else(|| hires(pool, before))
        .or_else(|| conservation(pool))
        .or_else(|| starvation(pool, now))
        .or_else(|| staffing(pool, now))
        .or_else(|| order(pool, now))
        .or_else(|| speed(pool, slowness))
}

/// `min <= floor <= ceiling <= max`, unless a budget grants less than the minimum.
fn bounds(pool: &Pool) -> Option<String> {
    let (staffing, bounds) = (pool.roster.config().staffing, pool.setup.policy.bounds());
    let low = if pool.setup.budget.is_some() { 0 } else { bounds.min };
    let holds = low <= staffing.floor
        && staffing.floor <= staffing.ceiling
        && staffing.ceiling <= bounds.max;
    (!holds).then(|| {
        let (floor, ceiling) = (staffing.floor, staffing.ceiling);
        format!("floor {floor} and ceiling {ceiling} are not within {} to {}", low, bounds.max)
    })
}

/// Nobody is hired beyond the ceiling, and everybody is counted once.
fn hires(pool: &Pool, before: Before) -> Option<String> {
    let (counts, ceiling) = (pool.roster.counts(), pool.roster.config().staffing.ceiling);
    let hired = pool.books.spawns - before.spawns;
    if 0 < hired && ceiling < counts.live {
        return Some(format!("{hired} hired although {} are more than {ceiling}", counts.live));
    }
    if ceiling < counts.live && before.live < counts.live {
        return Some(format!("{} workers under a ceiling of {ceiling}", counts.live));
    }
    let sum = counts.starting + counts.busy + counts.parked + counts.leaving;
    let adds_up = sum == counts.live
        && counts.busy as usize == pool.work.len()
        && counts.starting as usize == pool.hired_len();
    (!adds_up).then(|| {
        let (running, starting) = (pool.work.len(), pool.hired_len());
        format!("{counts:?} with {running} jobs under way and {starting} starts do not add up")
    })
}

/// Every job that came waits, runs, is to be tried again, is done, or was given up.
fn conservation(pool: &Pool) -> Option<String> {
    let books = &pool.books;
    let given_up = books.late - (books.done - books.done_in_time);
    let known = pool.unfinished() + books.done + given_up;
    if known != books.arrived {
        return Some(format!("{} jobs came and {known} are accounted for", books.arrived));
    }
    let waited = books.waits.len() as u64;
    if books.arrived < waited {
        return Some(format!("{} jobs came and {waited} waited", books.arrived));
    }
    let queued = pool.line.queued();
    let most = pool.setup.queue_len_max.unwrap_or(u64::MAX);
    (most < queued).then(|| format!("{queued} jobs wait in a line for {most}"))
}

/// Nobody waits while somebody is idle, and nobody waits for ever where one may be hired.
fn starvation(pool: &Pool, now: Timestamp) -> Option<String> {
    let (counts, queued) = (pool.roster.counts(), pool.line.queued());
    if 0 < queued && 0 < counts.parked {
        return Some(format!("{queued} jobs wait beside {} parked workers", counts.parked));
    }
    if !may_hire(pool, now) {
        return None;
    }
    if 0 < queued && counts.live == 0 {
        return Some(format!("{queued} jobs wait and nobody comes"));
    }
    // As many as there are starting workers need nobody else.
    let uncovered = pool.line.submitted(u64::from(counts.starting))?;
    let (wait, patience) = (now.since(uncovered), pool.roster.config().patience());
    (patience < wait).then(|| format!("a job waits for {wait:?} and nobody was hired for it"))
}

/// Whether there is room for one more, and the last hire came to something.
fn may_hire(pool: &Pool, now: Timestamp) -> bool {
    let has_room = pool.roster.counts().live < pool.roster.config().staffing.ceiling;
    let is_barred = match pool.roster.unreachable_until() {
        // After a hire that failed, one is tried alone.
        Some(until) => now < until || 0 < pool.roster.counts().starting,
        None => false,
    };
    has_room && !is_barred
}

/// The floor is met, and nobody above it is idle for longer than is worth it.
fn staffing(pool: &Pool, now: Timestamp) -> Option<String> {
    let (counts, config) = (pool.roster.counts(), pool.roster.config());
    let (staying, floor) = (counts.live - counts.leaving, config.staffing.floor);
    if staying < floor && may_hire(pool, now) {
        return Some(format!("{staying} workers at a floor of {floor}"));
    }
    let idle = pool.roster.snapshot(now, &pool.line).longest_idle.unwrap_or_default();
    if floor < staying && config.idle_time < idle {
        return Some(format!("a worker above the floor is idle for {idle:?}"));
    }
    if config.staffing.ceiling < staying && 0 < counts.parked {
        return Some(format!("{} are parked above the ceiling", counts.parked));
    }
    (pool.alarm() != pool.roster.next_look(&pool.line))
        .then(|| "the alarm is not set to the next look of the roster".to_owned())
}

/// The oldest goes first, unless it has waited for so long that the newest do.
fn order(pool: &Pool, now: Timestamp) -> Option<String> {
    let oldest = pool.line.submitted(0).filter(|oldest| *oldest < pool.work.newest())?;
    let PoolSetup { newest_first_after, expire_after, .. } = pool.setup;
    let is_passed_over = Turn::of(newest_first_after, now.since(oldest)) == Turn::Newest;
    // The one that was passed over may have been dropped since.
    let was_another = newest_first_after.is_some() && expire_after.is_some();
    (!is_passed_over && !was_another).then(|| "a job was begun before an older one".to_owned())
}

/// Jobs go at the speed that the world leaves, and nobody skips any work.
fn speed(pool: &Pool, slowness: f64) -> Option<String> {
    if 1e-9 < (pool.work.slowness() - slowness).abs() {
        return Some(format!("jobs are slowed {} times, not {slowness}", pool.work.slowness()));
    }
    let skipped = pool.work.skipped();
    (ROUNDING < skipped).then(|| format!("a job was over {skipped:?} too soon"))
}

/// What is wrong with a budget after a look, if anything.
pub(super) fn overspent(purse: &Purse) -> Option<String> {
    let (held, most) = (purse.held(), purse.workers_max());
    (most < held).then(|| format!("{held} workers are held of a budget of {most}"))
}
