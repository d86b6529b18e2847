//! How a worker measures its tasks without the clock costing more than they do. Pure.
//!
//! A reading of the clock takes as long as a tiny task. So a worker whose tasks are tiny reads it
//! once for a group of them and divides. Nothing is lost by that: the sum stays exact, and a group
//! that took long says that one of them did, for which the others are taken out.

use std::time::Duration;

/// How many tasks a group has.
const GROUP: u32 = 16;
/// The same where they are so small that even a share of one reading is felt.
const GROUP_TINY: u32 = 64;
/// And where they are not small, so that what the clock said last is never long ago.
const GROUP_BRIEF: u32 = 8;
/// Tasks below this make larger groups.
const TINY: Duration = Duration::from_nanos(150);
/// Tasks below this, with taking them, are no work for two, who would take turns at the line for
/// as long. That shows while one is alone; beside another each takes longer, as it waits.
const LONE: Duration = Duration::from_nanos(100);
/// Tasks that take as long as this are work for two, whether they wait or not.
const NOT_LONE: Duration = Duration::from_nanos(400);
/// From the middle of this up or down a worker makes up its mind: a group of tiny tasks is a step
/// up, a longer one takes half. One alone may be the system's fault.
const LONE_SCORE_MAX: u32 = 8;
/// Tasks below this are quick: their submitters save the clock, too, and one worker is trusted with
/// many of them.
const QUICK: Duration = Duration::from_micros(1);
/// Quick ones that take as long as this are not quick any more.
const NOT_QUICK: Duration = Duration::from_micros(2);
/// Tasks below this are brief, and measured in groups: a reading, and what is written down then,
/// takes a twentieth of one that lasts a microsecond.
const BRIEF: Duration = Duration::from_micros(2);
/// A task in a group that takes as long as this on average is not brief any more.
const NOT_BRIEF: Duration = Duration::from_micros(4);
/// So many brief tasks in a row make a worker measure groups.
const BRIEF_RUN: u32 = 32;
/// Tasks below this are not worth waking another worker for.
const SHORT: Duration = Duration::from_micros(25);
/// So many short tasks make a worker say so.
const SHORT_SCORE_MAX: u32 = 8;
/// What one long task takes from the score: two in a row take it all. One alone may be the
/// system's fault, which ran somebody else meanwhile.
const LONG_COSTS: u32 = 4;

/// One worker's way of measuring.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Brief tasks in a row; from `BRIEF_RUN` on they are measured in groups.
    brief: u32,
    is_quick: bool,
    /// Tasks in the group that began with the last reading.
    group: u32,
    /// The group is complete with so many; 0 is not known, and then each is measured by itself.
    group_len: u32,
    short: u32,
    lone: u32,
    /// What a task of the last group took.
    typical: Duration,
    /// Whether one of the last group was told apart.
    had_outlier: bool,
}

/// What one reading of the clock says: so many tasks of this span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Measured {
    pub(crate) tasks: u32,
    pub(crate) span: Duration,
    /// One that took longer than the others, beside them.
    pub(crate) outlier: Option<Duration>,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            brief: 0,
            is_quick: false,
            group: 0,
            group_len: 0,
            short: 0,
            lone: LONE_SCORE_MAX / 2,
            typical: Duration::ZERO,
            had_outlier: false,
        }
    }
}

impl Pace {
    /// A task ended. Whether to read the clock now.
    pub(crate) fn ended(&mut self) -> bool {
        self.group += 1;
        self.group_len <= self.group
    }

    /// Whether tasks are so short that not even their submitters read the clock for each.
    pub(crate) fn is_quick(&self) -> bool {
        self.is_quick
    }

    /// Whether tasks are measured in groups.
    fn is_brief(&self) -> bool {
        BRIEF_RUN <= self.brief
    }

    /// Whether another worker is not worth waking for one of these tasks. `None`: not known.
    pub(crate) fn is_short(&self) -> Option<bool> {
        match self.short {
            0 => Some(false),
            SHORT_SCORE_MAX => Some(true),
            _ => None,
        }
    }

