//! How tasks come in: none is lost, none waits for nothing, and a full line does what was agreed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use headcount_pool::{Overflow, Refusal, TaskError, TaskHandle, TaskOptions, ThreadPool};

use crate::support::{
    Calls, Dice, Gate, LIMIT, count_in, counter, eventually, keep_busy, read, within,
    worker_threads,
};

/// A pool of one worker that is at the gate, with a line for `queue_len_max`.
fn occupied(name: &str, queue_len_max: u64, overflow: Overflow) -> (ThreadPool, Gate) {
    let pool = ThreadPool::builder()
        .name(name)
        .workers(1)
        .queue_len_max(queue_len_max)
        .overflow(overflow)
        .build()
        .expect("no fault");
    let gate = Gate::new();
    pool.spawn(gate.task()).expect("open");
    gate.wait_for(1);
    (pool, gate)
}

#[test]
fn a_task_that_meets_the_last_idle_worker_leaving_is_run() {
    for (workers_min, idle_nanos) in [(0, 0), (0, 20_000), (0, 200_000), (1, 20_000)] {
        let pool = ThreadPool::builder()
            .name("last")
            .workers(workers_min..=2)
            .idle_time(Duration::from_nanos(idle_nanos))
            .build()
            .expect("no fault");
        let mut dice = Dice::new(idle_nanos + 1);
        for round in 0..400 {
            let task = pool.submit(move || round).expect("open");
            let outcome = task.join_timeout(LIMIT).expect("a worker comes for it");
            assert_eq!(outcome, Ok(round));
            dice.dawdle(30_000);
        }
    }
}

/// Each waits for the other: if only one worker is woken for both, they wait for ever.
#[test]
fn two_tasks_that_need_each_other_always_meet() {
    let pool = ThreadPool::builder().name("meet").workers(2).build().expect("no fault");
    for round in 0..4_000 {
        let (to_second, from_first) = mpsc::channel();
        let (to_first, from_second) = mpsc::channel();
        let other = pool.handle();
        let start = Arc::new(Barrier::new(2));
        let second = {
            let start = Arc::clone(&start);
            move || {
                start.wait();
                other.submit(move || {
                    to_first.send(()).expect("the other one waits");
                    from_first.recv_timeout(LIMIT).is_ok()
                })
            }
        };
        let second = thread::scope(|scope| {
            let second = scope.spawn(second);
            start.wait();
            let first = pool.submit(move || {
                to_second.send(()).expect("the other one waits");
                from_second.recv_timeout(LIMIT).is_ok()
            });
            assert_eq!(first.expect("open").join(), Ok(true), "round {round}");
            second.join().expect("no panic")
        });
        assert_eq!(second.expect("open").join(), Ok(true), "round {round}");
    }
}

/// The same, all from one thread and with many workers: each task needs all the others.
#[test]
fn as_many_tasks_as_workers_always_run_at_once() {
    let pool = ThreadPool::builder().name("all").workers(4).build().expect("no fault");
    for _ in 0..1_500 {
        let gate = Gate::new();
        (0..4).for_each(|_| pool.spawn(gate.task()).expect("open"));
        gate.wait_for(4);
    }
}

/// A burst of short tasks teaches the pool not to wake others; then long ones come.
#[test]
fn long_tasks_behind_short_ones_are_not_left_to_one_worker() {
    let pool = ThreadPool::builder().name("mixed").workers(3).build().expect("no fault");
    for _ in 0..100 {
        let ran = counter();
        (0..300).for_each(|_| pool.spawn(count_in(&ran)).expect("open"));
        let gate = Gate::new();
        (0..3).for_each(|_| pool.spawn(gate.task()).expect("open"));
        gate.wait_for(3);
        assert_eq!(read(&ran), 300);
    }
}

