//! How many workers there are: never more than allowed, and a resize that is felt.

use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Barrier};
use std::task::Context;
use std::thread;
use std::time::Duration;

use headcount_core::Staffing;
use headcount_pool::blocking;

use super::common::Again;
use super::{at, builder, count_in, does, script, workers_alive};
use crate::support::{Calls, Dice, Gate, LIMIT, Peak, add_one, counter, eventually, read, within};

/// What a task does when it comes in, and when it goes.
fn in_and_out(peak: &Arc<Peak>) -> (impl FnOnce() + use<>, impl FnOnce() + use<>) {
    let (enters, leaves) = (Arc::clone(peak), Arc::clone(peak));
    (move || enters.enter(), move || leaves.leave())
}

#[test]
fn no_more_tasks_run_at_once_than_the_ceiling_allows() {
    let pool = builder("c1").workers(0..=3).idle_time(Duration::ZERO).build().expect("no fault");
    let (peak, open) = (Arc::new(Peak::default()), Gate::new());
    open.open();
    let ran = counter();
    thread::scope(|scope| {
        for seed in 0..3 {
            let (pool, peak, open, ran) = (pool.handle(), &peak, &open, &ran);
            scope.spawn(move || {
                let mut dice = Dice::new(seed + 1);
                for _ in 0..1_000 {
                    let ((enter, leave), done) = (in_and_out(peak), add_one(ran));
                    let spins = dice.below(2_000);
                    let task = script(enter, open, move || {
                        Dice::new(spins).dawdle(spins.max(1));
                        leave();
                        done();
                    });
                    pool.spawn(task).expect("open");
                    assert!(pool.counts().live <= 3);
                    dice.dawdle(3_000);
                }
            });
        }
        scope.spawn(|| {
            let mut dice = Dice::new(9);
            for _ in 0..500 {
                let floor = u32::try_from(dice.below(4)).expect("small");
                drop(pool.resize(Staffing::between(floor, 3)));
                dice.dawdle(5_000);
            }
        });
    });
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!(read(&ran), 3_000);
    assert!(peak.most() <= 3, "{} at once", peak.most());
}

/// Seed 000: its idle clock ran while a worker was at a task, so 3 became 32.
#[test]
fn long_tasks_and_a_tiny_idle_time_do_not_add_workers() {
    let pool = builder("gopipe")
        .workers(0..=3)
        .idle_time(Duration::from_nanos(1))
        .build()
        .expect("no fault");
    let peak = Arc::new(Peak::default());
    let gate = Gate::new();
    for _ in 0..40 {
        let (enter, leave) = in_and_out(&peak);
        pool.spawn(script(enter, &gate, leave)).expect("open");
    }
    gate.wait_for(3);
    for _ in 0..2_000 {
        drop(pool.resize(Staffing::between(0, 3)));
        assert!(pool.counts().live <= 3);
    }
    assert!(!pool.idle().wait_timeout(Duration::from_millis(30)), "they are at the gate");
    assert_eq!((peak.inside(), gate.arrived()), (3, 3));
    eventually("three threads", || workers_alive("gopipe") == 3);
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!(peak.most(), 3);
    eventually("all have left", || workers_alive("gopipe") == 0);
}

#[test]
fn a_lowered_ceiling_holds_once_the_resize_is_done() {
    let pool = builder("lower").workers(4).build().expect("no fault");
    let (peak, open) = (Arc::new(Peak::default()), Gate::new());
    open.open();
    let spawn = |count: usize| {
        for _ in 0..count {
            let (enter, leave) = in_and_out(&peak);
            let task = script(enter, &open, || {
                Dice::new(7).dawdle(20_000);
                leave();
            });
            pool.spawn(task).expect("open");
        }
    };
    spawn(500);
    assert!(pool.resize(Staffing::exactly(2)).wait_timeout(LIMIT));
    peak.forget();
    spawn(500);
    assert!(pool.idle().wait_timeout(LIMIT));
    assert!(peak.most() <= 2, "{} at once", peak.most());
    eventually("two threads", || workers_alive("lower") == 2);
}

/// A worker that blocked has been replaced. When both could run, one of them has to go, and not
/// only when the line happens to be empty.
#[test]
fn the_ceiling_holds_again_after_a_blocking_section_under_load() {
    let pool = builder("after").workers(1).compensate_max(1).build().expect("no fault");
    let (section, load) = (Gate::new(), Gate::new());
    let pass = section.blocks();
    pool.spawn(does(move || blocking(pass))).expect("open");
    section.wait_for(1);
    // Its replacement is at the gate with many more behind: the line does not run empty.
    let peak = Arc::new(Peak::default());
    for _ in 0..400 {
        let (enter, leave) = in_and_out(&peak);
        let task = script(enter, &load, || {
            Dice::new(3).dawdle(20_000);
            leave();
        });
        pool.spawn(task).expect("open");
    }
    load.wait_for(1);
    section.open();
    // Now the first one is back. It must not take from the line beside its replacement.
    assert!(!pool.idle().wait_timeout(Duration::from_millis(30)), "the gate is shut");
    assert_eq!(load.arrived(), 1, "two at work, and nobody blocks any more");
    load.open();
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!(peak.most(), 1);
    eventually("one thread", || workers_alive("after") == 1);
}

