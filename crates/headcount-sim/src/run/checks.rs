//! The rules that hold after every event, whatever happens.

use std::fmt;

use headcount_core::Timestamp;
use headcount_core::roster::Waiting;

use super::budget::Purse;
use super::pool::Pool;

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

/// What is wrong with a pool after an event, if anything.
pub(super) fn broken(pool: &Pool, before: Before, now: Timestamp) -> Option<String> {
    bounds(pool)
        .or_else(|| hires(pool, before))
        .or_else(|| conservation(pool))
        .or_else(|| starvation(pool, now))
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
    let busy = usize::try_from(counts.busy).unwrap_or(usize::MAX);
    if sum != counts.live || busy != pool.work.len() {
        return Some(format!("{counts:?} with {} jobs under way do not add up", pool.work.len()));
    }
    None
}

/// Every job that came waits, runs, is to be tried again, is done, or was given up.
fn conservation(pool: &Pool) -> Option<String> {
    let books = &pool.books;
    let given_up = books.late - (books.done - books.done_in_time);
    let known = pool.unfinished() + books.done + given_up;
    (known != books.arrived)
        .then(|| format!("{} jobs came and {known} are accounted for", books.arrived))
}

/// Nobody waits while somebody is idle, and nobody waits for ever where one may be hired.
fn starvation(pool: &Pool, now: Timestamp) -> Option<String> {
    let (counts, queued) = (pool.roster.counts(), pool.line.queued());
    if 0 < queued && 0 < counts.parked {
        return Some(format!("{queued} jobs wait beside {} parked workers", counts.parked));
    }
    let may_hire = 0 < pool.roster.config().staffing.ceiling;
    let is_forsaken = 0 < queued && counts.live == 0 && may_hire;
    let will_retry = pool.roster.unreachable_until().is_some_and(|until| now <= until);
    (is_forsaken && !will_retry).then(|| format!("{queued} jobs wait and nobody comes"))
}

/// What is wrong with a budget after a look, if anything.
pub(super) fn overspent(purse: &Purse) -> Option<String> {
    let (held, most) = (purse.held(), purse.workers_max());
    (most < held).then(|| format!("{held} workers are held of a budget of {most}"))
}
