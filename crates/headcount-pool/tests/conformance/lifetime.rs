//! How things end: nothing is held for longer than needed, no thread outlives its pool.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, Weak, mpsc};
use std::task::Context;
use std::thread;
use std::time::Duration;

use headcount_core::Staffing;
use headcount_pool::{
    CancelToken, Overflow, PoolHandle, Refusal, TaskError, TaskHandle, TaskOptions, ThreadPool,
    Threads, blocking, is_cancelled,
};

use crate::support::{
    Calls, Dice, Gate, LIMIT, count_in, counter, eventually, read, threads, within, worker_threads,
};

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
    let pool = ThreadPool::builder().name("hold").workers(1).build().expect("no fault");
    let (value, weak) = held();
    let task = pool.submit(move || drop(value)).expect("open");
    eventually("it is done", || task.is_done());
    assert!(is_gone(&weak), "though its handle is still there");
    let (value, weak) = held();
    // A large one, which lies beside the line.
    let ballast = [0_u8; 500];
    pool.spawn(move || assert_eq!((ballast.len(), Arc::strong_count(&value)), (500, 1)))
        .expect("open");
    assert!(pool.idle().wait_timeout(LIMIT));
    assert!(is_gone(&weak), "though the line is where it lay");
    let (value, weak) = held();
    let task = pool.submit(move || value).expect("open");
    drop(task);
    assert!(pool.idle().wait_timeout(LIMIT));
    assert!(is_gone(&weak), "nobody wants the result");
}

