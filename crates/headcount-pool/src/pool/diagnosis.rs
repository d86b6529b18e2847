//! What a pool is doing, who does what, and what holds it up.

use std::fmt;
use std::time::Duration;

use headcount_core::roster::{Duty, Roster};
use headcount_core::spans::{Spans, Window};
use headcount_core::{Name, PoolSnapshot, Statistics, Timestamp};

use super::handle::PoolHandle;
use crate::engine::{Kind, Post};

/// The state of a pool in detail, with a verdict on what holds it up and what to do about it.
///
/// Its text is meant to be read by people.
///
/// Of the tasks that wait their number is told and for how long the oldest has waited, but not what
/// they are: nobody looks into the line but to take a task out of it, and to note the class of each
/// beside it would cost every task. How many of the busy workers will leave, because the ceiling
/// was lowered, is told in the [`snapshot`](Self::snapshot), but not which.
///
/// ```
/// use headcount_pool::{Bottleneck, ThreadPool};
///
/// let pool = ThreadPool::builder().workers(1).build()?;
/// pool.pause();
/// pool.spawn(|| ())?;
/// let diagnosis = pool.diagnose();
/// assert_eq!(diagnosis.bottleneck, Bottleneck::Paused);
/// assert!(diagnosis.to_string().contains("1 task waits"), "{diagnosis}");
/// # pool.resume();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Diagnosis {
    /// What the pool is called.
    pub name: String,
    /// The figures.
    pub snapshot: PoolSnapshot,
    /// How many workers are in a blocking section.
    pub blocked: u32,
    /// Each worker, by slot.
    pub workers: Vec<WorkerReport>,
    /// What holds it up.
    pub bottleneck: Bottleneck,
}

/// What one worker does.
///
/// ```
/// use headcount_pool::{Doing, ThreadPool};
///
/// let pool = ThreadPool::builder().workers(1).build()?;
/// let (begun, wait) = std::sync::mpsc::channel();
/// let (end, ended) = std::sync::mpsc::channel::<()>();
/// pool.spawn(move || {
///     begun.send(()).expect("somebody waits");
///     let _ = ended.recv();
/// })?;
/// wait.recv()?;
/// let worker = &pool.diagnose().workers[0];
/// assert_eq!((worker.slot, worker.doing), (0, Doing::Busy));
/// drop(end);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerReport {
    /// Its slot, which is also in the name of its thread.
    pub slot: usize,
    /// What it does.
    pub doing: Doing,
    /// For how long. `None`: not known, for one that leaves or is between two tasks.
    pub since: Option<Duration>,
    /// The class of its task, if it has one.
    pub class: Option<Name>,
    /// How many tasks it took so far.
    pub tasks: u64,
}

/// What a worker does.
///
/// ```
/// assert_eq!(headcount_pool::Doing::Idle.to_string(), "idle");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doing {
    /// It was hired, and is not ready for its first task: its thread has not begun, or the hook
    /// runs that the pool was built with.
    Starting,
    /// It has no task.
    Idle,
    /// It runs a task.
    Busy,
    /// Its task is in a blocking section.
    Blocked,
    /// It was told to leave, and is not gone yet. One that is at a task and too many is busy until
    /// it has done that: which one will leave is not decided before one of them is done.
    Leaving,
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Starting => "starting",
            Self::Idle => "idle",
            Self::Busy => "busy",
            Self::Blocked => "blocked",
            Self::Leaving => "leaving",
        })
    }
}

/// What holds a pool up.
///
/// ```
/// use headcount_pool::Bottleneck;
///
/// let advice = Bottleneck::TooFewWorkers.advice();
/// assert_eq!(advice, "every worker is busy and tasks wait: raise the ceiling, or submit less");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bottleneck {
    /// Nothing does.
    None,
    /// It is paused, and tasks wait.
    Paused,
    /// Workers cannot be started.
    NoThreads,
    /// The line is full: submitters wait or are refused.
    LineFull,
    /// Most workers block, so more of them would help.
    Blocking,
    /// All workers are busy, and tasks wait.
    TooFewWorkers,
    /// A task has been running for far longer than they usually do, or for as long as the pool's
    /// `stuck_after` says. Where no task has ended yet nobody knows what is usual.
    StuckTask,
}

impl Bottleneck {
    /// What to do about it.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::None => "nothing holds it up",
            Self::Paused => "it is paused and tasks wait: resume it",
            Self::NoThreads => {
                "workers cannot be started: look at the limits on threads and memory"
            }
            Self::LineFull => {
                "the line is full: raise the ceiling, let more wait, or choose what to drop"
            }
            Self::Blocking => {
                "most workers wait for something else: raise the ceiling, or use async tasks"
            }
            Self::TooFewWorkers => {
                "every worker is busy and tasks wait: raise the ceiling, or submit less"
            }
            Self::StuckTask => {
                "a task runs for far longer than usual: see which below, and give it a run_max"
            }
        }
    }
}

