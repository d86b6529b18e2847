//! How things end: nothing is held for longer than needed, no thread outlives its pool.

use std::sync::{Arc, Weak, mpsc};
use std::task::Context;
use std::time::{Duration, Instant};

use headcount_core::Staffing;
use headcount_pool::{
    CancelToken, Overflow, Refusal, TaskError, TaskHandle, TaskOptions, is_cancelled,
};

use super::{Pool, alive, at, builder, count_in, does, run_unrun, workers_alive};
use crate::support::{Calls, Dice, Gate, LIMIT, add_one, counter, eventually, read, within};

/// Something that a task holds, and a way to see whether it still does.
fn held() -> (Arc<()>, Weak<()>) {
    let value = Arc::new(());
    let weak = Arc::downgrade(&value);
    (value, weak)
}

fn is_gone(weak: &Weak<()>) -> bool {
    weak.strong_count() == 0
}

#[test]
fn what_a_task_holds_is_let_go_when_it_has_run() {
    let pool = builder("hold").workers(1).build().expect("no fault");
    let (value, weak) = held();
    let task = pool.submit(does(move || drop(value))).expect("open");
    eventually("it is done", || task.is_done());
    assert!(is_gone(&weak), "though its handle is still there");
    let (value, weak) = held();
    // A large one, which lies beside the line.
    let ballast = [0_u8; 500];
    pool.spawn(does(move || assert_eq!((ballast.len(), Arc::strong_count(&value)), (500, 1))))
        .expect("open");
    assert!(pool.idle().wait_timeout(LIMIT));
    assert!(is_gone(&weak), "though the line is where it lay");
    let (value, weak) = held();
    let task = pool.submit(does(move || value)).expect("open");
    drop(task);
    assert!(pool.idle().wait_timeout(LIMIT));
    assert!(is_gone(&weak), "nobody wants the result");
}

#[test]
fn what_a_task_holds_is_let_go_when_it_will_not_run() {
    let pool = builder("unheld").workers(1).queue_len_max(1).build().expect("no fault");
    pool.pause();
    let submit = |options: TaskOptions| {
        let (value, weak) = held();
        let task = pool.submit_with(options, does(move || drop(value))).expect("taken in");
        (task, weak)
    };
    let drop_oldest = || TaskOptions::new().overflow(Overflow::DropOldest);
    let (cancelled, weak) = submit(drop_oldest());
    cancelled.cancel();
    assert!(is_gone(&weak), "although it stands in the line");
    let token = CancelToken::new();
    let (_task, weak) = submit(drop_oldest().token(token.clone()));
    token.cancel();
    assert!(is_gone(&weak));
    let (expired, weak) = submit(drop_oldest().wait_max(Duration::from_millis(1)));
    eventually("it expires", || expired.is_done());
    eventually("it is let go", || is_gone(&weak));
    let (_task, pushed_out) = submit(drop_oldest());
    let (_task, returned) = submit(drop_oldest());
    assert!(is_gone(&pushed_out));
    drop(pool.drain(Duration::ZERO).unrun);
    assert!(is_gone(&returned));
}

#[test]
fn whoever_stops_waiting_is_not_remembered() {
    let pool = builder("watch").workers(1).build().expect("no fault");
    let gate = Gate::new();
    pool.spawn(at(&gate)).expect("open");
    gate.wait_for(1);
    let calls = Arc::new(Calls::default());
    for _ in 0..10 {
        let mut idle = pool.idle();
        let polled = std::pin::Pin::new(&mut idle).poll(&mut Context::from_waker(&calls.waker()));
        assert!(polled.is_pending());
    }
    assert_eq!(Arc::strong_count(&calls), 1, "nobody waits any more");
    for _ in 0..10 {
        let mut drained = std::pin::pin!(pool.drain_async(Duration::from_secs(3_600)));
        let polled = drained.as_mut().poll(&mut Context::from_waker(&calls.waker()));
        assert!(polled.is_pending());
    }
    assert_eq!(Arc::strong_count(&calls), 1, "nor is anybody to be woken in an hour");
}

