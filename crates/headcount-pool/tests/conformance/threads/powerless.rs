//! Threads that cannot be started. For async tasks that is a runtime that is gone, of which the
//! tests of `TaskPool` tell.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::task::Context;
use std::thread;
use std::time::Duration;

use headcount_core::Staffing;
use headcount_core::roster::BACKOFF_MIN;
use headcount_pool::{Builder, Event, Refusal, Threads, Workers};

use super::{Handle, Pool, alive, builder, count_in, workers_alive};
use crate::support::{Calls, Gate, counter, eventually, is_asleep, read, within};

/// A pool that cannot start a thread, because each would have a stack of an exabyte.
fn powerless(name: &str, workers: impl Into<Workers>) -> Pool {
    rested(name, builder(name).workers(workers).stack_size(1 << 60))
}

/// A pool whose keeper has looked for the first time. So it is a submitter who finds out that
/// nobody can be started, and not the keeper who happens to see its task.
fn rested(name: &str, builder: Builder<Threads>) -> Pool {
    let pool = builder.build().expect("a keeper");
    eventually("the keeper sleeps", || is_asleep(&format!("{name}-keeper")));
    pool
}

#[test]
fn where_no_worker_can_be_started_the_submitter_runs_the_task() {
    for workers in [Workers::from(2), (0..=2).into()] {
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
        assert_eq!(workers_alive("none"), 0);
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
    let why = progress.unreachable_because.expect("the system said why");
    let told = |event: &Event| matches!(event, Event::HireFailed { error, .. } if *error == why);
    eventually("it is what the event says", || pool.events().iter().any(|(_, event)| told(event)));
    assert!(!resize.is_done() && !resize.wait_timeout(Duration::from_millis(50)));
    let retries = || {
        let failed = |event: &Event| matches!(event, Event::HireFailed { .. });
        pool.events().iter().filter(|(_, event)| failed(event)).count()
    };
    eventually("it is tried again", || 2 <= retries());
    assert!(retries() < 50, "not in a hot loop");
    within("the drop", move || drop(pool));
    eventually("no threads", || alive("reach") == 0);
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
    eventually("they run, though nobody comes", || read(&ran) == 3);
    within("the drop", move || drop(pool));
}

/// Its submitter is told nothing, as the task comes before the keeper has found out.
#[test]
fn a_task_that_comes_while_the_floor_cannot_be_filled_is_run() {
    for workers in [1, 2, 40] {
        let pool = powerless("floor", 0..=workers);
        drop(pool.resize(Staffing::exactly(workers)));
        let ran = counter();
        pool.spawn(count_in(&ran)).expect("open");
        eventually("somebody runs it", || read(&ran) == 1);
        assert_eq!(workers_alive("floor"), 0);
        within("the drop", move || drop(pool));
    }
}

/// Whoever stands in where no worker can be started may be kept for ever, and nobody else by it.
#[test]
fn a_task_that_is_run_for_want_of_workers_holds_up_no_other() {
    let pool = powerless("held", 1);
    let (gate, ran) = (Gate::new(), counter());
    pool.pause();
    pool.spawn(gate.blocks()).expect("open");
    pool.resume();
    gate.wait_for(1);
    pool.spawn(count_in(&ran)).expect("open");
    assert_eq!(read(&ran), 1, "its submitter runs it");
    gate.open();
    within("the drop", move || drop(pool));
}

/// Whoever waits for calm hears of it, though it was the submitter who ran the last task.
#[test]
fn idle_is_told_when_a_submitter_ran_the_last_task() {
    let calls = Arc::new(Calls::default());
    let slot: Arc<Mutex<Option<Handle>>> = Arc::default();
    let (waker, watched) = (calls.waker(), Arc::clone(&slot));
    let builder = builder("calm").workers(0..=1).stack_size(1 << 60).on_event(move |_| {
        // The start has just failed; the task still waits.
        if let Some(pool) = watched.lock().expect("no panic").as_ref() {
            let mut idle = pool.idle();
            let polled = std::pin::Pin::new(&mut idle).poll(&mut Context::from_waker(&waker));
            assert!(polled.is_pending());
            std::mem::forget(idle);
        }
    });
    let pool = rested("calm", builder);
    *slot.lock().expect("no panic") = Some(pool.handle());
    pool.spawn(|| ()).expect("open");
    *slot.lock().expect("no panic") = None;
    assert!(pool.idle().is_now());
    eventually("the waker is called", || 0 < calls.count());
    within("the drop", move || drop(pool));
}

/// Each hands over the next, and its submitter runs it. Without a limit the stack ends first, and
/// with it the process.
#[test]
fn tasks_that_submitters_run_inside_of_one_another_are_nested_only_so_deep() {
    fn descend(pool: &Handle, left: u32, ran: &Arc<AtomicUsize>) {
        ran.fetch_add(1, SeqCst);
        if 0 < left {
            let (own, inner) = (pool.clone(), Arc::clone(ran));
            pool.spawn(move || descend(&own, left - 1, &inner)).expect("open");
        }
    }
    let (pool, ran) = (powerless("descend", 0..=1), counter());
    descend(&pool, 100_000, &ran);
    assert_eq!(read(&ran), 100_001, "whoever came first has seen to all of them");
    assert!(pool.idle().is_now());
    within("the drop", move || drop(pool));
}

/// Whoever is too deep leaves its task to those above, and does not wait for them.
#[test]
fn tasks_that_submitters_run_and_that_join_each_other_do_not_hang() {
    fn descend(pool: &Handle, left: u32) -> u32 {
        let own = pool.clone();
        let inner = (0 < left).then(|| pool.submit(move || descend(&own, left - 1)).expect("open"));
        inner.map_or(0, |inner| inner.join().expect("no panic") + 1)
    }
    // Whoever is first at the desk, the keeper or the submitter.
    let pool = builder("join").workers(0..=1).stack_size(1 << 60).build().expect("a keeper");
    let handle = pool.handle();
    assert_eq!(within("no deadlock", move || descend(&handle, 50)), 50);
    within("the drop", move || drop(pool));
}

#[test]
fn a_task_too_deep_to_be_run_by_its_submitter_is_refused_where_the_line_is_full() {
    /// Hands over itself twice until one is refused, and says how deep that was and why.
    fn descend(pool: &Handle, depth: u32, told: &Arc<Mutex<Option<(u32, Refusal)>>>) {
        for _ in 0..2 {
            if 100 < depth || told.lock().expect("no panic").is_some() {
                return;
            }
            let (own, tell) = (pool.clone(), Arc::clone(told));
            if let Err(refused) = pool.spawn(move || descend(&own, depth + 1, &tell)) {
                told.lock().expect("no panic").get_or_insert((depth, refused.reason));
            }
        }
    }
    let builder = builder("full").workers(0..=1).queue_len_max(1).stack_size(1 << 60);
    let pool = rested("full", builder);
    let (handle, told) = (pool.handle(), Arc::default());
    let tell = Arc::clone(&told);
    within("no deadlock", move || descend(&handle, 0, &tell));
    let refused = told.lock().expect("no panic").take();
    assert_eq!(refused, Some((16, Refusal::Full { queue_len_max: 1 })));
    assert!(pool.idle().is_now());
    within("the drop", move || drop(pool));
}