#[test]
fn what_a_task_holds_is_let_go_when_it_will_not_run() {
    let pool =
        ThreadPool::builder().name("unheld").workers(1).queue_len_max(1).build().expect("no fault");
    pool.pause();
    let submit = |options: TaskOptions| {
        let (value, weak) = held();
        let task = pool.submit_with(options, move || drop(value)).expect("taken in");
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
    let pool = ThreadPool::builder().name("watch").workers(1).build().expect("no fault");
    let gate = Gate::new();
    pool.spawn(gate.task()).expect("open");
    gate.wait_for(1);
    let calls = Arc::new(Calls::default());
    for _ in 0..10 {
        let mut idle = pool.idle();
        let polled = std::pin::Pin::new(&mut idle).poll(&mut Context::from_waker(&calls.waker()));
        assert!(polled.is_pending());
    }
    assert_eq!(Arc::strong_count(&calls), 1, "nobody waits any more");
}

#[test]
fn no_thread_outlives_its_pool() {
    for round in 0..10 {
        let pools: Vec<_> = (0..8)
            .map(|_| {
                let pool = ThreadPool::builder()
                    .name("leak")
                    .workers(0..=3)
                    .idle_time(Duration::from_micros(50))
                    .build()
                    .expect("no fault");
                pool.spawn_all((0..20).map(|n| move || Dice::new(n + 1).dawdle(500)))
                    .expect("open");
                pool
            })
            .collect();
        Dice::new(round + 1).dawdle(30_000);
        within("all drops", move || drop(pools));
        eventually("no threads", || threads("leak") == 0);
    }
}

/// The keeper of a pool without workers has nothing to wait for but the end.
#[test]
fn a_pool_without_workers_can_be_dropped() {
    for round in 0..30 {
        let pool = ThreadPool::builder().name("empty").workers(0..=2).build().expect("no fault");
        Dice::new(round + 1).dawdle(100_000);
        if round % 2 == 0 {
            eventually("the keeper has started", || threads("empty") == 1);
            assert!(pool.idle().is_now());
        }
        within("the drop", move || drop(pool));
    }
    let pool = ThreadPool::builder()
        .name("expired")
        .workers(0..=2)
        .idle_time(Duration::ZERO)
        .build()
        .expect("no fault");
    for _ in 0..5 {
        pool.submit(|| ()).expect("open").join().expect("no panic");
        eventually("nobody is left", || worker_threads("expired") == 0);
    }
    eventually("the last one is buried", || pool.counts().live == 0);
    within("the drop", move || drop(pool));
    eventually("no threads", || threads("expired") == 0);
}

#[test]
fn a_pool_dropped_by_its_own_worker_ends_by_itself() {
    for _ in 0..10 {
        let pool = ThreadPool::builder().name("own").workers(2).build().expect("no fault");
        let (ran, handle) = (counter(), pool.handle());
        let gate = Gate::new();
        pool.spawn(gate.task()).expect("open");
        gate.wait_for(1);
        (0..5).for_each(|_| pool.spawn(count_in(&ran)).expect("open"));
        handle.spawn(move || drop(pool)).expect("open");
        eventually("it is closed", || handle.spawn(|| ()).is_err());
        gate.open();
        eventually("what was taken in has run", || read(&ran) == 5);
        eventually("no threads", || threads("own") == 0);
    }
}

/// The last owner may be a task that the keeper lets go because its time is up.
#[test]
fn a_pool_dropped_by_its_own_keeper_ends_by_itself() {
    let pool = ThreadPool::builder().name("keeper").workers(1).build().expect("no fault");
    let handle = pool.handle();
    pool.pause();
    let options = TaskOptions::new().wait_max(Duration::from_millis(5));
    let (owner, owned) = mpsc::channel::<ThreadPool>();
    let task = pool.submit_with(options, move || drop(owned)).expect("open");
    owner.send(pool).expect("the task holds the other end");
    drop(owner);
    assert_eq!(within("it expires", move || task.join()), Err(TaskError::Expired));
    eventually("it is closed", || handle.spawn(|| ()).is_err());
    eventually("no threads", || threads("keeper") == 0);
}

#[test]
fn a_closed_pool_stays_closed_and_a_new_one_takes_its_name() {
    for round in 0..20 {
        let pool = ThreadPool::builder().name("again").workers(1).build().expect("no fault");
        let handle = pool.handle();
        assert_eq!(pool.submit(move || round).expect("open").join(), Ok(round));
        pool.close();
        pool.resume();
        drop(pool.resize(Staffing::exactly(3)));
        assert_eq!(pool.spawn(|| ()).expect_err("closed").reason, Refusal::Closed);
        within("the drop", move || drop(pool));
        eventually("no threads", || threads("again") == 0);
        assert_eq!(handle.spawn(|| ()).expect_err("gone").reason, Refusal::Closed);
        drop(handle.resize(Staffing::exactly(2)));
        handle.pause();
        handle.close();
        assert!(handle.idle().wait_timeout(LIMIT));
        assert!(handle.drain(Duration::from_millis(1)).unrun.is_empty());
        assert_eq!(threads("again"), 0);
    }
}

#[test]
fn drain_hands_back_what_has_not_begun_and_waits_for_the_rest() {
    let pool = ThreadPool::builder().name("drain").workers(1).build().expect("no fault");
    let gate = Gate::new();
    pool.spawn(gate.task()).expect("open");
    gate.wait_for(1);
    let ran = counter();
    let tasks: Vec<_> = (0..3).map(|_| pool.submit(count_in(&ran)).expect("open")).collect();
    tasks[1].cancel();
    let drained = pool.drain(Duration::from_millis(5));
    assert_eq!((drained.unrun.len(), drained.still_running), (2, 1));
    let mut unrun = drained.unrun.into_iter();
    unrun.next().expect("two").run();
    drop(unrun);
    let outcomes: Vec<_> = tasks.into_iter().map(TaskHandle::join).collect();
    assert_eq!(outcomes, [Ok(()), Err(TaskError::Cancelled), Err(TaskError::Returned)]);
    assert_eq!(read(&ran), 1);
    gate.open();
    within("the drop", move || drop(pool));
}

#[test]
fn drain_with_enough_time_runs_everything() {
    let pool = ThreadPool::builder().name("drained").workers(0..=2).build().expect("no fault");
    let ran = counter();
    pool.spawn_all((0..500).map(|_| count_in(&ran))).expect("open");
    let drained = pool.drain(LIMIT);
    assert_eq!((drained.unrun.len(), drained.still_running, read(&ran)), (0, 0, 500));
}

#[test]
fn one_token_stops_many_tasks_that_wait_or_run() {
    let pool = ThreadPool::builder().name("token").workers(2).build().expect("no fault");
    let token = CancelToken::new();
    let options = TaskOptions::new().token(token.clone());
    let (begun, begins) = mpsc::channel();
    let ran = counter();
    let running: Vec<_> = (0..2)
        .map(|_| {
            let begun = begun.clone();
            let task = move || {
                begun.send(()).expect("somebody waits");
                while !is_cancelled() {
                    thread::yield_now();
                }
                "stopped early"
            };
            pool.submit_with(options.clone(), task).expect("open")
        })
        .collect();
    (0..2).for_each(|_| begins.recv_timeout(LIMIT).expect("both begin"));
    let waiting: Vec<_> = (0..100)
        .map(|_| pool.submit_with(options.clone(), count_in(&ran)).expect("open"))
        .collect();
    token.cancel();
    for task in waiting {
        assert_eq!(task.join(), Err(TaskError::Cancelled));
    }
    for task in running {
        assert_eq!(within("it sees it", move || task.join()), Ok("stopped early"));
    }
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!(read(&ran), 0);
    let refused = pool.submit_with(options, || ()).expect_err("it is too late");
    assert_eq!(refused.reason, Refusal::Cancelled);
}

#[test]
fn a_task_past_its_wait_never_runs_and_one_past_its_time_is_told() {
    let pool = ThreadPool::builder().name("late").workers(1).build().expect("no fault");
    let gate = Gate::new();
    let run_max = TaskOptions::new().run_max(Duration::from_millis(5));
    let (stop, stopped) = mpsc::channel();
    let pass = gate.task();
    let runs_on = pool.submit_with(run_max, move || {
        pass();
        stop.send(is_cancelled()).expect("somebody waits");
    });
    let ran = counter();
    let wait_max = TaskOptions::new().wait_max(Duration::from_millis(5));
    let waits = pool.submit_with(wait_max, count_in(&ran)).expect("open");
    assert_eq!(
        within("it is told", move || runs_on.expect("open").join()),
        Err(TaskError::TimedOut)
    );
    assert_eq!(within("it expires", move || waits.join()), Err(TaskError::Expired));
    gate.open();
    assert_eq!(stopped.recv_timeout(LIMIT), Ok(true), "the closure is asked to stop");
    assert!(pool.idle().wait_timeout(LIMIT));
    let counters = pool.snapshot().counters;
    assert_eq!((read(&ran), counters.expired, counters.completed), (0, 1, 1));
}

#[test]
fn the_longest_spans_of_time_do_not_overflow() {
    let long = Duration::MAX;
    let pool = ThreadPool::builder()
        .name("long")
        .workers(0..=1)
        .idle_time(long)
        .wait_budget(long)
        .stuck_after(long)
        .overflow(Overflow::WaitFor(long))
        .build()
        .expect("no fault");
    let options = TaskOptions::new().wait_max(long).run_max(long);
    let task = pool.submit_with(options, || 4).expect("open");
    let task = within("it runs", move || task.join_timeout(long));
    assert_eq!(task.expect("in time"), Ok(4));
    assert!(pool.idle().wait_timeout(long));
    assert!(pool.resize(Staffing::exactly(1)).wait_timeout(long));
    assert!(pool.drain(long).unrun.is_empty());
}

thread_local! {
    static LAST_WORDS: RefCell<Option<LastWords>> = const { RefCell::new(None) };
}

/// Uses the pool from where a thread's own values are destroyed.
struct LastWords(PoolHandle<Threads>, Arc<Mutex<u32>>);

impl Drop for LastWords {
    fn drop(&mut self) {
        drop(self.0.spawn(|| ()));
        let live = self.0.counts().live;
        let spoke = blocking(|| !is_cancelled());
        *self.1.lock().expect("no panic") += u32::from(spoke && live < 10);
    }
}

thread_local! {
    static LINGERING: RefCell<Option<Lingering>> = const { RefCell::new(None) };
}

/// Keeps its thread from ending.
struct Lingering(Option<Box<dyn FnOnce()>>);

impl Drop for Lingering {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|wait| wait());
    }
}

