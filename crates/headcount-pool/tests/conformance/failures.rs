//! What goes wrong hurts nobody else: panics, starts that fail, tasks that block or are stuck.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use headcount_core::Staffing;
use headcount_core::roster::BACKOFF_MIN;
use headcount_pool::policy::{Baggage, Ending, Outcome, PoolPolicy, TaskView, Verdict};
use headcount_pool::{
    Event, PoolHandle, Refusal, TaskError, TaskOptions, ThreadPool, Threads, blocking,
    report_failure,
};

use crate::support::{
    Calls, Dice, Gate, LIMIT, count_in, counter, eventually, read, threads, within, worker_threads,
};

/// Panics whenever it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        // Not while another panic is under way: two at once end the process by design.
        assert!(thread::panicking(), "dropped");
    }
}

/// Panics when it is woken.
struct Alarmed;

impl Wake for Alarmed {
    fn wake(self: Arc<Self>) {
        panic!("woken");
    }
}

/// A pool that works has as many workers as before, and they still run tasks.
#[track_caller]
fn assert_unhurt(pool: ThreadPool, name: &str, workers: usize) {
    let gate = Gate::new();
    (0..workers).for_each(|_| pool.spawn(gate.task()).expect("open"));
    gate.wait_for(workers);
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
    eventually("as many threads as before", || worker_threads(name) == workers);
    within("the drop", move || drop(pool));
    eventually("no threads", || threads(name) == 0);
}

#[test]
fn a_task_that_panics_hurts_nobody_and_is_counted() {
    let pool = ThreadPool::builder().name("panic").workers(2).build().expect("no fault");
    for n in 0..50 {
        pool.spawn(move || panic!("{n}")).expect("open");
        let told = pool.submit(move || -> () { panic!("{n}") }).expect("open").join();
        assert_eq!(told, Err(TaskError::Panicked(n.to_string())));
    }
    assert!(pool.idle().wait_timeout(LIMIT));
    let counters = pool.snapshot().counters;
    assert_eq!((counters.completed, counters.failed, counters.panicked), (100, 100, 100));
    let told = pool.events();
    assert!(told.iter().all(|(_, event)| matches!(event, Event::TaskPanicked { .. })));
    assert_unhurt(pool, "panic", 2);
}

#[test]
fn whatever_a_task_drops_may_panic() {
    let pool = ThreadPool::builder().name("bombs").workers(2).build().expect("no fault");
    for _ in 0..20 {
        let bomb = Bomb;
        // What it captured, what it returned to nobody, and what its panic carried.
        pool.spawn(move || assert!(size_of_val(&bomb) == 0)).expect("open");
        // Where it was quick, its result is dropped with the handle, and that is our own panic.
        let task = pool.submit(|| Bomb).expect("open");
        drop(catch_unwind(AssertUnwindSafe(|| drop(task))));
        pool.spawn(|| panic_any(Bomb)).expect("open");
        let told = pool.submit(|| -> () { panic_any(Bomb) }).expect("open").join();
        assert!(matches!(told, Err(TaskError::Panicked(_))));
        // What it held when it was cancelled.
        let bomb = Bomb;
        pool.pause();
        let task = pool.submit(move || assert!(size_of_val(&bomb) == 0)).expect("open");
        task.cancel();
        pool.resume();
        assert_eq!(task.join(), Err(TaskError::Cancelled));
        // What it held when its time was up.
        let bomb = Bomb;
        pool.pause();
        let options = TaskOptions::new().wait_max(Duration::from_millis(1));
        let task =
            pool.submit_with(options, move || assert!(size_of_val(&bomb) == 0)).expect("open");
        assert_eq!(within("it expires", move || task.join()), Err(TaskError::Expired));
        pool.resume();
    }
    assert_unhurt(pool, "bombs", 2);
}

