//! A task that ends in the line, cancelled or late, does not keep the place from others.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use headcount_core::Counters;
use headcount_pool::{CancelToken, Overflow, Refusal, TaskHandle, TaskOptions};

use super::{Pool, at, builder, does};
use crate::support::{Calls, Dice, Gate, LIMIT, eventually, within};

/// A pool of one worker at a gate, and what its tasks say, each its number.
struct Bench {
    /// Before the pool: where a test fails, it is opened before that is dropped.
    gate: Gate,
    pool: Pool,
    told: mpsc::Sender<u32>,
    heard: Receiver<u32>,
}

impl Bench {
    fn new(name: &str, queue_len_max: u64) -> Self {
        let pool = builder(name).workers(1).queue_len_max(queue_len_max);
        let (told, heard) = mpsc::channel();
        let bench = Self { pool: pool.build().expect("no fault"), gate: Gate::new(), told, heard };
        bench.pool.spawn(at(&bench.gate)).expect("open");
        bench.gate.wait_for(1);
        bench
    }

    fn submit(&self, options: TaskOptions, number: u32) -> Result<TaskHandle<()>, Refusal> {
        let told = self.told.clone();
        let tells = does(move || told.send(number).expect("somebody listens"));
        self.pool.submit_with(options, tells).map_err(|refused| refused.reason)
    }

    fn try_submit(&self, number: u32) -> Result<TaskHandle<()>, Refusal> {
        self.submit(TaskOptions::new().overflow(Overflow::Reject), number)
    }

    fn bring(&self, numbers: impl Iterator<Item = u32>) -> Vec<TaskHandle<()>> {
        numbers.map(|number| self.try_submit(number).expect("there is room")).collect()
    }

    /// Lets the worker go, and says which tasks ran, in which order.
    fn ran(self) -> (Vec<u32>, Counters) {
        self.gate.open();
        assert!(self.pool.idle().wait_timeout(LIMIT));
        let snapshot = self.pool.snapshot();
        assert_eq!(snapshot.queued, 0);
        (self.heard.try_iter().collect(), snapshot.counters)
    }
}

/// Everything that became of tasks.
fn ended(counters: Counters) -> u64 {
    let Counters { completed, rejected, expired, cancelled, dropped, returned, .. } = counters;
    completed + rejected + expired + cancelled + dropped + returned
}

/// How a task ends in the line.
#[derive(Clone, Copy, Debug)]
enum End {
    Handle,
    Token,
    Time,
}

const ENDS: [End; 3] = [End::Handle, End::Token, End::Time];

impl End {
    /// What a task is submitted with so that it can end so.
    fn options(self, token: &CancelToken) -> TaskOptions {
        let options = TaskOptions::new().overflow(Overflow::Reject);
        match self {
            Self::Handle => options,
            Self::Token => options.token(token.clone()),
            Self::Time => options.wait_max(Duration::from_millis(20)),
        }
    }

    fn end(self, token: &CancelToken, tasks: &[TaskHandle<()>]) {
        match self {
            Self::Handle => tasks.iter().for_each(TaskHandle::cancel),
            Self::Token => token.cancel(),
            Self::Time => {}
        }
        eventually("they have ended", || tasks.iter().all(TaskHandle::is_done));
    }
}

#[test]
fn tasks_that_ended_in_the_line_leave_their_places_to_others() {
    for end in ENDS {
        let bench = Bench::new("places", 2);
        let token = CancelToken::new();
        let submit = |number| bench.submit(end.options(&token), number).expect("there is room");
        let tasks = [1, 2].map(submit);
        end.end(&token, &tasks);
        assert_eq!(bench.pool.snapshot().queued, 0, "{end:?}");
        let others = bench.bring(3..=4);
        assert_eq!(bench.pool.snapshot().queued, 2, "{end:?}");
        let full = Refusal::Full { queue_len_max: 2 };
        assert_eq!(bench.try_submit(5).expect_err("two wait"), full, "{end:?}");
        let (ran, counters) = bench.ran();
        assert_eq!(ran, [3, 4], "{end:?}");
        assert!(others.iter().all(TaskHandle::is_done));
        assert_eq!(counters.cancelled + counters.expired, 2, "{end:?}");
        assert_eq!(ended(counters), counters.submitted, "{end:?}");
    }
}

#[test]
fn a_submitter_that_waits_gets_the_place_of_a_task_that_ends_in_the_line() {
    for (end, rounds) in ENDS.into_iter().zip([100, 100, 5]) {
        for round in 0..rounds {
            let bench = Bench::new("wanted", 1);
            let token = CancelToken::new();
            let task = bench.submit(end.options(&token), 1).expect("there is room");
            let (pool, told) = (bench.pool.handle(), bench.told.clone());
            let waits = thread::spawn(move || {
                let tells = does(move || told.send(2).expect("somebody listens"));
                pool.submit(tells).map(drop).map_err(|refused| refused.reason)
            });
            // Now before it waits, now after.
            Dice::new(round + 1).dawdle(200 * (round + 1));
            end.end(&token, &[task]);
            let entered = within("there is room", move || waits.join()).expect("no panic");
            assert_eq!(entered, Ok(()), "{end:?}");
            assert_eq!(bench.ran().0, [2], "{end:?}");
        }
    }
}

