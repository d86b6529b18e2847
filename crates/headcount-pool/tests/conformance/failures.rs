//! What goes wrong hurts nobody else: panics, starts that fail, tasks that block or are stuck.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use headcount_core::{Clock, Staffing, Timestamp};
use headcount_pool::policy::{
    Baggage, BreakerConfig, CircuitBreaker, Ending, PoolPolicy, TaskView, Trip, Verdict,
};
use headcount_pool::{Event, Overflow, Refusal, TaskError, TaskOptions, blocking};

use super::{Pool, alive, at, builder, count_in, does, run_unrun, workers_alive};
use crate::support::{Dice, Gate, LIMIT, Pass, add_one, counter, eventually, read, within};

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
fn assert_unhurt(pool: Pool, name: &str, workers: usize) {
    let gate = Gate::new();
    (0..workers).for_each(|_| pool.spawn(at(&gate)).expect("open"));
    gate.wait_for(workers);
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
    eventually("as many threads as before", || workers_alive(name) == workers);
    within("the drop", move || drop(pool));
    eventually("no threads", || alive(name) == 0);
}

#[test]
fn a_task_that_panics_hurts_nobody_and_is_counted() {
    let pool = builder("panic").workers(2).build().expect("no fault");
    for n in 0..50 {
        pool.spawn(does(move || panic!("{n}"))).expect("open");
        let told = pool.submit(does(move || -> () { panic!("{n}") })).expect("open").join();
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
    let pool = builder("bombs").workers(2).build().expect("no fault");
    for _ in 0..20 {
        let bomb = Bomb;
        // What it captured, what it returned to nobody, and what its panic carried.
        pool.spawn(does(move || assert!(size_of_val(&bomb) == 0))).expect("open");
        // Where it was quick, its result is dropped with the handle, and that is our own panic.
        let task = pool.submit(does(|| Bomb)).expect("open");
        drop(catch_unwind(AssertUnwindSafe(|| drop(task))));
        pool.spawn(does(|| panic_any(Bomb))).expect("open");
        let told = pool.submit(does(|| -> () { panic_any(Bomb) })).expect("open").join();
        assert!(matches!(told, Err(TaskError::Panicked(_))));
        // What it held when it was cancelled.
        let bomb = Bomb;
        pool.pause();
        let task = pool.submit(does(move || assert!(size_of_val(&bomb) == 0))).expect("open");
        task.cancel();
        pool.resume();
        assert_eq!(task.join(), Err(TaskError::Cancelled));
        // What it held when its time was up.
        let bomb = Bomb;
        pool.pause();
        let options = TaskOptions::new().wait_max(Duration::from_millis(1));
        let task = pool
            .submit_with(options, does(move || assert!(size_of_val(&bomb) == 0)))
            .expect("open");
        assert_eq!(within("it expires", move || task.join()), Err(TaskError::Expired));
        pool.resume();
    }
    assert_unhurt(pool, "bombs", 2);
}

/// What a task held that is dropped for another, or instead of it, is the fault of neither.
#[test]
fn a_task_that_is_dropped_hurts_no_submitter() {
    let pool = builder("evicts").workers(1).queue_len_max(1).build().expect("no fault");
    pool.pause();
    let bomb = || {
        let bomb = Bomb;
        does(move || assert!(size_of_val(&bomb) == 0))
    };
    let submits = |overflow| TaskOptions::new().overflow(overflow);
    pool.spawn(bomb()).expect("there is room");
    let innocent = catch_unwind(AssertUnwindSafe(|| {
        pool.submit_with(submits(Overflow::DropOldest), does(|| 7)).expect("it takes the place")
    }));
    let newest = catch_unwind(AssertUnwindSafe(|| {
        pool.spawn_with(submits(Overflow::DropNewest), bomb()).expect("it is dropped");
    }));
    let counters = pool.snapshot().counters;
    pool.resume();
    assert_eq!(innocent.expect("it is not hurt").join(), Ok(7));
    assert!(newest.is_ok(), "nor is this one");
    assert_eq!((counters.submitted, counters.dropped, counters.rejected), (3, 1, 1));
    let told = pool.events().into_iter().map(|(_, event)| event);
    assert_eq!(told.filter(|event| matches!(event, Event::TaskDropped { .. })).count(), 2);
    assert_unhurt(pool, "evicts", 1);
}

#[test]
fn a_waker_that_panics_hurts_nobody() {
    let pool = builder("wakers").workers(2).build().expect("no fault");
    let alarmed = Waker::from(Arc::new(Alarmed));
    let poll = |task: &mut (dyn Future<Output = Result<(), TaskError>> + Unpin)| {
        let polled = std::pin::Pin::new(task).poll(&mut Context::from_waker(&alarmed));
        assert!(polled.is_pending());
    };
    // The waker of a task that ends, of one that expires, and of one that runs for too long.
    let gate = Gate::new();
    let mut ends = pool.submit(at(&gate)).expect("open");
    poll(&mut ends);
    let options = TaskOptions::new().run_max(Duration::from_millis(20));
    let mut runs_on = pool.submit_with(options, at(&gate)).expect("open");
    gate.wait_for(2);
    poll(&mut runs_on);
    let options = TaskOptions::new().wait_max(Duration::from_millis(20));
    let mut expires = pool.submit_with(options, does(|| ())).expect("open");
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
    let pool = builder("hooks")
        .workers(2)
        .on_worker_start(|_| panic!("start"))
        .on_worker_stop(|_| panic_any(Bomb))
        .on_event(|_| panic_any(Bomb))
        .build()
        .expect("no fault");
    eventually("both have started", || pool.counts().parked == 2);
    assert!(pool.resize(Staffing::exactly(1)).wait_timeout(LIMIT));
    assert!(pool.resize(Staffing::exactly(2)).wait_timeout(LIMIT));
    pool.submit(does(|| panic!("task"))).expect("open").join().expect_err("it panicked");
    let hooks: Vec<_> = pool
        .events()
        .into_iter()
        .filter_map(|(_, event)| match event {
            Event::HookPanicked { hook, policy: None } => Some(hook),
            _ => None,
        })
        .collect();
    let count = |name| hooks.iter().filter(|hook| **hook == name).count();
    assert_eq!((count("on_worker_start"), count("on_worker_stop")), (3, 1));
    assert_unhurt(pool, "hooks", 2);
}

#[test]
fn an_unrun_task_may_panic_where_it_is_run() {
    let pool = builder("unrun").workers(1).build().expect("no fault");
    pool.pause();
    pool.spawn(does(|| panic_any(Bomb))).expect("open");
    let drained = pool.drain(Duration::ZERO);
    drained.unrun.into_iter().for_each(run_unrun);
}

#[test]
fn a_blocked_worker_is_compensated_for_and_the_limit_holds() {
    let pool = builder("block").workers(1).compensate_max(2).build().expect("no fault");
    let gate = Gate::new();
    for _ in 0..4 {
        let pass = gate.blocks();
        pool.spawn(does(move || blocking(pass))).expect("open");
    }
    gate.wait_for(3);
    assert!(!pool.idle().wait_timeout(Duration::from_millis(60)), "they are at the gate");
    assert_eq!(gate.arrived(), 3, "one worker, and two in the place of those who block");
    let compensated = |event: &Event| matches!(event, Event::Compensated { .. });
    assert_eq!(pool.events().iter().filter(|(_, event)| compensated(event)).count(), 2);
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!(gate.arrived(), 4);
    eventually("one is enough again", || workers_alive("block") == 1);
    assert_eq!(pool.counts().written_off, 0);
}

#[test]
fn a_panic_in_a_blocking_section_ends_the_section() {
    let pool = builder("section").workers(1).compensate_max(1).build().expect("no fault");
    for _ in 0..20 {
        pool.spawn(does(|| blocking(|| panic!("inside")))).expect("open");
    }
    assert!(pool.idle().wait_timeout(LIMIT));
    let (section, beside) = (Gate::new(), Gate::new());
    let pass = section.blocks();
    pool.spawn(does(move || blocking(pass))).expect("open");
    pool.spawn(at(&beside)).expect("open");
    // It is compensated for once more.
    beside.wait_for(1);
}

#[test]
fn a_stuck_task_is_told_of_and_its_worker_replaced_each_time() {
    let told = Arc::new(AtomicUsize::new(0));
    let listener = Arc::clone(&told);
    let pool = builder("stuck")
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
        pool.spawn(at(&gate)).expect("open");
        gate.wait_for(1);
        let beside = pool.submit(does(|| 8)).expect("open");
        let outcome = beside.join_timeout(LIMIT).expect("another worker comes");
        assert_eq!(outcome, Ok(8));
        eventually("it is told", || round <= read(&told));
        assert_eq!(pool.counts().written_off, 1);
        gate.open();
        assert!(pool.idle().wait_timeout(LIMIT));
        eventually("one is enough again", || workers_alive("stuck") == 1);
    }
}