#[test]
fn a_waker_that_panics_hurts_nobody() {
    let pool = ThreadPool::builder().name("wakers").workers(2).build().expect("no fault");
    let alarmed = Waker::from(Arc::new(Alarmed));
    let poll = |task: &mut (dyn Future<Output = Result<(), TaskError>> + Unpin)| {
        let polled = std::pin::Pin::new(task).poll(&mut Context::from_waker(&alarmed));
        assert!(polled.is_pending());
    };
    // The waker of a task that ends, of one that expires, and of one that runs for too long.
    let gate = Gate::new();
    let mut ends = pool.submit(gate.task()).expect("open");
    poll(&mut ends);
    let options = TaskOptions::new().run_max(Duration::from_millis(20));
    let mut runs_on = pool.submit_with(options, gate.task()).expect("open");
    gate.wait_for(2);
    poll(&mut runs_on);
    let options = TaskOptions::new().wait_max(Duration::from_millis(20));
    let mut expires = pool.submit_with(options, || ()).expect("open");
    poll(&mut expires);
    eventually("it expires", || expires.is_done());
    eventually("it times out", || runs_on.is_done());
    // Those who wait until the pool is idle, and for a resize.
    let mut idle = pool.idle();
    let polled = std::pin::Pin::new(&mut idle).poll(&mut Context::from_waker(&alarmed));
    assert!(polled.is_pending());
    gate.open();
    eventually("it ends", || ends.is_done());
    assert_unhurt(pool, "wakers", 2);
}

#[test]
fn hooks_and_listeners_that_panic_hurt_nobody() {
    let pool = ThreadPool::builder()
        .name("hooks")
        .workers(2)
        .on_worker_start(|_| panic!("start"))
        .on_worker_stop(|_| panic_any(Bomb))
        .on_event(|_| panic_any(Bomb))
        .build()
        .expect("no fault");
    eventually("both have started", || pool.counts().parked == 2);
    assert!(pool.resize(Staffing::exactly(1)).wait_timeout(LIMIT));
    assert!(pool.resize(Staffing::exactly(2)).wait_timeout(LIMIT));
    pool.submit(|| panic!("task")).expect("open").join().expect_err("it panicked");
    let hooks: Vec<_> = pool
        .events()
        .into_iter()
        .filter_map(|(_, event)| match event {
            Event::HookPanicked { hook } => Some(hook),
            _ => None,
        })
        .collect();
    let count = |name| hooks.iter().filter(|hook| **hook == name).count();
    assert_eq!((count("on_worker_start"), count("on_worker_stop")), (3, 1));
    assert_unhurt(pool, "hooks", 2);
}

#[test]
fn an_unrun_task_may_panic_where_it_is_run() {
    let pool = ThreadPool::builder().name("unrun").workers(1).build().expect("no fault");
    pool.pause();
    pool.spawn(|| panic_any(Bomb)).expect("open");
    let drained = pool.drain(Duration::ZERO);
    for unrun in drained.unrun {
        unrun.run();
    }
}

/// A pool that cannot start a thread, because each would have a stack of an exabyte.
fn powerless(name: &str, workers: impl Into<headcount_pool::Workers>) -> ThreadPool {
    ThreadPool::builder().name(name).workers(workers).stack_size(1 << 60).build().expect("a keeper")
}

#[test]
fn where_no_worker_can_be_started_the_submitter_runs_the_task() {
    for workers in [headcount_pool::Workers::from(2), (0..=2).into()] {
        let pool = powerless("none", workers);
        let here = thread::current().id();
        // Many: while somebody tries, and while nobody does because the last start failed.
        for _ in 0..2_000 {
            let task = pool.submit(|| thread::current().id()).expect("open");
            assert!(task.is_done(), "nobody else will run it");
            assert_eq!(task.join(), Ok(here));
        }
        let ran = counter();
        assert_eq!(pool.spawn_all((0..10).map(|_| count_in(&ran))).expect("open"), 10);
        assert_eq!(read(&ran), 10);
        let events = pool.events();
        let stranded = events.iter().any(|(_, event)| match event {
            Event::HireFailed { retry_in, stranded, .. } => *stranded && *retry_in <= BACKOFF_MIN,
            _ => false,
        });
        assert!(stranded, "{events:?}");
        assert_eq!(worker_threads("none"), 0);
        within("the drop", move || drop(pool));
    }
}

#[test]
fn a_resize_that_cannot_be_reached_says_so() {
    let pool = powerless("reach", 0..=2);
    let resize = pool.resize(Staffing::exactly(2));
    eventually("the keeper has tried", || resize.progress().unreachable_for.is_some());
    let progress = resize.progress();
    assert_eq!(progress.target, Staffing::exactly(2));
    assert_eq!(progress.live, progress.starting, "nobody has started");
    assert!(!resize.is_done() && !resize.wait_timeout(Duration::from_millis(50)));
    let retries = || {
        let failed = |event: &Event| matches!(event, Event::HireFailed { .. });
        pool.events().iter().filter(|(_, event)| failed(event)).count()
    };
    eventually("it is tried again", || 2 <= retries());
    assert!(retries() < 50, "not in a hot loop");
    within("the drop", move || drop(pool));
    eventually("no threads", || threads("reach") == 0);
}

