//! How tasks come in: none is lost, none waits for nothing, and a full line does what was agreed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use headcount_pool::{Overflow, Refusal, TaskError, TaskHandle, TaskOptions, is_cancelled};

use super::common::Again;
use super::{Pool, at, builder, count_in, does, run, script, workers_alive};
use crate::support::{Calls, Dice, Gate, LIMIT, counter, eventually, read, within};

/// A pool of one worker that is at the gate, with a line for `queue_len_max`.
fn occupied(name: &str, queue_len_max: u64, overflow: Overflow) -> (Pool, Gate) {
    let pool = builder(name)
        .workers(1)
        .queue_len_max(queue_len_max)
        .overflow(overflow)
        .build()
        .expect("no fault");
    let gate = Gate::new();
    pool.spawn(at(&gate)).expect("open");
    gate.wait_for(1);
    (pool, gate)
}

#[test]
fn a_task_that_meets_the_last_idle_worker_leaving_is_run() {
    for (workers_min, idle_nanos) in [(0, 0), (0, 20_000), (0, 200_000), (1, 20_000)] {
        let pool = builder("last")
            .workers(workers_min..=2)
            .idle_time(Duration::from_nanos(idle_nanos))
            .build()
            .expect("no fault");
        let mut dice = Dice::new(idle_nanos + 1);
        for round in 0..400 {
            let task = pool.submit(does(move || round)).expect("open");
            let outcome = task.join_timeout(LIMIT).expect("a worker comes for it");
            assert_eq!(outcome, Ok(round));
            dice.dawdle(30_000);
        }
    }
}

/// Each waits for the other: if only one worker is woken for both, they wait for ever.
#[test]
fn two_tasks_that_need_each_other_always_meet() {
    let pool = builder("meet").workers(2).build().expect("no fault");
    for round in 0..4_000 {
        let (first, second) = (Arc::new(Gate::new()), Arc::new(Gate::new()));
        let start = Barrier::new(2);
        // Opens the one that the other waits at, and waits at its own.
        let submit = |own: &Arc<Gate>, others: &Arc<Gate>| {
            let others = Arc::clone(others);
            start.wait();
            let task = pool.submit(script(move || others.open(), own, || ())).expect("open");
            task.join_timeout(LIMIT).expect("both run")
        };
        thread::scope(|scope| {
            let beside = scope.spawn(|| submit(&second, &first));
            assert_eq!(submit(&first, &second), Ok(()), "round {round}");
            assert_eq!(beside.join().expect("no panic"), Ok(()), "round {round}");
        });
    }
}

/// The same, all from one thread and with many workers: each task needs all the others.
#[test]
fn as_many_tasks_as_workers_always_run_at_once() {
    let pool = builder("all").workers(4).build().expect("no fault");
    for _ in 0..1_500 {
        let gate = Gate::new();
        (0..4).for_each(|_| pool.spawn(at(&gate)).expect("open"));
        gate.wait_for(4);
    }
}

/// A burst of short tasks teaches the pool not to wake others; then long ones come.
#[test]
fn long_tasks_behind_short_ones_are_not_left_to_one_worker() {
    let pool = builder("mixed").workers(3).build().expect("no fault");
    for _ in 0..100 {
        let ran = counter();
        (0..300).for_each(|_| pool.spawn(count_in(&ran)).expect("open"));
        let gate = Gate::new();
        (0..3).for_each(|_| pool.spawn(at(&gate)).expect("open"));
        gate.wait_for(3);
        assert_eq!(read(&ran), 300);
    }
}

#[test]
fn submit_against_close_runs_or_hands_back() {
    for round in 0..40 {
        let pool = builder("close").workers(1..=2).queue_len_max(8).build().expect("no fault");
        let ran = counter();
        thread::scope(|scope| {
            for _ in 0..3 {
                let (pool, ran) = (pool.handle(), &ran);
                scope.spawn(move || {
                    let began = Instant::now();
                    let refused = loop {
                        if let Err(refused) = pool.spawn(count_in(ran)) {
                            break refused.reason;
                        }
                        assert!(began.elapsed() < LIMIT, "it is closed and still takes tasks");
                    };
                    assert_eq!(refused, Refusal::Closed);
                });
            }
            Dice::new(round + 1).dawdle(60_000);
            pool.close();
        });
        let before = pool.snapshot().counters;
        within("the drop", move || drop(pool));
        assert_eq!(read(&ran) as u64, before.submitted - before.rejected);
    }
}