#[test]
fn a_place_is_given_back_when_the_thread_is_gone_and_not_before() {
    let pool = ThreadPool::builder().name("linger").workers(1).build().expect("no fault");
    let gate = Gate::new();
    let wait = gate.task();
    let task = pool.submit(|| LINGERING.set(Some(Lingering(Some(Box::new(wait))))));
    task.expect("open").join().expect("no panic");
    drop(pool.resize(Staffing::exactly(0)));
    gate.wait_for(1);
    let resize = pool.resize(Staffing::exactly(1));
    let next = pool.submit(|| ()).expect("open");
    let next = next.join_timeout(Duration::from_millis(30)).expect_err("its thread still exists");
    assert_eq!((pool.counts().live, worker_threads("linger")), (1, 1));
    gate.open();
    assert!(resize.wait_timeout(LIMIT));
    assert_eq!(next.join(), Ok(()));
}

/// `thread_system`: values of a thread were used after they had been destroyed.
#[test]
fn a_thread_that_ends_may_still_use_the_pool() {
    let pool = ThreadPool::builder().name("words").workers(3).build().expect("no fault");
    let (gate, spoken) = (Gate::new(), Arc::new(Mutex::new(0)));
    for _ in 0..3 {
        let (pass, words) = (gate.task(), LastWords(pool.handle(), Arc::clone(&spoken)));
        pool.spawn(move || {
            LAST_WORDS.set(Some(words));
            pass();
        })
        .expect("open");
    }
    gate.wait_for(3);
    gate.open();
    assert!(pool.resize(Staffing::exactly(1)).wait_timeout(LIMIT));
    within("the drop", move || drop(pool));
    assert_eq!(*spoken.lock().expect("no panic"), 3);
}

#[test]
fn closing_twice_lets_everybody_go_home() {
    for _ in 0..200 {
        let pool = ThreadPool::builder().name("twice").workers(1).build().expect("a pool");
        let task = pool.submit(|| ()).expect("open");
        pool.close();
        // While the only worker is between its task and its report, the second close comes.
        task.join().expect("it ran");
        pool.close();
        drop(pool);
    }
}
