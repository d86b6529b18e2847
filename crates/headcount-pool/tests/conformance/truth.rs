//! What a pool says of itself is so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use headcount_core::{Counters, Name, Staffing};
use headcount_pool::{
    CancelToken, Doing, Event, Overflow, TaskError, TaskHandle, TaskOptions, WorkerReport,
    report_failure,
};

use super::{Pool, at, builder, count_in, does};
use crate::support::{Dice, Gate, LIMIT, add_one, counter, eventually, read};

#[test]
fn a_pool_at_rest_has_no_load() {
    let pool = builder("rest").workers(4).build().expect("no fault");
    eventually("all parked", || pool.counts().parked == 4);
    (0..20).for_each(|_| pool.spawn(does(|| ())).expect("open"));
    assert!(pool.idle().wait_timeout(LIMIT));
    let snapshot = pool.snapshot();
    assert_eq!((snapshot.pending(), snapshot.utilization()), (0, Some(0.0)));
    assert_eq!((snapshot.live, snapshot.parked, snapshot.busy), (4, 4, 0));
    assert!(snapshot.oldest_wait.is_none() && snapshot.longest_idle.is_some());
}

#[test]
fn busy_parked_queued_and_the_oldest_wait_are_as_they_are() {
    let pool = builder("honest").workers(3).build().expect("no fault");
    eventually("all parked", || pool.counts().parked == 3);
    let gate = Gate::new();
    (0..2).for_each(|_| pool.spawn(at(&gate)).expect("open"));
    gate.wait_for(2);
    let snapshot = pool.snapshot();
    assert_eq!((snapshot.busy, snapshot.parked, snapshot.queued), (2, 1, 0));
    assert_eq!((snapshot.starting, snapshot.retiring, snapshot.draining), (0, 0, false));
    pool.spawn(at(&gate)).expect("open");
    gate.wait_for(3);
    let began = Instant::now();
    pool.spawn(does(|| ())).expect("open");
    let submitted = began.elapsed();
    assert!(!pool.idle().wait_timeout(Duration::from_millis(20)));
    let at_least = began.elapsed().checked_sub(submitted).expect("later");
    (0..4).for_each(|_| pool.spawn(does(|| ())).expect("open"));
    let snapshot = pool.snapshot();
    let at_most = began.elapsed();
    assert_eq!((snapshot.busy, snapshot.parked, snapshot.queued), (3, 0, 5));
    let oldest = snapshot.oldest_wait.expect("five wait");
    assert!(at_least <= oldest && oldest <= at_most, "{at_least:?} {oldest:?} {at_most:?}");
    assert_eq!(snapshot.counters.started, 3);
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
    let snapshot = pool.snapshot();
    assert_eq!((snapshot.busy, snapshot.queued, snapshot.oldest_wait), (0, 0, None));
}

#[test]
fn a_busy_worker_is_never_counted_as_idle() {
    let pool = builder("busy")
        .workers(1..=2)
        .idle_time(Duration::from_micros(1))
        .build()
        .expect("no fault");
    let gate = Gate::new();
    (0..2).for_each(|_| pool.spawn(at(&gate)).expect("open"));
    gate.wait_for(2);
    assert!(!pool.idle().wait_timeout(Duration::from_millis(20)));
    let snapshot = pool.snapshot();
    assert_eq!((snapshot.busy, snapshot.live, snapshot.longest_idle), (2, 2, None));
}

#[test]
fn the_idle_clock_begins_when_a_worker_parks() {
    let idle_time = Duration::from_millis(150);
    let pool = builder("clock").workers(0..=2).idle_time(idle_time).build();
    let pool = pool.expect("no fault");
    let gate = Gate::new();
    (0..2).for_each(|_| pool.spawn(at(&gate)).expect("open"));
    gate.wait_for(2);
    assert!(!pool.idle().wait_timeout(idle_time * 2), "they are at the gate");
    let opened = Instant::now();
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
    let snapshot = pool.snapshot();
    let since = opened.elapsed();
    assert!(snapshot.longest_idle.is_none_or(|idle| idle <= since), "{snapshot:?}");
    // On a machine that stood still meanwhile their time may be up.
    assert!(idle_time <= since || snapshot.parked == 2, "{snapshot:?}");
    eventually("their time is up", || pool.counts().live == 0);
    assert!(idle_time <= opened.elapsed());
}