#[test]
fn tasks_that_nobody_came_for_run_when_a_powerless_pool_is_dropped() {
    let pool = powerless("drop", 1);
    pool.pause();
    let ran = counter();
    (0..3).for_each(|_| pool.spawn(count_in(&ran)).expect("open"));
    assert_eq!(read(&ran), 0, "it is paused");
    within("the drop", move || drop(pool));
    assert_eq!(read(&ran), 3);
}

#[test]
fn resuming_a_powerless_pool_leaves_no_task_behind() {
    let pool = powerless("resume", 1);
    pool.pause();
    let ran = counter();
    (0..3).for_each(|_| pool.spawn(count_in(&ran)).expect("open"));
    pool.resume();
    pool.spawn(count_in(&ran)).expect("open");
    assert_eq!(read(&ran), 4, "the next one who comes runs them");
}

/// Whoever waits for calm hears of it, though it was the submitter who ran the last task.
#[test]
fn idle_is_told_when_a_submitter_ran_the_last_task() {
    let calls = Arc::new(Calls::default());
    let slot: Arc<Mutex<Option<PoolHandle<Threads>>>> = Arc::default();
    let (waker, watched) = (calls.waker(), Arc::clone(&slot));
    let pool = ThreadPool::builder()
        .name("calm")
        .workers(0..=1)
        .stack_size(1 << 60)
        .on_event(move |_| {
            // The start has just failed; the task still waits.
            if let Some(pool) = watched.lock().expect("no panic").as_ref() {
                let mut idle = pool.idle();
                let polled = std::pin::Pin::new(&mut idle).poll(&mut Context::from_waker(&waker));
                assert!(polled.is_pending());
                std::mem::forget(idle);
            }
        })
        .build()
        .expect("a keeper");
    *slot.lock().expect("no panic") = Some(pool.handle());
    pool.spawn(|| ()).expect("open");
    *slot.lock().expect("no panic") = None;
    assert!(pool.idle().is_now());
    eventually("the waker is called", || 0 < calls.count());
    within("the drop", move || drop(pool));
}

#[test]
fn a_blocked_worker_is_compensated_for_and_the_limit_holds() {
    let pool =
        ThreadPool::builder().name("block").workers(1).compensate_max(2).build().expect("no fault");
    let gate = Gate::new();
    for _ in 0..4 {
        let task = gate.task();
        pool.spawn(move || blocking(task)).expect("open");
    }
    gate.wait_for(3);
    assert!(!pool.idle().wait_timeout(Duration::from_millis(60)), "they are at the gate");
    assert_eq!(gate.arrived(), 3, "one worker, and two in the place of those who block");
    let compensated = |event: &Event| matches!(event, Event::Compensated { .. });
    assert_eq!(pool.events().iter().filter(|(_, event)| compensated(event)).count(), 2);
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!(gate.arrived(), 4);
    eventually("one is enough again", || worker_threads("block") == 1);
    assert_eq!(pool.counts().written_off, 0);
}

#[test]
fn a_panic_in_a_blocking_section_ends_the_section() {
    let pool = ThreadPool::builder()
        .name("section")
        .workers(1)
        .compensate_max(1)
        .build()
        .expect("no fault");
    for _ in 0..20 {
        pool.spawn(|| blocking(|| panic!("inside"))).expect("open");
    }
    assert!(pool.idle().wait_timeout(LIMIT));
    let (send, receive) = mpsc::channel();
    let waits = pool.submit(move || blocking(|| receive.recv_timeout(LIMIT).is_ok()));
    pool.spawn(move || send.send(()).expect("somebody waits")).expect("open");
    assert_eq!(waits.expect("open").join(), Ok(true), "it is compensated for once more");
}

#[test]
fn tasks_that_join_tasks_need_no_second_worker() {
    fn descend(pool: &PoolHandle<Threads>, depth: usize) -> usize {
        match depth {
            0 => 0,
            _ => {
                let deeper = pool.clone();
                let task = pool.submit(move || descend(&deeper, depth - 1)).expect("open");
                task.join().expect("no panic") + 1
            }
        }
    }
    let pool =
        ThreadPool::builder().name("depth").workers(1).compensate_max(0).build().expect("no fault");
    let handle = pool.handle();
    let task = pool.submit(move || descend(&handle, 150)).expect("open");
    assert_eq!(within("no deadlock", move || task.join()), Ok(150));
    let counters = pool.snapshot().counters;
    assert!(pool.idle().wait_timeout(LIMIT));
    assert!(counters.submitted == 151 && pool.snapshot().counters.completed == 151);
}