/// ants: a submitter waited for the capacity that Tune had just given, and was not told.
#[test]
fn a_submitter_that_waits_for_room_proceeds_when_a_resize_grows() {
    for round in 0..150 {
        let pool = builder("tune").workers(1).queue_len_max(1).build().expect("no fault");
        let gate = Gate::new();
        pool.spawn(at(&gate)).expect("open");
        gate.wait_for(1);
        let ran = counter();
        pool.spawn(count_in(&ran)).expect("there is room for one");
        let barrier = Arc::new(Barrier::new(2));
        let submitter = {
            let (pool, task, barrier) = (pool.handle(), count_in(&ran), Arc::clone(&barrier));
            thread::spawn(move || {
                barrier.wait();
                pool.spawn(task).expect("open");
            })
        };
        barrier.wait();
        Dice::new(round + 1).dawdle(20_000);
        drop(pool.resize(Staffing::exactly(2)));
        eventually("both ran beside the busy one", || read(&ran) == 2);
        submitter.join().expect("no panic");
    }
}

/// The worker takes what waits and is at it for long; whoever waits for that place must get it
/// now, also if it came to wait at that very moment.
#[test]
fn a_submitter_gets_the_place_of_a_task_that_was_just_taken() {
    let pool = builder("place").workers(1).queue_len_max(1).build().expect("no fault");
    let mut dice = Dice::new(11);
    for _ in 0..1_500 {
        let (first, second) = (Gate::new(), Gate::new());
        pool.spawn(at(&first)).expect("open");
        first.wait_for(1);
        pool.spawn(at(&second)).expect("there is room for one");
        let (barrier, delay) = (Barrier::new(2), dice.below(20_000));
        thread::scope(|scope| {
            let submitter = scope.spawn(|| {
                barrier.wait();
                (0..delay).for_each(|_| std::hint::spin_loop());
                pool.spawn(does(|| ())).expect("open");
            });
            barrier.wait();
            first.open();
            eventually("the submitter gets in", || submitter.is_finished());
        });
        second.open();
        assert!(pool.idle().wait_timeout(LIMIT));
    }
}

/// tokio: `forget_permits` under waiters. For the limiter see its own tests; here the pool's.
#[test]
fn a_ceiling_lowered_while_submitters_wait_strands_nobody() {
    for round in 0..30 {
        let pool = builder("forget").workers(4).queue_len_max(2).build().expect("no fault");
        let gate = Gate::new();
        (0..4).for_each(|_| pool.spawn(at(&gate)).expect("open"));
        gate.wait_for(4);
        let ran = counter();
        thread::scope(|scope| {
            for _ in 0..6 {
                let (pool, ran) = (pool.handle(), Arc::clone(&ran));
                scope.spawn(move || {
                    (0..10).for_each(|_| pool.spawn(count_in(&ran)).expect("open"));
                });
            }
            Dice::new(round + 1).dawdle(10_000);
            drop(pool.resize(Staffing::exactly(1)));
            gate.open();
            eventually("all ran on the one that stays", || read(&ran) == 60);
        });
        assert!(pool.resize(Staffing::exactly(1)).wait_timeout(LIMIT));
        assert_eq!(pool.counts().live, 1);
    }
}

/// `thread_system`: a shrink of an idle pool never came back, and no thread ended.
#[test]
fn shrinking_an_idle_pool_ends_its_threads() {
    let pool = builder("shrink").workers(4).build().expect("no fault");
    eventually("four threads", || workers_alive("shrink") == 4);
    eventually("all parked", || pool.counts().parked == 4);
    assert!(pool.resize(Staffing::exactly(2)).wait_timeout(Duration::from_secs(10)));
    assert_eq!(pool.counts().live, 2);
    eventually("two threads", || workers_alive("shrink") == 2);
    assert_eq!(pool.submit(does(|| 7)).expect("open").join(), Ok(7));
}

#[test]
fn shrinking_to_nobody_and_back_runs_what_waits() {
    let pool = builder("zero").workers(2).build().expect("no fault");
    assert!(pool.resize(Staffing::exactly(0)).wait_timeout(LIMIT));
    eventually("no threads", || workers_alive("zero") == 0);
    let task = pool.submit(does(|| 1)).expect("open");
    let task = task.join_timeout(Duration::from_millis(20)).expect_err("nobody may work");
    drop(pool.resize(Staffing::between(0, 1)));
    assert_eq!(within("the task runs", move || task.join()), Ok(1));
}