    /// Whether tasks are so tiny that one worker does them as fast as two. `None`: not known.
    pub(crate) fn is_lone(&self) -> Option<bool> {
        match self.lone {
            0 => Some(false),
            LONE_SCORE_MAX => Some(true),
            _ => None,
        }
    }

    /// How many tasks ended since the clock was read.
    pub(crate) fn unmeasured(&self) -> u32 {
        self.group
    }

    /// The tasks since the last reading took `span` in all.
    pub(crate) fn measured(&mut self, span: Duration) -> Measured {
        let tasks = std::mem::take(&mut self.group).max(1);
        let each = span / tasks;
        self.score(each, tasks);
        // A long task is seen in a large group as it is in a small one.
        let is_long = NOT_BRIEF * tasks.min(GROUP_BRIEF) <= span;
        // Twice in a row it is no single one: they all take longer than they did.
        self.had_outlier = 1 < tasks && is_long && !self.had_outlier;
        let measured = match self.had_outlier {
            true => {
                let outlier = Some(span.saturating_sub(self.typical * (tasks - 1)));
                Measured { tasks: tasks - 1, span: self.typical, outlier }
            }
            false => {
                self.typical = each;
                Measured { tasks, span: each, outlier: None }
            }
        };
        let quick = if self.is_quick { NOT_QUICK } else { QUICK };
        self.is_quick = self.is_brief() && self.typical < quick;
        self.group_len = match self.is_brief() {
            false => 0,
            true if self.typical < TINY => GROUP_TINY,
            true if self.is_quick => GROUP,
            true => GROUP_BRIEF,
        };
        measured
    }

