//! A load out of what was recorded.
//!
//! How many tasks came between two looks is known exactly, when they came within it is not; how
//! long tasks took is known as a mean and its spread over the last while. So as many jobs are drawn
//! for each stretch, placed by chance within it, each of a lognormal size of that mean and spread.
//! Those that were there at the first look are drawn with what was known when as many had ended.

use std::time::Duration;

use headcount_core::{Counters, PoolSnapshot, Timestamp};

use crate::dice::{Dice, Purpose};
use crate::load::{Job, Load, LoadError, Sizes};

/// Mean and squared coefficient of variation of what tasks took.
type Service = (Duration, f64);

/// From one look to the next.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// When it ends, since the first look.
    until: Duration,
    arrived: u64,
    ended: u64,
    /// What tasks took, as known at its end.
    service: Option<Service>,
}

/// What came, stretch by stretch.
#[derive(Clone, Debug, Default)]
pub(super) struct Came {
    last: Option<(Timestamp, Counters)>,
    /// What was there already at the first look.
    present: u64,
    stretches: Vec<Stretch>,
}

impl Came {
    /// Takes in what is known at a look.
    pub(super) fn look(&mut self, at: Timestamp, pool: &PoolSnapshot) {
        let Counters { submitted, completed, .. } = pool.counters;
        // Where a counter fell, another process began to count.
        let since = |now: u64, before: u64| now.checked_sub(before).unwrap_or(now);
        let (span, arrived, ended) = match self.last {
            Some((before, known)) => (
                at.since(before),
                since(submitted, known.submitted),
                since(completed, known.completed),
            ),
            None => {
                self.present = present(pool);
                (Duration::ZERO, 0, 0)
            }
        };
        self.last = Some((at, pool.counters));
        let service = pool.service.map(|service| (service.mean, service.scv));
        let until = self.span() + span;
        self.stretches.push(Stretch { until, arrived, ended, service });
    }

    /// From the first look to the last.
    pub(super) fn span(&self) -> Duration {
        self.stretches.last().map_or(Duration::ZERO, |stretch| stretch.until)
    }

    /// How many tasks came, those among them that were there already.
    pub(super) fn tasks(&self) -> u64 {
        let arrived = self.stretches.iter().map(|stretch| stretch.arrived);
        arrived.fold(self.present, u64::saturating_add)
    }

    /// Draws the jobs, in order of time. `None`: no task has ended, so nobody knows how long they
    /// take.
    pub(super) fn jobs(&self, seed: u64) -> Result<Option<Vec<Job>>, LoadError> {
        if Load::JOBS_MAX < self.tasks() {
            return Err(LoadError::TooMany(self.tasks() as f64));
        }
        let Some(services) = self.services() else { return Ok(None) };
        let mut dice = (Dice::new(seed, Purpose::Arrivals), Dice::new(seed, Purpose::Sizes));
        let mut jobs = Vec::new();
        for (count, service) in self.present_by_service(&services) {
            draw(count, (Duration::ZERO, Duration::ZERO), service, &mut dice, &mut jobs);
        }
        let mut from = Duration::ZERO;
        for (stretch, service) in self.stretches.iter().zip(services) {
            draw(stretch.arrived, (from, stretch.until), service, &mut dice, &mut jobs);
            from = stretch.until;
        }
        Ok(Some(jobs))
    }

    /// What those took that were there already. They end one after the other, and what is known
    /// when the first do may say nothing of the last: in a batch the short ones are done first.
    fn present_by_service(&self, services: &[Service]) -> Vec<(u64, Service)> {
        let mut left = self.present;
        let ended = self.stretches.iter().zip(services).map(|(stretch, service)| {
            let ended = stretch.ended.min(left);
            left -= ended;
            (ended, *service)
        });
        let mut parts: Vec<(u64, Service)> = ended.collect();
        parts.extend(services.last().map(|last| (left, *last)));
        parts
    }

    /// What tasks took in each stretch: what was known at its end, or else the first thing that was
    /// known later, for it is the tasks of now that end then; or else the last thing before.
    fn services(&self) -> Option<Vec<Service>> {
        let mut known = self.stretches.iter().rev().find_map(|stretch| stretch.service)?;
        let mut services: Vec<_> = self
            .stretches
            .iter()
            .rev()
            .map(|stretch| {
                known = stretch.service.unwrap_or(known);
                known
            })
            .collect();
        services.reverse();
        Some(services)
    }
}

/// What waits or runs. A worker that is just taking a task is busy already while the task still
/// stands in the line and has not begun; such a task is one, not two.
fn present(pool: &PoolSnapshot) -> u64 {
    let Counters { submitted, started, completed, .. } = pool.counters;
    let Counters { rejected, expired, cancelled, dropped, returned, .. } = pool.counters;
    // Whoever counts nothing contradicts nothing.
    if submitted == 0 {
        return pool.pending();
    }
    let over = [completed, rejected, expired, cancelled, dropped, returned];
    let over = over.into_iter().fold(0, u64::saturating_add);
    let too_many = pool.pending().saturating_sub(submitted.saturating_sub(over));
    // No more than those who are busy with nothing that has begun: a line that is not the pool's
    // own may be longer than what came to the pool.
    let taking = u64::from(pool.busy).saturating_sub(started.saturating_sub(completed));
    pool.pending() - too_many.min(taking)
}

