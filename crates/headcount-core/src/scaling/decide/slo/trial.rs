//! Whether tasks end as they should, while more workers are at it than ever worked.
//!
//! A window tells that so many workers are of use, but it lasts for some service times and some
//! hundred tasks, and in a surge that is too late: the pool stands at what it is trusted with, and
//! tasks wait. How many tasks *should have ended* by now, were nobody in another's way, is known
//! at every tick ([`Crowd`](super::crowd::Crowd)). As many did, or two thirds as many did: the odds
//! of the two settle it after some forty ends (Wald's sequential test), which a hundred workers
//! make in half a service time. So trust keeps up with any surge that tasks survive, and where they
//! begin to stand in line it stays where it is.
//!
//! In the beginning nothing is known of rest. There tasks are compared with those of fewer
//! workers, as few as these were: what ends for each second of a busy worker, by more than half
//! of the workers that are trusted, and by no more than that.

use super::crowd::Ends;
use super::trust::Finding;
use super::window::busy_seconds;
use crate::Timestamp;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::observation::PoolSnapshot;

/// How many times as long tasks take where workers stand in each other's way; and where only tasks
/// of the same few seconds are there to compare with, which differ by chance and by their age.
const SLOWER: f64 = 1.5;
const SLOWER_FIRST: f64 = 2.0;
/// Logarithms of the odds at which the workers are trusted, and below which nothing counts: what
/// is over must not be held against them for ever.
const ODDS_WORKS: f64 = 3.0;
const ODDS_MIN: f64 = -3.0;
/// The tasks that must have ended where nothing is known of rest, and the odds that are asked for
/// then, for each task of few workers: a few of them cannot say more.
const FIRST_ENDS_MIN: f64 = 10.0;
const FIRST_ODDS: f64 = 0.15;
/// More seconds than all workers can be busy for.
const SECONDS_MAX: f64 = 1e20;

/// A surge that is being judged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Trial {
    /// The odds that tasks take as long as at rest, as a logarithm.
    odds: f64,
    /// Where rest is not known: what few workers did, and what many do.
    few: Done,
    many: Done,
    /// The last tick: when it was, how many tasks had ended and how many workers were busy.
    last: Option<(Timestamp, (u64, u32))>,
}

/// What was done in the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Done {
    ended: f64,
    busy_seconds: f64,
}

impl Trial {
    /// Begins anew: the workers are no longer free to come.
    pub(super) fn give_up(&mut self) {
        *self = Self::default();
    }

    /// Takes in a tick of a pool in which `worked` workers worked before and `expected` would be
    /// busy if nobody stood in another's way.
    pub(super) fn observe(
        &mut self,
        pool: &PoolSnapshot,
        expected: f64,
        ends: Option<Ends>,
        worked: f64,
    ) -> Option<Finding> {
        let busy = f64::from(pool.busy);
        let Some(ends) = ends.filter(|_| worked < busy) else {
            self.odds = 0.0;
            return None;
        };
        let gain = ends.seen * SLOWER.ln() - ends.due * (1.0 - 1.0 / SLOWER);
        self.odds = (self.odds + gain).max(ODDS_MIN);
        (ODDS_WORKS <= self.odds).then(|| {
            self.odds = 0.0;
            Finding::Works(busy.min(expected))
        })
    }

    /// The same in the beginning, where nothing is known of rest and so many are trusted.
    pub(super) fn begin(
        &mut self,
        now: Timestamp,
        pool: &PoolSnapshot,
        trusted: f64,
    ) -> Option<Finding> {
        let completed = pool.counters.completed;
        let (last, (before, was_busy)) = self.last.replace((now, (completed, pool.busy)))?;
        let busy = f64::from(pool.busy);
        let ended = completed.checked_sub(before)? as f64;
        let are_many = trusted / 2.0 < busy;
        let done = if are_many { &mut self.many } else { &mut self.few };
        done.add(ended, busy_seconds(pool, was_busy, ended, now.since(last).as_secs_f64()));
        let is_comparable = 0.0 < self.few.ended && FIRST_ENDS_MIN <= self.many.ended;
        let odds = (FIRST_ODDS * self.few.ended).min(ODDS_WORKS);
        (are_many && is_comparable && odds <= self.odds_of_many()).then(|| {
            // Those who were many are few from now on.
            let Done { ended, busy_seconds } = std::mem::take(&mut self.many);
            self.few.add(ended, busy_seconds);
            Finding::Works(busy)
        })
    }