    fn score(&mut self, each: Duration, tasks: u32) {
        let brief = if self.is_brief() { NOT_BRIEF } else { BRIEF };
        self.brief = match each < brief {
            true => (self.brief + tasks).min(BRIEF_RUN),
            false => 0,
        };
        self.short = match each < SHORT {
            true => (self.short + tasks).min(SHORT_SCORE_MAX),
            false => self.short.saturating_sub(LONG_COSTS),
        };
        if NOT_LONE <= each {
            self.lone = self.lone.saturating_sub(LONE_SCORE_MAX / 2);
        } else if each < LONE && self.is_brief() {
            self.lone = (self.lone + 1).min(LONE_SCORE_MAX);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Runs tasks of these spans in nanoseconds and tells what was read.
    fn run(pace: &mut Pace, spans: &[u64]) -> Vec<Measured> {
        let mut since = 0;
        let mut told = Vec::new();
        for span in spans {
            since += span;
            if pace.ended() {
                told.push(pace.measured(Duration::from_nanos(since)));
                since = 0;
            }
        }
        told
    }

    /// After tasks of so many nanoseconds each.
    fn quick(span: u64) -> Pace {
        let mut pace = Pace::default();
        run(&mut pace, &[span; 32]);
        assert!(pace.is_quick());
        pace
    }

    #[test]
    fn every_task_is_measured_until_they_are_known_to_be_quick() {
        let check = |span, groups| {
            let mut pace = Pace::default();
            assert_eq!(run(&mut pace, &[span; 32]).len(), 32);
            assert_eq!(run(&mut pace, &[span; 192]).len(), groups, "{span} ns each");
        };
        check(1_999, 24);
        check(1_000, 24);
        check(900, 12);
        check(150, 12);
        check(149, 3);
        check(10, 3);
    }

    #[test]
    fn groups_are_as_large_as_their_last_tasks_were_small() {
        let mut pace = quick(100);
        assert_eq!(run(&mut pace, &[400; 128]).len(), 1 + 64 / 16);
        assert_eq!(run(&mut pace, &[100; 80]).len(), 1 + 64 / 64);
    }

    #[test]
    fn tasks_that_all_take_longer_than_before_are_believed() {
        let mut pace = quick(100);
        let told = run(&mut pace, &[600; 256]);
        let last = told.last().expect("several groups");
        let span = Duration::from_nanos(600);
        assert_eq!(*last, Measured { tasks: GROUP, span, outlier: None });
    }

    #[test]
    fn brief_tasks_are_measured_in_groups_and_are_not_quick() {
        let mut pace = Pace::default();
        run(&mut pace, &[1_500; 64]);
        assert_eq!((pace.is_brief(), pace.is_quick()), (true, false));
        run(&mut pace, &[900; 8]);
        assert!(pace.is_quick());
        run(&mut pace, &[1_500; 32]);
        assert!(pace.is_quick(), "a little longer than quick may be chance");
        run(&mut pace, &[2_500; 32]);
        assert_eq!((pace.is_brief(), pace.is_quick()), (true, false));
        run(&mut pace, &[4_000; 8]);
        assert!(!pace.is_brief());
    }

    #[test]
    fn slow_tasks_are_measured_one_by_one() {
        let told = run(&mut Pace::default(), &[5_000; 100]);
        assert_eq!(told.len(), 100);
        let each = Measured { tasks: 1, span: Duration::from_micros(5), outlier: None };
        assert!(told.iter().all(|m| *m == each));
    }

    #[test]
    fn a_long_one_in_a_group_is_told_apart() {
        let check = |each: u64, group: u32, long: u64, stays_quick| {
            let mut pace = quick(each);
            let mut spans = vec![each; group as usize];
            spans[7] = long;
            let told = run(&mut pace, &spans);
            let (span, outlier) = (Duration::from_nanos(each), Some(Duration::from_nanos(long)));
            assert_eq!(told, [Measured { tasks: group - 1, span, outlier }]);
            assert_eq!(pace.is_quick(), stays_quick, "{long} among {group}");
        };
        // From here on each one is measured.
        check(200, GROUP, 1_000_000, false);
        check(100, GROUP_TINY, 1_000_000, false);
        // As long as that is seen in a large group, too.
        check(200, GROUP, 32_000, true);
        check(100, GROUP_TINY, 32_000, true);
    }

    #[test]
    fn nothing_measured_is_lost() {
        let mut pace = quick(100);
        let spans: Vec<u64> = (0..1_600).map(|n| n * n % 997).collect();
        let told = run(&mut pace, &spans);
        let total: u128 = told
            .iter()
            .map(|m| (m.span * m.tasks + m.outlier.unwrap_or_default()).as_nanos())
            .sum();
        let true_total = u128::from(spans.iter().sum::<u64>());
        assert!(true_total.abs_diff(total) < 16 * 100, "{total} of {true_total}");
    }

    #[test]
    fn tiny_tasks_are_work_for_one_until_they_are_longer() {
        let mut pace = quick(50);
        assert_eq!(pace.is_lone(), None, "a few say nothing");
        run(&mut pace, &[50; 400]);
        assert_eq!(pace.is_lone(), Some(true));
        run(&mut pace, &[250; 640]);
        assert_eq!(pace.is_lone(), Some(true), "it may wait for another");
        run(&mut pace, &[600; 16]);
        assert_eq!(pace.is_lone(), None, "it may have been the system");
        run(&mut pace, &[600; 64]);
        assert_eq!(pace.is_lone(), Some(false));
        run(&mut pace, &[250; 640]);
        assert_eq!(pace.is_lone(), Some(false), "one that waits knows no better");
    }

    #[test]
    fn one_long_task_does_not_make_the_others_long() {
        let mut pace = quick(100);
        assert_eq!(pace.is_short(), Some(true));
        pace.ended();
        pace.measured(Duration::from_millis(1));
        assert_eq!(pace.is_short(), None, "it may have been the system");
        pace.ended();
        pace.measured(Duration::from_millis(1));
        assert_eq!(pace.is_short(), Some(false));
    }
}