#[test]
fn no_thread_outlives_its_pool() {
    for round in 0..10 {
        let ran = counter();
        let pools: Vec<_> = (0..8)
            .map(|_| {
                let pool = builder("leak")
                    .workers(0..=3)
                    .idle_time(Duration::from_micros(50))
                    .build()
                    .expect("no fault");
                let tasks = (0..20).map(|n| {
                    let ran = add_one(&ran);
                    does(move || {
                        Dice::new(n + 1).dawdle(500);
                        ran();
                    })
                });
                pool.spawn_all(tasks).expect("open");
                pool
            })
            .collect();
        Dice::new(round + 1).dawdle(30_000);
        within("all drops", move || drop(pools));
        assert_eq!(read(&ran), 8 * 20, "a drop waits for what was taken in");
        eventually("no threads", || alive("leak") == 0);
    }
}

/// The keeper of a pool without workers has nothing to wait for but the end.
#[test]
fn a_pool_without_workers_can_be_dropped() {
    for round in 0..30 {
        let pool = builder("empty").workers(0..=2).build().expect("no fault");
        Dice::new(round + 1).dawdle(100_000);
        if round % 2 == 0 {
            eventually("the keeper has started", || alive("empty") == 1);
            assert!(pool.idle().is_now());
        }
        within("the drop", move || drop(pool));
    }
    let pool =
        builder("expired").workers(0..=2).idle_time(Duration::ZERO).build().expect("no fault");
    for _ in 0..5 {
        pool.submit(does(|| ())).expect("open").join().expect("no panic");
        eventually("nobody is left", || workers_alive("expired") == 0);
    }
    eventually("the last one is buried", || pool.counts().live == 0);
    within("the drop", move || drop(pool));
    eventually("no threads", || alive("expired") == 0);
}

#[test]
fn a_pool_dropped_by_its_own_worker_ends_by_itself() {
    for _ in 0..10 {
        let pool = builder("own").workers(2).build().expect("no fault");
        let (ran, handle) = (counter(), pool.handle());
        let gate = Gate::new();
        pool.spawn(at(&gate)).expect("open");
        gate.wait_for(1);
        (0..5).for_each(|_| pool.spawn(count_in(&ran)).expect("open"));
        handle.spawn(does(move || drop(pool))).expect("open");
        eventually("it is closed", || handle.spawn(does(|| ())).is_err());
        gate.open();
        eventually("what was taken in has run", || read(&ran) == 5);
        eventually("no threads", || alive("own") == 0);
    }
}

/// The last owner may be a task that the keeper lets go because its time is up.
#[test]
fn a_pool_dropped_by_its_own_keeper_ends_by_itself() {
    let pool = builder("keeper").workers(1).build().expect("no fault");
    let handle = pool.handle();
    pool.pause();
    let options = TaskOptions::new().wait_max(Duration::from_millis(5));
    let (owner, owned) = mpsc::channel::<Pool>();
    // Before its time begins to run: it may be up at once on a machine that is busy.
    owner.send(pool).expect("the other end is here");
    drop(owner);
    let task = handle.submit_with(options, does(move || drop(owned))).expect("open");
    assert_eq!(within("it expires", move || task.join()), Err(TaskError::Expired));
    eventually("it is closed", || handle.spawn(does(|| ())).is_err());
    eventually("no threads", || alive("keeper") == 0);
}

#[test]
fn a_closed_pool_stays_closed_and_a_new_one_takes_its_name() {
    for round in 0..20 {
        let pool = builder("again").workers(1).build().expect("no fault");
        let handle = pool.handle();
        assert_eq!(pool.submit(does(move || round)).expect("open").join(), Ok(round));
        pool.close();
        pool.resume();
        drop(pool.resize(Staffing::exactly(3)));
        assert_eq!(pool.spawn(does(|| ())).expect_err("closed").reason, Refusal::Closed);
        within("the drop", move || drop(pool));
        eventually("no threads", || alive("again") == 0);
        assert_eq!(handle.spawn(does(|| ())).expect_err("gone").reason, Refusal::Closed);
        drop(handle.resize(Staffing::exactly(2)));
        handle.pause();
        handle.close();
        assert!(handle.idle().wait_timeout(LIMIT));
        assert!(handle.drain(Duration::from_millis(1)).unrun.is_empty());
        assert_eq!(alive("again"), 0);
    }
}