#[test]
fn an_async_submitter_that_waits_is_called_when_a_task_ends_in_the_line() {
    for end in ENDS {
        let bench = Bench::new("called", 2);
        let token = CancelToken::new();
        let submit = |number| bench.submit(end.options(&token), number).expect("there is room");
        let tasks = [1, 2].map(submit);
        {
            let calls = Arc::new(Calls::default());
            let mut waiting = pin!(bench.pool.submit_async(TaskOptions::new(), does(|| 5)));
            let mut poll =
                || waiting.as_mut().poll(&mut Context::from_waker(&calls.waker())).map(drop);
            assert!(poll().is_pending(), "there is no room");
            end.end(&token, &tasks);
            eventually("it is called", || 0 < calls.count());
            assert_eq!(poll(), Poll::Ready(()), "{end:?}");
        }
        let (ran, counters) = bench.ran();
        assert_eq!((ran.len(), counters.completed, counters.rejected), (0, 2, 0), "{end:?}");
        assert_eq!(ended(counters), counters.submitted, "{end:?}");
    }
}

#[test]
fn the_others_keep_their_order_where_some_ended_in_the_line() {
    let bench = Bench::new("order", 6);
    let first = bench.bring(1..=6);
    first[1].cancel();
    first[3].cancel();
    let second = bench.bring(7..=8);
    assert!(bench.try_submit(99).is_err(), "six wait: 1, 3, 5, 6, 7, 8");
    // One that has moved, and one that came after.
    first[4].cancel();
    second[0].cancel();
    let _third = bench.bring(9..=10);
    assert!(bench.try_submit(99).is_err(), "six wait: 1, 3, 6, 8, 9, 10");
    let (ran, counters) = bench.ran();
    assert_eq!(ran, [1, 3, 6, 8, 9, 10]);
    assert_eq!((counters.cancelled, counters.rejected), (4, 2));
    assert_eq!(ended(counters), counters.submitted);
}

/// The oldest is not dropped for the place of one that has ended.
#[test]
fn nobody_is_dropped_and_nobody_runs_it_where_a_place_is_left() {
    for overflow in [Overflow::DropOldest, Overflow::DropNewest, Overflow::CallerRuns] {
        let bench = Bench::new("rules", 2);
        let tasks = bench.bring(1..=2);
        tasks[1].cancel();
        let third = bench.submit(TaskOptions::new().overflow(overflow), 3).expect("taken in");
        assert!(!third.is_done(), "{overflow:?}: it waits");
        let (ran, counters) = bench.ran();
        assert_eq!((ran.as_slice(), counters.dropped), ([1, 3].as_slice(), 0), "{overflow:?}");
    }
}

#[test]
fn drain_hands_back_what_lives_where_some_ended_in_the_line() {
    let bench = Bench::new("drain", 4);
    let first = bench.bring(1..=4);
    first[0].cancel();
    first[2].cancel();
    let fifth = bench.bring(5..=5);
    fifth[0].cancel();
    let _sixth = bench.bring(6..=6);
    let drained = bench.pool.drain(Duration::ZERO);
    assert_eq!((drained.unrun.len(), drained.still_running), (3, 1), "2, 4 and 6");
    drop(drained);
    let (ran, counters) = bench.ran();
    assert_eq!((ran.len(), counters.cancelled, counters.returned), (0, 3, 3));
    assert_eq!(ended(counters), counters.submitted);
}

/// To go through all that wait is not worth it for a few. One that is dropped for another is one of
/// those all the same, if it is the oldest.
#[test]
fn in_a_long_line_a_few_keep_their_places_for_a_while() {
    let bench = Bench::new("long", 128);
    let tasks = bench.bring(1..=128);
    tasks[0].cancel();
    assert!(bench.try_submit(0).is_err(), "one in 128 is not worth it");
    let _another = bench.submit(TaskOptions::new().overflow(Overflow::DropOldest), 129);
    assert_eq!(bench.pool.snapshot().queued, 128);
    tasks[64].cancel();
    tasks[127].cancel();
    let _others = bench.bring(130..=131);
    let (ran, counters) = bench.ran();
    assert!(ran.is_sorted(), "{ran:?}");
    assert_eq!((ran.len(), counters.cancelled, counters.dropped), (128, 3, 0));
    assert_eq!(ended(counters), counters.submitted);
}