#[test]
fn wait_and_service_are_about_what_they_were() {
    let pool = builder("spans").workers(1).build().expect("no fault");
    let gate = Gate::new();
    pool.spawn(at(&gate)).expect("open");
    gate.wait_for(1);
    let began = Instant::now();
    (0..9).for_each(|_| pool.spawn(does(|| ())).expect("open"));
    let submitted = began.elapsed();
    assert!(!pool.idle().wait_timeout(Duration::from_millis(30)));
    let held = began.elapsed().checked_sub(submitted).expect("later");
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
    let at_most = began.elapsed() * 9 / 8;
    let snapshot = pool.snapshot();
    let (wait, service) = (snapshot.wait.expect("ten"), snapshot.service.expect("ten"));
    assert_eq!((wait.count, service.count), (10, 10));
    assert!(held <= wait.p50 && wait.p99 <= at_most, "{held:?} {wait:?} {at_most:?}");
    assert!(held <= service.p99, "{held:?} {service:?}");
    assert!(service.p50 < held, "nine did nothing: {service:?}");
    assert!(snapshot.spawn_delay.is_some_and(|delay| delay < LIMIT));
    assert_eq!(snapshot.service_logs.map(|logs| logs.count), Some(10));
}

/// Those who go by waits and services are not to take what is left of a task for one.
#[test]
fn what_never_ran_has_neither_waited_nor_been_served() {
    let pool = builder("unrun").workers(1).build().expect("no fault");
    let gate = Gate::new();
    pool.spawn(at(&gate)).expect("open");
    gate.wait_for(1);
    let token = CancelToken::new();
    let submit = |options| pool.submit_with(options, does(|| ())).expect("open");
    let by_hand: Vec<_> = (0..20).map(|_| submit(TaskOptions::new())).collect();
    let by_token = (0..20).map(|_| submit(TaskOptions::new().token(token.clone())));
    let by_time = TaskOptions::new().wait_max(Duration::from_millis(1));
    let others: Vec<_> = by_token.chain((0..20).map(|_| submit(by_time.clone()))).collect();
    by_hand.iter().for_each(TaskHandle::cancel);
    token.cancel();
    eventually("their time is up", || others.iter().all(TaskHandle::is_done));
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
    let snapshot = pool.snapshot();
    let (wait, service) = (snapshot.wait.expect("one"), snapshot.service.expect("one"));
    assert_eq!((wait.count, service.count), (1, 1), "who was at the gate");
    let counters = snapshot.counters;
    assert_eq!((counters.started, counters.completed), (1, 1));
    assert_eq!(counters.cancelled + counters.expired, 60);
}

#[test]
fn tiny_tasks_are_all_counted_and_measured() {
    let pool = builder("tiny").workers(2).build().expect("no fault");
    let ran = counter();
    for _ in 0..20 {
        pool.spawn_all((0..1_003).map(|_| count_in(&ran))).expect("open");
        assert!(pool.idle().wait_timeout(LIMIT));
    }
    let snapshot = pool.snapshot();
    assert_eq!((read(&ran), snapshot.counters.completed), (20_060, 20_060));
    // Stopped in the middle of a group that is measured as one.
    for _ in 0..20 {
        pool.spawn_all((0..1_003).map(|_| count_in(&ran))).expect("open");
        pool.pause();
        eventually("nobody is at work", || pool.counts().busy == 0);
        assert_eq!(pool.snapshot().counters.completed, read(&ran) as u64);
        pool.resume();
        assert!(pool.idle().wait_timeout(LIMIT));
    }
    assert_eq!(snapshot.service_logs.map(|logs| logs.count), Some(20_060));
    assert_eq!((snapshot.counters.submitted, snapshot.counters.started), (20_060, 20_060));
}