#[test]
fn submit_against_close_runs_or_hands_back() {
    for round in 0..40 {
        let pool = ThreadPool::builder()
            .name("close")
            .workers(1..=2)
            .queue_len_max(8)
            .build()
            .expect("no fault");
        let ran = counter();
        thread::scope(|scope| {
            for _ in 0..3 {
                let (pool, ran) = (pool.handle(), &ran);
                scope.spawn(move || {
                    let refused = loop {
                        if let Err(refused) = pool.spawn(count_in(ran)) {
                            break refused.reason;
                        }
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
        pool.spawn(|| ()).expect("there is room for one");
        let ran = counter();
        thread::scope(|scope| {
            let waiting: Vec<_> = (0..4)
                .map(|index| {
                    let (pool, task) = (pool.handle(), count_in(&ran));
                    let options = TaskOptions::new().overflow(match index {
                        0 => Overflow::WaitFor(Duration::MAX),
                        _ => Overflow::Wait,
                    });
                    scope.spawn(move || pool.spawn_with(options, task))
                })
                .collect();
            Dice::new(round + 1).dawdle(30_000);
            pool.close();
            for waiting in waiting {
                let refused = waiting.join().expect("no panic").expect_err("it is closed");
                assert_eq!(refused.reason, Refusal::Closed);
                (refused.task)();
            }
        });
        gate.open();
        within("the drop", move || drop(pool));
        assert_eq!(read(&ran), 4, "all were handed back, and none ran twice");
    }
}

#[test]
fn reject_hands_back_the_task_that_finds_the_line_full() {
    let (pool, gate) = occupied("reject", 2, Overflow::Reject);
    (0..2).for_each(|_| pool.spawn(|| ()).expect("there is room for two"));
    let refused = pool.submit(|| 5).expect_err("two wait");
    assert_eq!(refused.reason, Refusal::Full { queue_len_max: 2 });
    assert_eq!((refused.task)(), 5);
    assert!(pool.try_spawn(|| ()).is_err());
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
    pool.spawn(|| ()).expect("there is room again");
    let counters = pool.snapshot().counters;
    assert_eq!((counters.submitted, counters.rejected), (6, 2));
}

#[test]
fn wait_for_gives_up_in_time_and_hands_back_the_task() {
    let (pool, _gate) = occupied("waitfor", 1, Overflow::WaitFor(Duration::from_millis(20)));
    pool.spawn(|| ()).expect("there is room for one");
    let began = Instant::now();
    let refused = pool.submit(|| 5).expect_err("one waits and nobody takes it");
    assert!(Duration::from_millis(20) <= began.elapsed());
    assert_eq!((refused.reason, (refused.task)()), (Refusal::TimedOut, 5));
}

/// Others take each place that becomes free. Whoever waits is called each time, in vain; that
/// must not begin its waiting anew. A bound and no proof: it seldom loses often enough in a row.
#[test]
fn wait_for_gives_up_in_time_though_others_are_faster() {
    let pool =
        ThreadPool::builder().name("barge").workers(1).queue_len_max(1).build().expect("no fault");
    let over = AtomicBool::new(false);
    let longest = thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    drop(pool.try_spawn(|| Dice::new(1).dawdle(200)));
                }
            });
        }
        let wait = TaskOptions::new().overflow(Overflow::WaitFor(Duration::from_millis(2)));
        let longest = (0..200).map(|_| {
            let began = Instant::now();
            drop(pool.spawn_with(wait.clone(), || ()));
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
    thread::scope(|scope| {
        for _ in 0..4 {
            let (pool, ran) = (pool.handle(), Arc::clone(&ran));
            scope.spawn(move || {
                (0..200).for_each(|_| pool.spawn(count_in(&ran)).expect("open"));
            });
        }
        gate.open();
        eventually("all ran", || read(&ran) == 800);
    });
}

#[test]
fn drop_oldest_drops_the_one_that_waits_longest() {
    let (pool, gate) = occupied("oldest", 2, Overflow::DropOldest);
    let tasks: Vec<_> = (0..5).map(|n| pool.submit(move || n).expect("taken in")).collect();
    gate.open();
    let outcomes: Vec<_> = tasks.into_iter().map(TaskHandle::join).collect();
    let dropped = || Err(TaskError::Dropped);
    assert_eq!(outcomes, [dropped(), dropped(), dropped(), Ok(3), Ok(4)]);
}

#[test]
fn drop_newest_drops_the_one_that_comes() {
    let (pool, gate) = occupied("newest", 2, Overflow::DropNewest);
    let tasks: Vec<_> = (0..4).map(|n| pool.submit(move || n).expect("taken in")).collect();
    gate.open();
    let outcomes: Vec<_> = tasks.into_iter().map(TaskHandle::join).collect();
    assert_eq!(outcomes, [Ok(0), Ok(1), Err(TaskError::Dropped), Err(TaskError::Dropped)]);
}

#[test]
fn caller_runs_runs_it_where_the_caller_is_and_counts_it() {
    let (pool, gate) = occupied("caller", 1, Overflow::CallerRuns);
    pool.spawn(|| ()).expect("there is room for one");
    let here = thread::current().id();
    assert_eq!(pool.submit(|| thread::current().id()).expect("run").join(), Ok(here));
    let counters = pool.snapshot().counters;
    assert_eq!((counters.submitted, counters.completed, counters.rejected), (3, 1, 0));
    assert!(counters.completed <= counters.started && counters.started <= counters.submitted);
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
    let counters = pool.snapshot().counters;
    assert_eq!((counters.submitted, counters.started, counters.completed), (3, 3, 3));
}

#[test]
fn a_worker_that_finds_its_own_line_full_runs_the_task_itself() {
    let pool =
        ThreadPool::builder().name("inline").workers(1).queue_len_max(1).build().expect("no fault");
    let ran = counter();
    let (handle, inner) = (pool.handle(), Arc::clone(&ran));
    let outer = pool.submit(move || {
        (0..10).for_each(|_| handle.spawn(count_in(&inner)).expect("open"));
        read(&inner)
    });
    assert_eq!(within("no deadlock", move || outer.expect("open").join()), Ok(9));
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!(read(&ran), 10);
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
    refused.task.into_iter().for_each(|task| task());
    assert_eq!(read(&ran), 8);
    let counters = pool.snapshot().counters;
    assert_eq!((counters.submitted, counters.rejected, counters.completed), (9, 5, 4));
}

#[test]
fn spawn_all_waits_for_room_and_runs_everything() {
    let pool = ThreadPool::builder()
        .name("bulk")
        .workers(1..=2)
        .queue_len_max(4)
        .build()
        .expect("no fault");
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
    pool.spawn(|| ()).expect("there is room for one");
    let ran = counter();
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
    let pool = ThreadPool::builder().name("chain").workers(1).build().expect("no fault");
    let (over, steps) = (Arc::new(AtomicBool::new(false)), counter());
    let again = Again { over: Arc::clone(&over), steps: Arc::clone(&steps), pool: pool.handle() };
    again.submit();
    for _ in 0..300 {
        let at_run = Arc::clone(&steps);
        let task = pool.submit(move || read(&at_run)).expect("open");
        let submitted = read(&steps);
        let ran = task.join().expect("no panic");
        assert!(ran <= submitted + 2, "{} others went first", ran - submitted);
    }
    over.store(true, Ordering::SeqCst);
}

#[derive(Clone)]
struct Again {
    over: Arc<AtomicBool>,
    steps: Arc<std::sync::atomic::AtomicUsize>,
    pool: headcount_pool::PoolHandle<headcount_pool::Threads>,
}

impl Again {
    fn submit(&self) {
        let again = self.clone();
        let submitted = self.pool.spawn(move || {
            again.steps.fetch_add(1, Ordering::SeqCst);
            if !again.over.load(Ordering::SeqCst) {
                again.submit();
            }
        });
        // Refused once the test is over and the pool is closed.
        drop(submitted);
    }
}

/// The line never runs empty, so no worker comes to the desk of its own accord.
#[test]
fn a_pause_under_load_does_not_wait_for_a_lull() {
    let pool = ThreadPool::builder().name("stop").workers(2).build().expect("no fault");
    let over = Arc::new(AtomicBool::new(false));
    (0..8).for_each(|_| keep_busy(&pool, &over));
    for _ in 0..20 {
        pool.pause();
        eventually("nobody is at work", || pool.counts().busy == 0);
        assert_eq!(pool.snapshot().queued, 8);
        pool.resume();
        eventually("they go on", || 0 < pool.counts().busy);
    }
    over.store(true, Ordering::SeqCst);
}

#[test]
fn a_paused_pool_begins_nothing_and_goes_on_when_resumed() {
    let pool = ThreadPool::builder().name("pause").workers(0..=2).build().expect("no fault");
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
    pool.spawn(|| ()).expect("open");
    within("a paused pool can be dropped", move || drop(pool));
    eventually("no threads", || worker_threads("pause") == 0);
}