#[test]
fn drain_hands_back_what_has_not_begun_and_waits_for_the_rest() {
    let pool = builder("drain").workers(1).build().expect("no fault");
    let gate = Gate::new();
    pool.spawn(at(&gate)).expect("open");
    gate.wait_for(1);
    let ran = counter();
    let tasks: Vec<_> = (0..3).map(|_| pool.submit(count_in(&ran)).expect("open")).collect();
    tasks[1].cancel();
    let drained = pool.drain(Duration::from_millis(5));
    assert_eq!((drained.unrun.len(), drained.still_running), (2, 1));
    let mut unrun = drained.unrun.into_iter();
    run_unrun(unrun.next().expect("two"));
    drop(unrun);
    let outcomes: Vec<_> = tasks.into_iter().map(TaskHandle::join).collect();
    assert_eq!(outcomes, [Ok(()), Err(TaskError::Cancelled), Err(TaskError::Returned)]);
    assert_eq!(read(&ran), 1);
    gate.open();
    within("the drop", move || drop(pool));
}

#[test]
fn a_task_that_was_handed_back_does_not_expire_on_the_books() {
    let pool = builder("books").workers(1).build().expect("no fault");
    let gate = Gate::new();
    pool.spawn(at(&gate)).expect("open");
    gate.wait_for(1);
    let options = TaskOptions::new().wait_max(Duration::from_millis(20));
    let expires = pool.submit_with(options, does(|| ())).expect("open");
    let drained = pool.drain(Duration::ZERO);
    eventually("its time is up", || expires.is_done());
    // On a machine that stood still meanwhile it was up before.
    let counters = pool.snapshot().counters;
    assert_eq!(drained.unrun.len() as u64 + counters.expired, 1);
    assert_eq!(pool.events().len() as u64, counters.expired);
    gate.open();
    within("the drop", move || drop(pool));
}

/// Nobody rings for it any more, so it looks at the clock itself.
#[test]
fn a_task_that_outlives_its_pool_is_still_told_that_it_took_too_long() {
    let pool = builder("late").workers(1).build().expect("no fault");
    pool.pause();
    let options = TaskOptions::new().run_max(Duration::from_millis(5));
    let task = does(|| eventually("it is told", is_cancelled));
    let asks = pool.submit_with(options.clone(), task).expect("open");
    let never_asks = does(|| {
        let began = Instant::now();
        eventually("it takes too long", || Duration::from_millis(10) < began.elapsed());
    });
    let never_asks = pool.submit_with(options, never_asks).expect("open");
    let drained = pool.drain(Duration::ZERO);
    within("the drop", move || drop(pool));
    assert_eq!(alive("late"), 0);
    drained.unrun.into_iter().for_each(run_unrun);
    assert_eq!([asks.join(), never_asks.join()], [const { Err(TaskError::TimedOut) }; 2]);
}

#[test]
fn drain_with_enough_time_runs_everything() {
    let pool = builder("drained").workers(0..=2).build().expect("no fault");
    let ran = counter();
    pool.spawn_all((0..500).map(|_| count_in(&ran))).expect("open");
    let drained = pool.drain(LIMIT);
    assert_eq!((drained.unrun.len(), drained.still_running, read(&ran)), (0, 0, 500));
}

#[test]
fn the_longest_spans_of_time_do_not_overflow() {
    let long = Duration::MAX;
    let pool = builder("long")
        .workers(0..=1)
        .idle_time(long)
        .wait_budget(long)
        .stuck_after(long)
        .overflow(Overflow::WaitFor(long))
        .build()
        .expect("no fault");
    let options = TaskOptions::new().wait_max(long).run_max(long);
    let task = pool.submit_with(options, does(|| 4)).expect("open");
    let task = within("it runs", move || task.join_timeout(long));
    assert_eq!(task.expect("in time"), Ok(4));
    assert!(pool.idle().wait_timeout(long));
    assert!(pool.resize(Staffing::exactly(1)).wait_timeout(long));
    assert!(pool.drain(long).unrun.is_empty());
}

#[test]
fn closing_twice_lets_everybody_go_home() {
    for _ in 0..200 {
        let pool = builder("twice").workers(1).build().expect("a pool");
        let task = pool.submit(does(|| ())).expect("open");
        pool.close();
        // While the only worker is between its task and its report, the second close comes.
        task.join().expect("it ran");
        pool.close();
        drop(pool);
    }
}