/// When the stuck task ends, its worker does not work beside its replacement.
#[test]
fn the_ceiling_holds_again_after_a_stuck_task_under_load() {
    let pool = builder("unstick")
        .workers(1)
        .stuck_after(Duration::from_millis(5))
        .replace_stuck_max(1)
        .build()
        .expect("no fault");
    let (stuck, load) = (Gate::new(), Gate::new());
    pool.spawn(at(&stuck)).expect("open");
    stuck.wait_for(1);
    (0..200).for_each(|_| pool.spawn(at(&load)).expect("open"));
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
    let pool =
        builder("dead").workers(2).stuck_after(Duration::from_millis(5)).build().expect("no fault");
    let gate = Gate::new();
    (0..2).for_each(|_| pool.spawn(at(&gate)).expect("open"));
    gate.wait_for(2);
    pool.spawn(does(|| ())).expect("open");
    let suspected =
        |event: &Event| matches!(event, Event::SuspectedDeadlock { workers: 2, queued: 1, .. });
    eventually("it is suspected", || pool.events().iter().any(|(_, event)| suspected(event)));
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
}

/// The only worker waits for a task that needs a worker. Nobody was told what is stuck, and it is
/// told all the same.
#[test]
fn a_pool_whose_workers_wait_for_their_own_tasks_says_so() {
    let told = Arc::new(AtomicBool::new(false));
    let tells = Arc::clone(&told);
    let pool = builder("circle")
        .workers(1)
        .compensate_max(0)
        .on_event(move |event| {
            if matches!(event, Event::SuspectedDeadlock { workers: 1, queued: 1, .. }) {
                tells.store(true, Ordering::SeqCst);
            }
        })
        .build()
        .expect("no fault");
    let (own, heard) = (pool.handle(), Arc::clone(&told));
    let outer = pool.submit(does(move || {
        let mut inner = own.submit(does(|| ())).expect("open");
        // It would wait for ever; so it gives up now and then, until it is told.
        while let Err(again) = inner.join_timeout(Duration::from_millis(500)) {
            inner = again;
            if heard.load(Ordering::SeqCst) {
                break;
            }
        }
    }));
    assert_eq!(within("it is told", move || outer.expect("open").join()), Ok(()));
    assert!(told.load(Ordering::SeqCst), "{:?}", pool.events());
    assert!(pool.idle().wait_timeout(LIMIT), "the inner one runs, too");
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
    let pool = builder("never").workers(2).build().expect("no fault");
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

/// Blocks where it is dropped.
struct Blocks(Arc<Pass>);

impl Drop for Blocks {
    fn drop(&mut self) {
        self.0.block();
    }
}

/// Somebody's code holds the pool up that has nothing to do with it: others are hired all the same,
/// and other deadlines kept.
#[track_caller]
fn assert_not_held_up(pool: &Pool) {
    let moment = TaskOptions::new().wait_max(Duration::from_millis(1));
    let late = pool.submit_with(moment, does(|| ())).expect("open");
    assert_eq!(within("it expires", move || late.join()), Err(TaskError::Expired));
    pool.resume();
    assert!(pool.resize(Staffing::exactly(3)).wait_timeout(LIMIT), "they start");
}

#[test]
fn what_an_expired_task_held_may_block_where_it_is_dropped() {
    let pool = builder("blocks").workers(0..=3).build().expect("no fault");
    let gate = Gate::new();
    pool.pause();
    let (held, moment) = (Blocks(gate.pass()), Duration::from_millis(1));
    let options = TaskOptions::new().wait_max(moment);
    let task = pool.submit_with(options, does(move || drop(held))).expect("open");
    gate.wait_for(1);
    assert_eq!(within("it is told", move || task.join()), Err(TaskError::Expired));
    assert_not_held_up(&pool);
    gate.open();
}

#[test]
fn a_listener_may_block() {
    let gate = Gate::new();
    let pass = gate.pass();
    let pool = builder("listens").workers(0..=3).on_event(move |_| pass.block()).build();
    let pool = pool.expect("no fault");
    pool.pause();
    let options = TaskOptions::new().wait_max(Duration::from_millis(1));
    let task = pool.submit_with(options, does(|| ())).expect("open");
    gate.wait_for(1);
    assert_eq!(within("it is told", move || task.join()), Err(TaskError::Expired));
    assert_not_held_up(&pool);
    gate.open();
}

/// Time that passes when it is told to.
#[derive(Debug, Default)]
struct Hand(AtomicU64);

impl Hand {
    fn advance(&self, secs: u64) {
        self.0.fetch_add(secs, Ordering::SeqCst);
    }
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_secs(self.0.load(Ordering::SeqCst))
    }
}