/// Draws so many jobs between two moments.
fn draw(
    count: u64,
    (from, until): (Duration, Duration),
    (mean, scv): Service,
    (arrivals, sizes): &mut (Dice, Dice),
    jobs: &mut Vec<Job>,
) {
    let first = jobs.len();
    let span = until.saturating_sub(from);
    let service = Sizes::Lognormal { mean, scv: scv.max(0.0) };
    for _ in 0..count {
        let at = Timestamp::ORIGIN + from + span.mul_f64(arrivals.share());
        let size = Duration::try_from_secs_f64(service.draw(sizes).0).unwrap_or(Duration::MAX);
        // A job of no work at all would end before it began.
        jobs.push(Job { at, size: size.max(Duration::from_nanos(1)), class: 0 });
    }
    jobs[first..].sort_by_key(|job| job.at);
}

#[cfg(test)]
mod tests {
    use headcount_core::{Staffing, Statistics};

    use super::*;

    fn pool(submitted: u64, mean_ms: Option<u64>) -> PoolSnapshot {
        let counters = Counters { submitted, ..Counters::default() };
        let service = mean_ms
            .map(|ms| Statistics { mean: Duration::from_millis(ms), ..Statistics::default() });
        PoolSnapshot { counters, service, ..PoolSnapshot::of(Staffing::exactly(1)) }
    }

    /// Looks, a second apart, to jobs: `second:count*ms`.
    fn check(looks: &[(u64, u64, Option<u64>)], expected: &str) {
        let mut came = Came::default();
        for (second, submitted, mean) in looks {
            came.look(Timestamp::from_secs(*second), &pool(*submitted, *mean));
        }
        let jobs = came.jobs(1).expect("not too many");
        let told = jobs.map_or("unknown".to_owned(), |jobs| {
            assert!(jobs.is_sorted_by_key(|job| job.at));
            let kinds = jobs.iter().map(|job| (job.at.as_nanos() / 1_000_000_000, job.size));
            let mut kinds: Vec<_> = kinds.collect();
            kinds.dedup();
            let count = |kind: &(u64, Duration)| {
                let is_kind = |job: &&Job| (job.at.as_nanos() / 1_000_000_000, job.size) == *kind;
                jobs.iter().filter(is_kind).count()
            };
            let told = kinds
                .iter()
                .map(|kind| format!("{}:{}*{}", kind.0, count(kind), kind.1.as_millis()));
            told.collect::<Vec<_>>().join(" ")
        });
        assert_eq!(told, expected, "{looks:?}");
    }

    #[test]
    fn as_many_come_as_were_counted_and_take_as_long() {
        let some = Some;
        check(&[(5, 10, some(7)), (6, 13, some(7)), (7, 14, some(9))], "0:3*7 1:1*9");
        check(&[(5, 0, None), (6, 2, None), (7, 2, some(9))], "0:2*9");
        check(&[(5, 0, some(4)), (6, 2, None)], "0:2*4");
        check(&[(5, 0, None), (6, 2, None)], "unknown");
    }

    #[test]
    fn another_process_begins_to_count_anew() {
        check(&[(5, 90, Some(7)), (6, 91, Some(7)), (1, 0, None), (2, 3, Some(8))], "0:1*7 1:3*8");
    }

    #[test]
    fn what_was_there_already_comes_at_once() {
        let mut came = Came::default();
        let first = PoolSnapshot { queued: 3, busy: 1, ..pool(9, Some(5)) };
        came.look(Timestamp::from_secs(1), &first);
        let jobs = came.jobs(1).expect("few").expect("known");
        assert_eq!(jobs.len(), 4);
        assert!(jobs.iter().all(|job| job.at == Timestamp::ORIGIN));
    }

    #[test]
    fn a_task_that_is_just_being_taken_is_one() {
        let present = |queued, busy, counters| {
            let mut came = Came::default();
            came.look(
                Timestamp::from_secs(1),
                &PoolSnapshot { queued, busy, counters, ..pool(0, Some(5)) },
            );
            came.tasks()
        };
        let counted = |submitted, started, completed| Counters {
            submitted,
            started,
            completed,
            ..Counters::default()
        };
        assert_eq!(present(3, 1, counted(3, 0, 0)), 3, "the one that is taken is in the line");
        assert_eq!(present(3, 2, counted(9, 6, 5)), 4, "one of two has begun, and five are over");
        assert_eq!(present(3, 2, counted(4, 2, 0)), 5, "both have begun, and others came since");
        assert_eq!(present(50, 2, counted(2, 2, 0)), 52, "the line is that of a store");
        assert_eq!(present(3, 1, counted(0, 0, 0)), 4, "nothing is counted");
        let gone = Counters { expired: 2, cancelled: 1, ..counted(6, 0, 0) };
        assert_eq!(present(3, 1, gone), 3, "what never began is over, too");
    }

    /// The short ones of a batch end first; what they took says nothing of the others.
    #[test]
    fn what_was_there_already_takes_what_was_known_when_as_many_had_ended() {
        let mut came = Came::default();
        let looks = [(0, None), (2, Some(5)), (2, Some(5)), (3, Some(50))];
        for (second, (completed, mean)) in (1..).zip(looks) {
            let counters = Counters { submitted: 9, completed, ..Counters::default() };
            let first = PoolSnapshot { queued: 3, busy: 1, ..pool(9, mean) };
            came.look(Timestamp::from_secs(second), &PoolSnapshot { counters, ..first });
        }
        let jobs = came.jobs(1).expect("few").expect("known");
        let sizes: Vec<u128> = jobs.iter().map(|job| job.size.as_millis()).collect();
        assert_eq!(sizes, [5, 5, 50, 50]);
    }

    #[test]
    fn more_than_can_be_drawn_is_refused() {
        let mut came = Came::default();
        came.look(Timestamp::from_secs(1), &pool(0, Some(5)));
        came.look(Timestamp::from_secs(2), &pool(Load::JOBS_MAX + 1, Some(5)));
        assert!(matches!(came.jobs(1), Err(LoadError::TooMany(_))));
    }
}