/// rayon: a thread that waited stole other work, which wanted the lock that it held.
#[test]
fn whoever_waits_runs_no_other_task_than_the_one_it_waits_for() {
    let pool = ThreadPool::builder()
        .name("isolate")
        .workers(1)
        .compensate_max(0)
        .build()
        .expect("no fault");
    let (handle, lock) = (pool.handle(), Arc::new(Mutex::new(())));
    let ran = counter();
    let unrelated = (Arc::clone(&lock), count_in(&ran));
    let outer = pool.submit(move || {
        let _held = lock.lock().expect("no panic");
        let (lock, done) = unrelated;
        let other = handle.submit(move || {
            drop(lock.lock());
            done();
        });
        assert_eq!(handle.submit(|| 3).expect("open").join(), Ok(3));
        assert!(!other.expect("open").is_done());
    });
    assert_eq!(within("no deadlock", move || outer.expect("open").join()), Ok(()));
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!(read(&ran), 1);
}

#[test]
fn a_stuck_task_is_told_of_and_its_worker_replaced_each_time() {
    let told = Arc::new(AtomicUsize::new(0));
    let listener = Arc::clone(&told);
    let pool = ThreadPool::builder()
        .name("stuck")
        .workers(1)
        .stuck_after(Duration::from_millis(10))
        .replace_stuck_max(1)
        .on_event(move |event| {
            if matches!(event, Event::TaskStuck { written_off: true, .. }) {
                listener.fetch_add(1, Ordering::SeqCst);
            }
        })
        .build()
        .expect("no fault");
    for round in 1..=3 {
        let gate = Gate::new();
        pool.spawn(gate.task()).expect("open");
        gate.wait_for(1);
        let beside = pool.submit(|| 8).expect("open");
        let outcome = beside.join_timeout(LIMIT).expect("another worker comes");
        assert_eq!(outcome, Ok(8));
        eventually("it is told", || round <= read(&told));
        assert_eq!(pool.counts().written_off, 1);
        gate.open();
        assert!(pool.idle().wait_timeout(LIMIT));
        eventually("one is enough again", || worker_threads("stuck") == 1);
    }
}

/// When the stuck task ends, its worker does not work beside its replacement.
#[test]
fn the_ceiling_holds_again_after_a_stuck_task_under_load() {
    let pool = ThreadPool::builder()
        .name("unstick")
        .workers(1)
        .stuck_after(Duration::from_millis(5))
        .replace_stuck_max(1)
        .build()
        .expect("no fault");
    let (stuck, load) = (Gate::new(), Gate::new());
    pool.spawn(stuck.task()).expect("open");
    stuck.wait_for(1);
    (0..200).for_each(|_| pool.spawn(load.task()).expect("open"));
    load.wait_for(1);
    stuck.open();
    assert!(!pool.idle().wait_timeout(Duration::from_millis(30)), "the gate is shut");
    // Whoever is at the gate is stuck after a while as well, and told of.
    let replaced = |event: &Event| matches!(event, Event::TaskStuck { written_off: true, .. });
    eventually("all but one at work are in the place of another", || {
        load.arrived() <= pool.events().iter().filter(|(_, event)| replaced(event)).count()
    });
}

#[test]
fn a_pool_in_which_nothing_moves_says_so() {
    let pool = ThreadPool::builder()
        .name("dead")
        .workers(2)
        .stuck_after(Duration::from_millis(5))
        .build()
        .expect("no fault");
    let gate = Gate::new();
    (0..2).for_each(|_| pool.spawn(gate.task()).expect("open"));
    gate.wait_for(2);
    pool.spawn(|| ()).expect("open");
    let suspected =
        |event: &Event| matches!(event, Event::SuspectedDeadlock { workers: 2, queued: 1, .. });
    eventually("it is suspected", || pool.events().iter().any(|(_, event)| suspected(event)));
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
}

/// Rejects everything, and counts how often it is called.
#[derive(Default)]
struct Never {
    asked: AtomicU64,
    others: AtomicU64,
}