/// A breaker whose probes never reported stayed half open, and refused for ever.
#[test]
fn probes_that_never_report_do_not_keep_a_pool_shut() {
    let pool = builder("probe").workers(2).build().expect("no fault");
    let hand = Arc::new(Hand::default());
    let config = BreakerConfig {
        trip: Some(Trip::Failures(1)),
        open_for: Some(Duration::from_secs(30)),
        probes_max: Some(1),
        successes_needed: Some(1),
        probe_expiry: Some(Duration::from_secs(60)),
        ..BreakerConfig::default()
    };
    let breaker = CircuitBreaker::with_clock(&config, Arc::clone(&hand) as _).expect("no fault");
    pool.policies().add(Arc::new(breaker)).unwrap_or_else(|_| panic!("the only one"));
    pool.submit(does(|| panic!("it opens"))).expect("closed").join().expect_err("it panicked");
    let submit = || pool.submit(does(|| 7));
    assert!(submit().is_err(), "it is open");
    hand.advance(30);
    // One that is cancelled before it runs gives its place back.
    pool.pause();
    let probe = submit().expect("half open");
    assert!(submit().is_err(), "one probe is out");
    probe.cancel();
    let probe = submit().expect("half open");
    probe.cancel();
    pool.resume();
    // One that runs for ever loses it.
    let gate = Gate::new();
    pool.spawn(at(&gate)).expect("half open");
    gate.wait_for(1);
    assert!(submit().is_err(), "one probe is out");
    hand.advance(60);
    assert_eq!(submit().expect("its time is up").join(), Ok(7));
    assert_eq!(submit().expect("closed again").join(), Ok(7));
}