/// A paused pool in which all that waited was cancelled is idle once somebody has seen that.
#[test]
fn whoever_waits_for_calm_is_told_when_only_shells_were_left() {
    let pool = builder("calm").workers(1).queue_len_max(2).build().expect("no fault");
    pool.pause();
    let tasks = [(); 2].map(|()| pool.submit(does(|| ())).expect("there is room"));
    // Nobody else comes to the desk, where those who wait for calm would be called.
    eventually("the worker is parked", || pool.counts().parked == 1);
    let calls = Arc::new(Calls::default());
    let mut idle = pin!(pool.idle());
    let waker = calls.waker();
    let mut context = Context::from_waker(&waker);
    assert!(idle.as_mut().poll(&mut context).is_pending(), "two wait");
    tasks.iter().for_each(TaskHandle::cancel);
    drop(pool.submit(does(|| ())).expect("there is room"));
    eventually("it is called", || 0 < calls.count());
    pool.resume();
    assert!(pool.idle().wait_timeout(LIMIT));
}

/// Nobody else comes: no worker takes shells out of a paused pool, and nobody submits.
#[test]
fn a_paused_pool_in_which_only_shells_are_left_is_idle() {
    let pool = builder("still").workers(1).build().expect("no fault");
    pool.pause();
    let bring = || [(); 3].map(|()| pool.submit(does(|| ())).expect("there is room"));
    let tasks = bring();
    let calls = Arc::new(Calls::default());
    let mut idle = pin!(pool.idle());
    let waker = calls.waker();
    let mut context = Context::from_waker(&waker);
    assert!(idle.as_mut().poll(&mut context).is_pending(), "three wait");
    tasks.iter().for_each(TaskHandle::cancel);
    eventually("it is called", || 0 < calls.count());
    eventually("it is idle", || idle.as_mut().poll(&mut context).is_ready());
    // Where they have ended before somebody waits for calm.
    bring().iter().for_each(TaskHandle::cancel);
    assert!(pool.idle().wait_timeout(LIMIT));
    pool.resume();
    pool.submit(does(|| ())).expect("open").join().expect("it runs");
}

#[test]
fn nobody_is_hired_for_what_has_ended_in_the_line() {
    let wait_budget = Duration::from_millis(150);
    // So many that nobody is hired at once because more wait than may be hired.
    let pool = builder("husks").workers(1..=9).wait_budget(wait_budget).build().expect("no fault");
    let gate = Gate::new();
    pool.spawn(at(&gate)).expect("open");
    gate.wait_for(1);
    let tasks = [(); 3].map(|()| pool.submit(does(|| ())).expect("there is room"));
    tasks.iter().for_each(TaskHandle::cancel);
    assert!(!pool.idle().wait_timeout(2 * wait_budget), "one is at the gate");
    assert_eq!(pool.counts().live, 1);
    // For one that lives somebody is.
    pool.submit(does(|| ())).expect("open").join().expect("it runs beside the one at the gate");
    assert_eq!(pool.snapshot().queued, 0);
}

#[test]
fn the_oldest_that_waits_is_none_that_has_ended() {
    let pool = builder("ages").workers(1).build().expect("no fault");
    pool.pause();
    let first = pool.submit(does(|| ())).expect("there is room");
    assert!(!pool.idle().wait_timeout(Duration::from_millis(30)), "it waits");
    let began = Instant::now();
    let _second = pool.submit(does(|| ())).expect("there is room");
    first.cancel();
    let snapshot = pool.snapshot();
    let oldest = snapshot.oldest_wait.expect("one waits");
    assert!(snapshot.queued == 1 && oldest <= began.elapsed(), "{snapshot:?}");
    pool.resume();
}

/// As many as may wait, and among them all who are cancelled, by everybody at once.
#[test]
fn whoever_submits_and_cancels_leaves_every_count_right() {
    const EACH: u64 = 3_000;
    let pool = builder("churn").workers(0..=2).queue_len_max(5).build().expect("no fault");
    thread::scope(|scope| {
        for seed in 1..=3 {
            let pool = &pool;
            scope.spawn(move || {
                let mut dice = Dice::new(seed);
                for _ in 0..EACH {
                    let overflow = match dice.below(3) {
                        0 => Overflow::Wait,
                        1 => Overflow::Reject,
                        _ => Overflow::DropOldest,
                    };
                    let options = TaskOptions::new().overflow(overflow);
                    let spins = dice.below(4_000);
                    let work = move || Dice::new(spins).dawdle(spins.max(1));
                    let Ok(task) = pool.submit_with(options, does(work)) else { continue };
                    dice.dawdle(400);
                    if dice.below(4) != 0 {
                        task.cancel();
                    }
                }
            });
        }
    });
    assert!(pool.idle().wait_timeout(LIMIT));
    let counters = pool.snapshot().counters;
    assert_eq!((counters.submitted, ended(counters)), (3 * EACH, 3 * EACH), "{counters:?}");
    assert!(0 < counters.cancelled, "{counters:?}");
    // What is left over of a count would be missing here.
    pool.pause();
    let waiting = [(); 5].map(|()| pool.submit(does(|| ())).expect("there is room"));
    assert_eq!(pool.snapshot().queued, 5);
    pool.resume();
    assert!(pool.idle().wait_timeout(LIMIT));
    assert!(waiting.iter().all(TaskHandle::is_done));
}