#[test]
fn close_releases_everybody_who_waits_for_room_with_the_task() {
    for round in 0..20 {
        let (pool, gate) = occupied("release", 1, Overflow::Wait);
        pool.spawn(does(|| ())).expect("there is room for one");
        let ran = counter();
        let waiting: Vec<_> = (0..4)
            .map(|index| {
                let (pool, task) = (pool.handle(), count_in(&ran));
                let options = TaskOptions::new().overflow(match index {
                    0 => Overflow::WaitFor(Duration::MAX),
                    _ => Overflow::Wait,
                });
                thread::spawn(move || pool.spawn_with(options, task))
            })
            .collect();
        Dice::new(round + 1).dawdle(30_000);
        pool.close();
        for waiting in waiting {
            // While nobody takes anything: a place that becomes free would release them as well.
            let released = within("the release", move || waiting.join());
            let refused = released.expect("no panic").expect_err("it is closed");
            assert_eq!(refused.reason, Refusal::Closed);
            run(refused.task);
        }
        gate.open();
        within("the drop", move || drop(pool));
        assert_eq!(read(&ran), 4, "all were handed back, and none ran twice");
    }
}

#[test]
fn reject_hands_back_the_task_that_finds_the_line_full() {
    let (pool, gate) = occupied("reject", 2, Overflow::Reject);
    (0..2).for_each(|_| pool.spawn(does(|| ())).expect("there is room for two"));
    let refused = pool.submit(does(|| 5)).expect_err("two wait");
    assert_eq!(refused.reason, Refusal::Full { queue_len_max: 2 });
    assert_eq!(run(refused.task), 5);
    assert!(pool.try_spawn(does(|| ())).is_err());
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
    pool.spawn(does(|| ())).expect("there is room again");
    let counters = pool.snapshot().counters;
    assert_eq!((counters.submitted, counters.rejected), (6, 2));
}

#[test]
fn wait_for_gives_up_in_time_and_hands_back_the_task() {
    let (pool, _gate) = occupied("waitfor", 1, Overflow::WaitFor(Duration::from_millis(20)));
    pool.spawn(does(|| ())).expect("there is room for one");
    let began = Instant::now();
    let refused = pool.submit(does(|| 5)).expect_err("one waits and nobody takes it");
    assert!(Duration::from_millis(20) <= began.elapsed());
    assert_eq!((refused.reason, run(refused.task)), (Refusal::TimedOut, 5));
}

/// Others take each place that becomes free. Whoever waits is called each time, in vain; that
/// must not begin its waiting anew. A bound and no proof: it seldom loses often enough in a row.
#[test]
fn wait_for_gives_up_in_time_though_others_are_faster() {
    let pool = builder("barge").workers(1).queue_len_max(1).build().expect("no fault");
    let over = AtomicBool::new(false);
    let longest = thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    drop(pool.try_spawn(does(|| Dice::new(1).dawdle(200))));
                }
            });
        }
        let wait = TaskOptions::new().overflow(Overflow::WaitFor(Duration::from_millis(2)));
        let longest = (0..200).map(|_| {
            let began = Instant::now();
            drop(pool.spawn_with(wait.clone(), does(|| ())));
            began.elapsed()
        });
        let longest = longest.max();
        over.store(true, Ordering::SeqCst);
        longest
    });
    assert!(longest < Some(Duration::from_secs(2)), "{longest:?} instead of 2 ms");
}

#[test]
fn waiting_submitters_get_in_as_places_become_free() {
    let (pool, gate) = occupied("wait", 2, Overflow::Wait);
    let ran = counter();
    // Not in a scope, which would wait for those who wait in vain.
    for _ in 0..4 {
        let (pool, ran) = (pool.handle(), Arc::clone(&ran));
        thread::spawn(move || {
            (0..200).for_each(|_| pool.spawn(count_in(&ran)).expect("open"));
        });
    }
    gate.open();
    eventually("all ran", || read(&ran) == 800);
}