/// What a verdict goes by.
#[derive(Clone, Copy, Debug)]
struct Facts<'a> {
    snapshot: &'a PoolSnapshot,
    paused: bool,
    unreachable: bool,
    blocked: u32,
    longest_task: Option<Duration>,
    /// How long a task usually takes at most. `None`: not known.
    usual: Option<Duration>,
    /// From when on the pool was told to take a task for stuck, if it was.
    stuck_after: Option<Duration>,
}

/// A task that has run for so many times the 99th percentile is told of.
const STUCK_TIMES: u32 = 20;
/// And for at least so long.
const STUCK_MIN: Duration = Duration::from_secs(1);

/// How long tasks usually take at most, by those that ended lately or, where none has, by all.
fn usual(lately: Option<Statistics>, all: &Spans, now: Timestamp) -> Option<Duration> {
    // Nobody has looked into this window before, so it has everything in it.
    lately.or_else(|| Window::default().statistics(all, now)).map(|service| service.p99)
}

/// Whether the longest task takes far longer than is usual, or than the pool was told.
///
/// Where no task has ended yet nothing is usual, and a long one may be as long as they all are.
fn is_stuck(facts: Facts<'_>) -> bool {
    let unusual = facts.usual.map(|usual| usual.saturating_mul(STUCK_TIMES).max(STUCK_MIN));
    let stuck_from = unusual.into_iter().chain(facts.stuck_after).min();
    facts.longest_task.zip(stuck_from).is_some_and(|(span, from)| from <= span)
}

fn verdict(facts: Facts<'_>) -> Bottleneck {
    let Facts { snapshot, paused, unreachable, blocked, .. } = facts;
    let waits = 0 < snapshot.queued;
    let all_busy = snapshot.parked == 0 && snapshot.ceiling <= snapshot.live;
    let most_blocked = snapshot.busy < blocked.saturating_mul(2)
        || snapshot.blocked_share.is_some_and(|share| 0.5 < share);
    match () {
        () if waits && paused => Bottleneck::Paused,
        () if waits && unreachable => Bottleneck::NoThreads,
        () if waits && all_busy && most_blocked => Bottleneck::Blocking,
        () if snapshot.queue_len_max.is_some_and(|max| max <= snapshot.queued) => {
            Bottleneck::LineFull
        }
        () if is_stuck(facts) => Bottleneck::StuckTask,
        () if waits && all_busy => Bottleneck::TooFewWorkers,
        () => Bottleneck::None,
    }
}

/// What a worker does, by what the roster knows and what stands on its badge.
fn report<K: Kind>(post: &Post<K>, roster: &Roster, now: Timestamp) -> WorkerReport {
    let badge = post.badge.as_ref();
    let at = badge.map(|badge| (badge.blocked_since(), badge.since()));
    let (blocked_since, busy_since) = at.unwrap_or_default();
    let (doing, since) = match (roster.duty(post.worker), blocked_since, busy_since) {
        (Some(Duty::Starting), ..) => (Doing::Starting, Some(post.hired_at)),
        (Some(Duty::Leaving), ..) => (Doing::Leaving, None),
        (Some(Duty::Parked { since }), ..) => (Doing::Idle, Some(since)),
        (_, Some(since), _) => (Doing::Blocked, Some(since)),
        (_, None, Some(since)) => (Doing::Busy, Some(since)),
        (_, None, None) => (Doing::Idle, None),
    };
    let since = since.map(|since| now.since(since));
    WorkerReport {
        slot: post.worker.slot(),
        doing,
        since,
        class: badge.and_then(|badge| badge.class()),
        tasks: badge.map_or(0, |badge| badge.taken()),
    }
}

impl WorkerReport {
    /// For how long it has been at its task, if it has one.
    fn at_task_for(&self) -> Option<Duration> {
        self.since.filter(|_| matches!(self.doing, Doing::Busy | Doing::Blocked))
    }
}

