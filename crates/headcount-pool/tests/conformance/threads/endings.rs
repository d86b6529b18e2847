//! How threads end, and tasks that run on though nobody waits for them any more.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use headcount_core::Staffing;
use headcount_pool::{
    CancelToken, Overflow, Refusal, TaskError, TaskOptions, blocking, is_cancelled,
};

use super::{Handle, Pool, alive, at, builder, count_in, workers_alive};
use crate::support::{Gate, LIMIT, counter, eventually, read, within};

thread_local! {
    static OWNED: RefCell<Option<Pool>> = const { RefCell::new(None) };
}

/// What a thread keeps for itself is dropped when it is no worker any more, and not gone yet.
#[test]
fn a_pool_whose_last_owner_is_kept_by_its_worker_ends_by_itself() {
    let pool = builder("heir").workers(1).build().expect("no fault");
    let (handle, (gives, given)) = (pool.handle(), mpsc::channel());
    handle.spawn(move || OWNED.set(given.recv().ok())).expect("open");
    gives.send(pool).expect("it waits");
    handle.await_idle();
    handle.close();
    eventually("no threads", || alive("heir") == 0);
}

#[test]
fn in_a_paused_pool_only_what_waits_for_no_worker_begins() {
    let pool = builder("pauses").workers(1).queue_len_max(1).build().expect("no fault");
    let (ran, waits, gate) = (counter(), counter(), Gate::new());
    let (own, pass, joined) = (pool.handle(), gate.pass(), count_in(&ran));
    let outer = pool.submit(move || {
        let inner = own.submit(joined).expect("there is room");
        pass.block();
        inner.join()
    });
    gate.wait_for(1);
    pool.pause();
    let by_caller = TaskOptions::new().overflow(Overflow::CallerRuns);
    pool.spawn_with(by_caller, count_in(&ran)).expect("its submitter runs it");
    assert_eq!((read(&ran), pool.map(0..3, |n| n)), (1, vec![0, 1, 2]));
    gate.open();
    let told = within("whoever joins it runs it", move || outer.expect("open").join());
    assert_eq!((told, read(&ran)), (Ok(Ok(())), 2));
    pool.spawn(count_in(&waits)).expect("there is room");
    eventually("the worker rests", || pool.counts().parked == 1);
    assert_eq!((read(&waits), pool.snapshot().queued), (0, 1));
    pool.resume();
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!(read(&waits), 1);
}

#[test]
fn one_token_stops_many_tasks_that_wait_or_run() {
    let pool = builder("token").workers(2).build().expect("no fault");
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
    let pool = builder("late").workers(1).build().expect("no fault");
    let gate = Gate::new();
    let run_max = TaskOptions::new().run_max(Duration::from_millis(5));
    let (stop, stopped) = mpsc::channel();
    let pass = at(&gate);
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

thread_local! {
    static LAST_WORDS: RefCell<Option<LastWords>> = const { RefCell::new(None) };
}

/// Uses the pool from where a thread's own values are destroyed.
struct LastWords(Handle, Arc<Mutex<u32>>);

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
    let pool = builder("linger").workers(1).build().expect("no fault");
    let gate = Gate::new();
    let wait = at(&gate);
    let task = pool.submit(|| LINGERING.set(Some(Lingering(Some(Box::new(wait))))));
    task.expect("open").join().expect("no panic");
    drop(pool.resize(Staffing::exactly(0)));
    gate.wait_for(1);
    let resize = pool.resize(Staffing::exactly(1));
    let next = pool.submit(|| ()).expect("open");
    let next = next.join_timeout(Duration::from_millis(30)).expect_err("its thread still exists");
    assert_eq!((pool.counts().live, workers_alive("linger")), (1, 1));
    // Whoever waits for its end is not the one who keeps deadlines.
    let late = TaskOptions::new().wait_max(Duration::from_millis(1));
    let late = pool.submit_with(late, || ()).expect("open");
    assert_eq!(within("it expires", move || late.join()), Err(TaskError::Expired));
    gate.open();
    assert!(resize.wait_timeout(LIMIT));
    assert_eq!(next.join(), Ok(()));
}

/// `thread_system`: values of a thread were used after they had been destroyed.
#[test]
fn a_thread_that_ends_may_still_use_the_pool() {
    let pool = builder("words").workers(3).build().expect("no fault");
    let (gate, spoken) = (Gate::new(), Arc::new(Mutex::new(0)));
    for _ in 0..3 {
        let (pass, words) = (at(&gate), LastWords(pool.handle(), Arc::clone(&spoken)));
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