#[test]
fn counters_add_up_over_every_way_a_task_can_end() {
    let pool = builder("sums").workers(1).queue_len_max(4).build().expect("no fault");
    pool.submit(does(|| ())).expect("open").join().expect("no panic");
    pool.submit(does(report_failure)).expect("open").join().expect("it returned");
    pool.submit(does(|| panic!("third"))).expect("open").join().expect_err("it panicked");
    assert!(pool.idle().wait_timeout(LIMIT));
    let gate = Gate::new();
    pool.spawn(at(&gate)).expect("open");
    gate.wait_for(1);
    let waiting: Vec<_> = (0..4).map(|_| pool.submit(does(|| ())).expect("open")).collect();
    drop(pool.try_spawn(does(|| ())).expect_err("four wait"));
    waiting[0].cancel();
    // One at the gate, one cancelled whose shell still stands in the line, three that wait.
    let counters = pool.snapshot().counters;
    assert_eq!((counters.submitted, counters.rejected, counters.completed), (9, 1, 3));
    assert_eq!(counters.started, 4, "the cancelled one has not begun, the one at the gate has");
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
    let counters = pool.snapshot().counters;
    assert_eq!((counters.started, counters.completed), (7, 7));
    assert_eq!((counters.failed, counters.panicked, counters.expired), (2, 1, 0));
    assert_eq!((counters.cancelled, counters.dropped, counters.returned), (1, 0, 0));
    assert_eq!(ended(counters), counters.submitted);
}

/// Everything that became of tasks.
fn ended(counters: Counters) -> u64 {
    let Counters { completed, rejected, expired, cancelled, dropped, returned, .. } = counters;
    completed + rejected + expired + cancelled + dropped + returned
}

#[test]
fn what_is_dropped_and_what_is_handed_back_is_counted_and_told() {
    let pool = builder("drops").workers(1).queue_len_max(2).build().expect("no fault");
    pool.pause();
    let submit = |class, overflow| {
        let options = TaskOptions::new().class(Name::new(class).expect("a name"));
        pool.submit_with(options.overflow(overflow), does(|| ())).expect("it is let in or dropped")
    };
    let first = submit("first", Overflow::Reject);
    let rest = [submit("second", Overflow::Reject), submit("third", Overflow::DropOldest)];
    assert_eq!(first.join(), Err(TaskError::Dropped));
    assert_eq!(submit("fourth", Overflow::DropNewest).join(), Err(TaskError::Dropped));
    let told = |class| {
        let class = Some(Name::new(class).expect("a name"));
        let events = pool.events().into_iter();
        events.filter(|(_, event)| *event == Event::TaskDropped { class }).count()
    };
    assert_eq!(["first", "second", "third", "fourth"].map(told), [1, 0, 0, 1]);
    drop(pool.drain(Duration::ZERO));
    assert!(rest.into_iter().all(|task| task.join() == Err(TaskError::Returned)));
    let counters = pool.snapshot().counters;
    let Counters { submitted, rejected, completed, dropped, returned, .. } = counters;
    assert_eq!((submitted, rejected, completed, dropped, returned), (4, 1, 0, 1, 2));
    assert_eq!(ended(counters), submitted);
}

/// The only worker of the pool.
fn worker(pool: &Pool) -> WorkerReport {
    let mut workers = pool.diagnose().workers;
    assert_eq!(workers.len(), 1, "{workers:?}");
    workers.remove(0)
}