impl<K: Kind> PoolHandle<K> {
    /// Says what each worker does, what waits, and what holds the pool up.
    #[must_use]
    pub fn diagnose(&self) -> Diagnosis {
        let snapshot = self.snapshot();
        let engine = self.engine();
        let now = engine.now();
        let desk = engine.desk();
        let posts = desk.staff.iter();
        let workers: Vec<_> = posts.map(|post| report(post, &desk.roster, now)).collect();
        let blocked = desk.watchdog.blocked();
        let facts = Facts {
            snapshot: &snapshot,
            paused: desk.paused,
            unreachable: desk.roster.unreachable_until().is_some(),
            blocked,
            longest_task: workers.iter().filter_map(WorkerReport::at_task_for).max(),
            usual: usual(snapshot.service, &engine.tally.totals().service, now),
            stuck_after: desk.watchdog.stuck_after,
        };
        let bottleneck = verdict(facts);
        Diagnosis { name: engine.name.clone(), snapshot, blocked, workers, bottleneck }
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PoolSnapshot { live, busy, parked, retiring, queued, oldest_wait, .. } = &self.snapshot;
        let waits =
            if *queued == 1 { "1 task waits".into() } else { format!("{queued} tasks wait") };
        let oldest = oldest_wait.map_or(String::new(), |wait| format!(", the oldest for {wait:?}"));
        writeln!(f, "{}: {}", self.name, self.bottleneck.advice())?;
        let blocked = self.blocked;
        let workers = if *live == 1 { "worker" } else { "workers" };
        write!(f, "{live} {workers}: {busy} busy, {parked} parked, {blocked} blocked")?;
        writeln!(f, ", {retiring} to leave")?;
        write!(f, "{waits}{oldest}")?;
        for WorkerReport { slot, doing, since, class, tasks } in &self.workers {
            let since = since.map_or(String::new(), |since| format!(" for {since:?}"));
            let class = class.map_or(String::new(), |class| format!(" with {class}"));
            write!(f, "\n  worker {slot}: {doing}{since}{class}, {tasks} tasks so far")?;
        }
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use headcount_core::Staffing;

    use super::*;

    fn check(change: impl FnOnce(&mut PoolSnapshot, &mut Facts<'_>), expected: Bottleneck) {
        let mut snapshot = PoolSnapshot::at_work(Staffing::exactly(4), 4);
        let unchanged = snapshot;
        let mut facts = Facts {
            snapshot: &unchanged,
            paused: false,
            unreachable: false,
            blocked: 0,
            longest_task: None,
            usual: None,
            stuck_after: None,
        };
        change(&mut snapshot, &mut facts);
        assert_eq!(verdict(Facts { snapshot: &snapshot, ..facts }), expected);
    }

    #[test]
    fn a_pool_that_keeps_up_is_left_alone() {
        check(|_, _| (), Bottleneck::None);
        check(|_, facts| facts.paused = true, Bottleneck::None);
        check(|_, facts| facts.blocked = 4, Bottleneck::None);
    }

    #[test]
    fn each_thing_that_holds_it_up_is_told_apart() {
        check(|pool, _| pool.queued = 1, Bottleneck::TooFewWorkers);
        check(|pool, _| (pool.queued, pool.ceiling) = (1, 5), Bottleneck::None);
        let full = |pool: &mut PoolSnapshot| (pool.queued, pool.queue_len_max) = (9, Some(9));
        check(|pool, _| full(pool), Bottleneck::LineFull);
        check(
            |pool, facts| {
                full(pool);
                facts.paused = true;
            },
            Bottleneck::Paused,
        );
        check(
            |pool, facts| {
                pool.queued = 1;
                facts.unreachable = true;
            },
            Bottleneck::NoThreads,
        );
        check(
            |pool, facts| {
                pool.queued = 1;
                facts.blocked = 3;
            },
            Bottleneck::Blocking,
        );
        check(|pool, _| (pool.queued, pool.blocked_share) = (1, Some(0.9)), Bottleneck::Blocking);
    }

    #[test]
    fn a_task_is_stuck_by_the_measure_of_the_others() {
        let check_usual = |millis, expected| {
            let usual = Some(Duration::from_millis(millis));
            let long = Some(Duration::from_secs(10));
            check(|_, facts| (facts.usual, facts.longest_task) = (usual, long), expected);
        };
        check_usual(1, Bottleneck::StuckTask);
        check_usual(1_000, Bottleneck::None);
    }

    #[test]
    fn what_is_usual_outlasts_a_while_in_which_no_task_ends() {
        let now = Timestamp::from_secs(100);
        assert_eq!(usual(None, &Spans::default(), now), None, "no data is not zero");
        let mut all = Spans::default();
        all.add(Duration::from_secs(2));
        let p99 = usual(None, &all, now).expect("one has ended");
        assert!(Duration::from_secs(2) <= p99 && p99 < Duration::from_secs(3), "{p99:?}");
        let lately = Statistics { count: 1, p99: Duration::from_secs(5), ..Statistics::default() };
        assert_eq!(usual(Some(lately), &all, now), Some(Duration::from_secs(5)));
    }

    #[test]
    fn where_nobody_knows_how_long_tasks_usually_take_none_is_stuck() {
        let long = Some(Duration::from_secs(10));
        check(|_, facts| facts.longest_task = long, Bottleneck::None);
        check(
            |pool, facts| (pool.queued, facts.longest_task) = (1, long),
            Bottleneck::TooFewWorkers,
        );
        let told = Some(Duration::from_secs(9));
        check(
            |_, facts| (facts.stuck_after, facts.longest_task) = (told, long),
            Bottleneck::StuckTask,
        );
    }
}