    /// The odds that tasks of many take as long as those of few, and not longer, by how the ends
    /// fall to the two.
    fn odds_of_many(&self) -> f64 {
        let share = |slower: f64| {
            let many = self.many.busy_seconds / slower;
            (many / (many + self.few.busy_seconds)).clamp(1e-9, 1.0 - 1e-9)
        };
        let (alike, slow) = (share(1.0), share(SLOWER_FIRST));
        self.many.ended * (alike / slow).ln() + self.few.ended * ((1.0 - alike) / (1.0 - slow)).ln()
    }
}

impl Done {
    fn add(&mut self, ended: f64, busy_seconds: f64) {
        self.ended += ended;
        self.busy_seconds = (self.busy_seconds + busy_seconds).min(SECONDS_MAX);
    }
}

impl Noted for Done {
    fn write(&self, notes: &mut Notes) {
        (self.ended, self.busy_seconds).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (ended, busy_seconds) = <(f64, f64)>::read(notes)?;
        let is_sound = 0.0 <= ended && (0.0..=SECONDS_MAX).contains(&busy_seconds);
        is_sound.then_some(Self { ended, busy_seconds })
    }
}

impl Noted for Trial {
    fn write(&self, notes: &mut Notes) {
        (self.odds, (self.few, (self.many, self.last))).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (odds, (few, (many, last))) = Noted::read(notes)?;
        (ODDS_MIN..ODDS_WORKS).contains(&odds).then_some(Self { odds, few, many, last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Counters;

    fn busy(workers: u32) -> PoolSnapshot {
        PoolSnapshot { busy: workers, ..PoolSnapshot::default() }
    }

    /// After how many ticks, of a hundred, 100 workers are trusted of whom 60 worked before, where
    /// five tasks should end at each tick and so many do.
    fn trusted_after(seen: f64) -> Option<usize> {
        let mut trial = Trial::default();
        let tick = |_: &usize| {
            let ends = Some(Ends { seen, due: 5.0 });
            trial.observe(&busy(100), 90.0, ends, 60.0) == Some(Finding::Works(90.0))
        };
        (1..=100).find(tick)
    }

    #[test]
    fn a_surge_whose_tasks_end_as_they_should_is_trusted_within_fifty_of_them() {
        let ticks = trusted_after(5.0).expect("they do");
        assert!((4..=10).contains(&ticks), "{ticks}");
        assert!(trusted_after(7.0).expect("even sooner") < ticks);
    }

    #[test]
    fn where_tasks_take_longer_a_surge_is_not_trusted() {
        assert_eq!(trusted_after(5.0 / 1.3), None);
        assert_eq!(trusted_after(0.0), None);
    }

    #[test]
    fn what_is_over_is_not_held_against_it_for_ever() {
        let mut trial = Trial::default();
        let mut tick =
            |seen| trial.observe(&busy(100), 100.0, Some(Ends { seen, due: 5.0 }), 60.0).is_some();
        assert!((0..1000).all(|_| !tick(0.0)), "nothing ends");
        assert!((0..20).any(|_| tick(5.0)), "a hundred tasks end as they should");
    }

    #[test]
    fn no_more_than_ever_worked_say_nothing_new() {
        let mut trial = Trial::default();
        let ends = Some(Ends { seen: 50.0, due: 50.0 });
        assert_eq!(trial.observe(&busy(60), 60.0, ends, 60.0), None);
        assert_eq!(trial, Trial::default());
    }

    /// Whether 60 of 64 workers are trusted within ten seconds, after ten at which 10 were busy;
    /// of tasks that took a second and then take so many.
    fn begins(seconds_then: f64) -> bool {
        let mut trial = Trial::default();
        let mut completed = 0.0;
        let mut tick = |number: u64, workers: u32, service: f64| {
            completed += f64::from(workers) * 0.1 / service;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Some hundred.
            let counters = Counters { completed: completed as u64, ..Counters::default() };
            let pool = PoolSnapshot { counters, ..busy(workers) };
            trial.begin(Timestamp::from_millis(100 * number), &pool, 64.0).is_some()
        };
        assert!((0..100).all(|number| !tick(number, 10, 1.0)), "so few prove nothing");
        (100..200).any(|number| tick(number, 60, seconds_then))
    }

    #[test]
    fn in_the_beginning_many_are_compared_with_few() {
        assert!(begins(1.0));
        assert!(!begins(2.0), "they stand in each other's way");
    }

    #[test]
    fn without_few_to_compare_with_many_prove_nothing() {
        let mut trial = Trial::default();
        let mut pool = busy(60);
        for second in 0..100 {
            pool.counters.completed += 60;
            assert_eq!(trial.begin(Timestamp::from_secs(second), &pool, 64.0), None);
        }
    }
}
