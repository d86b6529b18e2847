//! What the keeper sees of the line while tasks are short. Pure.
//!
//! Nobody is woken for short tasks while somebody is at them, and for tiny ones one worker is
//! enough. Either is a bet on the next task, and here it is seen whether it was lost: the line
//! *stands*, so those who were at short tasks are at long ones; or it moves more slowly than one
//! worker moves it that is alone with tiny tasks, so it is work for more, whatever each of them
//! took. Where one alone was too slow it is tried again after a while, and less often each time.

use std::time::Duration;

use headcount_core::Timestamp;

/// While tasks are short, the keeper looks this often.
pub(crate) const SHORT_LOOK: Duration = Duration::from_micros(500);
/// Two looks that are closer than this say nothing of whether the line moves.
const LOOK_MIN: Duration = Duration::from_micros(250);
/// A worker that is not back from a short task after this does something else; or after twice as
/// long where every core has two workers, and so on.
const STALLED_AFTER: Duration = Duration::from_millis(4);
/// For so long one worker is alone before it is judged. It may have to wait for a core meanwhile.
const TRIAL: Duration = Duration::from_millis(20);
/// It is judged sooner where the line crawls: it has moved at so many looks, with none between at
/// which it had not, and over all of them no faster than a task in that time. A worker that waits
/// for a core does not move it at all, and then as fast as ever; so it is one that has a long task
/// now and then.
const CRAWL_LOOKS: u32 = 10;
const CRAWL_TASK_MIN: Duration = Duration::from_nanos(600);
/// One that is alone takes no longer than this for a task, waits for a core and all.
const ALONE_TASK_MAX: Duration = Duration::from_nanos(200);
/// For so long others help after one alone was too slow: at first, and after many times.
const SHARED_MIN: Duration = Duration::from_millis(100);
const SHARED_MAX: Duration = Duration::from_secs(2);

/// How far the line is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// Tasks that have left it, in all.
    pub(crate) moved: u64,
    pub(crate) queued: u64,
}

/// What is remembered from one look to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lookout {
    /// When it was last looked at, and what had left it by then.
    last: (Timestamp, u64),
    /// When it was last seen to stand.
    stood_at: Timestamp,
    /// Since when one worker is alone with what waits, and what had left the line by then.
    trial: Option<(Timestamp, u64)>,
    /// Since when the line has moved at every look, and what had left it by then.
    steady: Option<(Timestamp, u64)>,
    /// At how many of these looks one worker was alone.
    steady_looks: u32,
    shared_until: Timestamp,
    /// For how long others help the next time.
    shared_for: Duration,
}

impl Default for Lookout {
    fn default() -> Self {
        let start = Timestamp::ORIGIN;
        let last = (start, 0);
        Self {
            last,
            stood_at: start,
            trial: None,
            steady: None,
            steady_looks: 0,
            shared_until: start,
            shared_for: SHARED_MIN,
        }
    }
}

impl Lookout {
    /// Looks, and says whether the line stands. `alone`: one worker is to do what waits.
    pub(crate) fn look(&mut self, now: Timestamp, line: Progress, alone: bool) -> bool {
        let (at, moved) = self.last;
        let says_something = LOOK_MIN <= now.since(at);
        let crawls = says_something && self.crawls(now, line, alone);
        self.judge(now, line, alone, crawls);
        if !says_something {
            return false;
        }
        self.last = (now, line.moved);
        let stands = 0 < line.queued && line.moved == moved;
        if stands {
            self.stood_at = now;
        }
        stands
    }

    /// Whether tiny tasks are work for several all the same.
    pub(crate) fn is_shared(&self, now: Timestamp) -> bool {
        now < self.shared_until
    }

    /// Until when they are, if they are.
    pub(crate) fn shared_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.is_shared(now).then_some(self.shared_until)
    }

    /// Whether somebody who is at a short task since then does something else. Those who wait for a
    /// core wait in `turns`; then another worker would only make it worse.
    pub(crate) fn has_stalled(&self, since: Timestamp, now: Timestamp, turns: u32) -> bool {
        since <= self.stood_at || STALLED_AFTER.saturating_mul(turns) <= now.since(since)
    }

    /// Whether one that is alone has moved the line at every look of late, and slowly. That is said
    /// once for all of them.
    fn crawls(&mut self, now: Timestamp, line: Progress, alone: bool) -> bool {
        let (at, moved) = self.last;
        if line.queued == 0 || line.moved <= moved {
            (self.steady, self.steady_looks) = (None, 0);
            return false;
        }
        let (since, moved) = *self.steady.get_or_insert((at, moved));
        // A long task makes the worker doubt for a moment that the others are tiny.
        self.steady_looks += u32::from(alone);
        if self.steady_looks < CRAWL_LOOKS {
            return false;
        }
        (self.steady, self.steady_looks) = (None, 0);
        CRAWL_TASK_MIN.saturating_mul(few(line.moved - moved)) <= now.since(since)
    }

    fn judge(&mut self, now: Timestamp, line: Progress, alone: bool, crawls: bool) {
        if line.queued == 0 || self.is_shared(now) {
            self.trial = None;
            return;
        }
        // Workers that differ about it, as each has seen other tasks, do not begin it anew.
        if alone && self.trial.is_none() {
            self.trial = Some((now, line.moved));
        }
        let Some((since, moved)) = self.trial else { return };
        let (span, tasks) = (now.since(since), line.moved.saturating_sub(moved));
        if span < TRIAL && !crawls {
            return;
        }
        self.trial = None;
        if span <= ALONE_TASK_MAX.saturating_mul(few(tasks)) {
            self.shared_for = (self.shared_for / 2).max(SHARED_MIN);
        } else {
            self.shared_until = now + self.shared_for;
            self.shared_for = (self.shared_for * 2).min(SHARED_MAX);
        }
    }
}