#[test]
fn drop_oldest_drops_the_one_that_waits_longest() {
    let (pool, gate) = occupied("oldest", 2, Overflow::DropOldest);
    let tasks: Vec<_> = (0..5).map(|n| pool.submit(does(move || n)).expect("taken in")).collect();
    gate.open();
    let outcomes: Vec<_> = tasks.into_iter().map(TaskHandle::join).collect();
    let dropped = || Err(TaskError::Dropped);
    assert_eq!(outcomes, [dropped(), dropped(), dropped(), Ok(3), Ok(4)]);
}

#[test]
fn drop_newest_drops_the_one_that_comes() {
    let (pool, gate) = occupied("newest", 2, Overflow::DropNewest);
    let tasks: Vec<_> = (0..4).map(|n| pool.submit(does(move || n)).expect("taken in")).collect();
    gate.open();
    let outcomes: Vec<_> = tasks.into_iter().map(TaskHandle::join).collect();
    assert_eq!(outcomes, [Ok(0), Ok(1), Err(TaskError::Dropped), Err(TaskError::Dropped)]);
}

#[test]
fn caller_runs_runs_it_where_the_caller_is_and_counts_it() {
    let (pool, gate) = occupied("caller", 1, Overflow::CallerRuns);
    pool.spawn(does(|| ())).expect("there is room for one");
    let here = thread::current().id();
    assert_eq!(pool.submit(does(|| thread::current().id())).expect("run").join(), Ok(here));
    let counters = pool.snapshot().counters;
    assert_eq!((counters.submitted, counters.completed, counters.rejected), (3, 1, 0));
    assert!(counters.completed <= counters.started && counters.started <= counters.submitted);
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
    let counters = pool.snapshot().counters;
    assert_eq!((counters.submitted, counters.started, counters.completed), (3, 3, 3));
}

#[test]
fn a_task_that_its_submitter_runs_is_told_that_it_took_too_long() {
    let (pool, _gate) = occupied("overrun", 1, Overflow::CallerRuns);
    pool.spawn(does(|| ())).expect("there is room for one");
    let options = TaskOptions::new().run_max(Duration::from_millis(5));
    let task = pool.submit_with(options, does(|| eventually("it is told", is_cancelled)));
    assert_eq!(task.expect("run").join(), Err(TaskError::TimedOut));
}

#[test]
fn spawn_all_hands_back_exactly_what_was_not_taken_in() {
    let (pool, gate) = occupied("batch", 3, Overflow::Reject);
    let ran = counter();
    let tasks: Vec<_> = (0..8).map(|_| count_in(&ran)).collect();
    let refused = pool.spawn_all(tasks).expect_err("there is room for three");
    assert_eq!((refused.reason, refused.task.len()), (Refusal::Full { queue_len_max: 3 }, 5));
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!(read(&ran), 3);
    refused.task.into_iter().for_each(run);
    assert_eq!(read(&ran), 8);
    let counters = pool.snapshot().counters;
    assert_eq!((counters.submitted, counters.rejected, counters.completed), (9, 5, 4));
}

#[test]
fn submit_all_hands_back_what_was_not_taken_in_and_handles_to_the_rest() {
    let (pool, gate) = occupied("handles", 3, Overflow::Reject);
    let tasks = (0..8).map(|n| does(move || n));
    let refused = pool.submit_all(tasks).expect_err("there is room for three");
    assert_eq!(refused.reason, Refusal::Full { queue_len_max: 3 });
    assert_eq!((refused.handles.len(), refused.tasks.len()), (3, 5));
    gate.open();
    let results: Vec<_> = refused.handles.into_iter().map(TaskHandle::join).collect();
    assert_eq!(results, [Ok(0), Ok(1), Ok(2)]);
    let results: Vec<_> = refused.tasks.into_iter().map(run).collect();
    assert_eq!(results, [3, 4, 5, 6, 7]);
    let counters = pool.snapshot().counters;
    assert_eq!((counters.submitted, counters.rejected), (9, 5));
}

#[test]
fn submit_all_waits_for_room_and_returns_every_result_in_order() {
    let pool = builder("order").workers(1..=2).queue_len_max(4).build().expect("no fault");
    let tasks: Vec<_> = (0..1_000).map(|n| does(move || n)).collect();
    let results = within("the batch", move || {
        let handles = pool.submit_all(tasks).expect("open").into_iter();
        handles.map(|task| task.join().expect("it ran")).collect::<Vec<_>>()
    });
    assert_eq!(results, (0..1_000).collect::<Vec<_>>());
}