/// tunny: a shrink waited for a busy worker although another one was idle.
#[test]
fn a_shrink_takes_the_idle_worker_and_not_the_busy_one() {
    let pool = builder("tunny").workers(2).build().expect("no fault");
    let gate = Gate::new();
    pool.spawn(at(&gate)).expect("open");
    gate.wait_for(1);
    assert!(pool.resize(Staffing::exactly(1)).wait_timeout(Duration::from_secs(10)));
    let counts = pool.counts();
    assert_eq!((counts.live, counts.busy), (1, 1), "the busy one is still at its task");
    eventually("one thread", || workers_alive("tunny") == 1);
}

#[test]
fn a_resize_returns_at_once_and_busy_workers_leave_after_their_task() {
    let pool = builder("retire").workers(3).build().expect("no fault");
    let gate = Gate::new();
    (0..3).for_each(|_| pool.spawn(at(&gate)).expect("open"));
    gate.wait_for(3);
    let resize = pool.resize(Staffing::exactly(1));
    let progress = resize.progress();
    assert_eq!((progress.live, progress.retiring), (3, 2));
    assert!(!resize.is_done() && !resize.wait_timeout(Duration::from_millis(5)));
    gate.open();
    assert!(resize.wait_timeout(LIMIT));
    assert_eq!(pool.counts().live, 1);
    eventually("one thread", || workers_alive("retire") == 1);
}

#[test]
fn a_resize_that_another_one_overtook_is_done() {
    let pool = builder("over").workers(2).build().expect("no fault");
    let gate = Gate::new();
    (0..2).for_each(|_| pool.spawn(at(&gate)).expect("open"));
    gate.wait_for(2);
    let mut first = pool.resize(Staffing::exactly(1));
    let calls = Arc::new(Calls::default());
    let polled = Pin::new(&mut first).poll(&mut Context::from_waker(&calls.waker()));
    assert!(polled.is_pending(), "both are at the gate");
    drop(pool.resize(Staffing::exactly(2)));
    eventually("who waits for the first is told", || 0 < calls.count());
    assert!(first.is_done() && first.progress().superseded);
}

/// The line never runs empty, so no worker comes to the desk of its own accord.
#[test]
fn a_shrink_under_load_does_not_wait_for_a_lull() {
    let pool = builder("lull").workers(3).build().expect("no fault");
    let again = Again::new(&pool);
    (0..12).for_each(|_| again.submit());
    for size in [1, 3, 1] {
        assert!(pool.resize(Staffing::exactly(size)).wait_timeout(LIMIT));
        assert_eq!(pool.counts().live, size);
    }
    eventually("one thread", || workers_alive("lull") == 1);
    assert!(!pool.idle().is_now(), "there was no lull");
    again.over.store(true, Ordering::SeqCst);
}

#[test]
fn no_resize_goes_beyond_what_the_pool_was_built_for() {
    let pool = builder("most").workers(1).workers_max(2).build().expect("no fault");
    let resize = pool.resize(Staffing::exactly(1_000_000));
    assert_eq!(resize.progress().target, Staffing::exactly(2));
    assert!(resize.wait_timeout(LIMIT));
    eventually("two threads", || workers_alive("most") == 2);
}

#[test]
fn idle_workers_above_the_floor_leave_and_the_floor_stays() {
    let pool = builder("floor")
        .workers(2..=5)
        .idle_time(Duration::from_millis(1))
        .build()
        .expect("no fault");
    eventually("the floor has started", || pool.counts().parked == 2);
    for _ in 0..20 {
        let gate = Gate::new();
        (0..5).for_each(|_| pool.spawn(at(&gate)).expect("open"));
        gate.wait_for(5);
        gate.open();
        eventually("three have left", || {
            let live = pool.counts().live;
            assert!(2 <= live, "{live} are fewer than the floor");
            live == 2
        });
    }
    eventually("two threads", || workers_alive("floor") == 2);
}

/// Elastic rules that look at the length of a line never fire where the line is never full.
#[test]
fn the_pool_grows_though_the_line_is_far_from_full() {
    for wait_budget in [Duration::ZERO, Duration::from_millis(4)] {
        let pool =
            builder("grow").workers(1..=3).wait_budget(wait_budget).build().expect("no fault");
        let gate = Gate::new();
        (0..3).for_each(|_| pool.spawn(at(&gate)).expect("open"));
        gate.wait_for(3);
    }
}

/// A worker that has just started and has not taken its task yet is the one that was hired for it.
#[test]
fn one_worker_is_hired_for_one_task_that_waits() {
    for round in 0..10 {
        let budget = Duration::from_millis(20);
        let pool =
            builder("one-each").workers(1..=4).wait_budget(budget).build().expect("no fault");
        let gate = Gate::new();
        pool.spawn(at(&gate)).expect("open");
        gate.wait_for(1);
        pool.spawn(at(&gate)).expect("open");
        gate.wait_for(2);
        assert_eq!(pool.counts().live, 2, "round {round}");
    }
}