/// spool and `thread_system` slept on a worker until it was time.
#[test]
fn what_waits_for_its_time_takes_no_worker() {
    let pool = builder("timers").workers(1).build().expect("no fault");
    let gate = Gate::new();
    pool.spawn(at(&gate)).expect("open");
    gate.wait_for(1);
    // The only worker is at the gate, and their time comes all the same.
    let options = TaskOptions::new().wait_max(Duration::from_millis(1));
    let late = pool.submit_with(options, does(|| ())).expect("open");
    assert_eq!(within("it expires", move || late.join()), Err(TaskError::Expired));
    gate.open();
    // Their time is far away, and the only worker is free.
    let hour = Duration::from_secs(3_600);
    let options = TaskOptions::new().wait_max(hour).run_max(hour);
    let tasks = (0..100).map(|n| pool.submit_with(options.clone(), does(move || n)));
    let tasks: Vec<_> = tasks.collect::<Result<_, _>>().expect("open");
    let results = within("they run", move || {
        tasks.into_iter().map(|task| task.join().expect("it ran")).collect::<Vec<_>>()
    });
    assert_eq!(results, (0..100).collect::<Vec<_>>());
    assert_eq!(workers_alive("timers"), 1);
}

#[test]
fn panics_among_many_tasks_slow_nobody_down() {
    let pool = builder("storm").workers(0..=3).build().expect("no fault");
    let (ran, on) = (counter(), Arc::new(AtomicBool::new(true)));
    for n in 0..600 {
        let (done, on) = (add_one(&ran), Arc::clone(&on));
        pool.spawn(does(move || {
            Dice::new(n + 1).dawdle(500);
            done();
            assert!(n % 5 != 0 || !on.load(Ordering::SeqCst), "one in five");
        }))
        .expect("open");
    }
    assert!(pool.idle().wait_timeout(LIMIT));
    let counters = pool.snapshot().counters;
    assert_eq!((read(&ran), counters.completed, counters.panicked), (600, 600, 120));
    assert!(pool.counts().live <= 3);
}