#[test]
fn spawn_all_waits_for_room_and_runs_everything() {
    let pool = builder("bulk").workers(1..=2).queue_len_max(4).build().expect("no fault");
    let ran = counter();
    let tasks: Vec<_> = (0..1_000).map(|_| count_in(&ran)).collect();
    let pool = within("the batch", move || {
        assert_eq!(pool.spawn_all(tasks).expect("open"), 1_000);
        pool
    });
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!(read(&ran), 1_000);
}

#[test]
fn an_async_submitter_waits_for_room_and_gives_it_up_when_dropped() {
    let (pool, gate) = occupied("async", 1, Overflow::Wait);
    pool.spawn(does(|| ())).expect("there is room for one");
    let ran = counter();
    let gone = Arc::new(Calls::default());
    let mut given_up = Box::pin(pool.spawn_async(count_in(&ran)));
    assert!(given_up.as_mut().poll(&mut Context::from_waker(&gone.waker())).is_pending());
    drop(given_up);
    assert_eq!(Arc::strong_count(&gone), 1, "it does not queue any more");
    let calls = [(); 2].map(|()| Arc::new(Calls::default()));
    let mut waiting = [(); 2].map(|()| Box::pin(pool.spawn_async(count_in(&ran))));
    for (waiting, calls) in waiting.iter_mut().zip(&calls) {
        let polled = waiting.as_mut().poll(&mut Context::from_waker(&calls.waker()));
        assert!(polled.is_pending());
    }
    let [first, mut second] = waiting;
    gate.open();
    eventually("the first is called", || 0 < calls[0].count());
    drop(first);
    eventually("the second gets in", || {
        let polled = second.as_mut().poll(&mut Context::from_waker(&calls[1].waker()));
        matches!(polled, Poll::Ready(Ok(())))
    });
    drop(second);
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!(read(&ran), 1);
}

/// A task that submits itself again and again does not keep a task from outside from its turn.
#[test]
fn a_task_from_outside_is_not_starved_by_tasks_of_the_pool_itself() {
    let pool = builder("chain").workers(1).build().expect("no fault");
    let again = Again::new(&pool);
    again.submit();
    for _ in 0..300 {
        let at_run = Arc::clone(&again.steps);
        let task = pool.submit(does(move || read(&at_run))).expect("open");
        let submitted = read(&again.steps);
        let ran = task.join().expect("no panic");
        assert!(ran <= submitted + 2, "{} others went first", ran - submitted);
    }
    again.over.store(true, Ordering::SeqCst);
}

/// The line never runs empty, so no worker comes to the desk of its own accord.
#[test]
fn a_pause_under_load_does_not_wait_for_a_lull() {
    let pool = builder("stop").workers(2).build().expect("no fault");
    let again = Again::new(&pool);
    (0..8).for_each(|_| again.submit());
    for _ in 0..20 {
        pool.pause();
        eventually("nobody is at work", || pool.counts().busy == 0);
        assert_eq!(pool.snapshot().queued, 8);
        pool.resume();
        eventually("they go on", || 0 < pool.counts().busy);
    }
    again.over.store(true, Ordering::SeqCst);
}

#[test]
fn a_paused_pool_begins_nothing_and_goes_on_when_resumed() {
    let pool = builder("pause").workers(0..=2).build().expect("no fault");
    for _ in 0..50 {
        pool.pause();
        eventually("nobody is at work", || pool.counts().busy == 0);
        let ran = counter();
        (0..4).for_each(|_| pool.spawn(count_in(&ran)).expect("open"));
        assert!(!pool.idle().wait_timeout(Duration::from_millis(1)), "four wait");
        assert_eq!(read(&ran), 0);
        pool.resume();
        assert!(pool.idle().wait_timeout(LIMIT));
        assert_eq!(read(&ran), 4);
    }
    pool.pause();
    pool.spawn(does(|| ())).expect("open");
    within("a paused pool can be dropped", move || drop(pool));
    eventually("no threads", || workers_alive("pause") == 0);
}