/// As many as a span is multiplied by.
fn few(tasks: u64) -> u32 {
    u32::try_from(tasks).unwrap_or(u32::MAX)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn line(moved: u64) -> Progress {
        Progress { moved, queued: 1_000 }
    }

    #[test]
    fn the_line_stands_where_tasks_wait_and_none_is_taken() {
        let mut lookout = Lookout::default();
        assert!(!lookout.look(ms(1), line(10), false), "ten were taken");
        assert!(lookout.look(ms(2), line(10), false));
        assert!(!lookout.look(ms(3), Progress { moved: 10, queued: 0 }, false), "none waits");
        assert!(!lookout.look(ms(4), line(11), false));
    }

    #[test]
    fn a_look_just_after_another_says_nothing() {
        let mut lookout = Lookout::default();
        lookout.look(ms(1), line(10), false);
        assert!(!lookout.look(ms(1) + Duration::from_micros(10), line(10), false));
        assert!(lookout.look(ms(1) + SHORT_LOOK, line(10), false));
    }

    #[test]
    fn who_was_at_its_task_when_the_line_stood_has_stalled_until_it_is_back() {
        let mut lookout = Lookout::default();
        lookout.look(ms(9), line(10), false);
        assert!(!lookout.has_stalled(ms(8), ms(10), 1));
        lookout.look(ms(10), line(10), false);
        // Others take tasks now; it does not.
        lookout.look(ms(11), line(500), false);
        assert!(lookout.has_stalled(ms(8), ms(11), 1));
        assert!(!lookout.has_stalled(ms(11), ms(11), 1), "it is back, or it is another");
    }

    #[test]
    fn who_is_not_back_for_long_has_stalled_though_the_line_moves() {
        let lookout = Lookout::default();
        assert!(!lookout.has_stalled(ms(10), ms(13), 1));
        assert!(lookout.has_stalled(ms(10), ms(14), 1));
        assert!(!lookout.has_stalled(ms(10), ms(14), 2), "it may wait for a core");
    }

    /// With one worker alone, and so many nanoseconds for each task, for a second: for how many of
    /// its milliseconds others are to help.
    fn shared_in_a_second(nanos_each: u64) -> u64 {
        let mut lookout = Lookout::default();
        let look = |at: u64| {
            lookout.look(ms(at), line(at * 1_000_000 / nanos_each), true);
            u64::from(lookout.is_shared(ms(at)))
        };
        (0..1_000).map(look).sum()
    }

    #[test]
    fn one_worker_is_alone_as_long_as_it_is_quick() {
        assert_eq!(shared_in_a_second(50), 0);
        assert_eq!(shared_in_a_second(190), 0);
        let shared = shared_in_a_second(850);
        assert!((850..1_000).contains(&shared), "{shared} ms of a second");
    }

    #[test]
    fn workers_that_differ_about_it_are_judged_all_the_same() {
        let mut lookout = Lookout::default();
        let mut looks = 0..100;
        let shared = looks.find(|at| {
            lookout.look(ms(*at), line(at * 1_000), at % 3 == 0);
            lookout.is_shared(ms(*at))
        });
        assert_eq!(shared, Some(20));
    }

    /// The first look, half a millisecond from the one before, after which others are to help one
    /// that takes a task in so many nanoseconds while it has a core, for so many looks of eight.
    fn shared_after(nanos_each: u64, looks_with_core: u64) -> Option<u64> {
        let mut lookout = Lookout::default();
        let mut looks = 0..80_u64;
        looks.find(|look| {
            let now = Timestamp::ORIGIN + SHORT_LOOK * u32::try_from(*look).expect("few");
            let worked = look / 8 * looks_with_core + (look % 8).min(looks_with_core);
            lookout.look(now, line(worked * 500_000 / nanos_each), true);
            lookout.is_shared(now)
        })
    }

    #[test]
    fn a_line_that_crawls_is_judged_sooner() {
        assert_eq!(shared_after(850, 8), Some(10));
        assert_eq!(shared_after(500, 8), Some(40), "not that slow: it is seen at the end");
        assert_eq!(shared_after(850, 5), Some(40), "it may have waited for a core");
        assert_eq!(shared_after(60, 3), None);
    }

    #[test]
    fn one_that_waits_for_a_core_now_and_then_is_quick_enough() {
        let mut lookout = Lookout::default();
        // Of eight milliseconds it has a core for three, and then takes a task in 60 ns.
        for at in 0..1_000 {
            let worked = at / 8 * 3 + (at % 8).min(3);
            lookout.look(ms(at), line(worked * 1_000_000 / 60), true);
            assert!(!lookout.is_shared(ms(at)), "after {at} ms");
        }
    }

    #[test]
    fn a_line_that_is_empty_now_and_then_is_not_judged() {
        let mut lookout = Lookout::default();
        for at in 0..1_000 {
            let queued = u64::from(at % 10 != 0);
            lookout.look(ms(at), Progress { moved: at, queued }, true);
        }
        assert!(!lookout.is_shared(ms(1_000)));
    }
}