impl PoolPolicy for Never {
    fn name(&self) -> &'static str {
        "never"
    }

    fn on_enqueue(&self, _task: &TaskView<'_>) -> Verdict {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Verdict::reject("never")
    }

    fn on_start(&self, _task: &TaskView<'_>, _baggage: Option<&mut (dyn std::any::Any + Send)>) {
        self.others.fetch_add(1, Ordering::SeqCst);
    }

    fn on_complete(&self, _task: &TaskView<'_>, _ending: Ending, _baggage: Option<Baggage>) {
        self.others.fetch_add(1, Ordering::SeqCst);
    }
}

/// `thread_system`: a policy that rejects every job let 100 of 100 run, and was never asked.
#[test]
fn a_policy_that_rejects_everything_lets_nothing_run() {
    let pool = ThreadPool::builder().name("never").workers(2).build().expect("no fault");
    let policy = Arc::new(Never::default());
    pool.policies().add(Arc::clone(&policy) as _).unwrap_or_else(|_| panic!("the only one"));
    let ran = counter();
    for _ in 0..25 {
        let refused = pool.spawn(count_in(&ran)).expect_err("rejected");
        assert!(matches!(refused.reason, Refusal::Rejected(_)));
        drop(pool.submit(count_in(&ran)).expect_err("rejected"));
        drop(pool.try_spawn(count_in(&ran)).expect_err("rejected"));
        let refused = pool.spawn_all([count_in(&ran), count_in(&ran)]).expect_err("rejected");
        assert_eq!(refused.task.len(), 2);
    }
    let asynchronous = std::pin::pin!(pool.spawn_async(count_in(&ran)));
    assert!(asynchronous.poll(&mut Context::from_waker(Waker::noop())).is_ready());
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!(read(&ran), 0);
    assert_eq!(policy.asked.load(Ordering::SeqCst), 101);
    assert_eq!(policy.others.load(Ordering::SeqCst), 0);
    let counters = pool.snapshot().counters;
    assert_eq!((counters.submitted, counters.rejected, counters.completed), (126, 126, 0));
    pool.policies().disable("never").expect("it is there");
    pool.spawn(count_in(&ran)).expect("nobody is asked");
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!(read(&ran), 1);
}

/// Writes down how each class of task ended.
#[derive(Default)]
struct Endings(Mutex<Vec<(String, Outcome)>>);

impl PoolPolicy for Endings {
    fn name(&self) -> &'static str {
        "endings"
    }

    fn on_complete(&self, task: &TaskView<'_>, ending: Ending, _baggage: Option<Baggage>) {
        let class = task.class.unwrap_or("none").to_owned();
        self.0.lock().expect("no panic").push((class, ending.outcome));
    }
}

#[test]
fn a_failure_is_put_down_to_the_task_that_reported_it() {
    let pool = ThreadPool::builder().name("blame").workers(1).build().expect("no fault");
    let endings = Arc::new(Endings::default());
    pool.policies().add(Arc::clone(&endings) as _).unwrap_or_else(|_| panic!("the only one"));
    let class = |name| TaskOptions::new().class(headcount_core::Name::new(name).expect("a name"));
    let (handle, inner) = (pool.handle(), class("inner"));
    let outer = pool.submit_with(class("outer"), move || {
        report_failure();
        // Run right here, by the one who waits for it.
        handle.submit_with(inner, || ()).expect("open").join().expect("it went well");
    });
    outer.expect("open").join().expect("it returned");
    assert!(pool.idle().wait_timeout(LIMIT));
    let told = endings.0.lock().expect("no panic").clone();
    let expected =
        [("inner".to_owned(), Outcome::Succeeded), ("outer".to_owned(), Outcome::Failed)];
    assert_eq!(told, expected);
    assert_eq!(pool.snapshot().counters.failed, 1);
}

#[test]
fn panics_among_many_tasks_slow_nobody_down() {
    let pool = ThreadPool::builder().name("storm").workers(0..=3).build().expect("no fault");
    let (ran, on) = (counter(), Arc::new(AtomicBool::new(true)));
    for n in 0..600 {
        let (done, on) = (count_in(&ran), Arc::clone(&on));
        pool.spawn(move || {
            Dice::new(n + 1).dawdle(500);
            done();
            assert!(n % 5 != 0 || !on.load(Ordering::SeqCst), "one in five");
        })
        .expect("open");
    }
    assert!(pool.idle().wait_timeout(LIMIT));
    let counters = pool.snapshot().counters;
    assert_eq!((read(&ran), counters.completed, counters.panicked), (600, 600, 120));
    assert!(pool.counts().live <= 3);
}