#[test]
fn a_diagnosis_tells_who_comes_who_rests_and_who_goes() {
    let (starts, stops) = (Gate::new(), Gate::new());
    let (start, stop) = (starts.pass(), stops.pass());
    let pool = builder("duty")
        .workers(1)
        .on_worker_start(move |_| start.block())
        .on_worker_stop(move |_| stop.block())
        .build()
        .expect("no fault");
    // Behind the pool, so that they open before it goes where this fails.
    let (starts, stops, gate) = (starts, stops, Gate::new());
    starts.wait_for(1);
    let starting = worker(&pool);
    assert!(starting.doing == Doing::Starting && starting.since.is_some(), "{starting:?}");
    starts.open();
    eventually("it rests", || worker(&pool).doing == Doing::Idle);
    eventually("since it has parked", || worker(&pool).since.is_some());
    let rested = worker(&pool).since;
    eventually("for ever longer", || rested < worker(&pool).since);
    pool.spawn(at(&gate)).expect("open");
    gate.wait_for(1);
    assert_eq!(worker(&pool).doing, Doing::Busy);
    let resize = pool.resize(Staffing::exactly(0));
    let told = pool.diagnose().to_string();
    assert!(told.contains("1 worker: 1 busy, 0 parked, 0 blocked, 1 to leave"), "{told}");
    gate.open();
    stops.wait_for(1);
    assert_eq!(worker(&pool).doing, Doing::Leaving);
    stops.open();
    assert!(resize.wait_timeout(LIMIT));
    assert!(pool.diagnose().workers.is_empty());
}

#[test]
fn idle_means_that_nothing_waits_and_nothing_runs() {
    let pool = builder("idle").workers(0..=3).build().expect("no fault");
    let mut dice = Dice::new(4);
    for round in 1..=300 {
        let ran = counter();
        let count = 1 + dice.below(8);
        for n in 0..count {
            let done = add_one(&ran);
            pool.spawn(does(move || {
                Dice::new(n + 1).dawdle(3_000);
                done();
            }))
            .expect("open");
        }
        assert!(pool.idle().wait_timeout(LIMIT), "round {round}");
        assert_eq!(read(&ran) as u64, count, "round {round}");
    }
}

#[test]
fn many_may_wait_for_idle_at_once_and_all_are_told() {
    let pool = builder("calmer").workers(2).build().expect("no fault");
    for _ in 0..50 {
        let gate = Gate::new();
        pool.spawn(at(&gate)).expect("open");
        gate.wait_for(1);
        thread::scope(|scope| {
            let waiting: Vec<_> =
                (0..3).map(|_| scope.spawn(|| pool.idle().wait_timeout(LIMIT))).collect();
            gate.open();
            for waiting in waiting {
                assert!(waiting.join().expect("no panic"));
            }
        });
    }
}

/// A count that falls is taken for that of another pool by those who go by differences.
#[test]
fn what_was_started_never_falls_from_one_snapshot_to_the_next() {
    let pool = builder("rises").workers(2).build().expect("no fault");
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut dice = Dice::new(1);
            while !over.load(Ordering::SeqCst) {
                let spins = 1 + dice.below(400);
                let task = does(move || Dice::new(spins).dawdle(spins));
                pool.submit(task).expect("open").join().expect("no panic");
            }
        });
        let mut last = 0;
        let fell = (0..100_000).find_map(|_| {
            let started = pool.snapshot().counters.started;
            let before = std::mem::replace(&mut last, started);
            (started < before).then_some((before, started))
        });
        over.store(true, Ordering::SeqCst);
        assert_eq!(fell, None);
    });
    assert!(pool.idle().wait_timeout(LIMIT));
    let counters = pool.snapshot().counters;
    assert_eq!(counters.started, counters.completed);
}

#[test]
fn snapshots_by_many_at_once_agree() {
    let pool = builder("views").workers(2).build().expect("no fault");
    let over = Arc::new(AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    let snapshot = pool.snapshot();
                    let counters = snapshot.counters;
                    assert!(counters.completed <= counters.submitted);
                    let sum = snapshot.starting + snapshot.busy + snapshot.parked;
                    assert!(sum <= snapshot.live && snapshot.live <= 2);
                }
            });
        }
        for _ in 0..200 {
            pool.spawn_all((0..50).map(|n| does(move || Dice::new(n + 1).dawdle(300))))
                .expect("open");
            assert!(pool.idle().wait_timeout(LIMIT));
        }
        over.store(true, Ordering::SeqCst);
    });
    assert_eq!(pool.snapshot().counters.completed, 10_000);
}
